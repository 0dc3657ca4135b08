"""FVQA train (MMSearch-R1): ``prompt``, ``images``, ``reward_model``, ``data_id``, ``category``; one parquet per split.

Train and test have different columns and are read apart. The mirror repository that the seed names is not certain in
its layout, so pictures may come in any container.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..candidate import Candidate, EvaluationItem, other_forms
from ..fields import Row, first, mapping, optional_text, parsed_text, text, writable
from ..numpy_list import parse_list
from ..picture_bytes import all_picture_bytes, picture_bytes
from .base import BadRow, EvaluationReader, QuestionReader

_MESSAGES = re.compile(r"""\s*(\[\s*)?\{\s*["']""")


def question_of(row: Row) -> str:
    """The text of the one user message in ``prompt``, or of a plain ``question`` field.

    Messages may come as JSON text. Raises BadRow ``unreadable_prompt`` for text that begins like messages and is none.
    """
    prompt = row.get("prompt")
    if isinstance(prompt, str) and _MESSAGES.match(prompt):
        prompt = parsed_text(prompt)
        if not isinstance(prompt, list | tuple | Mapping):
            raise BadRow("unreadable_prompt", "field 'prompt' begins like messages in JSON and is none")
        row = {**row, "prompt": None}
    if isinstance(prompt, Mapping):
        prompt = [prompt]
    if isinstance(prompt, list | tuple):
        parts = [
            message["content"]
            for message in prompt
            if isinstance(message, Mapping) and isinstance(message.get("content"), str)
        ]
        if parts:
            question = parts[-1].replace("<image>", "").strip()
            if question:
                return writable(question, "prompt")
    if isinstance(prompt, str):
        return text({"prompt": prompt.replace("<image>", "")}, "prompt")
    return text(row, "question", "prompt")


def split_of(row: Row) -> str:
    """``train``, ``test`` or empty, as the row says."""
    name = f"{optional_text(row, 'data_source')} {optional_text(row, 'data_id')}"
    return "test" if "fvqa_test" in name else "train" if "fvqa_train" in name else ""


def tables_of(files: list[Path], split: str) -> list[Path]:
    """Tables whose name says the split; all of them when none does."""
    return [path for path in files if split in path.name] or files


class FvqaTrain(QuestionReader):
    """Bucket fvqa_train."""

    source = "fvqa_train"
    columns = ("prompt", "question", "images", "image", "reward_model", "data_source", "data_id", "category")
    required = ("prompt", "images", "reward_model", "data_id")

    def files(self) -> list[Path]:
        return tables_of(super().files(), "train")

    def row_id(self, row: Row, index: int) -> str:
        name = row.get("data_id")
        return name if isinstance(name, str) and name.strip() else f"fvqa_train_{index}"

    def parse(self, row: Row, index: int) -> Candidate:
        if split_of(row) == "test":
            raise BadRow("evaluation_row", "the row says that it is of the FVQA test split")
        reward = mapping(row, "reward_model")
        answer = text(reward, "ground_truth")
        pictures = all_picture_bytes(first(row, "images", "image"), self.folder)
        if not pictures:
            raise BadRow("picture_missing", "the row has no picture")
        meta: dict[str, Any] = {}
        if category := optional_text(row, "category"):
            meta["category"] = category
        return Candidate(
            id=self.row_id(row, index).strip(),
            question=question_of(row),
            answer=answer,
            candidates=other_forms(answer, parse_list(reward.get("candidate_answers"))),
            pictures=tuple(pictures),
            meta=meta,
        )


class FvqaTest(EvaluationReader):
    """Evaluation set FVQA test."""

    source = "fvqa_test"
    columns = ("prompt", "question", "images", "image", "data_id", "data_source")
    required = ("prompt", "images", "data_id")
    essential = (("prompt", "question"), ("images", "image"))

    def files(self) -> list[Path]:
        return tables_of(super().files(), "test")

    def row_id(self, row: Row, index: int) -> str:
        name = row.get("data_id")
        return name if isinstance(name, str) and name.strip() else f"fvqa_test_{index}"

    def parse(self, row: Row, index: int) -> EvaluationItem:
        pictures, problems = gather(first(row, "images", "image"), self.folder)
        return evaluation_item(self.row_id(row, index).strip(), lambda: question_of(row), pictures, problems)


def gather(value: Any, folder: Path) -> tuple[tuple[bytes, ...], tuple[str, ...]]:
    """Pictures of a row that must have one, and the reasons for which they could not be had."""
    pictures, problems = [], []
    for item in (value or [None]) if isinstance(value, list | tuple) else [value]:
        try:
            pictures.append(picture_bytes(item, folder))
        except BadRow as error:
            problems.append(error.reason)
    return tuple(pictures), tuple(problems)


def evaluation_item(
    name: str, text_of: Callable[[], str], pictures: Sequence[bytes], problems: Sequence[str]
) -> EvaluationItem:
    """The item, without text when its text cannot be read but a picture can: the picture must not be trained on.

    Raises BadRow when there is neither.
    """
    try:
        words = text_of()
    except BadRow as error:
        if not pictures:
            raise
        words, problems = "", [*problems, error.reason]
    return EvaluationItem(id=name, text=words, pictures=tuple(pictures), problems=tuple(problems))

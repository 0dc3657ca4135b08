"""ChartQA, human-written questions without yes/no answers (seed section 3).

The hub set has neither ids nor picture names: ids come from split and row position over all tables, and questions are
grouped by their picture's content, since one chart carries several.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..candidate import Candidate, other_forms
from ..fields import Row, first, is_number, text, writable
from ..picture_bytes import picture_bytes
from .base import NOT_OURS, BadRow, QuestionReader

_HUMAN = (0, "0", "human", False)
_YES_NO = ("yes", "no")


class ChartQaHuman(QuestionReader):
    """Bucket chartqa_human."""

    source = "chartqa"
    columns = ("image", "query", "question", "label", "answer", "human_or_machine", "imgname")
    required = ("image", "query", "label", "human_or_machine")

    def files(self) -> list[Path]:
        files = super().files()
        return [path for path in files if "train" in path.name] or files

    def row_id(self, row: Row, index: int) -> str:
        return f"chartqa_train_{index}"

    def parse(self, row: Row, index: int) -> Any:
        made_by = row.get("human_or_machine")
        if made_by is None:
            raise BadRow("missing_human_or_machine", "the row does not say who wrote the question")
        if made_by not in _HUMAN:
            return NOT_OURS
        labels = _labels(first(row, "label", "answer"))
        answer = labels[0]
        if answer.strip(" .").casefold() in _YES_NO:
            raise BadRow("yes_no_answer", answer)
        return Candidate(
            id=self.row_id(row, index),
            question=text(row, "query", "question"),
            answer=answer,
            candidates=other_forms(answer, labels[1:]),
            pictures=(picture_bytes(first(row, "image", "imgname"), self.folder),),
            meta={"split": "train", "row": index},
        )


def _labels(value: Any) -> list[str]:
    values = value if isinstance(value, list | tuple) else [value]
    out = []
    for item in values:
        if is_number(item):
            item = str(item)
        if isinstance(item, str) and item.strip():
            out.append(writable(item.strip(), "label"))
    if not out:
        raise BadRow("missing_label", "field 'label' must be text or a list with one text")
    return out

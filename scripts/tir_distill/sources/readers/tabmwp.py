"""TabMWP with a table picture, questions with a numeric answer only (seed section 3).

The hub set has no answer type, so the filter looks at ``options`` and ``answer``: no options, and a number with
optional sign, thousands commas, decimals, or a fraction of integers.
"""

from __future__ import annotations

import re

from ..candidate import Candidate
from ..fields import Row, first, text
from ..numpy_list import parse_list
from ..picture_bytes import picture_bytes
from .base import BadRow, QuestionReader

_NUMBER = re.compile(r"[-+\u2212]?(?:(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+|\d+/[1-9]\d*)", re.ASCII)


def is_numeric(answer: str) -> bool:
    """Whether the whole answer is one number."""
    return _NUMBER.fullmatch(answer) is not None


class TabMwpNumeric(QuestionReader):
    """Bucket tabmwp_numeric."""

    source = "tabmwp"
    columns = ("image", "id", "question", "options", "choices", "answer", "grade", "unit")
    required = ("image", "id", "question", "options", "answer")

    def row_id(self, row: Row, index: int) -> str:
        name = row.get("id")
        known = isinstance(name, str | int) and not isinstance(name, bool) and str(name).strip()
        return f"tabmwp_{str(name).strip()}" if known else f"tabmwp#{index}"

    def parse(self, row: Row, index: int) -> Candidate:
        answer = text(row, "answer")
        if parse_list(first(row, "options", "choices")):
            raise BadRow("multiple_choice", "the question has options")
        if not is_numeric(answer):
            raise BadRow("not_numeric", answer[:60])
        return Candidate(
            id=self.row_id(row, index),
            question=text(row, "question"),
            answer=answer,
            pictures=(picture_bytes(row.get("image"), self.folder),),
            meta={"split": "train"},
        )

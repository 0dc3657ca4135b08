"""No id, no question and no fingerprint stands in the file twice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ..export import IMAGE_TAG
from ..records import text_digest
from .findings import Finding
from .view import View

CHECK = "duplicates"


@dataclass
class Duplicates:
    """Remembers 8 bytes a row for ids, questions and fingerprints each, with the line."""

    fingerprints: bool = True
    """Rows of samples of ours: a fingerprint is one question's."""
    _ids: dict[int, int] = field(default_factory=dict)
    _questions: dict[int, int] = field(default_factory=dict)
    _fingerprints: dict[int, int] = field(default_factory=dict)

    def check(self, view: View, line: int) -> Iterator[Finding]:
        """Same id; or same question text (case and white space apart) about the same pictures; or the fingerprint of
        another row, which says that one of the two names the wrong sample."""
        row_id = view.row.get("id")
        if isinstance(row_id, str) and (first := self._ids.setdefault(_short(row_id), line)) != line:
            yield Finding(check=CHECK, reason="id", detail=f"also on line {first}")
        asked = [message["content"] for message in view.messages if message["role"] == "user"]
        pictures = asked[0].count(IMAGE_TAG) if asked else 0
        text = " ".join("\n".join(asked).replace(IMAGE_TAG, " ").casefold().split())
        key = _short("\x1f".join([text, *view.images[:pictures]]))
        if (first := self._questions.setdefault(key, line)) != line:
            yield Finding(check=CHECK, reason="question", detail=f"also on line {first}")
        if not self.fingerprints:
            return
        lineage = view.row.get("lineage")
        mark = lineage.get("fingerprint") if isinstance(lineage, dict) else None
        if isinstance(mark, str) and mark and (first := self._fingerprints.setdefault(_short(mark), line)) != line:
            yield Finding(check=CHECK, reason="fingerprint", detail=f"also on line {first}")


def _short(text: str) -> int:
    return int(text_digest(text)[:16], 16)

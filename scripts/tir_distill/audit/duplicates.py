"""No id, no question and no fingerprint stands in the file twice; in files that are not ours, no id and no row."""

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
        another row, which says that one of the two names the wrong sample. Where a question may have several
        trajectories, only the same one again counts."""
        row_id = view.row.get("id")
        if type(row_id) in (str, int) and (first := self._ids.setdefault(_short(str(row_id)), line)) != line:
            yield Finding(check=CHECK, reason="id", detail=f"also on line {first}")
        asked = [message["content"] for message in view.messages if message["role"] == "user"]
        pictures = asked[0].count(IMAGE_TAG) if asked else 0
        text = " ".join("\n".join(asked).replace(IMAGE_TAG, " ").casefold().split())
        parts = [text, *view.images[:pictures]]
        if not view.profile.one_row_a_question:
            parts += _said(view)
        if (first := self._questions.setdefault(_short("\x1f".join(parts)), line)) != line:
            reason = "question" if view.profile.one_row_a_question else "row"
            yield Finding(check=CHECK, reason=reason, detail=f"also on line {first}")
        if not self.fingerprints:
            return
        lineage = view.row.get("lineage")
        mark = lineage.get("fingerprint") if isinstance(lineage, dict) else None
        if isinstance(mark, str) and mark and (first := self._fingerprints.setdefault(_short(mark), line)) != line:
            yield Finding(check=CHECK, reason="fingerprint", detail=f"also on line {first}")


def _said(view: View) -> Iterator[str]:
    """What the model wrote in all turns: text and calls, ids aside."""
    for reply in view.replies:
        yield reply.text
        for call in reply.calls:
            yield f"{call.name}\x1e{call.raw}"


def _short(text: str) -> int:
    return int(text_digest(text)[:16], 16)

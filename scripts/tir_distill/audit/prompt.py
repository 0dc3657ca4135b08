"""One system text and one set of tools in the whole file: two versions teach two ways to work (seed section 4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .findings import Finding
from .shape import CHECK
from .view import View


@dataclass
class OnePrompt:
    """Remembers the first row's."""

    _first: tuple[str, str] | None = None

    def check(self, view: View) -> Iterator[Finding]:
        """Rows that differ from the first one by a character, and rows without a system text."""
        if view.messages[0]["role"] != "system":
            yield Finding(
                check=CHECK, reason="no_system", message=0, detail="the first message must be the system text"
            )
            return
        system, tools = view.messages[0]["content"], view.row.get("tools")
        if not system.strip():
            yield Finding(check=CHECK, reason="empty_system", message=0, detail="the system text says nothing")
        if not isinstance(tools, str):  # said elsewhere
            return
        if self._first is None:
            self._first = (system, tools)
            return
        if system != self._first[0]:
            place = next((i for i, (a, b) in enumerate(zip(system, self._first[0], strict=False)) if a != b), 0)
            detail = f"differs from the first row's from character {place} on"
            yield Finding(check=CHECK, reason="other_system", message=0, detail=detail, excerpt=system[place:])
        if tools != self._first[1]:
            yield Finding(check=CHECK, reason="tools_differ", detail="not the tools of the first row")

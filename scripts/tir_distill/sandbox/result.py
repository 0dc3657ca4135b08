"""What a cell gave."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

CellStatus = Literal["ok", "error", "timeout", "memory", "disk", "killed", "infrastructure"]
"""``error``: the code raised; ``killed``: its process ended or had to be ended; ``infrastructure``: our side failed,
which says nothing about the code."""


@dataclass(frozen=True, slots=True)
class CellImage:
    """A picture shown or saved by the cell, re-encoded as 8-bit RGB PNG."""

    name: str
    png: bytes
    width: int
    height: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CellResult:
    """Everything that the model may be told."""

    status: CellStatus
    stdout: str = ""
    stderr: str = ""
    error: str = ""
    """Traceback of the cell's own lines."""
    note: str = ""
    """One plain line of ours, in square brackets."""
    images: tuple[CellImage, ...] = ()
    restarted: bool = False
    """The session lost its variables."""
    cut: bool = False
    """More was printed than is kept."""
    seconds: float = 0.0

    @property
    def output(self) -> str:
        """What was printed: stdout, then stderr under a line of its own."""
        text = self.stdout
        if self.stderr.strip():
            text = _join(text, "[stderr]\n" + self.stderr)
        return text

    @property
    def tail(self) -> str:
        """Traceback and note: what must survive when output is cut."""
        return _join(self.error, self.note)

    @property
    def text(self) -> str:
        """Output and tail; ``(no output)`` when there is nothing at all."""
        text = _join(self.output, self.tail).rstrip("\n")
        return text if text or self.images else "(no output)"


def _join(first: str, second: str) -> str:
    if not (first and second):
        return first or second
    return first + second if first.endswith("\n") else f"{first}\n{second}"

"""What every tool does with its text before the model sees it."""

from __future__ import annotations

from ..records.neutralise import neutralise

MARKER = "\n[tool output truncated]"


def for_model(text: str, limit: int, tail: str = "") -> tuple[str, bool]:
    """Harmless text of at most ``limit`` characters (without the marker), and whether it was cut.

    ``tail`` (a traceback, a note of ours) is kept whole when it takes up to half of the room: what is cut is what was
    printed before it.
    """
    text, tail = neutralise(text), neutralise(tail)
    if not tail:
        return (text[:limit] + MARKER, True) if len(text) > limit else (text, False)
    cut = False
    if len(tail) > limit // 2 and len(text) + len(tail) > limit:
        keep = max(limit // 2, limit - len(text))
        tail, cut = tail[-keep:], True
    room = limit - len(tail)
    if len(text) > room:
        text, cut = text[:room], True
    parts = [text.rstrip("\n") + (MARKER if cut else ""), tail]
    return "\n".join(part for part in parts if part).lstrip("\n"), cut

"""Check 3: nothing was cut. The marker of a cut tool output is legal in tool messages (F8) and nowhere else."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .findings import Finding, around
from .settings import AuditSettings
from .view import View

CHECK = "3_truncation"

MARKER = re.compile(r"\[(?:tool output |output |text )?truncated\]|<truncated>", re.IGNORECASE)
PAIRS = (("<think>", "</think>"), ("<tool_call>", "</tool_call>"), ("<answer>", "</answer>"))


def check_truncation(view: View) -> Iterator[Finding]:
    """Markers and open tags in assistant messages. The length is counted apart (``check_length``)."""
    for reply in view.replies:
        if "truncated" in reply.text and (match := MARKER.search(reply.text)):
            excerpt = around(reply.text, match.group())
            yield Finding(check=CHECK, reason="marker", message=reply.message, detail=match.group(), excerpt=excerpt)
        for start, end in PAIRS:
            # Thinking may well speak of <answer> once; only the visible text has to close it.
            text = reply.visible if start == "<answer>" else reply.text
            if text.count(start) > text.count(end):
                reason = f"unclosed_{start[1:-1]}"
                yield Finding(check=CHECK, reason=reason, message=reply.message, excerpt=around(text, start))


def check_length(tokens: int, settings: AuditSettings) -> Iterator[Finding]:
    """The exact length of the sequence, pictures included."""
    if tokens > settings.max_length:
        detail = f"{tokens} tokens, at most {settings.max_length} are trained"
        yield Finding(check=CHECK, reason="too_long", detail=detail)

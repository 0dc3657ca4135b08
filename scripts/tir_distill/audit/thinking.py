"""Check 1: every assistant turn thinks, once and in front; the last one answers and is not a call."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from ..records.behaviour import find_answer
from .findings import Finding, around
from .settings import AuditSettings
from .view import CLOSE, OPEN, View

CHECK = "1_thinking"
BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and signs that are drawn as nothing."""


def check_thinking(view: View, settings: AuditSettings) -> Iterator[Finding]:
    """Unclosed tags belong to check 3 and are passed over here."""
    for reply in view.replies:
        opened, closed = reply.text.count(OPEN), reply.text.count(CLOSE)
        excerpt = reply.text[:160]
        if reply.thinking is not None:
            if not shows(reply.thinking):
                yield Finding(check=CHECK, reason="empty_think", message=reply.message, excerpt=excerpt)
            elif is_one_character(reply.thinking):
                detail = f"{reply.thinking[0]!r} over and over"
                yield Finding(check=CHECK, reason="no_thought", message=reply.message, detail=detail, excerpt=excerpt)
            elif len(reply.thinking) < settings.min_think_chars:
                detail = f"{len(reply.thinking)} characters, at least {settings.min_think_chars} expected"
                yield Finding(check=CHECK, reason="short_think", message=reply.message, detail=detail, excerpt=excerpt)
        elif opened == closed == 0:
            yield Finding(check=CHECK, reason="missing_think", message=reply.message, excerpt=excerpt)
        elif opened == closed == 1:
            yield Finding(check=CHECK, reason="text_before_think", message=reply.message, excerpt=excerpt)
        elif closed > opened:
            place = around(reply.text, CLOSE)
            yield Finding(check=CHECK, reason="stray_think_end", message=reply.message, excerpt=place)
        elif opened == closed:
            yield Finding(check=CHECK, reason="two_thinks", message=reply.message, excerpt=excerpt)
    if settings.profile.one_answer:
        yield from _answers(view)
    last = len(view.messages) - 1
    if view.messages[last]["role"] != "assistant":
        yield Finding(check=CHECK, reason="ends_with_tool", message=last, detail=str(view.messages[last]["role"]))
        return
    reply = view.replies[-1]
    text = reply.visible
    if reply.calls:
        yield Finding(check=CHECK, reason="ends_with_call", message=last)
    elif not shows(find_answer(text) or "") and text.count("<answer>") <= text.count("</answer>"):
        yield Finding(check=CHECK, reason="no_answer", message=last, excerpt=text[-160:])


def shows(text: str) -> bool:
    """Whether there is anything to see: a letter, digit, sign or mark. White space and what has no width is nothing."""
    return any(unicodedata.category(char)[0] in "LNPS" and char not in BLANK for char in text)


def is_one_character(text: str) -> bool:
    """Whether a text is one character again and again, white space aside."""
    return not text.strip(f"{text[0]} \t\r\n\u3000")


def _answers(view: View) -> Iterator[Finding]:
    """One answer, at the end: a student that answers and goes on is stopped in the middle where it is evaluated."""
    for reply in view.replies:
        last = reply is view.replies[-1]
        if last and reply.visible.count("<answer>") > 1:
            yield Finding(check=CHECK, reason="two_answers", message=reply.message, excerpt=reply.visible[-160:])
        elif not last and find_answer(reply.visible):
            place = around(reply.visible, "<answer>")
            yield Finding(check=CHECK, reason="early_answer", message=reply.message, excerpt=place)

"""Check 1: every assistant turn thinks, once and in front; the last one answers and is not a call."""

from __future__ import annotations

from collections.abc import Iterator

from ..records.behaviour import find_answer
from .findings import Finding, around
from .settings import AuditSettings
from .view import CLOSE, OPEN, View

CHECK = "1_thinking"


def check_thinking(view: View, settings: AuditSettings) -> Iterator[Finding]:
    """Unclosed tags belong to check 3 and are passed over here."""
    for reply in view.replies:
        opened, closed = reply.text.count(OPEN), reply.text.count(CLOSE)
        excerpt = reply.text[:160]
        if reply.thinking is not None:
            if not reply.thinking:
                yield Finding(check=CHECK, reason="empty_think", message=reply.message, excerpt=excerpt)
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
    if settings.profile.our_keys:
        yield from _answers(view)
    last = len(view.messages) - 1
    if view.messages[last]["role"] != "assistant":
        yield Finding(check=CHECK, reason="ends_with_tool", message=last, detail=str(view.messages[last]["role"]))
        return
    reply = view.replies[-1]
    if reply.calls:
        yield Finding(check=CHECK, reason="ends_with_call", message=last)
    elif not find_answer(reply.visible) and reply.visible.count("<answer>") <= reply.visible.count("</answer>"):
        yield Finding(check=CHECK, reason="no_answer", message=last, excerpt=reply.visible[-160:])


def _answers(view: View) -> Iterator[Finding]:
    """One answer, at the end: a student that answers and goes on is stopped in the middle where it is evaluated."""
    for reply in view.replies:
        last = reply is view.replies[-1]
        if last and reply.visible.count("<answer>") > 1:
            yield Finding(check=CHECK, reason="two_answers", message=reply.message, excerpt=reply.visible[-160:])
        elif not last and find_answer(reply.visible):
            place = around(reply.visible, "<answer>")
            yield Finding(check=CHECK, reason="early_answer", message=reply.message, excerpt=place)

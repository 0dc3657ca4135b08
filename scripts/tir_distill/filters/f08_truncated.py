"""F8: nothing of the teacher's was cut off (seed section 11).

A cut of the server's (``finish_reason`` length) is the rule; markup that was opened and not closed, and the tool
output's cut marker in the teacher's own text, show a cut that the server did not report. The marker is legal in tool
messages.
"""

from __future__ import annotations

import re

from ..records import Trajectory
from .report import Fail
from .settings import FilterSettings

RULE = "F8"
MARKER = "[tool output truncated]"
_TAG = re.compile(r"<(/?)(think|answer)>")


def check(trajectory: Trajectory, settings: FilterSettings) -> Fail | None:
    if trajectory.stop == "truncated" or any(turn.finish_reason == "length" for turn in trajectory.turns):
        return Fail(RULE, "length")
    for turn in trajectory.turns:
        if MARKER in turn.content or MARKER in turn.thinking:
            return Fail(RULE, "marker_in_text")
        if _unclosed(turn.content):
            return Fail(RULE, "unclosed_markup")
    return None


def _unclosed(text: str) -> bool:
    if "<" not in text:
        return False
    tags = _TAG.findall(text)
    return any(
        sum(not close for close, name in tags if name == tag) != sum(bool(close) for close, name in tags if name == tag)
        for tag in ("think", "answer")
    )

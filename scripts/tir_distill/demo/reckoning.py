"""Questions that are computed from a picture: measure with code, compute from what was printed, answer."""

from __future__ import annotations

import re

from . import cells
from .dialogue import Dialogue
from .inventory import Ask
from .moves import Move, answer, python
from .prose import Voice

OUTPUT_CHARS = 160
"""How much of a cell's output is quoted."""


def quote(text: str) -> str:
    """Printed output on one line, as it is quoted in thinking."""
    return " ".join(text.split())[:OUTPUT_CHARS]


def result_of(dialogue: Dialogue) -> str | None:
    """What the last cell printed after ``result:``."""
    for item in reversed(dialogue.of("python")):
        found = re.search(r"^result: (.+)$", item.text, re.MULTILINE)
        if found:
            return found[1].strip()
    return None


def reckon(ask: Ask, dialogue: Dialogue, voice: Voice, sample: int) -> Move:
    """The honest next step for a drawn chart or table: two cells, or one that does both."""
    chart = ask.group == "charts"
    reader = cells.read_chart() if chart else cells.read_table()
    name = "values" if chart else "cells"
    compute = cells.compute_chart(ask.task) if chart else cells.compute_table(ask.task)
    value = result_of(dialogue)
    done = dialogue.of("python")
    if value is not None:
        output = quote(done[-1].text)
        thinking = voice.think("computed", output=output, value=value)
        return Move(thinking, f"{voice.visible('computed', value=value)}\n\n{answer(value)}")
    last = done[-1].text if done else ""
    if dialogue.told_to_answer or len(done) >= 4:
        return Move(voice.think("lost", label="result"), f"{voice.visible('lost')}\n\n{answer('not measured')}")
    measured = re.search(r"^measured: (.+)$", last, re.MULTILINE)
    if measured:
        code = f"{name} = {measured[1].strip()}\n{compute}"
        return Move(voice.think("measured", output=quote(last)), "", (python(code),))
    together = sample % 2 == 1
    code = f'{reader}print("measured:", {name})\n' + (compute if together else "")
    return Move(voice.think("measure"), voice.visible("measure"), (python(code.rstrip() + "\n"),))


def reckon_with_key(key: str, dialogue: Dialogue, voice: Voice) -> Move:
    """For a real picture: look at it, quote what the look told, and answer from the key."""
    done = dialogue.of("python")
    if not done and not dialogue.told_to_answer:
        return Move(voice.think("measure"), voice.visible("measure"), (python(cells.LOOK),))
    output = quote(done[-1].text) if done else "nothing"
    thinking = voice.think("looked", "computed", output=output, value=key)
    return Move(thinking, f"{voice.visible('computed', value=key)}\n\n{answer(key)}")

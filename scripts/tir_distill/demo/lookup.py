"""Questions that must be looked up: search, open, read one line, and so on until the last fact is found.

Everything is worked out anew from the conversation, so the same conversation always gives the same next step.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from .dialogue import Dialogue, Observation
from .inventory import Hop
from .moves import Call, Move, answer, open_page, search
from .prose import Voice

MAX_OPENS = 3
"""Pages read per step before the query is put in other words."""
MAX_SEARCHES = 2
"""Queries per step before giving up."""


@dataclass
class Progress:
    """How far a look-up has come."""

    facts: list[str] = field(default_factory=list)
    searches: list[Observation] = field(default_factory=list)
    """Since the last fact was read."""
    opened: list[str] = field(default_factory=list)
    """URLs opened since the last fact was read."""
    read_now: bool = False
    """The newest observation brought the last fact."""
    titles: dict[str, str] = field(default_factory=dict)


def read_line(text: str, label: str) -> str | None:
    """The fact behind ``label`` on a line of its own, as it stands there."""
    found = re.search(rf"^[ \t*-]*{re.escape(label)}[ \t]*[:：][ \t]*(.+?)[ \t]*$", text, re.MULTILINE)
    return found[1] if found else None


class Lookup:
    """The look-up of one question."""

    def __init__(self, hops: Sequence[Hop], plate: int | None, question: str, mark: str = "") -> None:
        self._hops = hops
        self._plate = plate
        self._question = question
        self._mark = mark

    def progress(self, dialogue: Dialogue) -> Progress:
        """Replay the conversation: which facts has the teacher read so far?"""
        state = Progress()
        for item in dialogue.observations:
            state.read_now = False
            if item.name == "search":
                state.searches.append(item)
                state.titles.update({url: title for title, url in item.results})
            elif item.name == "open":
                url = str(item.arguments.get("url", ""))
                if url in state.titles:
                    state.opened.append(url)
                if len(state.facts) < len(self._hops):
                    value = self._read(item.text, state)
                    if value is not None:
                        state.facts.append(value)
                        state.searches, state.opened, state.read_now = [], [], True
        return state

    def _read(self, text: str, state: Progress) -> str | None:
        """The fact of the present step, if this page is about the right thing."""
        if self._mark and self._mark not in text:
            return None
        if self._plate is not None and not state.facts and not re.search(rf"(?:Plate|Photo): {self._plate}\b", text):
            return None
        if state.facts and state.facts[-1].split(",")[0] not in text:
            return None
        return read_line(text, self._hops[len(state.facts)].read)

    def query(self, facts: Sequence[str], attempt: int = 0) -> str:
        """What to search for in the present step; the second attempt adds the question's own words."""
        hop = self._hops[min(len(facts), len(self._hops) - 1)]
        text = hop.query.replace("{plate}", str(self._plate if self._plate is not None else ""))
        for index, fact in enumerate(facts):
            text = text.replace(f"{{{index}}}", fact)
        return text if attempt == 0 else f"{text} {self._question}"[:300]

    def label(self, facts: Sequence[str]) -> str:
        """The label that is looked for, or the last one when all is found."""
        return self._hops[min(len(facts), len(self._hops) - 1)].read

    def done(self, state: Progress) -> bool:
        return len(state.facts) == len(self._hops)

    def unread(self, state: Progress) -> list[str]:
        """Results of this step's searches that were not opened yet, best first."""
        urls = [url for item in state.searches for _, url in item.results]
        return [url for url in dict.fromkeys(urls) if url not in state.opened]

    def next_move(self, dialogue: Dialogue, voice: Voice) -> Move:
        """The honest next step."""
        state = self.progress(dialogue)
        label = self.label(state.facts)
        if self.done(state):
            return self.finish(state.facts[-1], label, voice)
        opening = ["missing"] if state.opened else []
        if state.read_now:
            opening = ["next"]
        slots = {"label": label, "seen": self._seen()}
        if opening == ["next"]:
            slots |= {"value": state.facts[-1]}
        unread = self.unread(state)
        if state.searches and unread and len(state.opened) < MAX_OPENS * len(state.searches):
            if dialogue.told_to_answer:
                return self.give_up(label, voice)
            title = state.titles[unread[0]]
            thinking = voice.think(*opening, "open", title=title, **slots)
            return Move(thinking, voice.visible("open", title=title), (open_page(unread[0]),))
        if len(state.searches) >= MAX_SEARCHES or dialogue.told_to_answer:
            return self.give_up(label, voice)
        query = self.query(state.facts, len(state.searches))
        if not dialogue.turns:
            opening = ["plan"]
        if opening == ["next"]:  # the sentence names the fact's own label, not the next one
            slots["label"] = self.label(state.facts[:-1])
        thinking = voice.think(*opening, "search", query=query, **slots)
        return Move(thinking, voice.visible("search"), (search(query),))

    def finish(self, value: str, label: str, voice: Voice) -> Move:
        thinking = voice.think("answer", label=label, value=value)
        return Move(thinking, f"{voice.visible('answer', label=label, value=value)}\n\n{answer(value)}")

    def give_up(self, label: str, voice: Voice) -> Move:
        """No source was found: say so. It is never the right answer."""
        text = "未找到" if voice.lang == "zh" else "not found"
        return Move(voice.think("lost", label=label), f"{voice.visible('lost')}\n\n{answer(text)}")

    def more_searches(self, state: Progress, count: int) -> tuple[Call, ...]:
        """Further searches about what is known, each with other words."""
        fact = state.facts[-1] if state.facts else ""
        words = ("history", "source", "archive", "report", "record", "survey", "catalogue", "chronicle", "register")
        asked = len(state.searches)
        return tuple(search(f"{self.query(state.facts[:-1])} {fact} {words[(asked + n) % 9]}") for n in range(count))

    def _seen(self) -> str:
        if self._plate is None:
            return ""
        return f"The plate in the corner of the picture reads {self._plate}."

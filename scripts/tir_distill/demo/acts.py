"""Scripted samples (``playbook.yaml``): each departs from the honest next step in one way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from . import cells
from .dialogue import Dialogue
from .inventory import Ask
from .lookup import Lookup, read_line
from .moves import Move, answer, open_page, python, search
from .prose import Voice
from .reckoning import result_of


@dataclass(frozen=True)
class Scene:
    """What an act works with."""

    ask: Ask
    dialogue: Dialogue
    voice: Voice
    honest: Callable[[], Move]
    """The next step of a teacher that behaves."""
    lookup: Lookup | None
    plate: int | None
    options: Mapping[str, Any]

    @property
    def turn(self) -> int:
        return self.dialogue.turns


def wrong_line(scene: Scene) -> Move:
    """F1: reads another line of the right page."""
    assert scene.lookup is not None
    state = scene.lookup.progress(scene.dialogue)
    if not scene.lookup.done(state):
        return scene.honest()
    page = scene.dialogue.of("open")[-1].text
    label = str(scene.options["line"])
    return scene.lookup.finish(read_line(page, label) or "unknown", label, scene.voice)


def open_blocked(scene: Scene) -> Move:
    """F2: opens a data set's page, then goes on as it should."""
    if scene.turn == 1:
        url = str(scene.options["url"])
        return Move(scene.voice.think("open", title="a list of questions"), "", (open_page(url),))
    return scene.honest()


def read_plate_only(scene: Scene) -> Move:
    """F3: answers from the picture without searching."""
    value = str(scene.plate)
    thinking = scene.voice.think("plate", "answer", value=value, label="Number")
    return Move(thinking, f"The plate reads {value}.\n\n{answer(value)}")


def picture_code(scene: Scene) -> Move:
    """F4: picture code although there is no picture."""
    if scene.turn == 0:
        thinking = scene.voice.think("plan")
        return Move(thinking, "", (python(cells.PICTURE_CODE),))
    return scene.honest()


def silent_picture_cell(scene: Scene) -> Move:
    """F5: a picture cell whose output says nothing, and a second cell that cannot do without its variables."""
    value = result_of(scene.dialogue)
    if value is not None:
        return scene.honest()
    if scene.turn == 0:
        return Move(scene.voice.think("measure"), "", (python(cells.read_chart()),))
    code = cells.compute_chart(scene.ask.task)
    return Move(scene.voice.think("measure"), "Now the arithmetic.", (python(code),))


def single_letter(scene: Scene) -> Move:
    """F6: answers with the letter alone."""
    move = scene.honest()
    facts = scene.lookup.progress(scene.dialogue).facts if scene.lookup else []
    if "<answer>" not in move.content or not facts:
        return move
    value = facts[-1]
    return replace(move, content=f"The berth is marked with a letter.\n\n{answer(value[-1])}")


def same_turn_twice(scene: Scene) -> Move:
    """F7: says and does the very same thing in two turns."""
    if scene.turn > 1 or scene.lookup is None:
        return scene.honest()
    query = scene.lookup.query([])
    voice = Voice(scene.ask.text, 0, 0, 0)
    return Move(voice.think("plan", "search", query=query), "I will search for it.", (search(query),))


def cut_short(scene: Scene) -> Move:
    """F8: the last reply is cut at the token limit."""
    move = scene.honest()
    if "<answer>" not in move.content:
        return move
    return replace(move, content=f"{move.content}\n\nFor the record, the page also lists the", finish="length")


def quotes_marker(scene: Scene) -> Move:
    """F8: the mark of a cut stands in the teacher's own text."""
    move = scene.honest()
    if "<answer>" not in move.content:
        return move
    return replace(move, thinking=f"{move.thinking} The page goes on with [tool output truncated] and I stop here.")


def terse(scene: Scene) -> Move:
    """F9: hardly thinks at all, yet enough for F10."""
    move = scene.honest()
    short = ("Look for the plate's page.", "Read the first result.", "The page names the person.")
    content = move.content.rpartition("\n")[2] if "<answer>" in move.content else ""
    return replace(move, thinking=short[min(scene.turn, 2)], content=content)


def long_winded(scene: Scene) -> Move:
    """F9: thinks far too much."""
    move = scene.honest()
    return replace(move, thinking=f"{move.thinking}\n{scene.voice.essay('the table of mugs', 15000)}")


def thoughtless_turn(scene: Scene) -> Move:
    """F10: one turn with almost no thinking."""
    move = scene.honest()
    return replace(move, thinking="Open it.") if move.calls and move.calls[0].name == "open" else move


def read_tide_logs(scene: Scene) -> Move:
    """F11: reads long tables of figures that nobody asked for."""
    if scene.turn in (1, 2):
        years = range(1990 + 3 * (scene.turn - 1), 1993 + 3 * (scene.turn - 1))
        calls = tuple(open_page(f"https://atlas.example/tide-log/{year}") for year in years)
        return Move(scene.voice.think("open", title="Tide log of the Brennick gauge house"), "", calls)
    return scene.honest()


def search_on(scene: Scene) -> Move:
    """Goes on searching when all is known, until it is told to answer."""
    assert scene.lookup is not None
    state = scene.lookup.progress(scene.dialogue)
    if not scene.lookup.done(state) or scene.dialogue.told_to_answer or scene.turn > 8:
        return scene.honest()
    calls = scene.lookup.more_searches(state, 3)
    slots = {"label": scene.lookup.label(state.facts), "value": state.facts[-1]}
    return Move(scene.voice.think("verify", query=str(calls[0].arguments["query"]), **slots), "", calls)


def open_on(scene: Scene) -> Move:
    """Goes on reading page after page when all is known, until it is told to answer."""
    assert scene.lookup is not None
    state = scene.lookup.progress(scene.dialogue)
    if not scene.lookup.done(state) or scene.dialogue.told_to_answer or scene.turn > 18:
        return scene.honest()
    slots = {"label": scene.lookup.label(state.facts), "value": state.facts[-1]}
    seen = {str(item.arguments.get("url")) for item in scene.dialogue.of("open")}
    for item in scene.dialogue.of("search"):
        for title, url in item.results:
            if url not in seen and "tide-log" not in url:
                return Move(scene.voice.think("verify", query=title, **slots), "", (open_page(url),))
    call = scene.lookup.more_searches(state, 1)[0]
    return Move(scene.voice.think("verify", query=str(call.arguments["query"]), **slots), "", (call,))


def swallowed_call(scene: Scene) -> Move:
    """The first call arrives as text without its closing tag (seed section 9)."""
    move = scene.honest()
    return replace(move, swallowed=True, content="") if scene.turn == 0 else move


def parallel_calls(scene: Scene) -> Move:
    """Four searches in one turn, one more than is run."""
    if scene.turn or scene.lookup is None:
        return scene.honest()
    query = scene.lookup.query([])
    calls = tuple(search(f"{query}{more}") for more in ("", " engineer", " river crossing", " lottery"))
    return Move(scene.voice.think("plan", "search", query=query), "", calls)


def return_picture(scene: Scene) -> Move:
    """Enlarges a part of the picture first, then measures."""
    done = scene.dialogue.of("python")
    if not done:
        return Move(scene.voice.think("measure"), "", (python(cells.ENLARGE),))
    if len(done) == 1:
        move = scene.honest()
        thinking = scene.voice.think("enlarged", output=" ".join(done[0].text.split())[:120])
        return replace(move, thinking=thinking)
    return scene.honest()


def no_answer(scene: Scene) -> Move:
    """Reads what there is and ends in prose without an answer."""
    move = scene.honest()
    if "<answer>" not in move.content:
        return move
    return replace(move, content="The pages that I found do not name the builder, so I leave the question open.")


ACTS: dict[str, Callable[[Scene], Move]] = {
    act.__name__: act
    for act in (
        wrong_line,
        open_blocked,
        read_plate_only,
        picture_code,
        silent_picture_cell,
        single_letter,
        same_turn_twice,
        cut_short,
        quotes_marker,
        terse,
        long_winded,
        thoughtless_turn,
        read_tide_logs,
        search_on,
        open_on,
        swallowed_call,
        parallel_calls,
        return_picture,
        no_answer,
    )
}

"""One accepted sample as one ms-swift row (seed section 7; the shapes that load and render alike).

A row says what was run or is not written: ``to_row`` raises BadRow with a reason where it cannot be faithful.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from ..records import BadRow, Trajectory, Turn
from ..records.behaviour import CODE_TOOLS, find_answer, find_call_text, has_image_code, has_search
from ..records.conversation import assistant_content
from .lineage import lineage_of
from .markup import find_markup
from .places import PicturePlaces
from .render import IMAGE_TAG, parse_arguments
from .settings import ExportSettings

Row = dict[str, Any]

ROW_KEYS = (
    "id",
    "messages",
    "images",
    "tools",
    "source",
    "bucket",
    "task_type",
    "teacher",
    "n_samples",
    "judge_model",
    "has_self_search",
    "has_image_code",
    "answer",
    "licence",
    "lineage",
)
"""Keys of every row, in this order. None of them is a name that ms-swift reads as something else."""


def to_row(trajectory: Trajectory, *, places: PicturePlaces, settings: ExportSettings, n_samples: int) -> Row:
    """The row of a repaired, accepted sample. ``n_samples``: samples taken of this question.

    Raises BadRow: ``malformed_call``, ``unpaired_calls``, ``infrastructure``, ``missing_think``, ``no_answer``,
    ``two_answers``, ``early_answer``, ``ends_with_call``, ``truncated``, ``bad_arguments``, ``markup_in_text``,
    ``picture_missing``, ``picture_outside_root``, ``not_unicode``, ``no_licence``, ``private``.
    """
    question, verdict = trajectory.question, trajectory.verdict
    if question.meta.get("private"):
        raise BadRow("private", "an evaluation question; it never becomes a row")
    if trajectory.stop == "truncated":
        raise BadRow("truncated", "the teacher's text was cut at its token limit")
    _check_end(trajectory.turns)
    images = [places.question(path) for path in question.images]
    images += [places.tool(p.path) for turn in trajectory.turns for result in turn.results for p in result.images]
    calls = [call for turn in trajectory.turns for call in turn.calls]
    row: Row = {
        "id": question.id,
        "messages": messages_of(trajectory),
        "images": images,
        "tools": tools_text(trajectory.tools),
        "source": question.source,
        "bucket": question.bucket,
        "task_type": question.task_type,
        "teacher": trajectory.teacher,
        "n_samples": n_samples,
        "judge_model": verdict.judge_model if verdict else "rule",
        "has_self_search": has_search(call.name for call in calls),
        "has_image_code": any(
            call.name in CODE_TOOLS and has_image_code(str(parse_arguments(call.arguments).get("code", "")))
            for call in calls
        ),
        "answer": question.answer,
        "licence": settings.licence_of(question),
        "lineage": lineage_of(trajectory, settings.config_hash),
    }
    try:
        orjson.dumps(row)
    except TypeError as error:  # half of a surrogate pair, from damaged model output
        raise BadRow("not_unicode", str(error)) from error
    return row


def tools_text(tools: Sequence[Mapping[str, Any]]) -> str:
    """Tool schemas as one JSON string: the one form that loads whatever a file's other rows hold."""
    return orjson.dumps([dict(tool) for tool in tools]).decode()


def messages_of(trajectory: Trajectory) -> list[Row]:
    """Messages of a row: string contents, ``<image>`` tags where pictures stand, arguments as JSON text.

    Outer white space that the template trims anyway is not written, so that no reader can keep it.
    """
    question = trajectory.question
    messages: list[Row] = [
        {"role": "system", "content": _told(trajectory.system, "system")},
        {"role": "user", "content": _told(question.question, "user", before=IMAGE_TAG * len(question.images))},
    ]
    for turn in trajectory.turns:
        messages.append(_reply(turn))
        for result in turn.results:
            tags = IMAGE_TAG * len(result.images)
            # on a line of their own, as records.with_pictures shows them to the teacher
            line = "\n" if tags and not result.text.endswith("\n") else ""
            content = _told(result.text, f"result {result.call_id}", after=line + tags)
            messages.append({"role": "tool", "tool_call_id": result.call_id, "content": content})
    return messages


def _reply(turn: Turn) -> Row:
    thinking, visible = turn.thinking.strip(), turn.content.rstrip().lstrip("\n")
    for name, text in (("thinking", thinking), ("visible text", visible)):
        if found := find_markup(text, by_model=True):
            raise BadRow("markup_in_text", f"turn {turn.index}: {found!r} in the {name}")
    if found := find_call_text(visible):
        raise BadRow("markup_in_text", f"turn {turn.index}: a call written as text, {found!r}")
    if not thinking:
        raise BadRow("missing_think", f"turn {turn.index} has no thinking")
    reply: Row = {"role": "assistant", "content": assistant_content(thinking, visible), "turn": turn.index}
    if turn.calls:
        reply["tool_calls"] = [_call(turn, position) for position in range(len(turn.calls))]
    return reply


def _call(turn: Turn, position: int) -> Row:
    call = turn.calls[position]
    if call.malformed:
        raise BadRow("malformed_call", f"turn {turn.index}, {call.id}: {call.malformed}")
    for value in _texts(parse_arguments(call.arguments)):
        if found := find_markup(value, by_model=True):
            raise BadRow("markup_in_text", f"turn {turn.index}, {call.id}: {found!r} in an argument")
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


def _texts(value: Any) -> list[str]:
    """All strings in a parsed argument object, names included."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for key, item in value.items() for text in (key, *_texts(item))]
    if isinstance(value, list):
        return [text for item in value for text in _texts(item)]
    return []


def _told(text: str, where: str, *, before: str = "", after: str = "") -> str:
    """Text that the model was told, between picture tags, without the white space that the template trims."""
    if found := find_markup(text):
        raise BadRow("markup_in_text", f"{found!r} in {where}")
    return f"{before}{text}{after}".strip()


def _check_end(turns: Sequence[Turn]) -> None:
    """Calls and results pair, nothing of our own failures is inside, and the last turn answers."""
    for turn in turns:
        if [result.call_id for result in turn.results] != [call.id for call in turn.calls]:
            raise BadRow("unpaired_calls", f"turn {turn.index}: results do not follow its calls one to one")
        if any(result.status == "infrastructure" for result in turn.results):
            raise BadRow("infrastructure", f"turn {turn.index}: a tool failed on our side")
        if turn.finish_reason == "length":
            raise BadRow("truncated", f"turn {turn.index} was cut at the token limit")
    ids = [call.id for turn in turns for call in turn.calls]
    if len(set(ids)) != len(ids):
        raise BadRow("unpaired_calls", "call ids repeat")
    if not turns or turns[-1].calls:
        raise BadRow("ends_with_call", "the last turn is not an answer")
    if any(not turn.calls for turn in turns[:-1]):
        raise BadRow("two_replies", "a turn without a call stands before the last one")
    if not find_answer(turns[-1].content):
        raise BadRow("no_answer", "no <answer> in the last turn")
    if turns[-1].content.count("<answer>") > 1:
        raise BadRow("two_answers", "<answer> stands twice in the last turn")
    for turn in turns[:-1]:
        if find_answer(turn.content):
            raise BadRow("early_answer", f"turn {turn.index} answers and goes on calling")

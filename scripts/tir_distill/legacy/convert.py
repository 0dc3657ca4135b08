"""One legacy row as one native row, in the shape that the exporter writes (seed sections 8 and 10)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import orjson

from ..export import IMAGE_TAG, LINEAGE_KEYS, ROW_KEYS, Row, find_markup, tools_text
from ..records import BadRow, digest
from ..records.behaviour import has_image_code, has_search
from ..records.conversation import assistant_content
from ..records.neutralise import neutralise
from .answers import in_answer_tags
from .convention import runnable, uses, with_input_object
from .pictures import PictureStore, picture_bytes
from .shapes import LegacyRow
from .turns import NativeConversation, NativeTurn, python_call, to_turns

_AFTER_TAG = re.compile(r"(<image>)[ \t]*\n+")
_LINEAGE: dict[str, Any] = dict.fromkeys(LINEAGE_KEYS, "") | {
    "sample_index": 0,
    "seed": "0",
    "protocol": "text",
    "repaired_turns": "[]",
    "versions": "{}",
}


@dataclass(frozen=True)
class LegacySettings:
    """What every converted row of a file shares."""

    name: str
    """The file's name in the configuration: source and bucket of its rows."""
    system: str
    """The one system prompt, python-only variant."""
    tools: Sequence[Mapping[str, Any]]
    """Schemas that stand in every row; calls to other tools are refused."""
    pictures: Path | None
    """Folder that picture paths of the input are relative to."""
    row_root: Path
    """Folder that picture paths of the output are relative to."""
    licence: str = "not stated"

    @cached_property
    def tools_text(self) -> str:
        """``tools`` of every row."""
        return tools_text(self.tools)

    @cached_property
    def known(self) -> frozenset[str]:
        """Names of the tools that may be called."""
        return frozenset(tool["function"]["name"] for tool in self.tools)


@dataclass(frozen=True)
class Converted:
    """A native row and what the report counts about it."""

    row: Row
    has_code: bool
    image_path: bool
    input_image: bool


def convert(legacy: LegacyRow, settings: LegacySettings, store: PictureStore) -> Converted:
    """Convert one row. Raises BadRow with the reason under which it is dropped."""
    name = legacy.id
    conversation = to_turns(legacy.messages, name)
    _give_input_object(conversation)
    last = conversation.turns[-1]
    last.text = in_answer_tags(last.text)
    user = _tags_joined(conversation.user.strip())
    results = [result for turn in conversation.turns for result in turn.results]
    missing = len(legacy.images) - user.count(IMAGE_TAG) - sum(result.count(IMAGE_TAG) for result in results)
    if missing < 0:
        raise BadRow("picture_count", f"{name}: {-missing} more <image> tags than pictures")
    user = IMAGE_TAG * missing + user  # ms-swift puts missing tags there too
    given = user.count(IMAGE_TAG)

    messages: list[Row] = [
        {"role": "system", "content": settings.system},
        {"role": "user", "content": _told(user, name)},
    ]
    codes: list[str] = []
    names: list[str] = []
    for index, turn in enumerate(conversation.turns):
        calls, written = _calls(turn, index, legacy, given, settings.known)
        codes += written
        names += [call.name for call in turn.calls]
        messages.append(_reply(turn, index, calls, name))
        messages += [
            {"role": "tool", "tool_call_id": call["id"], "content": _told(_tags_joined(result), name)}
            for call, result in zip(calls, turn.results, strict=True)
        ]
    images = [store.put(picture_bytes(value, settings.pictures, name), name) for value in legacy.images]
    flags = [uses(code) for code in codes]
    row = _row(legacy, conversation, settings, messages, images, codes, names)
    return Converted(row, bool(codes), any(a for a, _ in flags), any(b for _, b in flags))


def _tags_joined(text: str) -> str:
    """No line break after a picture: the exporter writes none, and the official rendering would keep it."""
    return _AFTER_TAG.sub(r"\1", text) if IMAGE_TAG in text else text


def _give_input_object(conversation: NativeConversation) -> None:
    if not any("input_image" in call.arguments for turn in conversation.turns for call in turn.calls):
        return
    places = [(t, n) for t in conversation.turns for n, call in enumerate(t.calls) if call.name == "python"]
    codes = [orjson.loads(turn.calls[number].arguments)["code"] for turn, number in places]
    for (turn, number), code in zip(places, with_input_object(codes), strict=True):
        turn.calls[number] = python_call(code)


def _row(
    legacy: LegacyRow,
    conversation: NativeConversation,
    settings: LegacySettings,
    messages: list[Row],
    images: Sequence[Path],
    codes: Sequence[str],
    names: Sequence[str],
) -> Row:
    values: dict[str, Any] = {
        "id": f"{settings.name}_{legacy.id}",
        "messages": messages,
        "images": [path.relative_to(settings.row_root).as_posix() for path in images],
        "tools": settings.tools_text,
        "source": legacy.source,
        "bucket": settings.name,
        "task_type": "",  # the sets state none; a guess would hide from the audit that nothing is searched
        "teacher": "legacy",
        "n_samples": 1,
        "judge_model": "none",
        "has_self_search": has_search(names),
        "has_image_code": any(has_image_code(code) for code in codes),
        "answer": legacy.answer or conversation.answer or "",
        "licence": settings.licence,
        "lineage": _LINEAGE
        | {
            "sample": f"{settings.name}/{legacy.id}#0",
            "question": digest([conversation.user, legacy.answer]),
            "fingerprint": digest([[role, text] for role, text in legacy.messages]),
        },
    }
    return {key: values[key] for key in ROW_KEYS}


def _calls(
    turn: NativeTurn, index: int, legacy: LegacyRow, given: int, known: frozenset[str]
) -> tuple[list[Row], list[str]]:
    """The calls of a turn in OpenAI shape, and the code they run."""
    calls: list[Row] = []
    codes: list[str] = []
    for position, call in enumerate(turn.calls):
        if call.name not in known:
            raise BadRow("unsupported_tool", f"{legacy.id}: calls {call.name!r}, which this mix does not declare")
        arguments = call.arguments
        if call.name == "python":
            code = runnable(orjson.loads(arguments)["code"], legacy.image_paths, given, legacy.id)
            if found := find_markup(code, by_model=True):
                raise BadRow("markup_in_text", f"{legacy.id}: {found!r} in the code of turn {index}")
            codes.append(code)
            arguments = orjson.dumps({"code": code}).decode()
        calls.append(
            {
                "id": f"call_{index}_{position}",
                "type": "function",
                "function": {"name": call.name, "arguments": arguments},
            }
        )
    return calls, codes


def _reply(turn: NativeTurn, index: int, calls: list[Row], name: str) -> Row:
    for where, text in (("thinking", turn.thinking), ("visible text", turn.text)):
        if found := find_markup(text, by_model=True):
            raise BadRow("markup_in_text", f"{name}: {found!r} in the {where} of turn {index}")
    reply: Row = {"role": "assistant", "content": assistant_content(turn.thinking, turn.text), "turn": index}
    if calls:
        reply["tool_calls"] = calls
    return reply


def _told(text: str, name: str) -> str:
    """Text that the model was told: everything but its ``<image>`` tags is neutralised, as tool output is."""
    clean = IMAGE_TAG.join(map(neutralise, text.split(IMAGE_TAG))).strip()
    if "<" in clean and (found := find_markup(clean.replace(IMAGE_TAG, ""))):
        raise BadRow("markup_in_text", f"{name}: {found!r} in a message to the model")
    return clean

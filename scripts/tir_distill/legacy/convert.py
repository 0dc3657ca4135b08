"""One legacy row as one native row, in the shape that the exporter writes (seed sections 8 and 10)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from ..export import IMAGE_TAG, LINEAGE_KEYS, Row, find_markup, tools_text
from ..records import BadRow, digest
from ..records.behaviour import has_image_code, has_search
from ..records.conversation import assistant_content
from ..records.neutralise import neutralise
from .answers import in_answer_tags
from .cells import is_stray, prepare
from .convention import runnable
from .letters import letter_of
from .pictures import PictureStore, picture_bytes
from .shapes import LegacyRow
from .turns import NativeConversation, NativeTurn, python_call, to_turns

_AFTER_TAG = re.compile(r"(<image>)[ \t]*[\r\n]+")
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


class Converted(NamedTuple):
    """A native row and what the report counts about it."""

    row: Row
    has_code: bool
    image_path: bool
    """Code names IMAGE_PATH."""
    input_image: bool
    """Code names input_image.jpg."""
    without_thinking: bool
    """Some turn has no thought."""
    letter: bool
    """The answer is an option's letter."""


def convert(legacy: LegacyRow, settings: LegacySettings, store: PictureStore) -> Converted:
    """Convert one row. Raises BadRow with the reason under which it is dropped."""
    name = legacy.id
    conversation = to_turns(legacy.messages, name)
    turns = conversation.turns
    last = turns[-1]
    last.text = in_answer_tags(last.text)
    user = _tags_joined(conversation.user.strip())
    given = user.count(IMAGE_TAG)
    missing = len(legacy.images) - given - sum([text.count(IMAGE_TAG) for turn in turns for text in turn.results])
    if missing < 0:
        raise BadRow("picture_count", f"{name}: {-missing} more <image> tags than pictures")
    if missing:
        user = IMAGE_TAG * missing + user  # ms-swift puts missing tags there too
        given += missing
    prepare(turns, legacy, given)

    messages: list[Row] = [
        {"role": "system", "content": settings.system},
        {"role": "user", "content": _told(user, name)},
    ]
    codes: list[str] = []
    unthought = False
    for index, turn in enumerate(turns):
        unthought = unthought or not turn.thinking
        calls = _calls(turn, index, legacy, given, settings.known, codes) if turn.calls else []
        messages.append(_reply(turn, index, calls, name))
        if calls:
            messages += [
                {"role": "tool", "tool_call_id": call["id"], "content": _told(_tags_joined(result), name)}
                for call, result in zip(calls, turn.results, strict=True)
            ]
    images = [store.put(picture_bytes(value, settings.pictures, name), name) for value in legacy.images]
    answer = conversation.answer or ""
    written = "\n".join(codes)
    return Converted(
        _row(legacy, conversation, answer, settings, messages, images, codes),
        bool(codes),
        "IMAGE_PATH" in written,
        "input_image.jpg" in written,
        unthought,
        letter_of(answer) is not None,
    )


def _tags_joined(text: str) -> str:
    """No line break after a picture: the exporter writes none, and the official rendering would keep it."""
    return _AFTER_TAG.sub(r"\1", text) if IMAGE_TAG in text else text


def _row(
    legacy: LegacyRow,
    conversation: NativeConversation,
    answer: str,
    settings: LegacySettings,
    messages: list[Row],
    images: Sequence[Path],
    codes: Sequence[str],
) -> Row:
    names = [call.name for turn in conversation.turns for call in turn.calls]
    return {  # ROW_KEYS, in their order
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
        "has_self_search": len(names) > len(codes) and has_search(names),
        "has_image_code": any(map(has_image_code, codes)),
        "answer": legacy.answer or answer,
        "licence": settings.licence,
        "lineage": _LINEAGE
        | {
            "sample": f"{settings.name}/{legacy.id}#0",
            "question": digest([conversation.user, legacy.answer]),
            "fingerprint": digest(
                [[role, text, thought] if thought else [role, text] for role, text, thought in legacy.messages]
            ),
        },
    }


def _calls(
    turn: NativeTurn, index: int, legacy: LegacyRow, given: int, known: frozenset[str], codes: list[str]
) -> list[Row]:
    """The calls of a turn in OpenAI shape; the code that they run is added to ``codes``."""
    calls: list[Row] = []
    for position, call in enumerate(turn.calls):
        if call.name not in known:
            raise BadRow("unsupported_tool", f"{legacy.id}: calls {call.name!r}, which this mix does not declare")
        if call.name == "python":
            code = runnable(call.given, given, legacy.id)
            if "<" in code and (found := find_markup(code, by_model=True)):
                raise BadRow("markup_in_text", f"{legacy.id}: {found!r} in the code of turn {index}")
            codes.append(code)
            call = python_call(code)
        calls.append(
            {
                "id": f"call_{index}_{position}",
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
        )
    return calls


def _reply(turn: NativeTurn, index: int, calls: list[Row], name: str) -> Row:
    for where, text in (("thinking", turn.thinking), ("visible text", turn.text)):
        if "<" not in text:
            continue
        if found := find_markup(text, by_model=True):
            raise BadRow("markup_in_text", f"{name}: {found!r} in the {where} of turn {index}")
        if is_stray(text):  # a string of the code held the tag, and there the code was cut
            raise BadRow("stray_code_end", f"{name}: </code> without its beginning in the {where} of turn {index}")
    reply: Row = {"role": "assistant", "content": assistant_content(turn.thinking, turn.text), "turn": index}
    if calls:
        reply["tool_calls"] = calls
    return reply


def _told(text: str, name: str) -> str:
    """Text that the model was told: everything but its ``<image>`` tags is neutralised, as tool output is."""
    if text.isascii() and "<" not in text and "\0" not in text:
        return text.strip()
    clean = IMAGE_TAG.join(map(neutralise, text.split(IMAGE_TAG))).strip()
    if "<" in clean and (found := find_markup(clean.replace(IMAGE_TAG, ""))):
        raise BadRow("markup_in_text", f"{name}: {found!r} in a message to the model")
    return clean

"""Rows of the public sets as one shape: messages with plain text, pictures in the order of their tags.

| set | how it comes |
| --- | --- |
| CodeDance-SFT | ``messages`` [{role, content}], ``images`` raw bytes; results in user messages |
| Thyme-SFT | ``image`` list, ``question``, ``response`` that holds the whole trajectory |
| PyVision | chat messages whose content is a list of typed parts; results in the assistant's own text |
| DeepEyesV2-SFT | ``conversations`` [{from, value}] or messages with tool turns, ``images`` paths; calls stand in the
model's text, in ``tool_calls``, or in turns of their own (``function_call``) |
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from ..records import BadRow
from .call_order import in_call_order

ROLES = {
    "system": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "gpt": "assistant",
    "tool": "tool",
    "tool_response": "tool",
    "observation": "tool",
    "function_response": "tool",
    "function_call": "call",
    "tool_call": "call",
}
_USUAL_ROLES = {role: meaning for role, meaning in ROLES.items() if meaning != "call"}
IMAGE_TAG = "<image>"
_PICTURE_PARTS = ("image", "image_url", "input_image")
_CLUE = re.compile(r"<image_clue_\d+>(.*?)</image_clue_\d+>", re.S)
_USER_IMAGE_PATH = re.compile(r"\n?[^\n]*User Image Path:[*\s]*(?:\"([^\"\n]+)\"|'([^'\n]+)'|([^\s\"'*]+))[^\n]*")


class LegacyMessage(NamedTuple):
    """Role (``system``, ``user``, ``assistant``, ``tool``) and text; ``<image>`` stands where a picture is."""

    role: str
    text: str
    thinking: str = ""
    """A thought that the row holds beside the text (``reasoning_content``)."""


class LegacyRow(NamedTuple):
    """One row, whatever its clothes."""

    id: str
    source: str
    messages: tuple[LegacyMessage, ...]
    images: tuple[Any, ...]
    """As they came: bytes, {bytes, path}, base64, data URI or path."""
    image_paths: tuple[str, ...] = ()
    """Absolute paths under which the row's own text and code name its pictures (Thyme)."""
    answer: str = ""


def read_row(row: Mapping[str, Any], *, default_id: str, default_source: str) -> LegacyRow:
    """Recognise a row's shape. Raises BadRow ``unknown_shape`` or ``unknown_role``."""
    name = str(row.get("id") or row.get("data_id") or default_id)
    source = str(row.get("source") or default_source)
    answer = str(row.get("answer") or row.get("solution") or "")
    turns = row.get("messages") or row.get("conversations")
    if isinstance(turns, str):  # parquet files often hold them as JSON text
        try:
            turns = orjson.loads(turns)
        except orjson.JSONDecodeError:
            raise BadRow("unknown_shape", f"{name}: messages are a text, and no JSON") from None
    if turns and isinstance(turns, list | tuple):
        return _from_turns(row, turns, name, source, answer)
    if isinstance(row.get("question"), str) and isinstance(row.get("response"), str):
        return _from_thyme(row, name, source, answer)
    raise BadRow("unknown_shape", f"{name}: expected messages, conversations, or question with response")


def _from_turns(row: Mapping[str, Any], turns: Sequence[Any], name: str, source: str, answer: str) -> LegacyRow:
    images = row.get("images")
    if images is None:
        images = row.get("image")
    if images is not None and not isinstance(images, list | tuple):
        images = [images]
    ordered = False
    messages: list[LegacyMessage] = []
    inline: list[Any] = []
    for number in range(len(turns)):
        turn = turns[number]
        plain = turn.get("content")
        if type(plain) is str and "<image_clue_" not in plain and (len(turn) == 2 or not _more_than_text(turn)):
            usual = _USUAL_ROLES.get(str(turn.get("role")))
            if usual is not None:  # nearly every message of nearly every row: nothing to take apart
                messages.append(LegacyMessage(usual, plain))
                continue
        # values are asked, not keys: tables put null under every key that another row has
        given = turn.get("role") or turn.get("from")
        role = ROLES.get(str(given).lower())
        if role is None:
            raise BadRow("unknown_role", f"{name}: message {number} has role {given!r}")
        text, pictures = _content(turn.get("value") if plain is None else plain, name, number)
        inline += pictures
        if role == "call":
            role, text = "assistant", _as_call(text)
            if messages and messages[-1].role == "assistant":  # the thought before a call, and calls side by side
                _, before, thinking = messages.pop()
                messages.append(LegacyMessage(role, before + text, thinking))
                continue
        if calls := turn.get("tool_calls"):
            if not ordered:  # messages up to here keep their places
                turns, ordered = in_call_order(turns, name, pictures_apart=bool(images)), True
            text += "".join(_as_call(orjson.dumps(call["function"]).decode()) for call in calls)
        messages.append(LegacyMessage(role, text, _thought(turn) if role == "assistant" else ""))
    if inline and images:
        raise BadRow("two_kinds_of_pictures", f"{name}: pictures both inside messages and in a list")
    return LegacyRow(name, source, tuple(messages), tuple(inline or images or ()), answer=answer)


def _more_than_text(turn: Mapping[str, Any]) -> bool:
    return bool(turn.get("tool_calls") or turn.get("reasoning_content") or turn.get("reasoning"))


def _thought(turn: Mapping[str, Any]) -> str:
    """What servers put beside the text: ``reasoning_content``, or ``reasoning`` under its newer name."""
    found = turn.get("reasoning_content") or turn.get("reasoning")
    return found if isinstance(found, str) else ""


def _as_call(text: str) -> str:
    """A call's JSON between tags; every ``<`` is escaped, so that code cannot end the tag."""
    return text if "<tool_call>" in text else f"<tool_call>{text.replace('<', chr(92) + 'u003c')}</tool_call>"


def _content(content: Any, name: str, number: int) -> tuple[str, list[Any]]:
    """Text of a message; typed parts are joined, their pictures returned in order."""
    pictures: list[Any] = []
    if content is None:
        return "", pictures
    if isinstance(content, str) and "<image_clue_" not in content:
        return content, pictures
    if isinstance(content, str):
        return _CLUE.sub(lambda match: _clue(match.group(1), pictures), content), pictures
    if not isinstance(content, Sequence):
        raise BadRow("unknown_shape", f"{name}: message {number} has content of type {type(content).__name__}")
    texts: list[str] = []
    for part in content:
        if isinstance(part, str):
            texts.append(part)
        elif (picture := _picture(part)) is not None:
            pictures.append(picture)
            texts.append(IMAGE_TAG)
        elif part.get("type") in _PICTURE_PARTS:
            texts.append(IMAGE_TAG)  # its picture stands in the row's list
        else:
            texts.append(str(part.get("text") or ""))
    joined = "".join(texts)
    if pictures:  # the picture is a part of its own, the marks around it are only words
        return _CLUE.sub(lambda match: IMAGE_TAG * match.group(1).count(IMAGE_TAG), joined), pictures
    return _CLUE.sub(lambda match: _clue(match.group(1), pictures), joined), pictures


def _picture(part: Mapping[str, Any]) -> Any:
    """The picture that a part holds, or None: a text part of a table has the keys of pictures too, with nothing in."""
    if part.get("type") in ("text", "input_text", "output_text"):
        return None
    value = part.get("image_url") or part.get("image")
    if not isinstance(value, Mapping):
        return value or None
    if value.get("url"):
        return value["url"]
    return value if value.get("bytes") or value.get("path") else None


def _clue(body: str, pictures: list[Any]) -> str:
    """PyVision's marks around a picture: a data URI stands for itself, anything else for one of the row's list."""
    if body.strip().startswith("data:image"):
        pictures.append(body.strip())
    return IMAGE_TAG


def _from_thyme(row: Mapping[str, Any], name: str, source: str, answer: str) -> LegacyRow:
    images = row.get("image") or row.get("images") or ()
    images = images if isinstance(images, list | tuple) else [images]
    question = row["question"]
    paths = tuple("".join(found) for found in _USER_IMAGE_PATH.findall(question))
    question = _USER_IMAGE_PATH.sub("", question).strip()
    in_response = row["response"].count(IMAGE_TAG)
    given = max(len(images) - in_response, 0)
    missing = given - question.count(IMAGE_TAG)
    if missing > 0:
        question = IMAGE_TAG * missing + question
    messages = (LegacyMessage("user", question), LegacyMessage("assistant", row["response"]))
    return LegacyRow(name, source, messages, tuple(images), image_paths=paths, answer=answer)

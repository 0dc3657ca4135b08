"""The messages of one conversation, encoded once each and joined for every request.

A conversation of ten turns sends its first picture eleven times. Encoding it again each time (base64, then JSON) would
cost more than everything else that the engine does, so a message becomes bytes when it is added and never again.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import orjson

from ..records import Message, TirError, dumps
from .text_protocol import call_as_text

PictureReader = Callable[[str], bytes]
"""A picture's bytes for its path in a message."""

_KINDS = ((b"\x89PNG", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF8", "image/gif"), (b"BM", "image/bmp"))


def picture_type(data: bytes) -> str:
    """The media type, told from the first bytes. Raises TirError for another kind of file."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    for start, name in _KINDS:
        if data.startswith(start):
            return name
    raise TirError("a picture is neither PNG, JPEG, GIF, BMP nor WebP; rebuild the hand-over's images")


def data_url(data: bytes) -> str:
    """A picture as ``data:`` URL."""
    return f"data:{picture_type(data)};base64,{base64.b64encode(data).decode('ascii')}"


class Transcript:
    """Messages as bytes, in order."""

    def __init__(self, read_picture: PictureReader, *, text_protocol: bool = False) -> None:
        self._read_picture = read_picture
        self._text_protocol = text_protocol
        self._encoded: list[bytes] = []

    @classmethod
    def of(cls, messages: Iterable[Message], read_picture: PictureReader, **options: Any) -> Transcript:
        transcript = cls(read_picture, **options)
        transcript.extend(messages)
        return transcript

    def __len__(self) -> int:
        return len(self._encoded)

    def extend(self, messages: Iterable[Message]) -> None:
        """Add messages as ``records.conversation`` makes them."""
        for message in messages:
            form = as_text_protocol(message) if self._text_protocol else as_native(message)
            encoded = dumps(self._with_urls(form))
            self._encoded.append(b"," + encoded if self._encoded else encoded)

    def copy(self) -> Transcript:
        """Another conversation with the same start (samples of one question share the picture's bytes)."""
        other = Transcript(self._read_picture, text_protocol=self._text_protocol)
        other._encoded = list(self._encoded)
        return other

    def text_tokens(self) -> int:
        """A rough upper guess of the tokens in the text: a third of its bytes. Pictures count as 2,000 each."""
        pictures = sum(item.count(b";base64,") for item in self._encoded)
        text = sum(len(item) for item in self._encoded if b";base64," not in item)
        return text // 3 + 2000 * pictures

    def joined(self, before: bytes = b"", after: bytes = b"") -> bytes:
        """The JSON list of all messages, between two other pieces: one copy of the pictures a request, no more."""
        return b"".join([before, b"[", *self._encoded, b"]", after])

    def _with_urls(self, message: Message) -> Message:
        content = message["content"]
        if isinstance(content, str):
            return message
        parts = [
            {"type": "image_url", "image_url": {"url": data_url(self._read_picture(part["image"]))}}
            if part["type"] == "image"
            else part
            for part in content
        ]
        return {**message, "content": parts}


def as_native(message: Message) -> Message:
    """As the server takes it: a malformed call's arguments become ``{}``, for which older servers would answer 400."""
    calls = message.get("tool_calls")
    if not calls:
        return message
    return {**message, "tool_calls": [_sendable(call) for call in calls]}


def _sendable(call: Mapping[str, Any]) -> Mapping[str, Any]:
    name, arguments = call["function"]["name"], call["function"]["arguments"]
    if name and _is_object(arguments):
        return call
    return {**call, "function": {"name": name or "unknown", "arguments": arguments if _is_object(arguments) else "{}"}}


def _is_object(arguments: str) -> bool:
    try:
        return isinstance(orjson.loads(arguments), dict)
    except orjson.JSONDecodeError:
        return False


def as_text_protocol(message: Message) -> Message:
    """As plain text for a server that knows no tools.

    A result is a user message wrapped in ``<tool_response>``: the official template does not take such a message for a
    new question, so earlier thinking is kept.
    """
    if message["role"] == "tool":
        content = message["content"]
        if isinstance(content, str):
            return {"role": "user", "content": f"<tool_response>\n{content}\n</tool_response>"}
        opened, closed = {"type": "text", "text": "<tool_response>\n"}, {"type": "text", "text": "\n</tool_response>"}
        return {"role": "user", "content": [opened, *content, closed]}
    calls: Sequence[Mapping[str, Any]] = message.get("tool_calls") or ()
    if not calls:
        return message
    texts = [call_as_text(call["function"]["name"], call["function"]["arguments"]) for call in calls]
    return {"role": message["role"], "content": "\n".join([message["content"], *texts])}

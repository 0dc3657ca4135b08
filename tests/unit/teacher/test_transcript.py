"""Messages as bytes: what the server gets, each message encoded once."""

from __future__ import annotations

import base64
from typing import Any

import orjson
import pytest

from tir_distill.records import TirError, ToolCall, ToolResult, Turn, opening, turn_messages
from tir_distill.teacher import Transcript, data_url

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20


def turn(arguments: str = '{"query":"a"}', name: str = "search", malformed: str | None = None) -> Turn:
    return Turn(
        index=0,
        thinking="hm",
        content="",
        calls=(ToolCall(id="call_0_0", name=name, arguments=arguments, malformed=malformed),),
        results=(ToolResult(call_id="call_0_0", name=name, status="ok", content="found"),),
    )


def sent(transcript: Transcript) -> list[dict[str, Any]]:
    return orjson.loads(transcript.joined())  # type: ignore[no-any-return]


def test_pictures_become_data_urls_read_once() -> None:
    reads: list[str] = []

    def read(path: str) -> bytes:
        reads.append(path)
        return PNG

    first = Transcript.of(opening("sys", "what?", ["images/a.png"]), read)
    second = first.copy()
    second.extend(turn_messages(turn()))
    assert reads == ["images/a.png"]
    assert len(first) == 2
    assert len(second) == 4
    url = sent(second)[1]["content"][0]["image_url"]["url"]
    assert base64.b64decode(url.removeprefix("data:image/png;base64,")) == PNG


def test_thinking_goes_back_inside_the_content() -> None:
    transcript = Transcript.of(turn_messages(turn()), lambda path: b"")
    assert sent(transcript)[0]["content"] == "<think>\nhm\n</think>\n\n"
    assert sent(transcript)[1] == {"role": "tool", "tool_call_id": "call_0_0", "content": "found"}


@pytest.mark.parametrize(("name", "arguments"), [("search", '{"query": "a'), ("search", "[]"), ("", '{"a":1}')])
def test_a_malformed_call_is_sent_in_a_form_that_no_server_refuses(name: str, arguments: str) -> None:
    transcript = Transcript.of(turn_messages(turn(arguments, name, "bad_json")), lambda path: b"")
    function = sent(transcript)[0]["tool_calls"][0]["function"]
    assert isinstance(orjson.loads(function["arguments"]), dict)
    assert function["name"]


def test_text_mode_sends_no_tool_fields() -> None:
    transcript = Transcript.of(turn_messages(turn()), lambda path: b"", text_protocol=True)
    reply, result = sent(transcript)
    assert reply["content"].endswith('<tool_call>{"action": "search", "query": "a"}</tool_call>')
    assert "tool_calls" not in reply
    assert result == {"role": "user", "content": "<tool_response>\nfound\n</tool_response>"}


def test_kinds_of_pictures() -> None:
    assert data_url(b"\xff\xd8\xff\xe0").startswith("data:image/jpeg;")
    assert data_url(b"RIFF....WEBPVP8 ").startswith("data:image/webp;")
    with pytest.raises(TirError, match="neither"):
        data_url(b"%PDF-1.4")

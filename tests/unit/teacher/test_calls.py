"""Structured calls: what runs, what is named malformed and why (shared cases D 41, 43, 44)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tir_distill.rollout import tool_schemas
from tir_distill.teacher import checked, structured

TOOLS = tool_schemas()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ('{}""', "bad_json"),
        ('""', "bad_json"),
        ("", "bad_json"),
        ("null", "not_an_object"),
        (None, "not_an_object"),
        ("[]", "not_an_object"),
        ('{"query": "a', "bad_json"),
        ('"query": "a"}', "bad_json"),
        ('{"query":"a"}{"query":"b"}', "bad_json"),
        ("{}", "missing_parameter"),
        ('{"query": ""}', "missing_parameter"),
        ('{"query": "  "}', "missing_parameter"),
        ('{"query": null}', "missing_parameter"),
        ('{"query": "a", "page": "2"}', "unknown_parameter"),
        ('{"url": "http://x"}', "unknown_parameter"),
        ('{"query": true}', "wrong_type"),
        ('{"query": ["a"]}', "wrong_type"),
        ('{"query": 1.5}', "wrong_type"),
    ],
)
def test_malformed_arguments_are_named_and_kept_as_written(arguments: Any, problem: str) -> None:
    call = checked("search", arguments, TOOLS)
    assert call.malformed == problem
    assert call.arguments == (arguments if isinstance(arguments, str) else "null")


@pytest.mark.parametrize("name", ["searchopen", "Search", "", "image_search", "search open"])
def test_unknown_and_glued_names_are_not_guessed(name: str) -> None:
    assert checked(name, '{"query": "a"}', TOOLS).malformed == "unknown_tool"


@pytest.mark.parametrize(
    "arguments",
    ['{"query": "a"}', {"query": "a"}, json.dumps('{"query": "a"}'), ' {"query":"a"} '],
)
def test_good_arguments_in_every_encoding(arguments: Any) -> None:
    call = checked("search", arguments, TOOLS)
    assert (call.malformed, json.loads(call.arguments)) == (None, {"query": "a"})


def test_a_year_that_the_server_made_a_number_is_a_string_again() -> None:
    assert checked("search", '{"query": 1984}', TOOLS).arguments == '{"query":"1984"}'


def test_half_an_emoji_in_name_or_arguments_is_replaced() -> None:
    call = checked("search", '{"query": "flag \ud83d"}', TOOLS)
    assert (call.arguments, call.malformed) == ('{"query":"flag \ufffd"}', None)
    call = checked("sea\ud83drch", {"query": "a \udc00", "\ud83d": ["\ud83d"]}, TOOLS)
    assert (call.name, call.malformed) == ("sea\ufffdrch", "unknown_tool")
    assert json.loads(call.arguments) == {"query": "a \ufffd", "\ufffd": ["\ufffd"]}


def test_integers_beyond_64_bits_are_named_and_kept() -> None:
    number = 10**30 + 1
    for arguments in ({"query": number}, {"query": number, "note": "\ud83d"}):
        call = checked("search", arguments, TOOLS)
        assert call.malformed in ("wrong_type", "unknown_parameter")
        assert json.loads(call.arguments)["query"] == number
    assert checked("search", {"query": 10**5000}, TOOLS).malformed == "bad_json"


def test_tool_calls_absent_null_empty_or_damaged() -> None:
    assert structured(None, TOOLS) == []
    assert structured([], TOOLS) == []
    assert structured("text", TOOLS) == []
    assert [c.malformed for c in structured([{"id": "1"}, None, {"function": {"name": None}}], TOOLS)] == [
        "bad_call",
        "bad_call",
        "unknown_tool",
    ]

"""Calls written as text in every form that was seen; nothing else is taken for a call."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tir_distill.teacher import find_calls, instructions
from tir_distill.teacher.text_protocol import TextCall, call_as_text

SEARCH = ("search", {"query": "harbour tram"})
CODE = ("python", {"code": "print(1)"})


def read(text: str, *, strict: bool = True) -> list[tuple[str, dict[str, str]]]:
    return [(call.name, json.loads(call.arguments)) for call in find_calls(text, strict=strict).calls]


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>{"action":"search","query":"harbour tram"}</tool_call>',
        '<tool_call>{"action":"search","query":"harbour tram"}',
        '<tool_call>\n{"name": "search", "arguments": {"query": "harbour tram"}}\n</tool_call>',
        '<tool_call>\n{"name": "search", "arguments": "{\\"query\\": \\"harbour tram\\"}"}\n</tool_call>',
        '<tool_call>\n```json\n{"action": "search", "query": "harbour tram"}\n```\n</tool_call>',
        '<tool_call>{"function": {"name": "search", "arguments": {"query": "harbour tram"}}}</tool_call>',
        "<tool_call>\n<function=search>\n<parameter=query>\nharbour tram\n</parameter>\n</function>\n</tool_call>",
        "<tool_call>\n<function=search>\n<parameter=query>\nharbour tram\n</parameter>\n</function>",
        "<tool_call>\n<function=search>\n<parameter=query>\nharbour tram\n</parameter>",
        "<tool_call>\n<function=search>\n<parameter=query>\nharbour tram",
        "<function=search>\n<parameter=query>\nharbour tram\n</parameter>\n</function>",
        '<tool_call>{"action":"search","query":"harbour tram"}</tool_call>\nand then I will read on',
    ],
)
def test_a_search_in_every_form(text: str) -> None:
    assert read(f"Let me look.\n{text}") == [SEARCH]
    assert find_calls(f"Let me look.\n{text}", strict=True).text == "Let me look."


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>{"action":"code"}</tool_call>\n```python\nprint(1)\n```',
        '<tool_call>{"action":"code"}\n```python\nprint(1)\n```',
        '<tool_call>{"action":"python","code":"print(1)"}</tool_call>',
        '<tool_call>{"action":"code"}</tool_call><code>\nprint(1)\n</code>',
    ],
)
def test_action_code_and_fenced_code(text: str) -> None:
    assert read(text) == [CODE]


@pytest.mark.parametrize(
    "text",
    [
        "<code>\nprint(1)\n</code>",
        "<code>```python\nprint(1)\n```</code>",
        "<code>print(1)",
        '{"action": "code"}\n```python\nprint(1)\n```',
        '```json\n{"action": "code", "code": "print(1)"}\n```',
    ],
)
def test_forms_that_are_calls_only_in_text_mode(text: str) -> None:
    assert read(text, strict=False) == [CODE]
    assert read(text, strict=True) == []


def test_several_calls_in_one_or_more_tags() -> None:
    two = '<tool_call>{"action":"search","query":"a"}</tool_call>\n<tool_call>{"action":"open","url":"http://x"}</tool_call>'
    assert read(two) == [("search", {"query": "a"}), ("open", {"url": "http://x"})]
    one = '<tool_call>{"action":"search","query":"a"}\n{"action":"search","query":"b"}</tool_call>'
    assert read(one) == [("search", {"query": "a"}), ("search", {"query": "b"})]
    xml = (
        "<tool_call><function=search><parameter=query>a</parameter></function>"
        "<function=open><parameter=url>u</parameter></function></tool_call>"
    )
    assert read(xml) == [("search", {"query": "a"}), ("open", {"url": "u"})]


def test_code_that_holds_closing_tags_stays_whole() -> None:
    code = 'print("</parameter>")\nprint("</function>")'
    text = f"<tool_call>\n<function=python>\n<parameter=code>\n{code}\n</parameter>\n</function>\n</tool_call>"
    assert read(text) == [("python", {"code": code})]


def test_raw_newlines_in_json_strings_are_taken() -> None:
    assert read('<tool_call>{"action":"code","code":"a = 1\nprint(a)"}</tool_call>') == [
        ("python", {"code": "a = 1\nprint(a)"})
    ]


@pytest.mark.parametrize(
    "text",
    [
        "The tag `<tool_call>` opens a call.",
        'Write it so:\n```\n<tool_call>{"action":"search","query":"x"}</tool_call>\n```\n',
        "No call at all.",
        "<answer>Mumbai</answer>",
        "a < b and <tool> and <functional=1>",
    ],
)
def test_talk_about_calls_is_no_call(text: str) -> None:
    found = find_calls(text, strict=True)
    assert (found.text, found.calls) == (text, ())


def test_a_cut_object_is_a_call_that_cannot_be_read() -> None:
    calls = find_calls('<tool_call>{"action": "search", "query": "a', strict=True).calls
    assert calls == (TextCall("", '{"action": "search", "query": "a'),)


def test_a_function_tag_that_is_cut_or_has_no_parameters() -> None:
    assert [(c.name, c.arguments) for c in find_calls("So: <function=sea", strict=True).calls] == [
        ("", "<function=sea")
    ]
    found = find_calls("<tool_call><function=search></function></tool_call>", strict=True)
    assert [(c.name, c.arguments) for c in found.calls] == [("search", "{}")]


def test_a_number_of_thousands_of_digits_is_a_call_that_cannot_be_read() -> None:
    body = '{"name": "search", "arguments": {"query": ' + "1" * 5000 + "}}"
    (found,) = find_calls(f"<tool_call>{body}</tool_call>", strict=True).calls
    assert (found.name, found.arguments) == ("", body)


@settings(max_examples=60, deadline=None)
@given(
    st.text(max_size=60), st.dictionaries(st.sampled_from(["query", "url", "code"]), st.text(max_size=40), min_size=1)
)
def test_what_we_write_we_read_again(before: str, arguments: dict[str, str]) -> None:
    if "`" in before or "<" in before:
        return
    text = call_as_text("search", json.dumps(arguments))
    assert read(f"{before}\n{text}") == [("search", arguments)]


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet='<>{}"`/=abctool_call function=parameter\n', max_size=120))
def test_no_text_makes_the_reader_fail(text: str) -> None:
    find_calls(text, strict=True)
    find_calls(text, strict=False)


def test_instructions_name_every_tool() -> None:
    tool = {
        "function": {
            "name": "search",
            "description": "Look up.",
            "parameters": {"properties": {"query": {"type": "string"}}},
        }
    }
    assert '<tool_call>{"action": "search", "query": "..."}</tool_call>' in instructions([tool])

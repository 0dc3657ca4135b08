from __future__ import annotations

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tir_distill.legacy.shapes import LegacyMessage, read_row
from tir_distill.legacy.text_form import to_text
from tir_distill.legacy.turns import NativeConversation, NativeTurn, json_call, python_call, to_turns
from tir_distill.records import BadRow


def talk(*texts: tuple[str, str]) -> NativeConversation:
    return to_turns([LegacyMessage(role, text) for role, text in texts], "r1")


def shape(conversation: NativeConversation) -> list[tuple[str, str, list[str], list[str]]]:
    return [
        (
            turn.thinking,
            turn.text,
            [orjson.loads(c.arguments).get("code", c.arguments) for c in turn.calls],
            turn.results,
        )
        for turn in conversation.turns
    ]


def test_result_in_a_user_message() -> None:
    conversation = talk(
        ("system", "old"),
        ("user", "<image>How many?"),
        ("assistant", "<think>look</think>\n<code>\n```python\nprint(3)\n```\n</code>"),
        ("user", "<tool_response>\nOutput: 3\n</tool_response>"),
        ("assistant", "<think>three</think><answer>3</answer>"),
    )
    assert shape(conversation) == [
        ("look", "", ["print(3)"], ["Output: 3"]),
        ("three", "<answer>3</answer>", [], []),
    ]
    assert conversation.answer == "3"


def test_result_in_a_tool_message_without_tags() -> None:
    conversation = talk(
        ("user", "q"), ("assistant", "<code>x</code>"), ("tool", "7"), ("assistant", "<answer>7</answer>")
    )
    assert shape(conversation)[0] == ("", "", ["x"], ["7"])


def test_everything_in_one_assistant_text_with_thinking_across() -> None:
    first = "<think>a<code>x</code><sandbox_output>1</sandbox_output>"
    second = "b<code>y</code><sandbox_output><image></sandbox_output>c</think><answer>2</answer>"
    conversation = talk(("user", "q"), ("assistant", first + second))
    assert shape(conversation) == [
        ("a", "", ["x"], ["1"]),
        ("b", "", ["y"], ["<image>"]),
        ("c", "<answer>2</answer>", [], []),
    ]


def test_blocks_before_one_result_are_one_cell_and_pairs_stay_pairs() -> None:
    one = talk(
        ("user", "q"), ("assistant", "<code>a</code><code>b</code>"), ("user", "5"), ("assistant", "<answer>5</answer>")
    )
    assert shape(one)[0][2:] == (["a\n\nb"], ["5"])
    two = talk(
        ("user", "q"), ("assistant", "<code>a</code><code>b</code>"), ("tool", "1"), ("tool", "2"), ("assistant", "ok")
    )
    assert shape(two)[0][2:] == (["a", "b"], ["1", "2"])


def test_search_call_of_our_own_protocol() -> None:
    conversation = talk(
        ("user", "q"),
        ("assistant", '<tool_call>{"action":"search","query":"x"}</tool_call>'),
        ("user", "Search result:\n1. T"),
        ("assistant", "<answer>T</answer>"),
    )
    turn = conversation.turns[0]
    assert (turn.calls[0].name, turn.calls[0].arguments, turn.results) == ("search", '{"query":"x"}', ["1. T"])


@pytest.mark.parametrize(
    ("texts", "reason"),
    [
        ([("user", "q"), ("assistant", "<code>x</code>")], "code_without_result"),
        ([("user", "q"), ("assistant", "<code>x</code><answer>1</answer>")], "answer_beside_call"),
        ([("user", "q"), ("assistant", "<code>x</code>"), ("user", "1")], "no_final_reply"),
        ([("user", "q"), ("assistant", "hm"), ("user", "and now?"), ("assistant", "x")], "second_question"),
        ([("user", "q"), ("assistant", "<code>x</code>"), ("assistant", "y")], "call_without_result"),
        ([("user", "q"), ("assistant", "x"), ("tool", "1")], "result_without_call"),
        ([("user", "q"), ("assistant", "<code>a</code><code>b</code><code>c</code>"), ("tool", "1"), ("tool", "2"),
          ("assistant", "x")], "results_do_not_match"),
        ([("user", "q"), ("assistant", '<tool_call>{"name":"crop"}</tool_call>'), ("tool", "1")], "unsupported_tool"),
        ([("user", "q"), ("assistant", "<tool_call>{oops</tool_call>"), ("tool", "1")], "bad_call_json"),
        ([("user", "q"), ("assistant", '<tool_call>{"name":"search","arguments":"[]"}</tool_call>')], "bad_call_json"),
        ([("assistant", "x")], "no_question"),
        ([("user", "q")], "no_reply"),
    ],
)  # fmt: skip
def test_each_refusal_has_its_reason(texts: list[tuple[str, str]], reason: str) -> None:
    with pytest.raises(BadRow, match="r1") as caught:
        talk(*texts)
    assert caught.value.reason == reason


WORD = st.text(st.characters(codec="utf-8", exclude_characters="<>`\x00", exclude_categories=["Cs"]), max_size=30)
LINE = WORD.map(str.strip)
CODE_LINE = st.sampled_from(
    ["", "x = 1", "    return x", "if a < b > c:", "```", "```python", "s = '```'", "print('</code>')", "# <code>\r",
     "t = '<answer>'", "图 = \"é\"  # \u2028", "u = '<tool_response>'"]
)  # fmt: skip
CODE = st.lists(CODE_LINE, max_size=6).map(lambda lines: "\n".join(lines).strip("\r\n"))
"""Fences and closing tags in its own strings, line ends of Windows, nothing at all."""
CALL = st.one_of(
    CODE.map(python_call),
    LINE.map(python_call),
    LINE.filter(bool).map(lambda query: json_call(orjson.dumps({"action": "search", "query": query}).decode(), "r")),
)


@st.composite
def conversations(draw: st.DrawFn) -> NativeConversation:
    turns = []
    for _ in range(draw(st.integers(0, 3))):
        calls = draw(st.lists(CALL, min_size=1, max_size=3))
        results = [draw(LINE) for _ in calls]
        turns.append(NativeTurn(draw(LINE), draw(LINE), calls, results))
    turns.append(NativeTurn(draw(LINE), f"<answer>{draw(LINE)}</answer>"))
    return NativeConversation(draw(LINE), turns)


@given(conversations())
@settings(max_examples=150)
def test_native_to_text_to_native_loses_nothing(conversation: NativeConversation) -> None:
    again = to_turns(to_text(conversation), "r")
    assert again.user == conversation.user
    assert [(t.thinking, t.text, t.calls) for t in again.turns] == [
        (t.thinking, t.text, t.calls) for t in conversation.turns
    ]
    assert [t.results for t in again.turns] == [t.results for t in conversation.turns]


def test_thyme_row_becomes_messages_with_tags() -> None:
    row = read_row(
        {
            "image": ["aaa", "bbb"],
            "question": 'What?\n### User Image Path: "/data/x/pic.jpg"',
            "response": "<think>a<code>x</code><sandbox_output><image></sandbox_output></think><answer>z</answer>",
        },
        default_id="t0",
        default_source="thyme",
    )
    assert row.messages[0] == LegacyMessage("user", "<image>What?")
    assert row.image_paths == ("/data/x/pic.jpg",)
    assert row.images == ("aaa", "bbb")


def test_typed_parts_become_text_with_tags() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
    said = "x<interpreter>Image Result:\n<image_clue_1>zz</image_clue_1></interpreter>"
    messages = [
        {"role": "user", "content": [picture, {"type": "text", "text": "What?"}]},
        {"role": "assistant", "content": said},
    ]
    row = read_row({"id": 5, "messages": messages}, default_id="p0", default_source="pyvision")
    assert row.id == "5"
    assert row.messages[0].text == "<image>What?"
    assert row.images == ("data:image/png;base64,AA==",)
    assert row.messages[1].text.endswith("Image Result:\n<image></interpreter>")


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"text": "x"}, "unknown_shape"),
        ({"messages": [{"role": "critic", "content": "x"}]}, "unknown_role"),
        ({"messages": [{"role": "user", "content": 5}]}, "unknown_shape"),
    ],
)
def test_unknown_rows_are_refused(row: dict[str, object], reason: str) -> None:
    with pytest.raises(BadRow) as caught:
        read_row(row, default_id="x0", default_source="s")
    assert caught.value.reason == reason

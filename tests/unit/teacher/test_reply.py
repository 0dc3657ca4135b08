"""Every shape in which servers send one and the same turn."""

from __future__ import annotations

import orjson
import pytest

from rollout_helpers import call, completion
from tir_distill.rollout import tool_schemas
from tir_distill.teacher import Reply, TeacherFault, read_body, read_reply

TOOLS = tool_schemas()
XML = "<tool_call>\n<function=search>\n<parameter=query>\ntram\n</parameter>\n</function>\n</tool_call>"


def read(value: dict[str, object], **options: object) -> Reply:
    return read_reply(value, TOOLS, max_tokens=1000, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning", "reasoning_content+reasoning"])
def test_thinking_under_either_name_or_both(name: str) -> None:
    reply = read(completion("<answer>4</answer>", thinking="I add.\n", field_name=name))
    assert (reply.thinking, reply.content) == ("I add.", "<answer>4</answer>")


@pytest.mark.parametrize(
    ("content", "thinking", "visible"),
    [
        ("<think>\nI add.\n</think>\n\n4", "I add.", "4"),
        ("I add.\n</think>\n\n4", "I add.", "4"),
        ("<think>I add.", "I add.", ""),
        ("just text", "", "just text"),
    ],
)
def test_thinking_left_in_the_content(content: str, thinking: str, visible: str) -> None:
    reply = read(completion(content, thinking=None))
    assert (reply.thinking, reply.content) == (thinking, visible)


def test_a_stray_end_tag_at_the_start_goes_but_a_second_think_block_stays_to_be_seen() -> None:
    assert read(completion("</think>\n\n4", thinking="I add.")).content == "4"
    assert read(completion("<think>more</think>4", thinking="I add.")).content == "<think>more</think>4"


@pytest.mark.parametrize("content", [None, "", "\n\n", []])
def test_call_turns_have_no_content(content: object) -> None:
    reply = read(completion(content, calls=[call("search", {"query": "a"})]))  # type: ignore[arg-type]
    assert reply.content == ""
    assert [(c.name, c.arguments, c.recovered) for c in reply.calls] == [("search", '{"query":"a"}', False)]


def test_content_as_a_list_of_parts() -> None:
    value = completion("x")
    value["choices"][0]["message"]["content"] = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert read(value).content == "ab"


def test_a_call_left_as_text_is_recovered_and_its_text_is_gone() -> None:
    reply = read(completion(f"I look.\n{XML}", calls=None, finish="stop"))
    assert reply.content == "I look."
    assert [(c.name, c.arguments, c.recovered) for c in reply.calls] == [("search", '{"query":"tram"}', True)]


def test_a_call_at_the_end_of_the_thinking_is_recovered() -> None:
    reply = read(completion(None, thinking=f"I look.\n{XML}\n"))
    assert (reply.thinking, [c.recovered for c in reply.calls]) == ("I look.", [True])


def test_a_call_that_the_thinking_only_mentions_is_not() -> None:
    reply = read(completion(None, thinking=f"I could write {XML} but first I think."))
    assert reply.calls == ()


def test_structured_calls_win_over_text() -> None:
    reply = read(completion(XML, calls=[call("open", {"url": "http://x"})]))
    assert [c.name for c in reply.calls] == ["open"]


def test_an_answer_beside_call_text_is_left_alone() -> None:
    content = f"<answer>4</answer>\n{XML}"
    reply = read(completion(content))
    assert (reply.calls, reply.content) == ((), content)


def test_finish_tool_calls_with_an_empty_list_is_no_action() -> None:
    reply = read(completion("hm", calls=[], finish="tool_calls"))
    assert (reply.calls, reply.truncated) == ((), False)


@pytest.mark.parametrize(
    ("finish", "tokens", "cut"), [("length", 10, True), ("tool_calls", 1000, True), ("stop", 999, False)]
)
def test_truncation_also_shows_in_the_token_count(finish: str, tokens: int, cut: bool) -> None:
    assert read(completion("x", finish=finish, tokens=tokens)).truncated is cut


def test_text_mode_reads_loose_forms_and_calls_are_not_recovered() -> None:
    reply = read(completion("<code>print(1)</code>"), text_protocol=True)
    assert [(c.name, c.recovered) for c in reply.calls] == [("python", False)]


@pytest.mark.parametrize("value", [{}, {"choices": []}, {"choices": [None]}, {"choices": [{"message": None}]}])
def test_an_answer_without_a_message_is_a_damaged_body(value: dict[str, object]) -> None:
    with pytest.raises(TeacherFault, match="bad_body"):
        read(value)


def test_content_filter_is_a_refusal() -> None:
    with pytest.raises(TeacherFault, match="refused"):
        read(completion("", finish="content_filter"))


@pytest.mark.parametrize("body", [b"<html>502</html>", b'{"choices": [{"mess', b"", b"[1]", b"null", b"\xff\xfe"])
def test_bodies_that_are_no_completion(body: bytes) -> None:
    with pytest.raises(TeacherFault, match="bad_body"):
        read_body(body)


def test_half_an_emoji_is_replaced_not_refused() -> None:
    body = orjson.dumps(completion("HALF")).replace(b"HALF", b"\\ud83d!")
    assert read(dict(read_body(body))).content == "\ufffd!"


def test_half_an_emoji_in_a_call_left_as_text_is_replaced() -> None:
    text = '<tool_call>{"name": "search", "arguments": {"query": "flag \\ud83d"}}</tool_call>'
    (found,) = read(completion(text)).calls
    assert (found.name, found.arguments, found.malformed) == ("search", '{"query":"flag \ufffd"}', None)


def test_a_byte_order_mark_is_no_part_of_the_answer() -> None:
    body = b"\xef\xbb\xbf" + orjson.dumps(completion("4"))
    assert read(dict(read_body(body))).content == "4"


def test_a_number_of_thousands_of_digits_is_a_damaged_body() -> None:
    body = orjson.dumps(completion("x")).replace(b"150", b"1" * 5000)
    with pytest.raises(TeacherFault, match="bad_body"):
        read_body(body)


def test_missing_usage_counts_as_nothing() -> None:
    value = completion("x")
    value["usage"] = None
    assert read(value).usage.completion_tokens == 0


@pytest.mark.parametrize("finish", [None, "stop", "function_call", "eos", 7, {"type": "stop"}])
def test_odd_finish_reasons_are_an_ordinary_end(finish: object) -> None:
    value = completion("<answer>4</answer>")
    value["choices"][0]["finish_reason"] = finish
    reply = read(value)
    assert (reply.content, reply.truncated) == ("<answer>4</answer>", False)
    assert isinstance(reply.finish_reason, str)


@pytest.mark.parametrize("finish", ["length", "max_tokens", "MAX_TOKENS", "model_length"])
def test_every_servers_word_for_the_token_limit_is_a_cut(finish: str) -> None:
    assert read(completion("<answer>Mum", finish=finish)).truncated


@pytest.mark.parametrize("finish", ["abort", "error", "cancelled", "canceled", "insufficient_system_resource"])
def test_a_reply_that_the_server_broke_off_is_a_fault_and_no_reply(finish: str) -> None:
    with pytest.raises(TeacherFault, match="server"):
        read(completion("half a sen", finish=finish))


@pytest.mark.parametrize("thinking", ["<think>\nI add.\n</think>", "I add.</think>", "<think>I add."])
def test_tags_that_a_server_leaves_on_the_thinking_go(thinking: str) -> None:
    reply = read(completion("4", thinking=thinking))
    assert (reply.thinking, reply.content) == ("I add.", "4")


def test_calls_without_ids_as_objects_single_or_in_the_older_field() -> None:
    function = {"name": "search", "arguments": {"query": "tram"}}
    for field, value in (
        ("tool_calls", [{"function": function}]),
        ("tool_calls", {"function": function}),
        ("function_call", function),
    ):
        reply = read(completion(None, **{field: value}))
        assert [(c.name, c.arguments, c.malformed) for c in reply.calls] == [("search", '{"query":"tram"}', None)]


def test_huge_and_deep_arguments_are_read_or_named() -> None:
    long = "x" * 5_000_000
    (kept,) = read(completion(None, calls=[call("search", {"query": long})])).calls
    assert (kept.malformed, len(kept.arguments)) == (None, 5_000_000 + len('{"query":""}'))
    (deep,) = read(completion(None, calls=[call("search", "[" * 100_000)])).calls
    assert deep.malformed == "bad_json"
    (number,) = read(completion(None, calls=[call("search", '{"query": 1e400}')])).calls
    assert number.malformed


def test_chunks_of_a_stream_are_no_reply() -> None:
    with pytest.raises(TeacherFault, match="bad_body"):
        read_body(b'data: {"choices":[{"delta":{"content":"4"}}]}\n\ndata: [DONE]\n\n')
    with pytest.raises(TeacherFault, match="bad_body"):
        read({"object": "chat.completion.chunk", "choices": [{"delta": {"content": "4"}}]})


def test_a_token_count_as_a_float_is_a_count() -> None:
    value = completion("x")
    value["usage"] = {"prompt_tokens": 12.0, "completion_tokens": 1000.0}
    reply = read(value)
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens, reply.truncated) == (12, 1000, True)
    assert isinstance(reply.usage.completion_tokens, int)


@pytest.mark.parametrize("count", [1e30, 2**63, -1.5])
def test_a_token_count_that_no_reply_can_have_is_none(count: float) -> None:
    value = completion("x")
    value["usage"] = {"prompt_tokens": 1, "completion_tokens": count}
    assert (read(value).usage.completion_tokens, read(value).truncated) == (0, False)


def test_a_content_part_whose_text_is_no_text_is_passed_over() -> None:
    parts = [{"type": "text", "text": 5}, {"type": "text", "text": "a"}]
    assert read(completion(parts)).content == "a"  # type: ignore[arg-type]


def test_impossible_token_counts_count_as_nothing() -> None:
    value = completion("x")
    value["usage"] = {"prompt_tokens": -5, "completion_tokens": "many"}
    assert (read(value).usage.prompt_tokens, read(value).usage.completion_tokens) == (0, 0)

"""Every row of the shared cases D, end to end: what the server sends, and what becomes of the sample."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson
import pytest

from rollout_helpers import Asked, call, completion, lines, question, run, settings, teacher
from tir_distill.records import Trajectory, conversation

XML = "<tool_call>\n<function=search>\n<parameter=query>\ntram\n</parameter>\n</function>\n</tool_call>"


def first(reply: Mapping[str, Any]) -> Any:
    """This reply at the start, a right answer after it."""

    def script(asked: Asked) -> Mapping[str, Any]:
        return completion("<answer>right</answer>", thinking="Now I know it.") if asked.turn else reply

    return script


def sample(folder: Path, script: Any, **sections: Any) -> tuple[Trajectory, list[dict[str, Any]]]:
    """The first sample of one question, and the requests that the teacher got."""
    with teacher(script) as server:
        server.keep = True
        run(folder, [question(1)], server, settings(plan={"k_max": 1, "k_first": 1}, **sections))
        rows = lines(folder / "t.jsonl")
        assert len(rows) == 1
        return Trajectory.from_dict(rows[0]), server.requests


def test_38_a_call_left_in_the_content_is_recovered_and_leaves_no_text(tmp_path: Path) -> None:
    trajectory, requests = sample(tmp_path, first(completion(XML, calls=None)))
    made = trajectory.turns[0].calls[0]
    assert (made.name, made.arguments, made.recovered) == ("search", '{"query":"tram"}', True)
    assert "turn 0: call recovered from text" in trajectory.notes
    assert trajectory.accepted
    assert "<tool_call" not in orjson.dumps(conversation(trajectory)).decode()
    assert requests[1]["messages"][2]["tool_calls"][0]["function"]["name"] == "search"


def test_40_finish_tool_calls_with_an_empty_list_is_no_action(tmp_path: Path) -> None:
    trajectory, requests = sample(tmp_path, lambda asked: completion("", calls=[], finish="tool_calls"))
    assert (trajectory.stop, trajectory.answer, len(requests)) == ("no_answer", None, 2)


@pytest.mark.parametrize(
    "arguments", ['{}""', '""', "", "null", "[]", '{"query": "a', '{"query":"a"}{"query":"b"}', '{"query": null}', "{}"]
)
def test_41_43_malformed_arguments_are_answered_recorded_and_never_accepted(tmp_path: Path, arguments: str) -> None:
    trajectory, requests = sample(tmp_path, first(completion(None, calls=[call("search", arguments)])))
    made, told = trajectory.turns[0].calls[0], trajectory.turns[0].results[0]
    assert made.malformed
    assert made.arguments == arguments
    assert told.status == "model_error"
    assert trajectory.searches == 0
    assert (trajectory.correct, trajectory.accepted, trajectory.filter_fails) == (True, False, ("malformed_call",))
    sent = requests[1]["messages"][2]["tool_calls"][0]["function"]["arguments"]
    assert isinstance(orjson.loads(sent), dict)


@pytest.mark.parametrize("name", ["searchopen", "", "Search"])
def test_43_glued_and_unknown_names_are_not_run(tmp_path: Path, name: str) -> None:
    trajectory, _ = sample(tmp_path, first(completion(None, calls=[call(name, {"query": "a"})])))
    assert trajectory.turns[0].calls[0].malformed == "unknown_tool"
    assert not trajectory.accepted


def test_44_ids_that_are_empty_or_repeated_still_pair(tmp_path: Path) -> None:
    def script(asked: Asked) -> Mapping[str, Any]:
        if asked.turn == 2:
            return completion("<answer>right</answer>")
        ids = ("", "") if asked.turn == 0 else ("same", "same")
        return completion(None, calls=[call("search", {"query": f"{asked.turn}{i}"}, ids[i]) for i in range(2)])

    trajectory, _ = sample(tmp_path, script)
    asked_ids = [c.id for turn in trajectory.turns for c in turn.calls]
    told_ids = [r.call_id for turn in trajectory.turns for r in turn.results]
    assert asked_ids == told_ids == ["call_0_0", "call_0_1", "call_1_0", "call_1_1"]
    for turn in trajectory.turns[:2]:
        assert [r.meta["query"] for r in turn.results] == [c.arguments for c in turn.calls]


@pytest.mark.parametrize("reasoning", ["<answer>42</answer>", "I know.\n<answer>42</answer>"])
def test_46_an_answer_in_the_reasoning_alone_is_no_answer(tmp_path: Path, reasoning: str) -> None:
    trajectory, _ = sample(tmp_path, lambda asked: completion(None, thinking=reasoning))
    assert (trajectory.stop, trajectory.answer) == ("no_answer", None)
    assert all(m["content"] is not None for m in conversation(trajectory))


def test_47_thinking_is_the_same_under_either_name(tmp_path: Path) -> None:
    kept = set()
    for name in ("reasoning_content", "reasoning", "reasoning_content+reasoning"):
        folder = tmp_path / name
        trajectory, _ = sample(folder, lambda asked, name=name: completion("<answer>right</answer>", field_name=name))
        kept.add(trajectory.turns[0].thinking)
    assert kept == {"I think about this for a while."}


@pytest.mark.parametrize(
    "reply",
    [
        completion("<answer>Mum", finish="length"),
        completion("<answer>right</answer>", finish="length"),
        completion(None, calls=[call("search", "{}")], finish="tool_calls", tokens=8192),
    ],
)
def test_49_a_cut_reply_is_truncated_whatever_it_holds(tmp_path: Path, reply: Mapping[str, Any]) -> None:
    trajectory, requests = sample(tmp_path, lambda asked: reply)
    assert (trajectory.stop, trajectory.answer, trajectory.accepted, len(requests)) == ("truncated", None, False, 1)


def test_50_sixty_four_conversations_do_not_mix(tmp_path: Path) -> None:
    """Each question carries a secret word; each reply repeats what it saw of all words in its own conversation."""
    words = [f"secret{i:02d}xyz" for i in range(64)]

    def script(asked: Asked) -> Mapping[str, Any]:
        seen = " ".join(sorted(set(re.findall(r"secret\d\dxyz", orjson.dumps(asked.body).decode()))))
        if asked.turn < 5:
            return completion(None, thinking=f"I saw {seen}", calls=[call("search", {"query": f"{seen} {asked.turn}"})])
        return completion(f"<answer>{seen}</answer>")

    questions = [question(i, question=f"The word is {word}.", answer=word) for i, word in enumerate(words)]
    with teacher(script, latency=0.002) as server:
        report = run(tmp_path, questions, server, settings(engine={"concurrency": 128}))
    assert report.statuses == {"accepted": 64}
    for row in lines(tmp_path / "t.jsonl"):
        own = words[int(row["id"][1:])]
        assert set(re.findall(r"secret\d\dxyz", orjson.dumps(row).decode())) == {own}


def test_swallowed_json_without_a_closing_tag_as_in_the_smoke_test(tmp_path: Path) -> None:
    trajectory, _ = sample(tmp_path, first(completion('<tool_call>{"action":"search","query":"tram"}', finish="stop")))
    assert trajectory.accepted
    assert trajectory.turns[0].calls[0].arguments == '{"query":"tram"}'


def test_a_recovered_call_that_is_cut_is_a_malformed_one(tmp_path: Path) -> None:
    trajectory, _ = sample(tmp_path, first(completion('<tool_call>{"action":"search","query":"tr')))
    made = trajectory.turns[0].calls[0]
    assert (made.recovered, made.malformed) == (True, "unknown_tool")
    assert not trajectory.accepted

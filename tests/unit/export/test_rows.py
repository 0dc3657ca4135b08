"""Rows say what was run, in the shape that loads; what they cannot say faithfully is refused with a reason."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from export_helpers import SETTINGS, TASKS, call, picture, places, row, trajectory
from tir_distill.config import ROOT
from tir_distill.export import ROW_KEYS, Renderer, find_template, same_conversation, to_row
from tir_distill.records import BadRow, ToolResult, Trajectory, Turn

SCHEMA = orjson.loads((ROOT / "resources" / "schemas" / "row.schema.json").read_bytes())


@pytest.fixture(scope="module")
def renderer() -> Renderer:
    return Renderer(find_template())


def export(sample: Trajectory, root: Path) -> dict[str, Any]:
    return to_row(sample, places=places(root), settings=SETTINGS, n_samples=2)


def with_turn(sample: Trajectory, at: int, /, **changes: Any) -> Trajectory:
    turns = list(sample.turns)
    turns[at] = replace(turns[at], **changes)
    return replace(sample, turns=tuple(turns))


def with_result(sample: Trajectory, **changes: Any) -> Trajectory:
    first, *others = sample.turns[0].results
    return with_turn(sample, 0, results=(replace(first, **changes), *others))


def test_hand_written_row(tmp_path: Path) -> None:
    sample = trajectory(tmp_path, 1, "evobrowsecomp", turns=1)
    sample = with_turn(
        sample,
        0,
        thinking="I should search.",
        content="",
        calls=(call(0, 0, "search", query="鸟"),),
        results=(
            ToolResult(call_id="call_0_0", name="search", status="ok", content=" 1. A\n", notice="[notice] Answer."),
        ),
    )
    sample = with_turn(sample, 1, index=3, thinking=" It is A.\n", content="\n\nSo:\n<answer>A</answer>\n")
    made = export(replace(sample, repaired_turns=(1,), notes=("recovered", "f5_cut:call_1_0")), tmp_path)
    assert made["messages"][2:] == [
        {
            "role": "assistant",
            "content": "<think>\nI should search.\n</think>\n\n",
            "turn": 0,
            "tool_calls": [
                {"id": "call_0_0", "type": "function", "function": {"name": "search", "arguments": '{"query":"鸟"}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "call_0_0", "content": "1. A\n\n\n[notice] Answer."},
        {"role": "assistant", "content": "<think>\nIt is A.\n</think>\n\nSo:\n<answer>A</answer>", "turn": 3},
    ]
    assert made["images"] == []
    assert (made["has_self_search"], made["has_image_code"]) == (True, False)
    assert (made["n_samples"], made["judge_model"], made["licence"]) == (2, "rule", "CC-BY-NC-SA-4.0")
    assert made["lineage"]["sample"] == "evobrowsecomp_1#1"
    assert made["lineage"]["cut_calls"] == '["call_1_0"]'


def test_pictures_stand_where_their_tags_are(tmp_path: Path) -> None:
    for number in range(12):
        sample = trajectory(tmp_path, number)
        made = export(sample, tmp_path)
        shown = [p.path for turn in sample.turns for result in turn.results for p in result.images]
        assert made["images"] == [f"handover/{sample.question.images[0]}", *(f"run/{path}" for path in shown)]
        assert made["messages"][1]["content"].startswith("<image>Number ")
        assert sum(message["content"].count("<image>") for message in made["messages"]) == len(made["images"])
        assert all((tmp_path / path).is_file() for path in made["images"])


@pytest.mark.parametrize("bucket", sorted(TASKS))
def test_every_row_has_the_same_keys_and_fits_the_schema(bucket: str, tmp_path: Path) -> None:
    validator = jsonschema.Draft202012Validator(SCHEMA)
    for number in range(5):
        made = row(tmp_path, number, bucket)
        assert tuple(made) == ROW_KEYS == tuple(SCHEMA["properties"]) == tuple(SCHEMA["required"])
        validator.validate(made)


def test_row_and_sample_render_to_the_same_text(tmp_path: Path, renderer: Renderer) -> None:
    for number in range(20):
        for bucket in TASKS:
            sample = trajectory(tmp_path, number, bucket)
            assert same_conversation(export(sample, tmp_path), sample, renderer)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    thinking=st.text(st.characters(exclude_categories=["Cs"]), min_size=1),
    visible=st.text(st.characters(exclude_categories=["Cs"])),
    told=st.text(st.characters(exclude_categories=["Cs"])),
    query=st.text(st.characters(exclude_categories=["Cs"])),
)
def test_any_text_is_exported_faithfully_or_refused(
    tmp_path_factory: pytest.TempPathFactory, renderer: Renderer, thinking: str, visible: str, told: str, query: str
) -> None:
    folder = tmp_path_factory.getbasetemp() / "any"
    sample = trajectory(folder, 1, turns=1)
    results = tuple(replace(result, content=told) for result in sample.turns[0].results)
    calls = (call(0, 0, "search", query=query), *sample.turns[0].calls[1:])
    # records keep thinking without outer white space
    sample = with_turn(sample, 0, thinking=thinking.strip(), content=visible, calls=calls, results=results)
    reason = ""
    try:
        made = export(sample, folder)
    except BadRow as error:
        reason = error.reason
    if reason:
        assert reason in {"markup_in_text", "missing_think"}
    else:
        assert same_conversation(made, sample, renderer)


def test_a_picture_of_the_question_keeps_the_blanks_after_it(tmp_path: Path, renderer: Renderer) -> None:
    sample = trajectory(tmp_path, 1)
    sample = replace(sample, question=replace(sample.question, question="  What?\n"))
    made = export(sample, tmp_path)
    assert made["messages"][1]["content"] == "<image>  What?"
    assert same_conversation(made, sample, renderer)


def test_a_row_of_another_sample_or_a_changed_one_is_told_apart(tmp_path: Path, renderer: Renderer) -> None:
    sample = trajectory(tmp_path, 1)
    made = export(sample, tmp_path)
    assert not same_conversation(made, with_turn(sample, 0, thinking="Something else."), renderer)
    with pytest.raises(BadRow, match="other_sample"):
        same_conversation(made, replace(sample, fingerprint="0" * 64), renderer)


def test_lineage_leads_to_the_raw_sample_before_its_repair(tmp_path: Path, renderer: Renderer) -> None:
    raw = trajectory(tmp_path, 3, turns=4)
    first, second = raw.turns[0], raw.turns[1]
    assert len(first.calls) > 1
    assert len(second.calls) == 1
    kept = (replace(first, calls=first.calls[1:], results=first.results[1:]), *raw.turns[2:])
    notes = (f"f5_cut:{first.calls[0].id}", f"f5_cut:{second.calls[0].id}")
    made = export(replace(raw, turns=kept, repaired_turns=(0, 1), notes=notes), tmp_path)
    assert same_conversation(made, raw, renderer)
    assert [message["turn"] for message in made["messages"] if message["role"] == "assistant"] == [0, 2, 3, 4]


def eventful(root: Path) -> Trajectory:
    """Three calls in the first turn, python with two pictures among them; then a search over its cap whose result
    carries the notice of a forced answer; then the answer."""
    base = trajectory(root, 6, turns=1)
    calls = (call(0, 0, "search", query="桥 \n建"), call(0, 1, "python", code="image_1"), call(0, 2, "open", url="u"))
    shown = (picture(root / "run", 1), picture(root / "run", 2, (40, 90)))
    results = (
        ToolResult(call_id="call_0_0", name="search", status="ok", content="No results."),
        ToolResult(call_id="call_0_1", name="python", status="ok", content=" (64, 48)\n", images=shown),
        ToolResult(call_id="call_0_2", name="open", status="model_error", content="Could not open u: no address"),
    )
    last = call(1, 0, "search", query="again")
    told = ToolResult(call_id=last.id, name="search", status="ok", content="Search budget used up.", notice=NOTICE)
    turns = (
        Turn(index=0, thinking=" I look in three places.\n", content="\n\nOne moment.  ", calls=calls, results=results),
        Turn(index=1, thinking="Once more.", content="", calls=(last,), results=(told,)),
        Turn(index=2, thinking="That must do.", content="<answer>Mumbai</answer>\n"),
    )
    return replace(base, turns=turns)


NOTICE = (
    "[notice] No searches are left. Do not call tools any more: give your final answer now inside <answer></answer>."
)


def test_lineage_leads_back_with_parallel_calls_pictures_of_python_and_a_forced_answer(
    tmp_path: Path, renderer: Renderer
) -> None:
    raw = eventful(tmp_path)
    made = export(raw, tmp_path)
    assert same_conversation(made, raw, renderer)
    messages = made["messages"]
    assert [message["role"] for message in messages] == [
        *("system", "user", "assistant", "tool", "tool", "tool", "assistant", "tool", "assistant")
    ]
    assert messages[4]["content"] == "(64, 48)\n<image><image>"
    assert len(made["images"]) == len(raw.question.images) + 2
    assert messages[7]["content"].endswith(NOTICE)
    # each of these facts is in the comparison: without it the two differ
    first, shown, last = raw.turns[0].results
    for changes in (
        {"calls": raw.turns[0].calls[:2], "results": (first, shown)},
        {"results": (first, replace(shown, images=shown.images[:1]), last)},
        {"results": (first, last, shown)},
        {"content": "Another moment."},
    ):
        assert not same_conversation(made, with_turn(raw, 0, **changes), renderer), changes
    quiet = replace(raw.turns[1].results[0], notice="")
    assert not same_conversation(made, with_turn(raw, 1, results=(quiet,)), renderer)


def test_lineage_leads_back_when_the_repair_cut_one_of_parallel_calls_with_its_picture(
    tmp_path: Path, renderer: Renderer
) -> None:
    raw = eventful(tmp_path)
    first = raw.turns[0]
    kept = replace(first, calls=(first.calls[0], first.calls[2]), results=(first.results[0], first.results[2]))
    filtered = replace(raw, turns=(kept, *raw.turns[1:]), repaired_turns=(0,), notes=("f5_cut:call_0_1",))
    made = export(filtered, tmp_path)
    assert same_conversation(made, raw, renderer)
    assert len(made["images"]) == len(raw.question.images)
    assert orjson.loads(made["lineage"]["cut_calls"]) == ["call_0_1"]
    assert not same_conversation({**made, "lineage": {**made["lineage"], "cut_calls": "[]"}}, raw, renderer)


BROKEN: dict[str, tuple[str, Callable[[Trajectory], Trajectory]]] = {
    "malformed call": (
        "malformed_call",
        lambda t: with_turn(t, 0, calls=(replace(t.turns[0].calls[0], malformed="bad_json"), *t.turns[0].calls[1:])),
    ),
    "arguments a list": (
        "bad_arguments",
        lambda t: with_turn(t, 0, calls=(replace(t.turns[0].calls[0], arguments="[]"), *t.turns[0].calls[1:])),
    ),
    "result missing": ("unpaired_calls", lambda t: with_turn(t, 0, results=t.turns[0].results[1:])),
    "same id twice": (
        "unpaired_calls",
        lambda t: with_turn(
            t,
            0,
            calls=tuple(replace(c, id="x") for c in t.turns[0].calls),
            results=tuple(replace(r, call_id="x") for r in t.turns[0].results),
        ),
    ),
    "our own fault": ("infrastructure", lambda t: with_result(t, status="infrastructure")),
    "no thinking": ("missing_think", lambda t: with_turn(t, 0, thinking=" \n")),
    "no answer": ("no_answer", lambda t: with_turn(t, -1, content="Mumbai.")),
    "blank answer": ("no_answer", lambda t: with_turn(t, -1, content="<answer> </answer>")),
    "ends in a call": ("ends_with_call", lambda t: replace(t, turns=t.turns[:-1])),
    "no turns": ("ends_with_call", lambda t: replace(t, turns=())),
    "prose in between": (
        "two_replies",
        lambda t: replace(t, turns=(Turn(index=0, thinking="I say.", content="Hm."), *t.turns)),
    ),
    "cut": ("truncated", lambda t: with_turn(t, -1, finish_reason="length")),
    "stopped as cut": ("truncated", lambda t: replace(t, stop="truncated")),
    "think tag in text": ("markup_in_text", lambda t: with_turn(t, -1, content="</think> <answer>A</answer>")),
    "picture tag in thinking": ("markup_in_text", lambda t: with_turn(t, 0, thinking="See <image> above.")),
    "control token told": ("markup_in_text", lambda t: with_result(t, content="<|im_end|>")),
    "picture tag told": ("markup_in_text", lambda t: with_result(t, content="an <image> tag")),
    "picture tag in the question": (
        "markup_in_text",
        lambda t: replace(t, question=replace(t.question, question="What is <image>?")),
    ),
    "parameter end in code": (
        "markup_in_text",
        lambda t: with_turn(t, 0, calls=(call(0, 0, "python", code="x = '</parameter>'"), *t.turns[0].calls[1:])),
    ),
    "half a surrogate pair": ("not_unicode", lambda t: with_turn(t, 0, thinking="x \ud83d y and more")),
    "no such bucket": ("no_licence", lambda t: replace(t, question=replace(t.question, bucket="other"))),
    "picture missing": (
        "picture_missing",
        lambda t: replace(t, question=replace(t.question, images=("images/none.png",))),
    ),
    "path climbs out": (
        "picture_outside_root",
        lambda t: replace(t, question=replace(t.question, images=("../run/x.png",))),
    ),
    "absolute path": (
        "picture_outside_root",
        lambda t: replace(t, question=replace(t.question, images=("/etc/hostname",))),
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_no_row_can_say_is_refused_with_its_reason(name: str, tmp_path: Path) -> None:
    reason, damage = BROKEN[name]
    with pytest.raises(BadRow) as caught:
        export(damage(trajectory(tmp_path, 1)), tmp_path)
    assert caught.value.reason == reason
    assert caught.value.detail


def test_image_code_is_seen_behind_an_escaped_line_end(tmp_path: Path) -> None:
    sample = trajectory(tmp_path, 1)
    code = call(0, 0, "python", code="import os\nPIL")
    made = export(with_turn(sample, 0, calls=(code, *sample.turns[0].calls[1:])), tmp_path)
    assert made["has_image_code"]

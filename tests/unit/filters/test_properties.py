"""Filters over any well-formed trajectory."""

from __future__ import annotations

import copy
import dataclasses
from itertools import permutations
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from filters_helpers import default_settings, make_question
from tir_distill.filters import EXTRA_RULES, StatsBuilder, evaluate, filter_reports
from tir_distill.filters import evaluate as evaluate_function
from tir_distill.filters.evaluate import AFTER_F5, BEFORE_F5
from tir_distill.filters.repair import repair
from tir_distill.records import (
    Picture,
    TokenCounts,
    ToolCall,
    ToolResult,
    Trajectory,
    Turn,
    Verdict,
    dumps,
)

PLAIN = default_settings()
ALL = default_settings(extra=list(EXTRA_RULES))

words = st.sampled_from(
    [
        "Mumbai",
        "137",
        "0.387",
        "38.7%",
        "the crop shows",
        "图中",
        "B",
        "https://huggingface.co/datasets/x",
        "<answer>",
        "</answer>",
        "error",
        "[tool output truncated]",
        "\u2028",
        "1. t\nURL: https://scribd.com/1",
        "",
    ]
)
text = st.one_of(st.lists(words, max_size=6).map(" ".join), st.text(max_size=30))
code = st.sampled_from(
    [
        "image_1.crop((0,0,9,9))",
        "part = image_1.rotate(9)",
        "print(part.size)",
        "print(137)",
        "import cv2",
        "x =",
        "",
        "\x00",
    ]
)
arguments = st.one_of(
    code.map(lambda c: dumps({"code": c}).decode()),
    text.map(lambda t: dumps({"query": t}).decode()),
    st.sampled_from(
        ["", "null", "[]", '{"code": 3}', '{"code": ["a", {"b": "hf.co/datasets"}]}', "not json", '{"url": null}']
    ),
)
meta = st.dictionaries(
    st.sampled_from(["urls", "hops", "final_url", "url", "cap", "cell", "blocked"]),
    st.one_of(st.none(), st.booleans(), st.integers(-9, 10**9), text, st.lists(st.one_of(text, st.none()), max_size=2)),
    max_size=3,
)
picture = st.builds(
    Picture,
    path=st.just("tool_images/a.png"),
    sha256=st.just("a" * 64),
    width=st.integers(1, 99),
    height=st.integers(1, 99),
)


@st.composite
def turns(draw: st.DrawFn) -> tuple[Turn, ...]:
    out: list[Turn] = []
    for index in range(draw(st.integers(0, 5))):
        calls, results = [], []
        for place in range(draw(st.integers(0, 3))):
            call_id = f"call_{index}_{place}"
            name = draw(st.sampled_from(["search", "open", "python", "unknown"]))
            malformed = draw(st.sampled_from([None, None, None, "bad_json"]))
            calls.append(ToolCall(id=call_id, name=name, arguments=draw(arguments), malformed=malformed))
            results.append(
                ToolResult(
                    call_id=call_id,
                    name=name,
                    status=draw(st.sampled_from(["ok", "ok", "model_error"])),
                    content=draw(text),
                    images=tuple(draw(st.lists(picture, max_size=2))),
                    notice=draw(st.sampled_from(["", "", "[notice] answer now"])),
                    meta=draw(meta),
                )
            )
        out.append(
            Turn(
                index=index,
                thinking=draw(text),
                content=draw(text),
                calls=tuple(calls),
                results=tuple(results),
                finish_reason=draw(st.sampled_from(["stop", "tool_calls", "length"])),
            )
        )
    return tuple(out)


@st.composite
def trajectories(draw: st.DrawFn) -> Trajectory:
    task_type = draw(st.sampled_from(["text_search", "image_search", "image_reasoning"]))
    verdicts = [
        None,
        Verdict(correct=True, path="exact"),
        Verdict(correct=False, path="judge"),
        Verdict(correct=None, path="judge_failed"),
    ]
    return Trajectory(
        question=make_question(task_type, question=draw(text)),
        sample_index=draw(st.integers(0, 7)),
        fingerprint="f",
        seed=1,
        teacher="t",
        protocol="native",
        system=draw(text),
        tools=(),
        turns=draw(turns()),
        stop=draw(st.sampled_from(["answer", "no_answer", "truncated"])),
        answer=draw(st.one_of(st.none(), text)),
        verdict=draw(st.sampled_from(verdicts)),
        tokens=TokenCounts(assistant=draw(st.integers(0, 7000)), sequence=draw(st.integers(0, 30_000))),
    )


relaxed = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@relaxed
@given(trajectories())
def test_never_raises_and_never_changes_its_input(trajectory: Trajectory) -> None:
    before = copy.deepcopy(trajectory)
    report = evaluate(trajectory, ALL)
    assert trajectory == before
    assert report.accepted == (not report.fails) == report.trajectory.accepted
    assert report.trajectory.filter_fails == tuple(fail.rule for fail in report.fails)


@relaxed
@given(trajectories())
def test_twice_is_once(trajectory: Trajectory) -> None:
    once = evaluate(trajectory, PLAIN)
    again = evaluate(once.trajectory, PLAIN)
    assert again.trajectory.turns == once.trajectory.turns
    assert again.trajectory.repaired_turns == once.trajectory.repaired_turns
    assert again.accepted == once.accepted


@relaxed
@given(trajectories())
def test_written_and_read_again_gives_the_same_word(trajectory: Trajectory) -> None:
    import orjson

    row = orjson.loads(dumps(trajectory.to_dict()))
    assert evaluate(Trajectory.from_dict(row), PLAIN).fails == evaluate(trajectory, PLAIN).fails


@relaxed
@given(trajectories(), st.randoms())
def test_order_of_evaluation_never_changes_acceptance(trajectory: Trajectory, rng: Any) -> None:
    sample = repair(trajectory)
    checks = [*BEFORE_F5, *AFTER_F5]
    rng.shuffle(checks)
    fails = {fail.rule for check in checks if (fail := check(sample.trajectory, PLAIN))}
    if sample.fail:
        fails.add(sample.fail.rule)
    report = evaluate_function(trajectory, PLAIN)
    assert fails == {fail.rule for fail in report.fails}
    assert (not fails) == report.accepted


@relaxed
@given(trajectories())
def test_repair_leaves_calls_and_results_paired_and_touches_no_text(trajectory: Trajectory) -> None:
    report = evaluate(trajectory, PLAIN)
    by_index = {turn.index: turn for turn in trajectory.turns}
    for turn in report.trajectory.turns:
        source = by_index[turn.index]
        assert (turn.thinking, turn.content) == (source.thinking, source.content)
        assert [call.id for call in turn.calls] == [result.call_id for result in turn.results]
        assert set(turn.calls) <= set(source.calls)
    assert report.trajectory.tokens.assistant >= 0


@settings(relaxed, max_examples=25)
@given(st.lists(st.tuples(st.integers(0, 3), trajectories()), max_size=5))
def test_counts_close_for_any_mixture(numbered: list[tuple[int, Trajectory]]) -> None:
    """Each sample is accepted, or dropped once under its first reason; no question gives two rows."""
    samples = [
        dataclasses.replace(sample, question=dataclasses.replace(sample.question, id=f"q{number}"))
        for number, sample in numbered
    ]
    reports = list(filter_reports(samples, ALL))
    builder = StatsBuilder()
    for report, raw in zip(reports, samples, strict=True):
        builder.add(report, raw)
    stats = builder.result()
    assert stats["samples"] == len(samples) == stats["accepted"] + stats["dropped"]
    assert stats["dropped"] == sum(sum(counts.values()) for counts in stats["drops"]["first"].values())
    assert sum(entry["samples"] for entry in stats["per_bucket"].values()) == len(samples)
    assert sum(sum(counts.values()) for counts in stats["verdict_paths"].values()) == len(samples)
    kept = [report.trajectory.question.id for report in reports if report.accepted]
    assert len(kept) == len(set(kept)) == stats["accepted"]


def test_permutations_of_a_small_set_of_rules_agree() -> None:
    sample = repair(make_failing()).trajectory
    accepted = {
        tuple(sorted(fail.rule for check in order if (fail := check(sample, PLAIN))))
        for order in permutations(BEFORE_F5)
    }
    assert len(accepted) == 1


def make_failing() -> Trajectory:
    from filters_helpers import Script

    return Script().cell("import cv2", "1").answer("B").done(verdict=Verdict(correct=False, path="judge"))

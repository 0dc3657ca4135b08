"""One shard through the filter stage."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from filters_helpers import Script, default_settings, good, make_question
from tir_distill.filters import StatsBuilder, evaluate, filter_file, filter_reports, read_trajectories
from tir_distill.records import TirError, TokenCounts, Trajectory, Usage, UsageError, Verdict, dumps, write_jsonl

SETTINGS = default_settings()
WRONG = Verdict(correct=False, path="judge", judge_model="gpt-4o")


def numbered(question_id: str, index: int, **changes: object) -> Trajectory:
    return good(question=make_question(id=question_id), sample_index=index, **changes)


def shard(path: Path, samples: list[Trajectory]) -> Path:
    write_jsonl(path, [sample.to_dict() for sample in samples])
    return path


def test_lowest_accepted_index_is_kept(tmp_path: Path) -> None:
    samples = [numbered("a", 0, verdict=WRONG), numbered("a", 1), numbered("a", 2), numbered("b", 0)]
    source = shard(tmp_path / "raw.jsonl", samples)
    counts = filter_file(source, tmp_path / "out.jsonl", SETTINGS)
    out = list(read_trajectories(tmp_path / "out.jsonl"))
    assert [(t.key, t.accepted, t.filter_fails) for t in out] == [
        ("a#0", False, ("F1",)),
        ("a#1", True, ()),
        ("a#2", False, ("surplus",)),
        ("b#0", True, ()),
    ]
    assert (counts.samples, counts.accepted, counts.dropped) == (4, 2, {"F1": 1, "surplus": 1})


def test_index_decides_not_order_in_the_file() -> None:
    out = list(filter_reports([numbered("a", 2), numbered("a", 1)], SETTINGS))
    assert [(r.trajectory.sample_index, r.accepted) for r in out] == [(2, False), (1, True)]


def test_question_that_comes_again_is_never_accepted_twice() -> None:
    out = list(filter_reports([numbered("a", 0), numbered("b", 0), numbered("a", 0)], SETTINGS))
    assert [r.accepted for r in out] == [True, True, False]
    assert out[2].first == "surplus"


def test_output_is_written_as_repaired(tmp_path: Path) -> None:
    sample = Script().cell("image_1.crop((0, 0, 5, 5)).size", "(5, 5)").search().answer().done("image_search")
    filter_file(shard(tmp_path / "raw.jsonl", [sample]), tmp_path / "out.jsonl", SETTINGS)
    [out] = read_trajectories(tmp_path / "out.jsonl")
    assert out.repaired_turns == (0,)
    assert len(out.turns) == 2


def test_twice_is_byte_identical_and_idempotent(tmp_path: Path) -> None:
    samples = [numbered(f"q{n}", k, verdict=WRONG if n % 3 else None) for n in range(20) for k in range(3)]
    samples += [good("image_search", question=make_question("image_search", id="z"))]
    source = shard(tmp_path / "raw.jsonl", samples)
    for name in ("one.jsonl", "two.jsonl"):
        filter_file(source, tmp_path / name, SETTINGS)
    filter_file(tmp_path / "one.jsonl", tmp_path / "three.jsonl", SETTINGS)
    one = (tmp_path / "one.jsonl").read_bytes()
    assert (tmp_path / "two.jsonl").read_bytes() == one
    assert (tmp_path / "three.jsonl").read_bytes() == one


def test_looser_threshold_brings_a_sample_back_from_its_filtered_form(tmp_path: Path) -> None:
    source = shard(tmp_path / "raw.jsonl", [good(tokens=TokenCounts(assistant=150, sequence=1000))])
    filter_file(source, tmp_path / "one.jsonl", SETTINGS)
    filter_file(source, tmp_path / "two.jsonl", default_settings(min_assistant_tokens=150))
    assert [t.accepted for t in read_trajectories(tmp_path / "one.jsonl")] == [False]
    assert [t.accepted for t in read_trajectories(tmp_path / "two.jsonl")] == [True]


def test_limit(tmp_path: Path) -> None:
    source = shard(tmp_path / "raw.jsonl", [numbered("a", 0), numbered("b", 0), numbered("c", 0)])
    assert filter_file(source, tmp_path / "out.jsonl", SETTINGS, limit=2).samples == 2


def test_empty_shard_gives_an_empty_file(tmp_path: Path) -> None:
    (tmp_path / "raw.jsonl").write_bytes(b"")
    assert filter_file(tmp_path / "raw.jsonl", tmp_path / "out.jsonl", SETTINGS).samples == 0
    assert (tmp_path / "out.jsonl").read_bytes() == b""


@pytest.mark.parametrize("line", [b'{"id": "q1"}', b'{"question": 3}', b"not json", b'{"question": {"id": "x"}}'])
def test_bad_line_is_named_and_leaves_no_output(tmp_path: Path, line: bytes) -> None:
    source = tmp_path / "raw.jsonl"
    source.write_bytes(dumps(good().to_dict()) + b"\n" + line + b"\n")
    with pytest.raises(TirError, match="2"):
        filter_file(source, tmp_path / "out.jsonl", SETTINGS)
    assert not (tmp_path / "out.jsonl").exists()


def test_a_sample_that_the_rules_cannot_read_is_set_aside_and_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A call whose arguments are a list: no rule expects it, and the samples around it keep their word."""
    odd = numbered("b", 0)
    turn = dataclasses.replace(odd.turns[0], calls=(dataclasses.replace(odd.turns[0].calls[0], arguments=[3]),))
    samples = [numbered("a", 0), dataclasses.replace(odd, turns=(turn, *odd.turns[1:])), numbered("b", 1)]
    source = shard(tmp_path / "raw.jsonl", samples)
    counts = filter_file(source, tmp_path / "one.jsonl", SETTINGS)
    assert (counts.samples, counts.accepted, counts.dropped) == (3, 2, {"rule_error": 1})
    out = list(read_trajectories(tmp_path / "one.jsonl"))
    assert [(t.key, t.accepted, t.filter_fails) for t in out] == [
        ("a#0", True, ()),
        ("b#0", False, ("rule_error",)),
        ("b#1", True, ()),
    ]
    assert "b#0: set aside, the rules cannot be evaluated" in caplog.text
    filter_file(tmp_path / "one.jsonl", tmp_path / "two.jsonl", SETTINGS)
    assert (tmp_path / "two.jsonl").read_bytes() == (tmp_path / "one.jsonl").read_bytes()
    builder = StatsBuilder()
    for trajectory in out:
        builder.add(trajectory)
    stats = builder.result()
    assert (stats["samples"], stats["accepted"], stats["dropped"]) == (3, 2, 1)
    assert stats["drops"]["first"] == {"rule_error": {"evobrowsecomp": 1}}


def test_faults_that_are_not_the_samples_stop_the_shard(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("tir_distill.filters.stage.evaluate", failing)
    with pytest.raises(MemoryError):
        list(filter_reports([good()], SETTINGS))


def test_evaluation_text_without_fingerprints_is_refused(tmp_path: Path) -> None:
    source = shard(tmp_path / "raw.jsonl", [good()])
    with pytest.raises(UsageError, match="evaluation_text"):
        filter_file(source, tmp_path / "out.jsonl", default_settings(extra=["evaluation_text"]))


def test_line_separators_inside_text_are_text(tmp_path: Path) -> None:
    script = Script().search()
    script.turn(script.an_open(text="a\u2028b\u0085c\x0cd"))
    source = shard(tmp_path / "raw.jsonl", [script.answer().done()])
    assert filter_file(source, tmp_path / "out.jsonl", SETTINGS).samples == 1
    assert (tmp_path / "out.jsonl").read_bytes().count(b"\n") == 1


# statistics


def stats_of(samples: list[Trajectory], questions: list[dict[str, object]] | None = None) -> dict[str, object]:
    builder = StatsBuilder()
    for report in filter_reports(samples, SETTINGS):
        builder.add(report)
    builder.add_questions(questions or [])
    return builder.result({"filters": SETTINGS.to_dict()})


def test_stats_by_hand() -> None:
    letter = (
        Script()
        .search()
        .answer("B")
        .done(
            question=make_question(id="l"), verdict=Verdict(correct=True, path="judge", detail="second judge disagrees")
        )
    )
    failed_judge = numbered("j", 0, verdict=Verdict(correct=None, path="judge_failed"))
    short_and_wrong = numbered("w", 0, verdict=WRONG, tokens=TokenCounts(assistant=10, sequence=20))
    agrees = numbered("a", 0, verdict=Verdict(correct=True, path="judge", detail="second judge agrees"))
    chart = Script().answer("12").done("image_reasoning", question=make_question("image_reasoning", id="c"))
    questions = [
        {"id": "a", "bucket": "evobrowsecomp", "status": "accepted", "accepted_sample": 0},
        {"id": "l", "bucket": "evobrowsecomp", "status": "exhausted", "accepted_sample": None},
        {"id": "x", "bucket": "evobrowsecomp", "status": "deferred", "accepted_sample": None},
        {"id": "c", "bucket": "chartqa_human", "status": "accepted", "accepted_sample": 0},
    ]
    stats = stats_of([letter, failed_judge, short_and_wrong, agrees, numbered("a", 1), chart], questions)
    assert (stats["samples"], stats["accepted"], stats["dropped"]) == (6, 2, 4)
    assert stats["samples_per_accepted"] == 3.0
    assert stats["drops"] == {
        "first": {
            "F1": {"evobrowsecomp": 1},
            "judge_failed": {"evobrowsecomp": 1},
            "F6": {"evobrowsecomp": 1},
            "surplus": {"evobrowsecomp": 1},
        },
        "any": {
            "F1": {"evobrowsecomp": 1},
            "judge_failed": {"evobrowsecomp": 1},
            "F6": {"evobrowsecomp": 1},
            "F9": {"evobrowsecomp": 1},
            "surplus": {"evobrowsecomp": 1},
        },
    }
    assert stats["verdict_paths"] == {
        "exact": {"chartqa_human": 1, "evobrowsecomp": 1},
        "judge": {"evobrowsecomp": 3},
        "judge_failed": {"evobrowsecomp": 1},
    }
    assert stats["verdicts"]["judge"] == {"right": 2, "wrong": 1}
    assert stats["judge_agreement"] == {"agrees": 1, "disagrees": 1, "total": 2, "agreement": 0.5}
    behaviour = stats["behaviour"]["evobrowsecomp"]
    assert behaviour["samples"] == 5
    assert behaviour["letter_answers"] == 1
    assert behaviour["self_search_rate"] == 1.0
    assert stats["behaviour"]["chartqa_human"]["self_search_rate"] == 0.0
    assert stats["behaviour_accepted"]["evobrowsecomp"]["samples"] == 1
    assert stats["questions"] == {
        "total": 4,
        "accepted": 2,
        "exhausted": 1,
        "stopped_question_budget": 0,
        "stopped_no_answer": 0,
        "deferred": 1,
    }
    assert stats["deferred"] == 1
    assert stats["search"] == {"requests": 5, "cache_hits": 0}
    assert stats["search_used"] == 5
    assert stats["buckets"]["chartqa_human"]["accepted"] == 1
    assert stats["config"]["filters"]["max_length"] == 24_000


def test_means_per_bucket_by_hand() -> None:
    """Two text samples and one of charts; the second text sample's server said nothing of tokens."""
    told = Script().search(usage=Usage(prompt_tokens=1000, completion_tokens=50))
    told.turn(told.an_open(), usage=Usage(prompt_tokens=1500, completion_tokens=70))
    told.answer(usage=Usage(prompt_tokens=1900, completion_tokens=30))
    silent = Script().search("first").search("second").answer().done(question=make_question(id="s"), searches_billed=0)
    chart = Script().answer("12", usage=Usage(prompt_tokens=700, completion_tokens=300))
    wanted = make_question("image_reasoning", id="c")
    questions = [
        {"id": key, "bucket": bucket, "status": "exhausted"}
        for key, bucket in (("q1", "evobrowsecomp"), ("s", "evobrowsecomp"), ("c", "chartqa_human"), ("x", "empty"))
    ]
    stats = stats_of([told.done(), silent, chart.done("image_reasoning", question=wanted, verdict=WRONG)], questions)
    assert stats["per_bucket"] == {
        "chartqa_human": {
            "task_types": ["image_reasoning"],
            "questions": 1,
            "accepted": 0,
            "samples": 1,
            "samples_per_question": 1.0,
            "accepted_per_question": 0.0,
            "turns_per_sample": 1.0,
            "tokens_per_sample": {"prompt": 700.0, "completion": 300.0, "total": 1000.0, "measured": 1},
            "searches_per_sample": 0.0,
            "searches_billed_per_sample": 0.0,
            "opens_per_sample": 0.0,
            "python_calls_per_sample": 0.0,
        },
        "empty": {
            "task_types": [],
            "questions": 1,
            "accepted": 0,
            "samples": 0,
            "samples_per_question": 0.0,
            "accepted_per_question": 0.0,
            "turns_per_sample": None,
            "tokens_per_sample": {"prompt": None, "completion": None, "total": None, "measured": 0},
            "searches_per_sample": None,
            "searches_billed_per_sample": None,
            "opens_per_sample": None,
            "python_calls_per_sample": None,
        },
        "evobrowsecomp": {
            "task_types": ["text_search"],
            "questions": 2,
            "accepted": 2,
            "samples": 2,
            "samples_per_question": 1.0,
            "accepted_per_question": 1.0,
            "turns_per_sample": 3.0,
            "tokens_per_sample": {"prompt": 4400.0, "completion": 150.0, "total": 4550.0, "measured": 1},
            "searches_per_sample": 1.5,
            "searches_billed_per_sample": 0.5,
            "opens_per_sample": 0.5,
            "python_calls_per_sample": 0.0,
        },
    }


def test_names_of_the_hand_over_note_are_there() -> None:
    """Seed section 12: what stats.json gained with the search budgets."""
    stats = stats_of([good()])
    assert {"search", "search_used", "deferred", "stopped_question_budget", "stopped_no_answer"} <= set(stats)
    assert set(stats["search"]) == {"requests", "cache_hits"}


def test_stats_from_the_written_file_equal_those_of_the_reports(tmp_path: Path) -> None:
    samples = [
        numbered(f"q{n}", k, verdict=WRONG if (n + k) % 2 else good().verdict) for n in range(9) for k in range(2)
    ]
    filter_file(shard(tmp_path / "raw.jsonl", samples), tmp_path / "out.jsonl", SETTINGS)
    builder = StatsBuilder()
    for trajectory in read_trajectories(tmp_path / "out.jsonl"):
        builder.add(trajectory)
    assert builder.result() == {**stats_of(samples), "config": {}}


def test_counts_that_do_not_close_are_an_error() -> None:
    builder = StatsBuilder()
    builder.add(evaluate(good(), SETTINGS))
    builder._samples["evobrowsecomp"] += 1
    with pytest.raises(TirError, match="counts do not close for evobrowsecomp: 2 samples, 1 accepted, 0 dropped"):
        builder.result()


def test_unknown_question_status_is_an_error() -> None:
    builder = StatsBuilder()
    builder.add_questions([{"id": "a", "bucket": "b", "status": "lost"}])
    with pytest.raises(TirError, match="lost"):
        builder.result()


def test_stats_of_nothing() -> None:
    stats = StatsBuilder().result()
    assert stats["samples"] == 0
    assert stats["samples_per_accepted"] is None
    assert stats["judge_agreement"] is None


def test_ledger_figures_win() -> None:
    builder = StatsBuilder()
    builder.add(evaluate(good(), SETTINGS))
    assert builder.result(search={"requests": 7, "cache_hits": 3})["search"] == {"requests": 7, "cache_hits": 3}


def test_dataclass_replace_keeps_question() -> None:
    sample = good()
    assert dataclasses.replace(sample, sample_index=3).key == "q1#3"

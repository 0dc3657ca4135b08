"""The two sampling commands: flags, defaults, chosen questions, forecast."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import pytest

from rollout_helpers import question, settings, teacher
from tir_distill.ledger import Ledger, LedgerSettings, ledger_url
from tir_distill.records import Stopped, TirError, UsageError, read_json, shard_of, write_json, write_jsonl
from tir_distill.rollout import Journal, journal_path
from tir_distill.rollout.forecast import forecast, table

ROOT = Path(__file__).resolve().parents[3]
SCRIPTS = ROOT / "scripts"


@pytest.fixture
def distill(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(SCRIPTS))
    import distill_trajectories

    return distill_trajectories


def parse(distill: Any, *words: str) -> Any:
    return distill._parser().parse_args(["--in", "q.jsonl", "--out", "out/full", *words])


SEED_DEFAULTS = {
    "--k-max": 4,
    "--k-max-text": 3,
    "--max-turns": 10,
    "--max-turns-text": 15,
    "--max-search-per-traj": 8,
    "--max-search-per-traj-text": 20,
    "--max-search-per-question": 24,
    "--max-search-per-question-text": 50,
    "--max-calls-per-turn": 3,
    "--serper-qps": 8,
    "--request-timeout": 900,
    "--max-obs-chars": 8000,
    "--max-seq-tokens": 24000,
    "--max-tokens": 8192,
    "--temperature": 1.0,
}
"""Seed sections 9, 11 and 12; the last three and max-obs-chars by RULINGS 11."""


def test_every_flag_of_the_seed_has_its_name_and_default(distill: Any) -> None:
    config = distill.configuration(parse(distill))
    places = {flag: place for flag, _, place, _ in distill.FLAGS}
    assert set(SEED_DEFAULTS) <= set(places)
    for flag, value in SEED_DEFAULTS.items():
        section, key = places[flag]
        assert (config[section][key] if key else config[section]) == value, flag


def test_flags_go_over_the_configuration(distill: Any) -> None:
    config = distill.configuration(parse(distill, "--k-max", "1", "--max-seq-tokens", "9000", "--text-protocol"))
    assert config["plan"]["k_max"] == 1
    assert config["max_length"] == 9000
    assert config["sampling"]["text_protocol"] is True
    assert config["paths"]["state"] == str(Path("out/state").resolve())


@pytest.mark.parametrize(
    "words",
    [
        ["--k-max", "0"],
        ["--temperature", "9"],
        ["--temperature", "nan"],
        ["--max-usd-total", "inf"],
        ["--concurrency", "0"],
    ],
)
def test_values_out_of_range_are_usage_errors(distill: Any, words: list[str]) -> None:
    with pytest.raises(UsageError):
        distill.configuration(parse(distill, *words))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "q.jsonl"
    questions = [
        question(i, priority=f"P{i % 3}", bucket="ab"[i % 2], phase=["pilot", "full"][i % 2]) for i in range(9)
    ]
    write_jsonl(path, (q.to_dict() for q in questions))
    return path


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], list(range(9))),
        (["--limit", "2"], [0, 1]),
        (["--ids", "q3", "q1"], [1, 3]),
        (["--priority", "P0"], [0, 3, 6]),
        (["--priority", "P0", "P2", "--limit", "3"], [0, 2, 3]),
    ],
)
def test_chosen_questions(distill: Any, file: Path, words: list[str], expected: list[int]) -> None:
    args = distill._parser().parse_args(["--in", str(file), "--out", "x", *words])
    questions = list(distill.questions_in(args.input))
    assert [q.id for q in distill.chosen(args, questions)] == [f"q{i}" for i in expected]


def test_a_limit_below_one_is_refused(distill: Any, file: Path) -> None:
    args = distill._parser().parse_args(["--in", str(file), "--out", "x", "--limit", "-1"])
    with pytest.raises(UsageError, match="--limit"):
        distill.main(args)


def test_an_unknown_id_is_named(distill: Any, file: Path) -> None:
    args = distill._parser().parse_args(["--in", str(file), "--out", "x", "--ids", "q3", "nope"])
    with pytest.raises(UsageError, match="no question has the id nope"):
        distill.chosen(args, list(distill.questions_in(args.input)))


def test_fresh_keeps_the_earlier_folder(distill: Any, tmp_path: Path) -> None:
    for number in (1, 2):
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "mark").write_text(str(number))
        config = distill.configuration(
            distill._parser().parse_args(["--in", "q.jsonl", "--out", str(tmp_path / "out")])
        )
        ledger = open_ledger(config, "out")
        ledger.settle_tokens("out", None, number)
        ledger.close()
        distill.set_aside(tmp_path / "out", config)
    assert not (tmp_path / "out").exists()
    assert [(tmp_path / f"out.{n}" / "mark").read_text() for n in (1, 2)] == ["1", "2"]
    ledger = open_ledger(config, "out")
    assert [ledger.run_totals(name).tokens for name in ("out", "out.1", "out.2")] == [0, 1, 2]  # budgets start anew
    ledger.close()


@pytest.mark.parametrize("words", [["--fresh"], ["--max-seq-tokens", "7777"], ["--fresh", "--limit", "1"]])
def test_a_second_process_is_refused_and_changes_nothing(
    distill: Any, tmp_path: Path, file: Path, words: list[str]
) -> None:
    out = tmp_path / "out"
    args = distill._parser().parse_args(["--in", str(file), "--out", str(out), *words])
    config = distill.configuration(args)
    with contextlib.closing(Journal(journal_path(out, "all", 0, 1))):  # as the first process holds it
        write_json(out / "state" / "config.json", {"first": True})
        write_json(out / "state" / "stop.json", {"reason": "operator"})
        ledger = open_ledger(config, "out")
        ledger.stop("operator", "stop_run.py")
        with pytest.raises(TirError, match="another process is sampling"):
            distill.main(args)
        flag = ledger.stopped()
        ledger.close()
    assert flag is not None
    assert flag.reason == "operator"
    assert read_json(out / "state" / "config.json") == {"first": True}
    assert read_json(out / "state" / "stop.json") == {"reason": "operator"}
    assert not list(tmp_path.glob("out.*"))


@pytest.mark.parametrize("name", ["TEACHER_API_KEY", "SERPER_API_KEY", "JUDGE_API_KEY"])
def test_a_key_that_no_header_carries_ends_the_command_before_it_asks_anybody(
    distill: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, file: Path, name: str
) -> None:
    args = distill._parser().parse_args(["--in", str(file), "--img-root", str(tmp_path), "--out", str(tmp_path / "o")])
    with teacher() as server:
        for key, value in server.env.items():
            monkeypatch.setenv(key, value)
        monkeypatch.setenv(name, "sesame\u2011open")
        with pytest.raises(UsageError, match=rf"^{name}: ") as caught:
            distill.main(args)
        assert server.received == 0
    assert "sesame" not in str(caught.value)


def open_ledger(config: Any, run: str) -> Ledger:
    Path(config["paths"]["state"]).mkdir(exist_ok=True)
    return Ledger.open(ledger_url(config), run=run, settings=LedgerSettings.from_config(config))


def test_a_shard_takes_its_bucket_phase_and_ids(monkeypatch: pytest.MonkeyPatch, file: Path) -> None:
    monkeypatch.syspath_prepend(str(SCRIPTS))
    import sample_shard

    found = [
        q.id
        for index in range(3)
        for q in sample_shard.questions_of(file, bucket="a", phase="all", index=index, shards=3)
    ]
    assert sorted(found) == ["q0", "q2", "q4", "q6", "q8"]
    assert all(shard_of(q, 3) in range(3) for q in found)
    assert sample_shard.questions_of(file, bucket="b", phase="pilot", index=0, shards=1) == []


PILOT = {
    "per_bucket": {
        "fvqa": {
            "task_types": ["image_search"],
            "questions": 100,
            "samples": 250,
            "samples_per_question": 2.5,
            "accepted_per_question": 0.6,
            "turns_per_sample": 4.0,
            "tokens_per_sample": {"prompt": 29_000.0, "completion": 1_000.0, "total": 30_000.0, "measured": 250},
            "searches_per_sample": 3.0,
            "searches_billed_per_sample": 2.0,
        },
        "evo": {
            "task_types": ["text_search"],
            "questions": 20,
            "samples": 60,
            "samples_per_question": 3.0,
            "accepted_per_question": 0.1,
            "turns_per_sample": 12.5,
            "tokens_per_sample": {"prompt": None, "completion": None, "total": None, "measured": 0},
            "searches_per_sample": 18.0,
            "searches_billed_per_sample": 16.0,
        },
    }
}
"""A pilot of two very different buckets; the second one's server stated no tokens."""


def test_forecast_goes_bucket_by_bucket_and_is_worked_out_by_hand() -> None:
    """Averages over buckets would be far off: the text bucket costs eight times the searches of the other."""
    questions = [question(i, bucket="fvqa") for i in range(10)]
    questions += [question(f"e{i}", bucket="evo", task_type="text_search") for i in range(4)]
    questions += [question(f"l{i}", bucket="livevqa") for i in range(6)]  # never sampled: as the bucket most like it
    questions += [question("c", bucket="chart", task_type="image_reasoning")]  # nothing like it was sampled
    config = settings(budgets={"usd_per_search": 0.001, "usd_per_million_tokens": 2.0})
    fvqa, evo, livevqa, chart = forecast(questions, config, PILOT)
    assert (fvqa.samples, fvqa.turns, fvqa.searches, fvqa.tokens, fvqa.accepted) == (25, 100, 50, 750_000, 6)
    assert fvqa.usd == pytest.approx(50 * 0.001 + 0.75 * 2)
    # at most: 4 samples each, 11 replies a sample (10 and the forced one), 24 billed searches a question
    assert (fvqa.worst_samples, fvqa.worst_turns, fvqa.worst_searches) == (40, 440, 240)
    assert fvqa.worst_tokens == 440 * (24_000 + 8_192)
    assert fvqa.worst_usd == pytest.approx(0.24 + 440 * 32_192 * 2 / 1e6)
    # text: 3 samples of at most 16 replies, 50 billed searches a question; tokens were not stated: 120,000 assumed
    assert (evo.samples, evo.turns, evo.searches, evo.tokens) == (12, 150, 192, 1_440_000)
    assert evo.accepted == pytest.approx(0.4)
    assert (evo.worst_samples, evo.worst_turns, evo.worst_searches) == (12, 192, 200)
    assert (livevqa.samples, livevqa.searches, livevqa.source) == (15, 30, "measured on fvqa")
    assert (chart.samples, chart.tokens, chart.source) == (2.4, 48_000, "assumed")
    last = table([fvqa, evo, livevqa, chart]).splitlines()[-1].split()
    assert last[:4] == ["total", "21", "54", "(<="]
    assert last[5] == "317"  # turns: 100 + 150 + 60 + 2.4 * 3
    assert "273" in last  # searches: 50 + 192 + 30 + 2.4 * 0.3


def test_forecast_keeps_within_the_limits_and_refuses_what_it_cannot_read() -> None:
    (line,) = forecast([question(i) for i in range(10)], settings(plan={"k_max": 1}))
    assert (line.samples, line.worst_samples, line.worst_searches, line.source) == (10, 10, 80, "assumed")
    with pytest.raises(UsageError, match="per_bucket"):
        forecast([question(1)], settings(), {"samples": 1})
    with pytest.raises(UsageError, match="empty run"):
        forecast([question(1)], settings(), {"per_bucket": {"fvqa": {"samples": 0}}})


def test_plan_prints_and_pays_nothing(
    distill: Any, file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_json(tmp_path / "s.json", PILOT)
    for words in (["--plan"], ["--plan", str(tmp_path / "s.json")]):
        args = distill._parser().parse_args(["--in", str(file), "--out", str(tmp_path / "o"), *words])
        distill.main(args)
        assert capsys.readouterr().out.splitlines()[-1].startswith("total")
        assert not (tmp_path / "o").exists()


@pytest.mark.parametrize("words", [["--bogus"], ["--priority", "P9"], ["--retry", "all"]])
def test_usage_errors_exit_with_64(distill: Any, words: list[str]) -> None:
    with pytest.raises(SystemExit) as left:
        parse(distill, *words)
    assert left.value.code == 64


def test_resume_and_fresh_exclude_each_other(distill: Any) -> None:
    with pytest.raises(UsageError, match="exclude each other"):
        distill.main(parse(distill, "--resume", "--fresh"))


@pytest.mark.parametrize("extra", [[], ["evaluation_text"]])
def test_sampling_filters_by_the_evaluation_index_when_the_rule_is_on(
    monkeypatch: pytest.MonkeyPatch, distill: Any, file: Path, tmp_path: Path, extra: list[str]
) -> None:
    """Both commands hand the index to the filters that decide whether a further sample is bought."""
    import sample_shard
    from tir_distill import cli

    read, seen = [], []

    class Index:
        digest = "d"

        def __init__(self, path: Path) -> None:
            read.append(path)

    async def capture(config: Any, job: Any, **rooms: Any) -> None:
        seen.append(rooms["filters"])
        raise Stopped("test", "enough")

    monkeypatch.setattr("tir_distill.pipeline.EvaluationText", Index)
    monkeypatch.setattr("tir_distill.rollout.assemble.run_shard", capture)
    monkeypatch.setattr("tir_distill.export.Tokens.from_config", lambda config: None)
    monkeypatch.setattr(cli, "terminate_as_interrupt", lambda: None)
    write_json(tmp_path / "c.json", {"filters": {"extra": extra}})
    common = ["--config", str(tmp_path / "c.json"), "--img-root", str(tmp_path)]
    with pytest.raises(Stopped):
        distill.main(distill._parser().parse_args(["--in", str(file), "--out", str(tmp_path / "o"), *common]))
    words = ["--questions", str(file), "--run-dir", str(tmp_path / "r"), "--run", "r", "--bucket", "a", "--shard", "0"]
    words += ["--shards", "1", "--trajectories", "t", "--questions-out", "q", "--eval-index", str(tmp_path / "i.json")]
    with pytest.raises(Stopped):
        sample_shard.main(sample_shard._parser().parse_args([*common, *words]))
    assert read == ([tmp_path / "eval_text_index.json", tmp_path / "i.json"] if extra else [])
    assert [isinstance(filters.evaluation, Index) for filters in seen] == [bool(extra)] * 2

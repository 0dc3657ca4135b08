"""The two sampling commands: flags, defaults, chosen questions, forecast."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from rollout_helpers import question, settings
from tir_distill.ledger import Ledger, LedgerSettings, ledger_url
from tir_distill.records import Question, UsageError, shard_of, write_json, write_jsonl
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


@pytest.mark.parametrize("words", [["--k-max", "0"], ["--temperature", "9"], ["--concurrency", "0"]])
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


def test_forecast_in_plain_numbers() -> None:
    questions: list[Question] = [question(i) for i in range(10)]
    line = asdict(forecast(questions, settings())[0])
    assert (line["questions"], line["worst_samples"], line["worst_searches"], line["worst_turns"]) == (10, 40, 240, 440)
    stats = {"samples": 25, "questions": {"total": 10, "accepted": 5}, "search": {"requests": 100, "cache_hits": 0}}
    line = asdict(forecast(questions, settings(), stats)[0])
    assert (line["samples"], line["searches"], line["accepted"]) == (25, 100, 5)
    assert line["usd"] == pytest.approx(0.1)
    with pytest.raises(UsageError, match="lack"):
        forecast(questions, settings(), {"samples": 1})
    assert "total" in table(forecast(questions, settings()))


def test_plan_prints_and_pays_nothing(
    distill: Any, file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_json(tmp_path / "s.json", {"samples": 2, "questions": {"total": 1, "accepted": 1}, "search": {"requests": 6}})
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

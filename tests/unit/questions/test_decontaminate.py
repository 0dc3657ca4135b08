"""A table split in two: rows, drops, order, explanations, the command."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from questions_helpers import (
    World,
    evaluation_row,
    picture_cell,
    question_row,
    small_world,
    write_evaluation,
    write_questions,
)
from tir_distill.config import ROOT
from tir_distill.questions import DecontaminationSettings, Fingerprints, Matcher, decontaminate, read_drops
from tir_distill.questions.parquet_in import BATCH_ROWS
from tir_distill.records import TirError

LONG = "Which of the two engineers who surveyed the eastern railway line was born in the smaller town"


def command(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, ROOT / "scripts" / "decontaminate.py", *map(str, words)], capture_output=True, text=True
    )


def split(tmp_path: Path, rows: list[dict[str, object]], items: list[dict[str, object]]) -> tuple[list[str], Path]:
    questions = write_questions(tmp_path / "q.parquet", rows)
    sets = [write_evaluation(tmp_path / "e.parquet", items)]
    out, drops = tmp_path / "out" / "kept.parquet", tmp_path / "out" / "kept.drops.parquet"
    matcher = Matcher(Fingerprints.read(sets), DecontaminationSettings())
    counts = decontaminate(questions, matcher, out=out, drops=drops)
    kept = pq.read_table(out)
    assert counts.read == len(rows) == counts.kept + counts.dropped
    assert kept.schema.names == pq.read_schema(questions).names
    return kept.column("id").to_pylist(), drops


def test_rows_stay_in_order_and_drops_name_everything(tmp_path: Path) -> None:
    rows = [question_row(f"q{i}", f"unrelated {i}", [picture_cell(i << 40 | 0xFFFF_0000)]) for i in range(5)]
    rows[2] = question_row("q2", LONG, [picture_cell(0xF0F0)])
    items = [
        evaluation_row("fvqa_test", "t1", LONG + " now", [picture_cell(0xF0F3)]),
        evaluation_row("gaia", "g", LONG),
    ]
    kept, drops = split(tmp_path, rows, items)
    assert kept == ["q0", "q1", "q3", "q4"]
    assert {
        name: [(m.rule, m.evaluation_set, m.evaluation_id) for m in found] for name, found in read_drops(drops).items()
    } == {"q2": [("phash", "fvqa_test", "t1"), ("jaccard", "gaia", "g"), ("jaccard", "fvqa_test", "t1")]}
    assert [m.value for m in read_drops(drops)["q2"]] == [
        2.0,
        1.0,
        pytest.approx(15 / 16),
    ]  # 15 distinct words, one more


def test_more_rows_than_a_batch(tmp_path: Path) -> None:
    rows = [question_row(f"q{i}", f"plain {i}") for i in range(BATCH_ROWS + 10)]
    rows[-1]["question"] = LONG
    kept, drops = split(tmp_path, rows, [evaluation_row("gaia", "g", LONG)])
    assert len(kept) == BATCH_ROWS + 9
    assert list(read_drops(drops)) == [f"q{BATCH_ROWS + 9}"]


def test_everything_dropped_and_nothing_there(tmp_path: Path) -> None:
    kept, drops = split(tmp_path / "a", [question_row("q", LONG)], [evaluation_row("gaia", "g", LONG)])
    assert (kept, list(read_drops(drops))) == ([], ["q"])
    kept, drops = split(tmp_path / "b", [], [evaluation_row("gaia", "g", LONG)])
    assert (kept, read_drops(drops)) == ([], {})


def test_row_and_file_order_change_nothing(tmp_path: Path) -> None:
    items = [evaluation_row("gaia", f"g{i}", LONG) for i in (10, 2, 1)]
    seen = []
    for name, order in (("a", items), ("b", items[::-1])):
        _, drops = split(tmp_path / name, [question_row("q", LONG)], order)
        seen.append(drops.read_bytes())
    assert seen[0] == seen[1]


def test_a_damaged_table_is_named(tmp_path: Path) -> None:
    (tmp_path / "e.parquet").write_text("no parquet")
    with pytest.raises(TirError, match=r"e\.parquet"):
        Fingerprints.read([tmp_path / "e.parquet"])
    with pytest.raises(TirError, match=r"e\.parquet"):
        read_drops(tmp_path / "e.parquet")
    with pytest.raises(TirError, match="lacks the columns"):
        read_drops(write_questions(tmp_path / "q.parquet", []))


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return small_world(tmp_path_factory.mktemp("explain") / "world")


def test_the_command_splits_a_bucket(world: World) -> None:
    table, kept, drops = world.questions[0], world.kept()[0], world.drops()[0]
    done = command("run", "--config", world.config_file, "--questions", table, "--evaluation", *world.evaluation,
                   "--out", kept, "--drops", drops)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "fvqa_train: 19 of 20 kept; 1 dropped: phash simplevqa 1" in done.stdout
    assert list(read_drops(drops)) == ["fvqa_train_3"]


def test_explain_says_why(world: World) -> None:
    done = command("explain", "fvqa_train_3", "fvqa_train_4", "evobc_EN_2", "--config", world.config_file,
                   "--questions", *world.questions, "--evaluation", *world.evaluation)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "fvqa_train_3: dropped, counted under phash" in done.stdout
    assert "fvqa_train_4: kept" in done.stdout
    assert "match  jaccard: gaia g0 (1.000)" in done.stdout
    assert "lighthouse" not in done.stdout  # no evaluation text


def test_explain_of_an_unknown_id_is_bad_usage(world: World) -> None:
    done = command("explain", "nobody", "--config", world.config_file,
                   "--questions", *world.questions, "--evaluation", *world.evaluation)  # fmt: skip
    assert done.returncode == 64
    assert "nobody" in done.stderr

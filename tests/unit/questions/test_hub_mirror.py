"""Drops on the mirror of real rows are exactly the planted ones. Needs TIR_HUB_MIRROR; nothing of it is kept here."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tir_distill.config import load
from tir_distill.questions import DecontaminationSettings, Fingerprints, Matcher, decontaminate, read_drops
from tir_distill.sources import ReadSettings, SourceSettings, fetch, read_evaluation, read_questions

MIRROR = Path(os.environ.get("TIR_HUB_MIRROR") or "/nowhere")
pytestmark = [
    pytest.mark.hub,
    pytest.mark.slow,
    pytest.mark.skipif(not MIRROR.is_dir(), reason="TIR_HUB_MIRROR names no folder: the mirror of real rows is absent"),
]

DROPS = {
    ("fvqa_train_1", "phash", "fvqa_test_0"),
    ("fvqa_train_1", "same_picture_text", "fvqa_test_0"),
    ("fvqa_train_3", "phash", "0"),
    ("fvqa_train_14", "phash", "2"),
    ("chartqa_train_20", "phash", "1"),
    ("chartqa_train_21", "phash", "1"),
    ("livevqa_0_20250508181851147970_l1_0", "phash", "2"),
    ("livevqa_0_20250508181851147970_l2_0", "phash", "2"),
    ("evobc_EN_1", "jaccard", "g0"),
    ("livevqa_0_20250429161354849419_l2_0", "jaccard", "fvqa_test_1"),
}
"""(question, rule, evaluation item): the planted pairs and nothing else."""


def test_drops_are_the_planted_ones(tmp_path: Path) -> None:
    config = load()
    config["sources"] = {**config["sources"], "hub": "mirror", "mirror": str(MIRROR)}

    def source(name: str) -> Path:
        folder = tmp_path / "sources" / name
        if not folder.exists():
            fetch(SourceSettings.from_config(config, name), folder)
        return folder

    sets = []
    for name, entry in config["evaluation"].items():
        sets.append(tmp_path / "evaluation" / f"{name}.parquet")
        read_evaluation(ReadSettings.for_evaluation(config, name), source(entry["source"]), out=sets[-1])
    matcher = Matcher(Fingerprints.read(sets), DecontaminationSettings.from_config(config))
    found = set()
    for name, entry in config["buckets"].items():
        table, drops = tmp_path / f"{name}.parquet", tmp_path / f"{name}.drops.parquet"
        settings = ReadSettings.for_bucket(config, name)
        read_questions(settings, source(entry["source"]), images=tmp_path / "images", out=table)
        decontaminate(table, matcher, out=tmp_path / "kept" / f"{name}.parquet", drops=drops)
        found |= {(q, m.rule, m.evaluation_id) for q, matches in read_drops(drops).items() for m in matches}
    assert found == DROPS

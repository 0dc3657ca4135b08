"""What is marked private is refused by everything that packs, mixes or exports."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from export_helpers import trajectory
from tir_distill.config import ROOT, load
from tir_distill.export import ExportSettings, PicturePlaces
from tir_distill.export.rows import to_row
from tir_distill.questions import Evidence, pack
from tir_distill.questions.image_tar import FileHash, PackedPictures
from tir_distill.questions.pack import pack_pictures
from tir_distill.records import BadRow, TirError
from tir_distill.records.private import mark_private, refuse_private


def test_a_private_folder_is_refused_from_inside_outside_and_through_a_link(tmp_path: Path) -> None:
    private = tmp_path / "runs" / "m" / "private"
    mark_private(private)
    (private / "deep").mkdir()
    (tmp_path / "link").symlink_to(private / "deep")
    refuse_private([tmp_path / "other", tmp_path / "runs.jsonl"])
    for path in (private, private / "deep" / "t.jsonl", tmp_path / "runs", tmp_path / "link" / "rows.jsonl"):
        with pytest.raises(TirError, match="marked private"):
            refuse_private([path])


def test_the_packer_refuses(tmp_path: Path) -> None:
    mark_private(tmp_path / "out" / "private")
    nothing = Evidence(counts=(), kept=(), drops=(), evaluation=(), locks=())
    with pytest.raises(TirError, match="marked private"):
        pack_pictures(tmp_path / "out")
    pictures = PackedPictures(archive=FileHash(sha256="", size=0), files={})
    with pytest.raises(TirError, match="marked private"):
        pack({}, nothing, pictures, out=tmp_path / "out", scripts_root=ROOT)


def test_the_mix_refuses(tmp_path: Path) -> None:
    mark_private(tmp_path / "private")
    rows = tmp_path / "private" / "rows.jsonl"
    rows.write_text("")
    part = {"name": "x", "file": str(rows), "images": str(tmp_path), "weight": 1}
    mix = {
        "parts": [part], "validation_share": 0.1, "cap_per_source": None, "cap_per_bucket": None,
        "non_commercial": True,
    }  # fmt: skip
    (tmp_path / "c.yaml").write_text(yaml.safe_dump({"mixes": {"bad": mix}}))
    (tmp_path / "index.json").write_text("{}")
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "build_mix.py", "--config", tmp_path / "c.yaml", "--mix", "bad",
         "--eval-index", tmp_path / "index.json", "--out", tmp_path / "mix"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "marked private" in done.stderr
    assert not (tmp_path / "mix").exists()


def test_a_private_question_never_becomes_a_row(tmp_path: Path) -> None:
    made = trajectory(tmp_path, 1, "evobrowsecomp")
    made = replace(made, question=replace(made.question, meta={"private": True}))
    places = PicturePlaces(image_root=tmp_path, run_dir=tmp_path, row_root=tmp_path)
    with pytest.raises(BadRow) as caught:
        to_row(made, places=places, settings=ExportSettings.from_config(load()), n_samples=1)
    assert caught.value.reason == "private"

"""The card, the metadata, and a mix on its way to the hub: what is checked, what is written, what never leaves."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from legacy_helpers import png
from tir_distill.config import ROOT
from tir_distill.export.mix import Drops, MixSettings, Part, choose, read_part, write_descriptions, write_mix
from tir_distill.export.mix.publish import check_mix, push, stage_mix
from tir_distill.mixing import NearJoins, Pictures
from tir_distill.questions.croissant import CONTEXT
from tir_distill.records import TirError, UsageError, file_sha256, read_json, read_jsonl, write_jsonl
from tir_distill.records.private import mark_private
from tir_distill.sources import TextPrint


def row(number: int, licence: str, images: list[str]) -> dict[str, Any]:
    return {
        "id": f"r{number}",
        "messages": [
            {"role": "system", "content": "S"},
            {"role": "user", "content": "<image>" * len(images) + f"question {number}"},
            {"role": "assistant", "content": "<think>\nt\n</think>\n\n<answer>a</answer>"},
        ],
        "images": images,
        "tools": "[]",
        "source": "src",
        "bucket": "b",
        "licence": licence,
    }


@pytest.fixture
def mix(tmp_path: Path) -> Path:
    """Ten rows, one of them under a non-commercial licence, two pictures in three rows."""
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "a.PNG").write_bytes(png())
    (tmp_path / "pictures" / "b.png").write_bytes(png((1, 2, 3)))
    images = {1: ["pictures/a.PNG"], 2: ["pictures/b.png"], 3: ["pictures/a.PNG", "pictures/b.png"]}
    rows = [row(n, "CC-BY-NC-4.0" if n == 9 else "Apache-2.0", images.get(n, [])) for n in range(10)]
    write_jsonl(tmp_path / "part.jsonl", rows)
    settings = MixSettings(
        name="m",
        parts=(Part("old|new", tmp_path / "part.jsonl", tmp_path, 1.0),),
        seed=2,
        validation_share=0.3,
        cap_per_source=None,
        cap_per_bucket=None,
        non_commercial=True,
        near_duplicate_jaccard=0.8,
        near_duplicate_min_units=12,
        near_duplicate_bits=6,
        max_length=1000,
    )
    drops = Drops()
    entries = read_part(
        0,
        settings.parts[0],
        drops,
        text_print=TextPrint.of,
        count_tokens=lambda row, _: 10,
        evaluation_match=lambda text, _: "gaia g1" if text == "question 5" else None,
        look=Pictures(4.0).look,
        check=lambda row: None,
        max_length=1000,
    )
    lines = choose(list(entries), settings, NearJoins(0.8, 12), drops)
    document = write_mix(lines, settings, drops, tmp_path / "mix")
    write_descriptions(document, tmp_path / "mix", CONTEXT)
    return tmp_path / "mix"


def test_card_tells_the_numbers(mix: Path) -> None:
    text = (mix / "README.md").read_text()
    document = read_json(mix / "MIX.json")
    front = yaml.safe_load(text.split("---")[1])
    assert front["configs"][0]["data_files"] == [
        {"split": "train", "path": "train.jsonl"},
        {"split": "validation", "path": "validation.jsonl"},
    ]
    assert document["rows"]["train"] + document["rows"]["validation"] == 9
    assert "| old\\|new | 1.0 | 9 | 9 | evaluation_item 1 |" in text
    assert "| old\\|new | CC-BY-NC-4.0 | 1 | **no, or not granted** |" in text
    assert "| old\\|new | Apache-2.0 | 8 | yes |" in text
    assert document["files"]["train.jsonl"]["sha256"] in text
    assert "1 rows may not be used commercially" in text
    assert "question" not in text.split("## Parts")[1].split("## Limits")[0].replace("no question", "")


def test_croissant_is_valid_and_reads_the_rows(mix: Path) -> None:
    import mlcroissant

    dataset = mlcroissant.Dataset(jsonld=str(mix / "croissant.json"))
    assert not dataset.metadata.issues.errors
    assert not [text for text in dataset.metadata.issues.warnings if "recommended" not in text]
    records = list(dataset.records("train"))
    rows = list(read_jsonl(mix / "train.jsonl"))
    assert [record["train/id"].decode() for record in records] == [line["id"] for line in rows]
    assert [json.loads(record["train/messages"]) for record in records] == [line["messages"] for line in rows]
    assert records[0]["train/has_self_search"] is False or not records[0]["train/has_self_search"]


def no_leak(_: bytes) -> list[str]:
    return []


class FakeHub:
    def __init__(self) -> None:
        self.seen: list[tuple[str, dict[str, Any]]] = []

    def create_repo(self, repo_id: str, **options: Any) -> None:
        self.seen.append(("create", {"repo_id": repo_id, **options}))

    def upload_folder(self, **options: Any) -> None:
        self.seen.append(("upload", options))


def test_a_staged_folder_needs_no_other(mix: Path, tmp_path: Path) -> None:
    check_mix(mix, tmp_path, leaks=no_leak, allow=["CC-BY-NC-4.0"])
    stage = tmp_path / "stage"
    for _ in range(2):  # a second time makes it anew
        document = stage_mix(mix, tmp_path, stage, CONTEXT)
        (stage / "images" / "left.over").write_text("x")
    (stage / "images" / "left.over").unlink()
    stored = {path.relative_to(stage).as_posix() for path in (stage / "images").rglob("*") if path.is_file()}
    used = {
        path for name in ("train", "validation") for r in read_jsonl(stage / f"{name}.jsonl") for path in r["images"]
    }
    assert used == stored
    assert len(stored) == 2
    assert all(Path(path).stem == file_sha256(stage / path) for path in stored)
    assert document["files"]["train.jsonl"]["sha256"] == file_sha256(stage / "train.jsonl")
    assert str(tmp_path) not in "".join(
        p.read_text() for p in stage.iterdir() if p.suffix in (".json", ".jsonl", ".md")
    )
    hub, words = FakeHub(), []
    push(stage, "o/n", hub, private=True, say=words.append)
    assert [name for name, _ in hub.seen] == ["create", "upload"]
    assert hub.seen[0][1] == {"repo_id": "o/n", "repo_type": "dataset", "private": True, "exist_ok": True}
    assert hub.seen[1][1]["folder_path"] == str(stage)
    other = tmp_path / "other"
    other.mkdir()
    (other / "mine.txt").write_text("x")
    with pytest.raises(UsageError, match="other files"):
        stage_mix(mix, tmp_path, other, CONTEXT)


def test_a_mix_is_never_staged_over_itself_or_another(mix: Path, tmp_path: Path) -> None:
    trained = tmp_path / "trained"
    shutil.copytree(mix, trained)
    (trained / "checkpoint.safetensors").write_bytes(b"weights")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    for target in (mix, mix / "stage", mix.parent, trained):
        with pytest.raises(UsageError, match="name a new folder"):
            stage_mix(mix, tmp_path, target, CONTEXT)
    (tmp_path / "link").symlink_to(mix)
    with pytest.raises(UsageError, match="name a new folder"):
        stage_mix(mix, tmp_path, tmp_path / "link", CONTEXT)
    (tmp_path / "link").unlink()
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_what_must_not_leave(mix: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"--allow 'CC-BY-NC-4.0'"):
        check_mix(mix, tmp_path, leaks=no_leak)
    mark_private(tmp_path / "pictures")
    with pytest.raises(TirError, match="private"):
        check_mix(mix, tmp_path, leaks=no_leak, allow=["CC-BY-NC-4.0"])
    (tmp_path / "pictures" / "PRIVATE").unlink()
    with (mix / "train.jsonl").open("a") as handle:
        handle.write("{}\n")
    with pytest.raises(TirError, match=r"differs from what MIX\.json says"):
        check_mix(mix, tmp_path, leaks=no_leak, allow=["CC-BY-NC-4.0"])
    mark_private(mix)
    with pytest.raises(TirError, match="private"):
        check_mix(mix, tmp_path, leaks=no_leak)


def test_the_command_uploads_nothing_unless_told(mix: Path, tmp_path: Path) -> None:
    def run(*more: str) -> subprocess.CompletedProcess[str]:
        command = [
            sys.executable, ROOT / "scripts" / "push_mix.py", "--mix", mix, "--img-root", tmp_path,
            "--stage", tmp_path / "stage", "--repo", "o/n", *more,
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        assert "hf_sentinel" not in done.stdout + done.stderr
        return done

    closed = "http://127.0.0.1:1"
    environment = os.environ | {"HF_TOKEN": "hf_sentinel_of_a_key", "HF_ENDPOINT": closed, "HF_HUB_OFFLINE": "0"}
    refused = run()
    assert refused.returncode == 64
    environment["ASKED_API_KEY"] = "question 3"
    leaked = run("--allow", "CC-BY-NC-4.0")
    assert leaked.returncode == 1
    assert "looks like a key" in leaked.stderr
    assert "question 3" not in leaked.stderr
    del environment["ASKED_API_KEY"]
    assert not (tmp_path / "stage").exists()
    done = run("--allow", "CC-BY-NC-4.0")
    assert done.returncode == 0, done.stderr
    assert "dry run: nothing was uploaded to o/n" in done.stdout
    assert "images/  2 files" in done.stdout
    assert "1 rows under CC-BY-NC-4.0  (no commercial use)" in done.stdout
    shutil.rmtree(tmp_path / "stage")
    failed = run("--allow", "CC-BY-NC-4.0", "--push")
    assert failed.returncode == 1
    assert "o/n: not uploaded" in failed.stderr
    assert "Traceback" not in failed.stderr


def test_a_row_with_a_key_does_not_leave(mix: Path, tmp_path: Path) -> None:
    def leaks(line: bytes) -> list[str]:
        return ["looks like a key"] if b"question 3" in line else []

    with pytest.raises(TirError, match=r"(train|validation)\.jsonl:\d+: looks like a key"):
        check_mix(mix, tmp_path, leaks=leaks, allow=["CC-BY-NC-4.0"])


def test_the_hub_library_has_what_is_used() -> None:
    assert importlib.util.find_spec("huggingface_hub") is not None
    from huggingface_hub import HfApi

    assert callable(HfApi.create_repo)
    assert callable(HfApi.upload_folder)

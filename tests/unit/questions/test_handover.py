"""The whole package, built by the commands from small tables, and looked at from outside."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tarfile
from collections import Counter
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from questions_helpers import World, question_row, read_lines, small_world, write_questions
from tir_distill.config import ROOT, load
from tir_distill.questions import (
    DecontaminationSettings,
    EvaluationIndex,
    Evidence,
    Fingerprints,
    Matcher,
    PackedPictures,
    SelectionSettings,
    decontaminate,
    pack,
    pack_pictures,
    select,
)
from tir_distill.questions.image_files import image_paths, safe_name
from tir_distill.questions.image_tar import FileHash
from tir_distill.records import Question, TirError, UsageError, write_json


def build(world: World, out: Path) -> None:
    """What the workflow runs, in this process."""
    rules = DecontaminationSettings.from_config(world.config)
    matcher = Matcher(Fingerprints.read(world.evaluation), rules)
    for table, kept, drops in zip(world.questions, world.kept(), world.drops(), strict=True):
        decontaminate(table, matcher, out=kept, drops=drops)
    select(world.kept(), world.evaluation, SelectionSettings.from_config(world.config), rules,
           images=world.images, out=out)  # fmt: skip
    pack(world.config, evidence(world), pack_pictures(out), out=out, scripts_root=world.checkout)


def evidence(world: World) -> Evidence:
    return Evidence(
        counts=world.counts(), kept=world.kept(), drops=world.drops(), evaluation=world.set_counts(), locks=world.locks
    )


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    made = small_world(tmp_path_factory.mktemp("handover") / "world")
    build(made, made.root / "out")
    return made


@pytest.fixture(scope="module")
def out(world: World) -> Path:
    return world.root / "out"


@pytest.fixture(scope="module")
def manifest(out: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((out / "MANIFEST.json").read_text())
    return document


def test_composition_and_order(out: Path) -> None:
    rows = read_lines(out / "phase_10k.jsonl")
    assert Counter(row["bucket"] for row in rows) == {"fvqa_train": 12, "evobrowsecomp": 7, "livevqa_news_l2": 8}
    assert [row["priority"] for row in rows] == ["P0"] * 19 + ["P1"] * 8
    assert [row["bucket"] for row in rows[:19]] == ["fvqa_train"] * 12 + ["evobrowsecomp"] * 7
    numbers = [int(row["id"].rsplit("_", 1)[1]) for row in rows[:12]]
    assert numbers == sorted(numbers)
    pilot = read_lines(out / "phase_10k_pilot.jsonl")
    assert pilot == [row for row in rows if row["phase"] == "pilot"]
    assert Counter(row["bucket"] for row in pilot) == {"fvqa_train": 4, "livevqa_news_l2": 3}


def test_records_are_those_of_the_note(out: Path) -> None:
    """Seed section 1: these keys in this order, candidate_answers a JSON string."""
    schema = json.loads((ROOT / "resources" / "schemas" / "question.schema.json").read_text())
    for row in read_lines(out / "phase_10k.jsonl"):
        assert list(row) == ["id", "source", "bucket", "priority", "phase", "task_type", "question", "answer",
                             "candidate_answers", "images", "meta"]  # fmt: skip
        jsonschema.Draft202012Validator(schema).validate(row)
        assert Question.from_dict(row).to_dict() == row
    first = read_lines(out / "phase_10k.jsonl")[0]
    assert first["images"] == [f"images/fvqa_train/{first['id']}.png"]
    assert first["meta"] == {"category": "search_required"}


def test_evaluation_items_and_article_caps(out: Path) -> None:
    ids = {row["id"] for row in read_lines(out / "phase_10k.jsonl")}
    assert not ids & {"fvqa_train_3", "evobc_EN_2"}
    articles = Counter(name.split("_")[2] for name in ids if name.startswith("livevqa"))
    assert max(articles.values()) <= 3


def test_numbers_close(manifest: dict[str, Any]) -> None:
    for name, row in manifest["funnel"].items():
        dropped = sum(number for sets in row["dropped"].values() for number in sets.values())
        assert row["read"] == row["kept"] + sum(row["rejected"].values()), name
        assert row["kept"] == dropped + row["selected"] + sum(row["not_selected"].values()), name
    assert manifest["funnel"]["livevqa_news_l2"] == {
        "read": 21, "rejected": {"picture_missing": 1}, "kept": 20, "dropped": {},
        "not_selected": {"over_article_cap": 8, "not_drawn": 4}, "selected": 8,
    }  # fmt: skip
    assert manifest["drops"] == {"jaccard": {"gaia": 1}, "phash": {"simplevqa": 1}}
    assert manifest["counts"]["by_phase"] == {"pilot": 7, "full": 20}
    assert manifest["counts"]["by_priority"] == {"P0": 19, "P1": 8}
    assert manifest["counts"]["by_task_type"] == {"image_search": 20, "text_search": 7}
    assert manifest["counts"]["total"] == 27


def test_every_file_is_in_the_manifest(out: Path, manifest: dict[str, Any]) -> None:
    on_disk = {path.relative_to(out).as_posix(): path for path in out.rglob("*") if path.is_file()}
    del on_disk["MANIFEST.json"]
    assert set(manifest["files"]) == set(on_disk)
    for name, path in on_disk.items():
        data = path.read_bytes()
        assert manifest["files"][name] == {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}, name


def test_manifest_says_how_it_came_to_be(manifest: dict[str, Any]) -> None:
    assert manifest["seed"] == 20261012
    assert manifest["rules"]["decontamination"]["phash_max_distance"] == 6
    assert manifest["rules"]["decontamination"]["jaccard_min"] == 0.8
    assert set(manifest["versions"]) == {"pillow", "imagehash", "numpy", "scipy"}
    fvqa = manifest["sources"]["fvqa"]
    assert (fvqa["licence"], fvqa["revision"], fvqa["use"]) == ("Apache-2.0", "mirror-fvqa", "questions")
    assert manifest["sources"]["gaia"]["use"] == "evaluation"
    assert manifest["evaluation"]["gaia"]["items"] == 2


def test_archive(out: Path) -> None:
    with tarfile.open(out / "images.tar") as archive:
        members = archive.getmembers()
        assert [m.name for m in members] == sorted(m.name for m in members)
        assert {(m.mtime, m.uid, m.gid, m.uname, m.gname, m.mode) for m in members} == {(0, 0, 0, "", "", 0o644)}
        named = {image for row in read_lines(out / "phase_10k.jsonl") for image in row["images"]}
        assert {m.name for m in members} == named
        for member in members:
            handle = archive.extractfile(member)
            assert handle is not None
            assert handle.read() == (out / member.name).read_bytes()


def test_what_a_site_needs(out: Path, world: World) -> None:
    assert (out / "scripts" / "run_distill_10k.sh").stat().st_mode & 0o777 == 0o755
    assert (out / "scripts" / "tir_distill" / "__init__.py").stat().st_mode & 0o777 == 0o644
    assert (out / "envs" / "requirements.txt").exists()
    names = [path.name for path in out.rglob("*")]
    assert not [name for name in names if name.endswith(".pyc") or name in ("Snakefile", ".hidden", ".env")]
    assert ".env" in (out / ".gitignore").read_text().split("\n")
    config = yaml.safe_load((out / "config" / "config.yaml").read_text())
    assert config["buckets"]["fvqa_train"]["count"] == 12
    assert config["paths"] == load()["paths"]
    assert config["sources"]["mirror"] is None


def test_nothing_of_the_machine_is_in_it(out: Path, world: World) -> None:
    needle = str(world.root).encode()
    assert not [path for path in out.rglob("*") if path.is_file() and needle in path.read_bytes()]


def test_the_index_answers(out: Path) -> None:
    index = EvaluationIndex.load(out / "eval_text_index.json")
    text = "In which year did the builder of the third lighthouse on the northern cape leave his last post there?"
    assert [match.evaluation_id for match in index.match_text(text)] == ["g0"]


@pytest.mark.filterwarnings("ignore")
def test_croissant_is_valid_and_reads_back(out: Path) -> None:
    import mlcroissant

    dataset = mlcroissant.Dataset(jsonld=str(out / "croissant.json"))
    assert not dataset.metadata.issues.errors
    warnings = [text for text in dataset.metadata.issues.warnings if "recommended" not in text]
    assert not warnings
    records = list(dataset.records("phase_10k_pilot"))
    pilot = read_lines(out / "phase_10k_pilot.jsonl")
    assert [record["phase_10k_pilot/id"].decode() for record in records] == [row["id"] for row in pilot]
    assert [path.decode() for path in records[0]["phase_10k_pilot/images"]] == pilot[0]["images"]


def test_card(out: Path) -> None:
    text = (out / "README.md").read_text()
    front = yaml.safe_load(text.split("---")[1])
    assert front["configs"][0]["data_files"][1] == {"split": "pilot", "path": "phase_10k_pilot.jsonl"}
    assert "| P0 | fvqa_train | 12 | 4 | image_search |" in text
    assert "CC-BY-NC-SA-4.0" in text


def test_packing_again_changes_nothing_and_old_files_go(world: World, out: Path) -> None:
    before = (out / "MANIFEST.json").read_bytes()
    (out / "scripts" / "left_over.py").write_text("old")
    (out / "images" / "left_over.png").write_bytes(b"old")
    with pytest.raises(TirError, match="select again"):
        pack_pictures(out)
    assert not (out / "MANIFEST.json").exists()  # a folder that is not whole has no manifest
    assert not (out / "images.tar").exists()
    build(world, out)
    assert (out / "MANIFEST.json").read_bytes() == before


def test_evidence_of_another_run_is_refused(world: World, tmp_path: Path) -> None:
    counts = []
    for path in world.counts():
        document = json.loads(path.read_text())
        if path.name.startswith("fvqa"):
            document.update(read=document["read"] + 1, kept=document["kept"] + 1)
        write_json(tmp_path / path.name, document)
        counts.append(tmp_path / path.name)
    packed = pack_pictures(world.root / "out")
    other = Evidence(**{**{name: getattr(evidence(world), name) for name in Evidence.__slots__}, "counts": counts})
    with pytest.raises(TirError, match="bucket fvqa_train: 21 rows kept by the reader, but 1 dropped and 19 left"):
        pack(world.config, other, packed, out=world.root / "out", scripts_root=world.checkout)
    pack(world.config, evidence(world), packed, out=world.root / "out", scripts_root=world.checkout)


def test_a_changed_command_is_shipped_without_packing_pictures(world: World, out: Path, tmp_path: Path) -> None:
    """The archive stays as it is, the manifest names the new bytes, and its picture hashes come from the note."""
    pack_pictures(out).write(tmp_path / "hashes.json")
    archive, script = out / "images.tar", world.checkout / "scripts" / "run_distill_10k.sh"
    before, text = (archive.stat().st_mtime_ns, archive.stat().st_ino), script.read_text()
    script.write_text(text + "echo twice\n")
    pack(world.config, evidence(world), PackedPictures.read(tmp_path / "hashes.json"), out=out,
         scripts_root=world.checkout)  # fmt: skip
    script.write_text(text)
    assert (archive.stat().st_mtime_ns, archive.stat().st_ino) == before
    files = json.loads((out / "MANIFEST.json").read_text())["files"]
    assert files["scripts/run_distill_10k.sh"]["bytes"] == len(text) + len("echo twice\n")
    for name, said in files.items():
        assert said["sha256"] == hashlib.sha256((out / name).read_bytes()).hexdigest(), name
    build(world, out)


def test_an_archive_of_another_selection_is_refused(world: World, out: Path, tmp_path: Path) -> None:
    packed = pack_pictures(out)
    for damage in (
        PackedPictures(packed.archive, dict(list(packed.files.items())[1:])),
        PackedPictures(FileHash(packed.archive.sha256, packed.archive.size + 1), packed.files),
    ):
        with pytest.raises(TirError, match="pack the pictures again"):
            pack(world.config, evidence(world), damage, out=out, scripts_root=world.checkout)
    for text in ("[]", "{}", '{"archive": {"sha256": "0", "size": 1}, "files": {"a": 3}}'):
        (tmp_path / "hashes.json").write_text(text)
        with pytest.raises(TirError, match="pack the pictures again"):
            PackedPictures.read(tmp_path / "hashes.json")
    build(world, out)


def test_asking_for_too_many_names_how_many_there_are(world: World, tmp_path: Path) -> None:
    config = json.loads(world.config_file.read_text())
    config["buckets"]["livevqa_news_l2"]["count"] = 13
    write_json(tmp_path / "config.json", config)
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "build_handover.py", "select", "--config", tmp_path / "config.json",
         "--buckets", *world.kept(), "--evaluation", *world.evaluation, "--images", world.images,
         "--out", tmp_path / "out"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 64
    assert "buckets.livevqa_news_l2.count is 13, but" in done.stderr
    assert "has 12" in done.stderr
    assert not (tmp_path / "out" / "phase_10k.jsonl").exists()


def test_other_buckets_change_nobody(world: World, out: Path, tmp_path: Path) -> None:
    config = json.loads(world.config_file.read_text())
    config["buckets"]["fvqa_train"].update(count=3, pilot=1)
    settings = SelectionSettings.from_config(config)
    select(world.kept(), world.evaluation, settings, DecontaminationSettings(), images=world.images, out=tmp_path)
    ids, before = ([row["id"] for row in read_lines(folder / "phase_10k.jsonl")] for folder in (tmp_path, out))
    assert ids[3:] == before[12:]
    assert set(ids[:3]) <= set(before[:12])


def test_a_missing_picture_is_named(world: World, tmp_path: Path) -> None:
    with pytest.raises(TirError, match="missing from the store"):
        select(world.kept(), world.evaluation, SelectionSettings.from_config(world.config), DecontaminationSettings(),
               images=tmp_path / "nowhere", out=tmp_path / "out")  # fmt: skip


def test_a_bucket_that_is_not_wanted_is_refused(world: World, tmp_path: Path) -> None:
    table = write_questions(tmp_path / "x.parquet", [question_row("q", "text", bucket="tabmwp_numeric")])
    with pytest.raises(UsageError, match="tabmwp_numeric"):
        select([table], world.evaluation, SelectionSettings.from_config(world.config), DecontaminationSettings(),
               images=world.images, out=tmp_path / "out")  # fmt: skip


def test_file_names_of_odd_ids() -> None:
    assert safe_name("fvqa_train_12") == "fvqa_train_12"
    assert safe_name("../x y") == "%2E.%2Fx%20y"
    assert safe_name("图") == "%E5%9B%BE"
    row = {"source": "src", "id": "a", "images": [{"ext": "png"}, {"ext": "jpg"}]}
    assert image_paths(row) == ["images/src/a.png", "images/src/a.2.jpg"]


def test_a_damaged_question_file_is_named(world: World, tmp_path: Path) -> None:
    (tmp_path / "phase_10k.jsonl").write_text('{"id": "q", "source": 3}\n')
    with pytest.raises(TirError, match=r"phase_10k\.jsonl: q: field 'source'"):
        pack_pictures(tmp_path)
    (tmp_path / "phase_10k.jsonl").write_text("")
    with pytest.raises(TirError, match="holds no question"):
        pack_pictures(tmp_path)

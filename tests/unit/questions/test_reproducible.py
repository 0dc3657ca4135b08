"""Equal inputs give equal bytes under another path, umask, time zone, language, hash seed, order of rows and files."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from questions_helpers import World, small_checkout, small_world
from tir_distill.config import ROOT, load
from tir_distill.records import write_json

PLAIN = {"TZ": "UTC", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "0"}
ODD = {"TZ": "Asia/Kolkata", "LANG": "C", "LC_ALL": "C", "PYTHONHASHSEED": "4242", "PYTHONUTF8": "0"}


def run(world: World, script: str, *words: str | Path, umask: int, env: dict[str, str], cwd: Path) -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / script, *map(str, words)],
        env={**os.environ, **env}, cwd=cwd, capture_output=True, text=True, preexec_fn=lambda: os.umask(umask),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def build(world: World, out: Path, *, umask: int, env: dict[str, str], cwd: Path) -> None:
    """The three commands as the workflow calls them."""
    for table, kept, drops in zip(world.questions, world.kept(), world.drops(), strict=True):
        run(world, "decontaminate.py", "run", "--config", world.config_file, "--questions", table, "--evaluation",
            *world.evaluation, "--out", kept, "--drops", drops, umask=umask, env=env, cwd=cwd)  # fmt: skip
    run(world, "build_handover.py", "all", "--config", world.config_file, "--buckets", *world.kept(),
        "--evaluation", *world.evaluation, "--evaluation-counts", *world.set_counts(), "--images", world.images,
        "--counts", *world.counts(), "--drops", *world.drops(), "--locks", *world.locks,
        "--scripts-root", world.checkout, "--out", out, umask=umask, env=env, cwd=cwd)  # fmt: skip


def fingerprint(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.slow
def test_byte_identical_elsewhere(tmp_path: Path) -> None:
    here = small_world(tmp_path / "here")
    build(here, tmp_path / "first", umask=0o022, env=PLAIN, cwd=tmp_path)
    there = small_world(tmp_path / "some where else" / "数据", shuffle=3)
    build(there, there.root / "deep" / "er" / "out", umask=0o077, env=ODD, cwd=there.root)
    first, second = fingerprint(tmp_path / "first"), fingerprint(there.root / "deep" / "er" / "out")
    assert first == second
    assert {"phase_10k.jsonl", "images.tar", "MANIFEST.json", "croissant.json", "README.md"} <= set(first)


# ---- from the sources on, by the commands ---------------------------------------------------------------------------

COMMANDS = """
import json, os, runpy, sys
for words in json.load(sys.stdin):
    sys.argv = [os.fsdecode(word.encode()) for word in words]  # as the shell hands them over, whatever the encoding
    sys.path[0] = os.path.dirname(words[0])
    try:
        runpy.run_path(words[0], run_name="__main__")
    except SystemExit as ended:
        if ended.code:
            sys.exit(f"{words}: exit code {ended.code}")
"""
"""Runs commands one after the other in one process of the given surroundings: starting each anew shows nothing more."""


@dataclass(frozen=True)
class Way:
    """How the same sources are worked on."""

    folder: str
    workers: int
    shards: int
    order: int | None
    """Seed of a shuffle of mirror files, of stages and of every list of arguments; None: as they stand."""
    umask: int
    env: dict[str, str]


WAYS = (
    Way("first", workers=1, shards=64, order=None, umask=0o022, env=PLAIN),
    Way("second place", workers=4, shards=5, order=1, umask=0o027,
        env={"TZ": "America/St_Johns", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "77"}),
    Way("dritter Ort/数据", workers=3, shards=1, order=2, umask=0o077, env=ODD),
)  # fmt: skip


def copied(mirror: Path, target: Path, order: random.Random | None) -> Path:
    """The mirror's files, created in another order and with other times."""
    files = sorted(path for path in mirror.rglob("*") if path.is_file())
    if order is not None:
        order.shuffle(files)
    for path in files:
        place = target / path.relative_to(mirror)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, place)
    return target


def hand_over(mirror: Path, checkout: Path, tmp_path: Path, way: Way) -> Path:
    """Everything from fetching on. Returns the folder that holds the tables (``data``) and the package (``out``)."""
    order = random.Random(way.order) if way.order is not None else None
    root = tmp_path / way.folder
    config = load(ROOT / "config" / "demo.yaml")
    # The mirror's path is in a file; under an encoding of ASCII no program could use it from there with other letters.
    config["sources"]["mirror"] = str(copied(mirror, tmp_path / f"mirror of {way.workers}", order))
    for entry in config["buckets"].values():
        entry["shards"] = way.shards
    config["paths"] = {key: f"/nowhere/{way.workers}/{key}" for key in config["paths"]}
    named = root / "config.json"
    write_json(named, config)

    def mixed(items: Iterable[Any]) -> list[str]:
        words = list(map(str, items))
        if order is not None:
            order.shuffle(words)
        return words

    def command(script: str, *words: Any) -> list[str]:
        return [str(ROOT / "scripts" / script), *map(str, words)]

    data, out = root / "data", root / "out"
    tables = {name: data / f"questions/{name}.parquet" for name in mixed(config["buckets"])}
    kept = {name: data / f"kept/{name}.parquet" for name in tables}
    sets = {name: data / f"evaluation/{name}.parquet" for name in mixed(config["evaluation"])}
    source = {name: data / "sources" / config["buckets"][name]["source"] for name in tables}
    source |= {name: data / "sources" / config["evaluation"][name]["source"] for name in sets}
    common = ("--config", named)
    todo = [command("fetch_source.py", *common, "--source", path.name, "--out", path)
            for path in mixed_paths(source.values(), mixed)]  # fmt: skip
    todo += [
        command(
            "read_questions.py",
            *common,
            "--bucket",
            name,
            "--source-dir",
            source[name],
            "--workers",
            way.workers,
            "--images",
            data / "images",
            "--out",
            table,
        )
        for name, table in tables.items()
    ]
    todo += [command("read_evaluation.py", *common, "--set", name, "--source-dir", source[name], "--workers",
                     way.workers, "--out", table) for name, table in sets.items()]  # fmt: skip
    todo += [command("decontaminate.py", "run", *common, "--questions", table, "--evaluation", *mixed(sets.values()),
                     "--out", kept[name], "--drops", kept[name].with_suffix(".drops.parquet"))
             for name, table in tables.items()]  # fmt: skip
    todo.append(
        command(
            "build_handover.py", "all", *common, "--images", data / "images", "--out", out,
            "--buckets", *mixed(kept.values()), "--evaluation", *mixed(sets.values()),
            "--evaluation-counts", *mixed(path.with_suffix(".counts.json") for path in sets.values()),
            "--counts", *mixed(path.with_suffix(".counts.json") for path in tables.values()),
            "--drops", *mixed(path.with_suffix(".drops.parquet") for path in kept.values()),
            "--locks", *mixed({path / "lock.json" for path in source.values()}), "--scripts-root", checkout,
        )
    )  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", COMMANDS], input=json.dumps(todo), env={**os.environ, **way.env}, cwd=root, text=True,
        capture_output=True, preexec_fn=lambda: os.umask(way.umask),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return root


def mixed_paths(paths: Iterable[Path], mixed: Callable[[Iterable[Any]], list[str]]) -> list[Path]:
    return [Path(text) for text in mixed(sorted(set(paths)))]


@pytest.mark.slow
def test_the_same_sources_give_the_same_bytes_however_they_are_worked_on(tmp_path: Path) -> None:
    """RULINGS 20: workers, shards, order of files and arguments; place, umask, time zone, language, hash seed."""
    subprocess.run(
        [sys.executable, ROOT / "scripts" / "draw_demo_sources.py", "--out", tmp_path / "mirror"],
        check=True, capture_output=True,
    )  # fmt: skip
    checkout = small_checkout(tmp_path / "checkout")
    roots = [hand_over(tmp_path / "mirror", checkout, tmp_path, way) for way in WAYS]
    first, *others = [fingerprint(root / "out") for root in roots]
    assert {
        "phase_10k.jsonl", "phase_10k_pilot.jsonl", "images.tar", "MANIFEST.json", "eval_text_index.json",
        "croissant.json", "README.md", "config/config.yaml",
    } <= set(first)  # fmt: skip
    assert sum(name.startswith("images/") for name in first) > 20
    tables, *other_tables = [
        {name: value for name, value in fingerprint(root / "data").items() if name.endswith((".parquet", ".json"))}
        for root in roots
    ]
    for found, found_tables in zip(others, other_tables, strict=True):
        assert {name for name in first if first[name] != found.get(name)} == set()
        assert set(found) == set(first)
        assert {name for name in tables if tables[name] != found_tables.get(name)} == set()
        assert set(found_tables) == set(tables)

"""Tables, pictures and whole inputs of a hand-over, drawn here, for the tests of the room questions."""

from __future__ import annotations

import io
import json
import random
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from tir_distill.config import ROOT, load
from tir_distill.records import write_json
from tir_distill.sources import TextPrint
from tir_distill.sources.parquet_out import EVALUATION, QUESTIONS, table_writer
from tir_distill.sources.phash import picture_print
from tir_distill.sources.pictures import prepare

FLAT_MAX_STD = 4.0


def drawn(seed: int, size: tuple[int, int] = (96, 72)) -> Image.Image:
    """A picture with structure at several scales, like no other seed's."""
    noise = np.random.default_rng(seed)
    layers = []
    for cells in (4, 9, 20):
        small = Image.fromarray(noise.integers(0, 256, (cells, cells, 3), dtype=np.uint8))
        layers.append(np.asarray(small.resize(size, Image.Resampling.BICUBIC), dtype=np.float64))
    mixed = 0.55 * layers[0] + 0.3 * layers[1] + 0.15 * layers[2]
    return Image.fromarray(mixed.astype(np.uint8))


def encoded(image: Image.Image, kind: str = "PNG", **options: Any) -> bytes:
    """File bytes of a picture."""
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def cell(data: bytes, store: Path | None = None) -> dict[str, Any]:
    """The ``images`` cell of a question row, by the project's picture policy; stored when a store is given."""
    stored, pixels = prepare(data)
    mark = picture_print(pixels, stored.sha256, FLAT_MAX_STD)
    if store is not None:
        path = store / stored.sha256[:2] / f"{stored.sha256}.{stored.ext}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(stored.data)
    return {
        "sha256": stored.sha256,
        "ext": stored.ext,
        "width": stored.width,
        "height": stored.height,
        "phash": mark.phash,
        "flat": mark.flat,
    }


def question_row(name: str, text: str, pictures: Sequence[dict[str, Any]] = (), **other: Any) -> dict[str, Any]:
    """A row of ``questions/<bucket>.parquet``."""
    return {
        "id": name,
        "source": "src",
        "bucket": "bucket",
        "task_type": "image_search" if pictures else "text_search",
        "question": text,
        "answer": "yes indeed",
        "candidate_answers": "[]",
        "group": name,
        "images": list(pictures),
        "meta": "{}",
        **other,
    }


def evaluation_row(dataset: str, name: str, text: str, pictures: Sequence[dict[str, Any]] = ()) -> dict[str, Any]:
    """A row of ``evaluation/<set>.parquet``."""
    mark = TextPrint.of(text)
    return {
        "set": dataset,
        "id": name,
        "images": [{key: picture[key] for key in ("phash", "flat", "sha256")} for picture in pictures],
        "shingles": list(mark.shingles),
        "units": mark.units,
        "text_key": mark.text_key,
        "script": mark.script,
        "grams": list(mark.grams),
    }


def picture_cell(phash: int | str, flat: bool = False) -> dict[str, Any]:
    """A cell with a given hash, for tests that need no file."""
    text = phash if isinstance(phash, str) else f"{phash:016x}"
    return {"sha256": "0" * 64, "ext": "png", "width": 8, "height": 8, "phash": text, "flat": flat}


def write_questions(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    with table_writer(path, QUESTIONS) as table:
        for row in rows:
            table.add(row)
    return path


def write_evaluation(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    with table_writer(path, EVALUATION) as table:
        for row in rows:
            table.add(row)
    return path


@dataclass
class World:
    """All that ``build_handover.py`` and ``decontaminate.py`` take, in one folder."""

    root: Path
    config: dict[str, Any]
    questions: list[Path] = field(default_factory=list)
    evaluation: list[Path] = field(default_factory=list)
    locks: list[Path] = field(default_factory=list)

    @property
    def images(self) -> Path:
        return self.root / "images"

    @property
    def config_file(self) -> Path:
        return self.root / "config.json"

    @property
    def checkout(self) -> Path:
        return self.root / "checkout"

    def kept(self) -> list[Path]:
        return [self.root / "decontaminated" / path.name for path in self.questions]

    def drops(self) -> list[Path]:
        return [path.with_suffix(".drops.parquet") for path in self.kept()]

    def counts(self) -> list[Path]:
        return [path.with_suffix(".counts.json") for path in self.questions]

    def set_counts(self) -> list[Path]:
        return [path.with_suffix(".counts.json") for path in self.evaluation]


def small_checkout(root: Path) -> Path:
    """A tree that can be shipped and that nobody edits while tests run."""
    (root / "scripts" / "tir_distill").mkdir(parents=True)
    (root / "scripts" / "tir_distill" / "__init__.py").write_text('"""Package."""\n')
    (root / "scripts" / "tir_distill" / "__pycache__").mkdir()
    (root / "scripts" / "tir_distill" / "__pycache__" / "x.cpython-311.pyc").write_bytes(b"\0")
    (root / "scripts" / "run_distill_10k.sh").write_text("#!/usr/bin/env bash\necho run\n")
    (root / "scripts" / ".hidden").write_text("no")
    for name in ("resources/licences.yaml", "config/config.yaml", "config/README.md", "envs/requirements.txt"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, root / name)
    return root


def small_world(root: Path, *, shuffle: int | None = None) -> World:
    """Three buckets, four evaluation sets, one overlap of each rule. ``shuffle`` reorders rows and files only."""
    order = random.Random(shuffle)
    config = load()
    for name, entry in config["buckets"].items():
        entry.update(count=0, pilot=0) if name.startswith(("livevqa_news_l1", "tabmwp", "chartqa")) else None
    config["buckets"]["fvqa_train"].update(count=12, pilot=4)
    config["buckets"]["evobrowsecomp"].update(count="all", pilot=0)
    config["buckets"]["livevqa_news_l2"].update(count=8, pilot=3)
    config["selection"]["total"] = None
    config["paths"] = {key: str(root / key) for key in config["paths"]}
    config["sources"]["mirror"] = str(root / "mirror")
    world = World(root=root, config=config)
    root.mkdir(parents=True)
    write_json(world.config_file, config)
    small_checkout(world.checkout)

    secret = "In which year did the builder of the third lighthouse on the northern cape leave his last post there?"
    taken = cell(encoded(drawn(1)), world.images)
    buckets = {
        "fvqa_train": [
            question_row(
                f"fvqa_train_{i}",
                f"What is the name of building {i}?",
                [taken if i == 3 else cell(encoded(drawn(100 + i)), world.images)],
                source="fvqa_train",
                meta='{"category":"search_required"}',
            )
            for i in range(20)
        ],
        "evobrowsecomp": [
            question_row(
                f"evobc_{language}_{i}",
                secret if (language, i) == ("EN", 2) else f"{language} question {i} about something else, 第{i}号问题",
                source="evobrowsecomp",
            )
            for language in ("EN", "ZH")
            for i in range(4)
        ],
        "livevqa_news_l2": [
            question_row(
                f"livevqa_0_{article}_l2_{i}",
                f"Who spoke first at event {article} {i}?",
                [cell(encoded(drawn(500 + article), "JPEG", quality=90), world.images)],
                source="livevqa_news",
                group=f"0_{article}",
                candidate_answers='["Ünal, „the“ speaker"]',
            )
            for article in range(4)
            for i in range(5)
        ],
    }
    sets = {
        "simplevqa": [evaluation_row("simplevqa", "0", "Where is this?", [taken])],
        "gaia": [evaluation_row("gaia", "g0", secret), evaluation_row("gaia", "g1", "Short one?")],
        "fvqa_test": [evaluation_row("fvqa_test", "fvqa_test_0", "Who is it?", [cell(encoded(drawn(2)))])],
        "mmbrowsecomp": [evaluation_row("mmbrowsecomp", "7", "第七个问题是什么？")],
    }
    for name, rows in buckets.items():
        order.shuffle(rows) if shuffle is not None else None
        path = write_questions(root / "questions" / f"{name}.parquet", [{**row, "bucket": name} for row in rows])
        counts = {"read": len(rows) + 1, "kept": len(rows), "rejects": {"picture_missing": 1}, "notes": {}}
        write_json(path.with_suffix(".counts.json"), counts)
        world.questions.append(path)
    for name, rows in sets.items():
        order.shuffle(rows) if shuffle is not None else None
        path = write_evaluation(root / "evaluation" / f"{name}.parquet", rows)
        write_json(path.with_suffix(".counts.json"), {"read": len(rows), "kept": len(rows), "rejects": {}, "notes": {}})
        world.evaluation.append(path)
    for name in ("fvqa", "evobrowsecomp", "livevqa", "simplevqa", "gaia", "fvqa_test", "mmbrowsecomp"):
        entry = config["sources"]["sets"][name]
        lock = {
            "source": name,
            "repo": entry["repo"],
            "hub": "mirror",
            "revision": f"mirror-{name}",
            "requested_revision": "main",
            "licence": entry["licence"],
            "licence_upstream": "",
            "rows": 3,
            "files": [{"path": "a.parquet", "size": 3, "sha256": "1" * 64}],
        }
        path = root / "sources" / name / "lock.json"
        write_json(path, lock)
        world.locks.append(path)
    for paths in (world.questions, world.evaluation, world.locks):
        order.shuffle(paths) if shuffle is not None else None
    return world


def read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]

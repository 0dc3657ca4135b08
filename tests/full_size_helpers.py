"""Draws sources of full size, with small pictures, in their upstream layouts. Run as a command: ``OUT SCALE``.

Pictures are some hundred drawn files; bytes after a PNG's end make each file another one, so every picture costs its
decoding, its hash and its place on the disk, as real ones do. Overlaps with evaluation sets are planted in FVQA train
in the numbers of seed section 3 (25 pictures and 97 long texts of FVQA test, 3 pictures of SimpleVQA).
"""

from __future__ import annotations

import base64
import io
import math
import random
import sys
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from tir_distill.sources.keystream import encrypt_canary, encrypt_keystream

POOL = 200
"""Different pictures of each kind; what differs beyond them is bytes only."""
CANARY = "mmbrowsecomp:bench"


@dataclass(frozen=True)
class Sizes:
    """Rows as published, times the scale."""

    scale: float = 1.0

    def of(self, rows: int) -> int:
        return max(1, math.ceil(rows * self.scale))

    @property
    def fvqa(self) -> int:
        return self.of(4_856)

    @property
    def planted_test_pictures(self) -> int:
        return self.of(25)

    @property
    def planted_long_texts(self) -> int:
        return self.of(97)

    @property
    def planted_simplevqa_pictures(self) -> int:
        return self.of(3)

    @property
    def planted(self) -> int:
        return self.planted_test_pictures + self.planted_long_texts + self.planted_simplevqa_pictures

    @property
    def live_photos(self) -> int:
        return self.of(28_488)

    @property
    def live(self) -> int:
        return self.of(107_140)

    @property
    def evo(self) -> int:
        """Of each language."""
        return self.of(400)

    @property
    def chart(self) -> int:
        return self.of(28_299)

    @property
    def chart_human(self) -> int:
        return self.of(7_398)

    @property
    def tabmwp(self) -> int:
        return self.of(23_059)

    @property
    def evaluation(self) -> dict[str, int]:
        return {
            "simplevqa": self.of(2_025),
            "fvqa_test": self.of(1_800),
            "gaia": self.of(165),
            "mmbrowsecomp": self.of(224),
        }


def drawn(seed: int) -> Image.Image:
    """A smooth picture like no other seed's."""
    cells = np.random.default_rng(seed).integers(0, 256, (6, 8, 3), dtype=np.uint8)
    return Image.fromarray(cells).resize((64, 48), Image.Resampling.BICUBIC)


def encoded(image: Image.Image, kind: str, **options: Any) -> bytes:
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


class Pictures:
    """Files by number, from one range of seeds."""

    def __init__(self, first_seed: int) -> None:
        self._images = [drawn(first_seed + i) for i in range(POOL)]
        self._files = [encoded(image, "PNG") for image in self._images]

    def __call__(self, number: int) -> bytes:
        return self._files[number % POOL] + number.to_bytes(4, "big")

    def copy(self, number: int) -> bytes:
        """The same picture, larger and as a JPEG."""
        return encoded(self._images[number % POOL].resize((96, 72)), "JPEG", quality=80)


def words(rng: random.Random, count: int) -> str:
    return " ".join(f"w{rng.randrange(20_000)}" for _ in range(count))


def test_text(number: int) -> str:
    """The question of an item of FVQA test: long, so that copies of it are found by text."""
    return words(random.Random(f"fvqa_test {number}"), 18) + "?"


def write(path: Path, rows: Iterable[dict[str, Any]], group: int = 500) -> None:
    """A parquet table in row groups, never whole in memory."""
    path.parent.mkdir(parents=True, exist_ok=True)
    writer = None
    for part in portions(rows, group):
        table = pa.Table.from_pylist(part, schema=writer.schema if writer else None)
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()


def portions(rows: Iterable[dict[str, Any]], size: int) -> Iterator[list[dict[str, Any]]]:
    part: list[dict[str, Any]] = []
    for row in rows:
        part.append(row)
        if len(part) == size:
            yield part
            part = []
    if part:
        yield part


def fvqa(split: str, i: int, question: str, picture: bytes, **other: Any) -> dict[str, Any]:
    return {
        "prompt": [{"content": question, "role": "user"}],
        "images": [{"bytes": picture, "path": None}],
        "reward_model": {"candidate_answers": "[]", "ground_truth": f"Thing {i}", "style": "rule"},
        "data_source": f"mmsearch_r1/fvqa_{split}",
        "image_urls": None,
        "data_id": f"fvqa_{split}_{i}",
        **other,
    }


def fvqa_train(sizes: Sizes, ours: Pictures, test: Pictures, simple: Pictures) -> Iterator[dict[str, Any]]:
    """The planted overlaps first, then short templated questions on pictures of their own."""
    first, second = sizes.planted_test_pictures, sizes.planted_test_pictures + sizes.planted_long_texts
    for i in range(sizes.fvqa):
        picture, question = ours(i), f"What is the name of building {i}?"
        if i < first:
            picture = test.copy(i)
        elif i < second:
            question = test_text(i).replace("?", "") + " now?"  # 18 of 19 words shared
        elif i < sizes.planted:
            picture = simple.copy(i)
        yield fvqa("train", i, question, picture, category="search_required" if i % 3 else "search_free")


def live_rows(sizes: Sizes) -> Iterator[dict[str, Any]]:
    """One level-1 question a photo, the rest level 2; two photos an article."""
    rng = random.Random("livevqa")
    number = {1: 0, 2: 0}
    asked: dict[tuple[int, int], int] = {}
    for i in range(sizes.live):
        level = 1 if i < sizes.live_photos else 2
        photo = number[level] % sizes.live_photos
        number[level] += 1
        article = photo // 2
        k = asked.get((article, level), 0)
        asked[article, level] = k + 1
        yield {
            "id": f"0_{article:020d}_l{level}_{k}",
            "level": level,
            "question": words(rng, rng.randrange(8, 26)) + "?",
            "options": f"['A. Person {i}' 'B. Another one'\n 'C. Third']",
            "Ground_Truth": "A",
            "Ground_Truth_List": f"['Person {i}' 'The person {i}']",
            "img_path": f"news_images/{photo}.png",
            "topic": "world",
            "source": "press",
        }


def chart_rows(sizes: Sizes, pictures: Pictures) -> Iterator[dict[str, Any]]:
    for i in range(sizes.chart):
        human = i < sizes.chart_human
        label = "Yes" if human and i % 12 == 0 else f"{i}.5"
        yield {
            "image": {"bytes": pictures(i * 2 // 3), "path": None},
            "query": f"How many did they count in column {i} of the chart?",
            "label": [label],
            "human_or_machine": 0 if human else 1,
        }


def split_in(rows: Iterator[dict[str, Any]], total: int, parts: int, folder: Path) -> None:
    """Upstream's ``data/train-0000i-of-0000n.parquet``."""
    for part in range(parts):
        count = total // parts + (total % parts if part == parts - 1 else 0)
        limited = (row for row, _ in zip(rows, range(count), strict=False))
        write(folder / f"data/train-{part:05d}-of-{parts:05d}.parquet", limited)


def tabmwp_rows(sizes: Sizes, pictures: Pictures) -> Iterator[dict[str, Any]]:
    for i in range(sizes.tabmwp):
        options = ["yes", "no"] if i % 4 == 0 else None
        yield {
            "image": {"bytes": pictures(i), "path": None},
            "id": str(i),
            "question": f"How many stamps are in row {i}?",
            "options": options,
            "answer": "yes" if options else f"{i:,}",
        }


def evo_rows(sizes: Sizes) -> Iterator[dict[str, Any]]:
    rng = random.Random("evobrowsecomp")
    for i in range(2 * sizes.evo):
        english = words(rng, 30) + "?"
        chinese = "".join(chr(rng.randrange(0x4E00, 0x9000)) for _ in range(60)) + "？"
        (question, key), (answer, answer_key) = (
            encrypt_keystream(text, rng.randbytes(16)) for text in (chinese if i % 2 else english, f"Answer {i}")
        )
        yield {"question": question, "question_key": key, "answer": answer, "answer_key": answer_key}


def evaluation(mirror: Path, sizes: Sizes, test: Pictures, simple: Pictures, other: Pictures) -> None:
    counts = sizes.evaluation
    rng = random.Random("evaluation")
    write(
        mirror / "lmms-lab/FVQA/fvqa_test.parquet",
        (fvqa("test", i, test_text(i), test(i)) for i in range(counts["fvqa_test"])),
    )
    rows = (
        {
            "data_id": i,
            "image": base64.b64encode(simple(i)).decode(),
            "question": words(rng, 9) + "?",
            "answer": "x",
            "language": "EN",
        }
        for i in range(counts["simplevqa"])
    )
    write(mirror / "m-a-p/SimpleVQA/data/test-00000-of-00001.parquet", rows)
    gaia = mirror / "gaia-benchmark/GAIA/2023/validation"
    gaia.mkdir(parents=True)
    tasks = []
    for i in range(counts["gaia"]):
        name = f"g{i}.png" if i % 10 == 0 else ""
        if name:
            (gaia / name).write_bytes(other(i))
        tasks.append(
            {
                "task_id": f"task-{i}",
                "Question": words(rng, 40) + "?",
                "Level": str(1 + i % 3),
                "Final answer": "7",
                "file_name": name,
                "file_path": f"2023/validation/{name}" if name else "",
            }
        )
    write(gaia / "metadata.parquet", tasks)
    folder = mirror / "mmbrowsecomp/MMBrowseComp"
    (folder / "data").mkdir(parents=True)
    (folder / "MMBC_images").mkdir()
    with (folder / "data/MMBrowseComp.jsonl").open("wb") as handle:
        for i in range(counts["mmbrowsecomp"]):
            images = []
            if i % 2:
                (folder / f"MMBC_images/{i}.png").write_bytes(other(1000 + i))
                images = [f"https://raw.example/main/MMBC_images/{i}.png"]
            row = {
                "id": i,
                "question": encrypt_canary(words(rng, 35) + "?", CANARY),
                "answer": encrypt_canary("x", CANARY),
                "images": images,
                "canary": CANARY,
            }
            handle.write(orjson.dumps(row) + b"\n")


def draw(mirror: Path, sizes: Sizes) -> None:
    """All sources of the default configuration."""
    test, simple, other, ours = (Pictures(seed) for seed in (1_000_000, 2_000_000, 3_000_000, 4_000_000))
    write(mirror / "mzhang1766/huawei_benchmark/fvqa_train.parquet", fvqa_train(sizes, ours, test, simple))
    live = mirror / "ONE-Lab/LiveVQA-2025"
    write(live / "Dataset.parquet", live_rows(sizes), group=5_000)
    with zipfile.ZipFile(live / "news.zip", "w") as archive:
        for i in range(sizes.live_photos):
            archive.writestr(f"news_images/{i}.png", ours(1_000_000 + i))
    write(mirror / "Krystalan/EvoBrowseComp/data/train-00000-of-00001.parquet", evo_rows(sizes))
    charts = Pictures(5_000_000)
    split_in(chart_rows(sizes, charts), sizes.chart, 3, mirror / "HuggingFaceM4/ChartQA")
    split_in(tabmwp_rows(sizes, Pictures(6_000_000)), sizes.tabmwp, 1, mirror / "JiaerX/TabMWP")
    evaluation(mirror, sizes, test, simple, other)


if __name__ == "__main__":
    draw(Path(sys.argv[1]), Sizes(float(sys.argv[2])))

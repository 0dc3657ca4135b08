"""Figures for reading: pictures per second against plain ImageHash on the same files, and memory for large pages.

Prints ratios and asserts only that results are equal. Run with ``make bench``.

Photos are those of the mirror named by TIR_HUB_MIRROR, if there is one, else drawn at the size of press photos
(1,200 x 800 JPEG); tables (400 x 300 PNG) are drawn.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import imagehash
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from sources_helpers import encoded
from tir_distill.sources import Candidate, distance
from tir_distill.sources.bucket_table import PictureWork
from tir_distill.sources.ordered import ordered_map
from tir_distill.sources.picture_store import PictureStore

PICTURES = 160
SLACK = 4
"""Bits by which a hash from a small decoding may differ; candidates within threshold + slack are hashed again."""


def draw(seed: int, width: int, height: int) -> Image.Image:
    """Smooth shapes with fine grain, so that decoding costs what a photo's costs."""
    rng = np.random.default_rng(seed)
    coarse = Image.fromarray(rng.integers(0, 256, (9, 12, 3), dtype=np.uint8)).resize((width, height), Image.BICUBIC)
    grain = rng.normal(0, 12, (height, width, 1))
    return Image.fromarray((np.asarray(coarse, dtype=np.float64) + grain).clip(0, 255).astype(np.uint8))


def photos() -> list[bytes]:
    """JPEG photos: real ones from the mirror, else drawn ones."""
    found: list[bytes] = []
    for path in sorted(Path(os.environ.get("TIR_HUB_MIRROR") or "/nowhere").rglob("news.zip")):
        with zipfile.ZipFile(path) as archive:
            found += [archive.read(name) for name in archive.namelist()]
    found = [data for data in found if data.startswith(b"\xff\xd8")]  # some that are named .jpg are WebP
    return found or [encoded(draw(i, 1200, 800), "JPEG", quality=85) for i in range(PICTURES // 2)]


@pytest.fixture(scope="module")
def files() -> list[bytes]:
    return photos() + [encoded(draw(i, 400, 300), "PNG") for i in range(PICTURES // 2)]


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """(CPU seconds of this process over all threads, result): ratios that hold on a busy machine too."""
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def plain_hash(data: bytes) -> str:
    return str(imagehash.phash(Image.open(io.BytesIO(data))))


def draft_hash(data: bytes) -> str:
    """ImageHash on a JPEG decoded at a fraction of its size: quick, and some bits off."""
    image = Image.open(io.BytesIO(data))
    image.draft("L", (64, 64))
    return str(imagehash.phash(image))


def candidates(files: list[bytes]) -> list[Candidate]:
    return [Candidate(id=str(i), question="q", answer="a", pictures=(data,)) for i, data in enumerate(files)]


def hashes(work: PictureWork, files: list[bytes], workers: int) -> list[str]:
    return [done[1][0]["phash"] for done in ordered_map(work, candidates(files), workers)]  # type: ignore[index]


def test_pictures_per_second(files: list[bytes], tmp_path: Path) -> None:
    plain_hash(files[0])
    reference_s, reference = timed(lambda: [plain_hash(data) for data in files])
    rows = [("plain ImageHash: decode and hash", reference_s)]
    store = PictureStore(tmp_path / "images")
    seconds, found = timed(lambda: hashes(PictureWork(store, 4.0), files, 2))
    assert found == reference
    rows.append(("checked, hashed, stored", seconds))
    twice_s, _ = timed(lambda: [(Image.open(io.BytesIO(data)).load(), plain_hash(data)) for data in files])
    rows.append(("plain: decode to check, decode to hash", twice_s))
    seconds, found = timed(lambda: hashes(PictureWork(store, 4.0), files, 2))
    assert found == reference
    rows.append(("the same again: prints known", seconds))
    print(f"\n{len(files)} pictures: {PICTURES // 2} table PNG, the others JPEG photos; CPU time")
    for label, seconds in rows:
        print(f"  {label:40s} {len(files) / seconds:8.1f} /s   {reference_s / seconds:6.2f} x plain ImageHash")
    webp = [encoded(Image.open(io.BytesIO(data)).convert("RGB"), "WEBP") for data in files[:10]]
    seconds, _ = timed(lambda: hashes(PictureWork(store, 4.0), webp, 2))
    print(f"  {'WebP photos, converted to PNG':40s} {len(webp) / seconds:8.1f} /s")


def test_screening_by_jpeg_draft(files: list[bytes]) -> None:
    """Only for a yes/no against known hashes: draft hashes screen, candidates are hashed exactly.

    The stage does not do this: it decodes every picture anyway to find damaged ones, and its hashes must outlive a
    change of threshold or of evaluation sets.
    """
    photos = files[: len(files) - PICTURES // 2]
    copies = [Image.open(io.BytesIO(data)).convert("RGB").resize((600, 400)) for data in photos[::8]]
    known = [plain_hash(encoded(copy, "JPEG", quality=60)) for copy in copies]
    reference_s, exact = timed(lambda: [plain_hash(data) for data in photos])
    decisions = [any(distance(h, k) <= 6 for k in known) for h in exact]

    def screened() -> list[bool]:
        out = []
        for data in photos:
            quick = draft_hash(data)
            near = any(distance(quick, k) <= 6 + SLACK for k in known)
            out.append(near and any(distance(plain_hash(data), k) <= 6 for k in known))
        return out

    seconds, found = timed(screened)
    assert found == decisions
    off = max(distance(draft_hash(data), h) for data, h in zip(photos, exact, strict=True))
    print(f"\nscreening {len(photos)} JPEG against {len(known)} known hashes: {sum(decisions)} drops, the same ones")
    print(f"  {reference_s / seconds:.2f} x exact hashing; draft hashes are at most {off} bits off")


def large_pages(folder: Path, rows: int) -> None:
    """One row group whose pages hold 1,024 pictures of 300 kB: what a plain ``to_parquet`` of FVQA gives."""
    noise = os.urandom(300_000)
    images = [{"bytes": b"not a picture %d" % i + noise, "path": None} for i in range(rows)]
    table = pa.table({"image": images, "query": ["q"] * rows, "label": [["1"]] * rows, "human_or_machine": [0] * rows})
    folder.mkdir()
    pq.write_table(table, folder / "train.parquet", row_group_size=rows)


READ = """
import re, sys, time
from pathlib import Path
from tir_distill.config import load
from tir_distill.sources import ReadSettings, give_memory_back, read_questions
give_memory_back()
folder, bucket, source = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
start = time.perf_counter()
out = folder / "questions" / f"{bucket}.parquet"
counts = read_questions(ReadSettings.for_bucket(load(), bucket), folder / source, images=folder / "images", out=out)
seconds = time.perf_counter() - start
peak = int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) // 1024
print(f"  {bucket:16s} read {counts.read:7d}, kept {counts.kept:7d}: {seconds:6.1f} s, peak {peak} MB")
"""


def test_large_pages(tmp_path: Path) -> None:
    """Memory of the worst table that an upstream writer makes; sources of full size are in bench_full_size.py."""
    scripts = Path(__file__).parents[3] / "scripts"
    large_pages(tmp_path / "large", 3000)
    size = (tmp_path / "large" / "train.parquet").stat().st_size // 1_000_000
    command = [sys.executable, "-c", READ, str(tmp_path), "chartqa_human", "large"]
    done = subprocess.run(command, env={"PYTHONPATH": str(scripts)}, capture_output=True, text=True, check=True)
    print(f"\none row group of {size} MB in pages of 307 MB:\n{done.stdout}", end="")

"""Audit of 10,000 rows of 8k tokens against tokenising the same text once. Figures, never a verdict.

TIR_BENCH_ROWS sets another number of rows.
"""

from __future__ import annotations

import itertools
import os
import random
import resource
import time
from pathlib import Path

import numpy as np
import orjson

from audit_helpers import Row, clean_rows, settings, tokens
from tir_distill.audit import audit_file
from tir_distill.audit.pictures import Pictures
from tir_distill.export import row_messages
from tir_distill.questions import DecontaminationSettings, EvaluationIndex
from tir_distill.questions.fingerprints import Item
from tir_distill.sources import TextPrint

ROWS = int(os.environ.get("TIR_BENCH_ROWS", "10000"))
TOKENS = 8000
ITEMS = 4214


def words(rng: random.Random) -> list[str]:
    """A vocabulary with word lengths like those of text, in two scripts."""
    latin = ["".join(rng.choices("etaoinshrdlucmfwypvbgk", k=rng.randint(1, 10))) for _ in range(30_000)]
    return latin + ["".join(chr(rng.randint(0x4E00, 0x9FA5)) for _ in range(2)) for _ in range(2_000)]


def write_rows(root: Path, path: Path) -> None:
    """Rows whose tool results fill up to the wanted length, each with its own text."""
    rng = random.Random(1)
    vocabulary = words(rng)
    bases = clean_rows(root)
    with path.open("wb") as handle:
        for number in range(ROWS):
            row: Row = orjson.loads(orjson.dumps(bases[number % len(bases)]))
            row["id"] = f"{row['bucket']}_{number}"
            row["lineage"]["sample"] = f"{row['id']}#1"
            row["messages"][1]["content"] += f" (case {number})"
            for index in (3, 4, 7):
                row["messages"][index]["content"] = " ".join(rng.choices(vocabulary, k=TOKENS // 9))
            handle.write(orjson.dumps(row) + b"\n")


def evaluation_index() -> EvaluationIndex:
    """As many items as the evaluation sets have, of 8 to 45 words of the same vocabulary, each with a picture."""
    rng = random.Random(2)
    vocabulary = words(rng)
    items = []
    for number in range(ITEMS):
        mark = TextPrint.of(" ".join(rng.choices(vocabulary, k=rng.randint(8, 45))))
        items.append(
            Item(
                set="drawn",
                id=str(number),
                units=mark.units,
                text_key=mark.text_key,
                script=mark.script,
                shingles=np.array(mark.shingles, dtype=np.uint64),
                grams=np.array(mark.grams, dtype=np.uint64),
                pictures=((f"{rng.getrandbits(64):016x}", False),),
            )
        )
    return EvaluationIndex(items, DecontaminationSettings())


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def tokenise(path: Path) -> tuple[int, float, float]:
    """Tokens of all rows, and the seconds (wall, CPU) of tokenising them once, without rendering."""
    counter, total, spent, cpu = tokens(), 0, 0.0, 0.0
    with path.open("rb") as handle:
        while lines := list(itertools.islice(handle, 500)):
            rows = map(orjson.loads, lines)
            texts = [counter.renderer.render(row_messages(r["messages"]), orjson.loads(r["tools"])) for r in rows]
            begin, begin_cpu = time.perf_counter(), time.process_time()
            total += sum(map(counter.vocabulary.count, texts))
            spent += time.perf_counter() - begin
            cpu += time.process_time() - begin_cpu
    return total, spent, cpu


def test_bench_audit(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    write_rows(tmp_path, path)
    total, spent, spent_cpu = tokenise(path)
    index = evaluation_index()
    index.match_grams("")
    before = peak_mb()
    size = path.stat().st_size / 1e6
    print(f"\n{ROWS} rows, {size:.0f} MB, {total / ROWS:.0f} tokens a row")
    print(f"tokenising once: {spent:.1f} s, {spent_cpu:.1f} s CPU")
    for name, loading in (("audit, loader check left out", False), ("audit, loader check in a process beside", True)):
        begin, cpu = time.perf_counter(), time.process_time()
        report = audit_file(path, settings(), img_root=tmp_path, tokens=tokens(), index=index, loading=loading)
        wall, used, grown = time.perf_counter() - begin, time.process_time() - cpu, peak_mb() - before
        assert report.passed, report.failures[:3]
        print(f"{name}: {wall:.1f} s = {wall / spent:.2f} x tokenising; +{grown:.0f} MB")
        print(f"    CPU of this process: {used:.1f} s = {used / spent_cpu:.2f} x, the tokenising in it included")
    begin = time.perf_counter()
    pictures = Pictures(tmp_path, hashes=True, flat_max_std=4.0)
    places = {image for row in clean_rows(tmp_path) for image in row["images"]}
    for image in places:
        pictures.look(image)
    each = 1000 * (time.perf_counter() - begin) / len(places)
    print(f"pictures apart: {each:.1f} ms for one of 64 x 48 pixels, decoded and hashed")

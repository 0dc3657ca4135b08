"""Conversion and cleaning of the 26,515 rows against reading and writing the same rows with orjson. Figures only.

Wanted (RULINGS 24): text-only rows at a tenth of orjson's pace or more, memory flat. Each measure runs in a process of
its own, so that peaks can be compared.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import orjson

import legacy_helpers as made
from tir_distill.config import ROOT
from tir_distill.records import write_jsonl

COPY = """
with open(source, "rb") as rows, open(out, "wb") as to:
    for line in rows:
        to.write(orjson.dumps(orjson.loads(line)) + b"\\n")
"""
CONVERT = """
settings = LegacySettings(name="old", system="S", tools=[read_json(ROOT / "resources/tools/python.json")],
                          pictures=None, row_root=out.parent)
convert_file(source, out, out.with_suffix(".rejects"), settings=settings, images_out=out.parent / "images")
"""
CLEAN = """
clean_file(source, out, out.with_suffix(".queue"), no_thinking="queue", letters=True)
"""
AROUND = """
import resource, sys, time
from pathlib import Path
import orjson
from tir_distill.config import ROOT
from tir_distill.legacy import LegacySettings, clean_file, convert_file
from tir_distill.records import read_json
source, out = map(Path, sys.argv[1:])
begin = time.process_time()
{body}
print(time.process_time() - begin, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def lengthened(row: dict[str, Any]) -> dict[str, Any]:
    """A system prompt of 2,000 characters and thoughts of 1,500: what earlier sets have."""
    words = "The figure shows < 5 bars, of which the third is tallest; its label reads 12.5 %. "
    for message in row["messages"]:
        content = message["content"]
        if message["role"] == "system":
            message["content"] = content + words * 25
        elif "<think>" in content:
            message["content"] = content.replace("<think>", "<think>" + words * 18)
        elif message["role"] == "assistant" and "<code>" in content:
            message["content"] = content.replace("print(", "# " + words * 6 + "\nprint(")
    return row


def measure(body: str, source: Path, out: Path) -> tuple[float, float]:
    """CPU seconds (best of three) and peak MB."""
    results = []
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, "-c", AROUND.format(body=body), source, out],
            capture_output=True, text=True, check=True, env={"PYTHONPATH": str(ROOT / "scripts")},
        )  # fmt: skip
        results.append(tuple(map(float, done.stdout.split())))
    return min(seconds for seconds, _ in results), max(peak for _, peak in results)


def test_bench_legacy(tmp_path: Path) -> None:
    text, long, picture, threefold = (tmp_path / f"{name}.jsonl" for name in ("text", "long", "picture", "threefold"))
    write_jsonl(text, made.rows())
    write_jsonl(long, map(lengthened, made.rows()))
    write_jsonl(picture, made.rows(pictures=True))
    with threefold.open("wb") as handle:
        for _ in range(3):
            handle.write(text.read_bytes())
    print(f"\n26,515 rows, {text.stat().st_size / 1e6:.1f} MB of text; CPU seconds, best of three")
    base, base_mb = measure(COPY, text, tmp_path / "copy.jsonl")
    long_base, _ = measure(COPY, long, tmp_path / "copy.jsonl")
    print(f"orjson read and write: {base:.2f} s, {base_mb:.0f} MB; rows of usual length: {long_base:.2f} s")
    for name, body, source in (
        ("convert, text alone, shortest rows", CONVERT, text),
        (f"convert, text alone, rows of usual length ({long.stat().st_size / 1e6:.0f} MB)", CONVERT, long),
        ("convert, 9,773 rows with one small picture", CONVERT, picture),
        ("convert, three times the rows", CONVERT, threefold),
    ):
        seconds, peak = measure(body, source, tmp_path / "native.jsonl")
        of = base * 3 if source == threefold else long_base if source == long else base
        written, _ = measure(COPY, tmp_path / "native.jsonl", tmp_path / "copy.jsonl")
        print(f"{name}: {seconds:.2f} s = 1/{seconds / of:.1f} of orjson's pace on the rows read,", end=" ")
        print(f"1/{seconds / written:.1f} on the rows written; {peak:.0f} MB")
    native = tmp_path / "native.jsonl"
    own, own_mb = measure(COPY, native, tmp_path / "copy.jsonl")
    seconds, peak = measure(CLEAN, native, tmp_path / "clean.jsonl")
    print(f"clean, three times the rows: {seconds:.2f} s = 1/{seconds / own:.1f} of orjson's pace on them", end="")
    print(f", {peak:.0f} MB (orjson {own_mb:.0f} MB)")
    assert orjson.loads(native.read_bytes().split(b"\n", 1)[0])["bucket"] == "old"

"""How long re-filtering takes. Prints figures; asserts only that the work was done (RULINGS 27)."""

from __future__ import annotations

import dataclasses
import random
import resource
import time
from pathlib import Path

import pytest

from filters_helpers import Script, default_settings, make_picture, make_question
from tir_distill.filters import filter_file
from tir_distill.records import Trajectory, file_sha256, write_jsonl

SAMPLES = 10_000
PER_QUESTION = 4
WORDS = (
    "harbour",
    "gateway",
    "monument",
    "station",
    "river",
    "museum",
    "bridge",
    "tower",
    "market",
    "temple",
    "1924",
    "37.5",
)


def prose(rng: random.Random, chars: int) -> str:
    words: list[str] = []
    size = 0
    while size < chars:
        words.append(rng.choice(WORDS) + str(rng.randrange(1000)) * (rng.random() < 0.3))
        size += len(words[-1]) + 1
    return " ".join(words)


def a_sample(number: int) -> Trajectory:
    """About what a full run holds: seven turns, results of some thousand characters, a picture cell in every third."""
    rng = random.Random(number)
    picture = number % 3 == 0
    kind = "image_search" if number % 3 else "image_reasoning"
    script = Script()
    for _ in range(3):
        script.turn(script.a_search(prose(rng, 30), prose(rng, 3000)), thinking=prose(rng, 700))
    for _ in range(2):
        script.turn(script.an_open(text=prose(rng, 8000)), thinking=prose(rng, 700))
    if picture:
        output = f"{rng.randrange(10_000)} {prose(rng, 200)}"
        script.turn(
            script.a_cell("print(image_1.crop((0, 0, 9, 9)))", output, pictures=[make_picture()]),
            thinking=prose(rng, 500),
        )
    script.answer(thinking=prose(rng, 900))
    question = make_question(kind, id=f"q{number // PER_QUESTION}")
    return dataclasses.replace(script.done(kind, question=question), sample_index=number % PER_QUESTION)


@pytest.mark.slow
def test_refiltering_ten_thousand_samples(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "raw.jsonl"
    write_jsonl(source, (a_sample(number).to_dict() for number in range(SAMPLES)))
    size = source.stat().st_size
    outputs = []
    with capsys.disabled():
        for run, settings in enumerate((default_settings(), default_settings(min_think_chars=25), default_settings())):
            target = tmp_path / f"out{run}.jsonl"
            start, cpu = time.perf_counter(), time.process_time()
            counts = filter_file(source, target, settings)
            wall, used = time.perf_counter() - start, time.process_time() - cpu
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
            print(
                f"\nfilters: {counts.samples} samples, {size / 1e6:.0f} MB, {wall:.1f} s wall, {used:.1f} s CPU,"
                f" peak {peak} MB, accepted {counts.accepted}, repaired {counts.repaired}"
            )
            assert counts.samples == SAMPLES
            outputs.append(file_sha256(target))
    assert outputs[0] == outputs[2]

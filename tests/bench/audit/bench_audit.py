"""Audit of 10,000 rows of 8k tokens against tokenising the same text once. Figures, never a verdict.

TIR_BENCH_ROWS sets another number of rows. Two views: the whole audit (time, and CPU of this process and of the loader
check's), and each step alone over the first rows, as a share of tokenising the same rows once. CPU time is what to
compare on a busy machine; the share of the loader check falls with the number of rows, for it starts in seconds.
"""

from __future__ import annotations

import itertools
import os
import random
import resource
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import orjson

from audit_helpers import Row, clean_rows, settings, tokens
from tir_distill.audit import audit_file, rendering, shape
from tir_distill.audit.behaviour import Behaviour
from tir_distill.audit.conversation import check_conversation
from tir_distill.audit.duplicates import Duplicates
from tir_distill.audit.loader import check_loader
from tir_distill.audit.overlap import check_observations
from tir_distill.audit.pictures import Pictures
from tir_distill.audit.provenance import check_licence, check_lineage
from tir_distill.audit.repeated import repeated_key
from tir_distill.audit.secrets import Secrets
from tir_distill.audit.thinking import check_thinking
from tir_distill.audit.truncation import check_truncation
from tir_distill.audit.view import View
from tir_distill.export import row_messages
from tir_distill.questions import DecontaminationSettings, EvaluationIndex
from tir_distill.questions.fingerprints import Item
from tir_distill.sources import TextPrint

ROWS = int(os.environ.get("TIR_BENCH_ROWS", "10000"))
STEP_ROWS = 1000
"""Rows over which the steps are measured one by one."""
GROUP = 100
"""Rows that go through one step before the next one gets them: none finds its text in the processor's cache."""
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
            row["lineage"]["fingerprint"] = f"{number:064x}"
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


def children() -> float:
    """CPU seconds of processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def views(lines: list[bytes]) -> list[View]:
    """Rows taken apart, none of them bad."""
    first = {name: type(value) for name, value in orjson.loads(lines[0]).items()}
    made = [shape.check_shape(orjson.loads(line), settings().profile, first)[1] for line in lines]
    return [view for view in made if view is not None]


def steps(index: EvaluationIndex, pictures: Pictures) -> dict[str, Callable[[bytes, View], object]]:
    """Name -> one step of the audit for one row; the first is what the others are compared with."""
    rules, counter = settings(), tokens()
    duplicates, behaviour, keys = Duplicates(), Behaviour(rules), Secrets()
    first = dict.fromkeys(shape.ROW_KEYS, str)
    texts: dict[int, str] = {}

    def render(_: bytes, view: View) -> None:
        text, _wrong = rendering.render(view, counter.renderer)
        texts[id(view)] = text or ""

    def question(view: View) -> object:
        said = next(message["content"] for message in view.messages if message["role"] == "user")
        return index.match_text(said, [])

    return {
        "render": render,
        "tokenise once": lambda _, view: counter.vocabulary.count(texts[id(view)]),
        "count tokens": lambda _, view: counter.length(texts.pop(id(view)), pictures.sizes(view)),
        "parse": lambda line, _: orjson.loads(line),
        "repeated keys": lambda line, _: repeated_key(line),
        "keys and secrets": lambda line, _: list(keys.check(line)),
        "shape": lambda _, view: shape.check_shape(dict(view.row), rules.profile, first),
        "conversation": lambda _, view: list(check_conversation(view, rules)),
        "thinking, truncation": lambda _, view: [*check_thinking(view, rules), *check_truncation(view)],
        "licence, lineage": lambda _, view: [*check_licence(view), *check_lineage(view)],
        "duplicates": lambda _, view: list(duplicates.check(view, 1)),
        "behaviour": lambda _, view: behaviour.add(view, "", 1),
        "evaluation questions": lambda _, view: question(view),
        "evaluation text in results": lambda _, view: list(check_observations(view, index)),
    }


def by_step(path: Path, root: Path, index: EvaluationIndex) -> None:
    """CPU of each step over the first rows, picture work done beforehand."""
    pictures = Pictures(root, hashes=True, flat_max_std=4.0)
    table = steps(index, pictures)
    spent = dict.fromkeys(table, 0.0)
    rows = 0
    with path.open("rb") as handle:
        while rows < STEP_ROWS and (lines := list(itertools.islice(handle, GROUP))):
            rows += len(lines)
            pairs = list(zip(lines, views(lines), strict=True))
            for _, view in pairs:
                pictures.sizes(view)
            for name, step in table.items():
                begin = time.thread_time()
                for line, view in pairs:
                    step(line, view)
                spent[name] += time.thread_time() - begin
    once = spent.pop("tokenise once")
    print(f"steps over {rows} rows; tokenising them once: {1000 * once / rows:.2f} ms a row")
    for name, seconds in spent.items():
        print(f"    {name:<28} {1000 * seconds / rows:6.3f} ms  {seconds / once:5.2f} x")
    print(f"    {'all of them':<28} {1000 * sum(spent.values()) / rows:6.3f} ms  {sum(spent.values()) / once:5.2f} x")


def test_bench_audit(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    write_rows(tmp_path, path)
    total, spent, spent_cpu = tokenise(path)
    index = evaluation_index()
    index.match_grams("")
    size = path.stat().st_size / 1e6
    print(f"\n{ROWS} rows, {size:.0f} MB, {total / ROWS:.0f} tokens a row")
    print(f"tokenising once: {spent:.1f} s, {spent_cpu:.1f} s CPU")
    by_step(path, tmp_path, index)
    before = peak_mb()
    begin, cpu, others = time.perf_counter(), time.process_time(), children()
    report = audit_file(path, settings(), img_root=tmp_path, tokens=tokens(), index=index)
    wall, used, loader = time.perf_counter() - begin, time.process_time() - cpu, children() - others
    assert report.passed, report.failures[:3]
    print(f"whole audit: {wall:.1f} s = {wall / spent:.2f} x tokenising; memory +{peak_mb() - before:.0f} MB")
    print(f"    CPU of this process {used:.1f} s = {used / spent_cpu:.2f} x, tokenising and picture hashes in it")
    print(f"    CPU of the loader check's process {loader:.1f} s = {loader / spent_cpu:.2f} x, its start in it")
    cpu = time.process_time()
    assert check_loader(path) == []
    first = time.process_time() - cpu
    cpu = time.process_time()
    assert check_loader(path) == []
    again = time.process_time() - cpu
    print(
        f"    loader check here: {first:.1f} s CPU = {first / spent_cpu:.2f} x; once datasets is loaded {again:.1f} s"
    )
    begin = time.perf_counter()
    pictures = Pictures(tmp_path, hashes=True, flat_max_std=4.0)
    places = {image for row in clean_rows(tmp_path) for image in row["images"]}
    for image in places:
        pictures.look(image)
    each = 1000 * (time.perf_counter() - begin) / len(places)
    print(f"pictures apart: {each:.1f} ms for one of 64 x 48 pixels, decoded and hashed")

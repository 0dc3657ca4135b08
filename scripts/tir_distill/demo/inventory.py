"""What the demo consists of: questions, the script of misbehaviour, and (for the drawing only) pictures and answers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

RESOURCES = Path(__file__).resolve().parents[3] / "resources" / "demo"


@dataclass(frozen=True)
class Hop:
    """One step of a look-up."""

    query: str
    """What to search for; ``{plate}``, ``{0}``, ``{1}`` stand for what was read before."""
    read: str
    """The label of the page's line that holds the fact."""


@dataclass(frozen=True)
class Ask:
    """A demo question as its asker knows it: without the answer."""

    key: str
    group: str
    """``fvqa``, ``livevqa_l1``, ``livevqa_l2``, ``evobrowsecomp``, ``charts`` or ``tables``."""
    text: str
    hops: tuple[Hop, ...] = ()
    article: str = ""
    """LiveVQA: the article whose photo goes with the question."""
    task: Mapping[str, Any] = field(default_factory=dict)
    """Charts and tables: what to compute."""
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class Script:
    """A sample that does something special."""

    question: str
    samples: tuple[int, ...]
    act: str
    expect: str | None
    """The filter rule that must fail, or None when the sample must pass."""
    first: bool = True
    """That rule must be the first that fails, the one under which the drop is counted."""
    options: Mapping[str, Any] = field(default_factory=dict)
    accepted: bool = True
    """Whether the question is still expected to give a row."""


def load_yaml(name: str, folder: Path = RESOURCES) -> dict[str, Any]:
    """One resource file; libyaml when it is there, for a quick start."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    value: dict[str, Any] = yaml.load((folder / name).read_bytes(), Loader=loader)
    return value


def load_questions(folder: Path = RESOURCES) -> list[Ask]:
    """All demo questions, in file order."""
    data = load_yaml("questions.yaml", folder)
    asks: list[Ask] = []
    for group in ("fvqa", "evobrowsecomp", "charts", "tables"):
        asks += [_ask(group, row) for row in data[group]]
    for article in data["livevqa"]:
        for level in ("l1", "l2"):
            asks += [_ask(f"livevqa_{level}", row, article["article"]) for row in article[level]]
    return asks


def _ask(group: str, row: Mapping[str, Any], article: str = "") -> Ask:
    return Ask(
        key=row["key"],
        group=group,
        text=row["ask"],
        hops=tuple(Hop(str(hop["query"]), str(hop["read"])) for hop in row.get("hops", ())),
        article=article,
        task=dict(row.get("task", {})),
        rows=tuple(row.get("rows", ())),
        columns=tuple(row.get("columns", ())),
    )


def load_playbook(folder: Path = RESOURCES) -> list[Script]:
    """The scripted samples."""
    return [
        Script(
            question=row["question"],
            samples=tuple(row["samples"]),
            act=row["act"],
            expect=row["expect"],
            first=row.get("first", True),
            options=dict(row.get("with", {})),
            accepted=row.get("accepted", True),
        )
        for row in load_yaml("playbook.yaml", folder)["scripts"]
    ]


@dataclass(frozen=True)
class Expectation:
    """What a scripted sample of the hand-over must come to."""

    question_id: str
    bucket: str
    sample: int
    act: str
    rule: str | None
    """The filter rule that must fail; None: the sample must pass all of them."""
    first: bool
    """The rule must be the first that fails."""
    question_accepted: bool


def expectations(question_file: Path, folder: Path = RESOURCES) -> list[Expectation]:
    """The playbook in terms of a drawn hand-over's ids, one entry per scripted sample."""
    texts = {ask.key: ask.text for ask in load_questions(folder)}
    rows = [json.loads(line) for line in question_file.read_text(encoding="utf-8").split("\n") if line]
    by_text = {row["question"]: row for row in rows}
    return [
        Expectation(row["id"], row["bucket"], sample, script.act, script.expect, script.first, script.accepted)
        for script in load_playbook(folder)
        for row in [by_text[texts[script.question]]]
        for sample in script.samples
    ]


def dice(*parts: object) -> int:
    """A 64-bit number fixed by the parts alone."""
    text = "\x1f".join(map(str, parts))
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8], "big")

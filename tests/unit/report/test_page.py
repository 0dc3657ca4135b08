"""The report page: figures where they belong, hostile text harmless, samples chosen evenly."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from filters_helpers import good
from tir_distill.records.trajectory import Trajectory
from tir_distill.report import Places, write_page
from tir_distill.report.examples import examples

HOSTILE = "</pre><script>alert(1)</script><img src=x onerror=alert(1)>{{ 7 * 6 }}"


class Seen(HTMLParser):
    """Tags with their attributes, and all text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.pieces: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data
        self.pieces += data.split()


def line(trajectory: Trajectory, *fails: str) -> str:
    from tir_distill.records.jsonl import dumps

    return dumps(trajectory.to_dict() | {"accepted": not fails, "filter_fails": list(fails)}).decode() + "\n"


def stats(bucket: str) -> dict[str, Any]:
    figures = {"self_search_rate": 0.75, "searches_mean": 1.5, "turns_mean": 3.25, "letter_answers": 0, "image_code": 1}
    return {
        "questions": {"total": 41},
        "samples": 97,
        "correct": 53,
        "accepted": 29,
        "export": {"rows": 28},
        "search": {"requests": 611, "cache_hits": 13},
        "buckets": {
            bucket: {
                "questions": 41,
                "samples": 97,
                "correct": 53,
                "accepted": 29,
                "samples_per_accepted": None,
                "repaired": 2,
            }
        },
        "drops": {"first": {"F1": {bucket: 44}, "F10": {}}},
        "behaviour": {bucket: figures | {"think_chars": {"p50": 1234}}},
    }


@pytest.fixture
def places(tmp_path: Path) -> Places:
    run = tmp_path / "results" / "pilot"
    shard = run / "shards" / "b" / "0000-of-0001.filtered.jsonl"
    shard.parent.mkdir(parents=True)
    trajectory = good("image_search")
    first = trajectory.to_dict()
    bucket = first["question"]["bucket"]
    hostile = good("image_search", answer=HOSTILE)
    shard.write_text(line(hostile, "F1") + line(trajectory) + line(trajectory) + line(trajectory, "F1", "F9"))
    (run / "stats.json").write_text(json.dumps(stats(bucket)))
    audit = {"passed": False, "rows": 28, "rows_failed": 1, "failures": []}
    (run / "state").mkdir()
    (run / "state" / "audit_failed.json").write_text(json.dumps(audit))
    return Places(
        data=tmp_path / "data",
        handover=tmp_path / "handover",
        results=tmp_path / "results",
        run_names=("pilot", "full"),
    )


def test_page_says_the_figures_and_shows_samples(places: Places, tmp_path: Path) -> None:
    out = tmp_path / "results" / "report" / "index.html"
    assert write_page(places, out, each=5) == ["pilot"]
    seen = Seen()
    seen.feed(out.read_text("utf-8"))
    words = " ".join(seen.pieces)
    assert "41 questions, 97 samples, 53 right, 29 kept, 28 rows. 611 searches billed, 13 answered" in words
    assert "Audit failed: 1 of 28 rows." in words
    assert "75 % 1.50 3.2 1234 0 1" in words
    assert words.count("expected") == 4
    pictures = [tags["src"] for tag, tags in seen.tags if tag == "img"]
    assert pictures
    assert all(str(source).startswith("../../handover/images/") for source in pictures)


def test_page_is_harmless(places: Places, tmp_path: Path) -> None:
    out = tmp_path / "results" / "report" / "index.html"
    write_page(places, out, each=5)
    seen = Seen()
    seen.feed(out.read_text("utf-8"))
    assert HOSTILE in seen.text  # shown as text, not run
    assert not [tag for tag, _ in seen.tags if tag in ("script", "iframe", "link", "object")]
    assert not [name for _, tags in seen.tags for name in tags if name.startswith("on")]
    policy = next(tags["content"] for tag, tags in seen.tags if "http-equiv" in tags)
    assert str(policy).startswith("default-src 'none'")


def test_samples_are_chosen_per_bucket_and_first_reason(places: Places) -> None:
    shard = places.results / "pilot" / "shards" / "b" / "0000-of-0001.filtered.jsonl"
    assert [item.reason for item in examples([shard], 1)] == ["F1", "kept"]
    assert [item.reason for item in examples([shard], 2)] == ["F1", "kept", "kept", "F1"]
    assert examples([shard], 0) == []


def test_no_run_yet(tmp_path: Path) -> None:
    empty = Places(data=tmp_path, handover=tmp_path, results=tmp_path / "none", run_names=("pilot",))
    assert write_page(empty, tmp_path / "index.html", each=1) == []
    assert "No run has statistics yet" in (tmp_path / "index.html").read_text()

"""The command that makes a local search corpus."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tir_distill.config import ROOT
from tir_distill.tools.backends.corpus import CorpusBackend
from tir_distill.tools.search_settings import SearchSettings


async def at_once() -> None:
    """A door that is always open: a local file is asked without waiting."""


def build(folder: Path, *lines: Any) -> subprocess.CompletedProcess[str]:
    text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
    (folder / "pages.jsonl").write_text(text)
    command = [sys.executable, str(ROOT / "scripts" / "build_search_corpus.py"), "pages.jsonl", "--out", "c.sqlite"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_usable_lines_can_be_searched_and_the_others_are_counted(tmp_path: Path) -> None:
    done = build(
        tmp_path,
        {"url": "https://x.org/1", "title": "Taj Mahal", "text": "A tomb in Agra.", "date": "2020-01-01"},
        {"url": "https://x.org/2", "text": "An arch in Mumbai."},
        "torn",
        {"url": "https://x.org/3"},
        {"url": "https://x.org/1", "text": "again"},
        [],
    )
    assert done.returncode == 0, done.stderr
    assert (
        "pages.jsonl: 4 line(s) set aside (not_a_document 1, not_an_object 1, not_json 1, repeated_url 1)"
        in done.stdout
    )
    assert "c.sqlite: 2 documents" in done.stdout
    assert "pages.jsonl:4: text: expected the text of the page" in done.stderr
    backend = CorpusBackend(SearchSettings(), path=tmp_path / "c.sqlite")
    found = asyncio.run(backend.ask("arch Mumbai", at_once))
    assert found.payload["results"] == [
        {"title": "https://x.org/2", "url": "https://x.org/2", "snippet": "An arch in Mumbai."}
    ]


def test_nothing_usable_leaves_the_older_file(tmp_path: Path) -> None:
    (tmp_path / "c.sqlite").write_text("an older one")
    done = build(tmp_path, {"url": "", "text": "x"})
    assert done.returncode == 1
    assert "no document was usable" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.sqlite", "pages.jsonl"]
    assert (tmp_path / "c.sqlite").read_text() == "an older one"

"""The command that takes over an earlier run's paid searches."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from ledger_helpers import open_ledger, sqlite_url

COMMAND = Path(__file__).resolve().parents[3] / "scripts" / "import_search_cache.py"
HIT = {"title": "a", "url": "https://example.org/a", "snippet": "c"}


def line(query: str) -> str:
    row = {"query": query, "backend": "serper", "params": {}, "fetched_at": 1.0, "payload": {"results": [HIT]}}
    return json.dumps(row) + "\n"


def test_answers_are_taken_over_once(tmp_path: Path) -> None:
    old = tmp_path / "search_cache.jsonl"
    old.write_text(line("who") + line("where") + "torn")
    command = [sys.executable, str(COMMAND), str(old), "--out", str(tmp_path / "pilot")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, f"{old}: 2 answers taken over\n"), done.stderr
    assert "1 lines left out" in done.stderr
    ledger = open_ledger(sqlite_url(tmp_path))
    assert ledger.export_cache(tmp_path / "out.jsonl") == 2
    ledger.close()
    assert [json.loads(row)["query"] for row in (tmp_path / "out.jsonl").open()] in (["who", "where"], ["where", "who"])


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    command = [sys.executable, str(COMMAND), "none.jsonl", "--out", str(tmp_path / "pilot")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 64
    assert "no such file: none.jsonl" in done.stderr
    assert not (tmp_path / "state").exists()

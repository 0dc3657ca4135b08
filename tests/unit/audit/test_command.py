"""The command on files that are no rows at all, with arguments that lead nowhere, and with many kinds of bad rows.

Run in this process without the loader check, which needs seconds to start; test_index.py runs the whole command.
"""

from __future__ import annotations

import functools
import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

import check_distilled
from audit_helpers import Index, Row, clean_rows, write
from tir_distill.audit import audit_file
from tir_distill.audit.secrets import Secrets


class Command:
    """Runs check_distilled.py on files below one folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.report = root / "audit.json"

    def __call__(self, *arguments: str) -> int:
        with pytest.raises(SystemExit) as left:
            check_distilled.cli.run(check_distilled.main, check_distilled.parser, list(arguments))
        return int(left.value.code or 0)

    def audit(self, data: bytes | list[Any], *arguments: str) -> tuple[int, list[tuple[int, str]]]:
        """Exit code, and (line, reason) of every failure of a file with this content."""
        path = self.root / "rows.jsonl"
        if isinstance(data, bytes):
            path.write_bytes(data)
        else:
            write(path, data)
        options = [
            "--in",
            str(path),
            "--img-root",
            str(self.root),
            "--eval-index",
            "stub",
            "--report",
            str(self.report),
        ]
        code = self(*options, *arguments)
        return code, [(item["line"], item["reason"]) for item in orjson.loads(self.report.read_bytes())["failures"]]


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(check_distilled, "audit_file", functools.partial(audit_file, loading=False))
    monkeypatch.setattr(check_distilled, "load_index", lambda path: Index())
    monkeypatch.setattr(check_distilled.cli, "setup_logging", lambda: None)  # the test runner has its own
    return Command(tmp_path)


@pytest.fixture
def rows(tmp_path: Path) -> list[Row]:
    return clean_rows(tmp_path)


def lines(rows: list[Row], end: bytes = b"\n") -> bytes:
    return b"".join(orjson.dumps(row) + end for row in rows)


def test_line_ends_of_windows_and_blank_lines_are_no_defect(command: Command, rows: list[Row]) -> None:
    assert command.audit(lines(rows, b"\r\n")) == (0, [])
    assert command.audit(b"\n" + lines(rows, b"\n \n")) == (0, [])
    assert command.audit(lines(rows).rstrip(b"\n")) == (0, [])


NOT_ROWS: dict[str, tuple[Callable[[bytes], bytes], list[tuple[int, str]]]] = {
    "nothing": (lambda data: b"", [(0, "no_rows")]),
    "blank lines": (lambda data: b"\n \n\r\n", [(0, "no_rows")]),
    "gzip": (gzip.compress, [(0, "not_json_lines")]),
    "UTF-16 with a mark": (lambda data: data.decode().encode("utf-16"), [(0, "not_json_lines")]),
    "UTF-16 without": (lambda data: data.decode().encode("utf-16-le"), [(0, "not_json_lines")]),
    "one list of all rows": (lambda data: b"[" + data.rstrip().replace(b"\n", b",") + b"]\n", [(1, "not_an_object")]),
    "prose": (lambda data: b"Dear all,\n", [(1, "bad_json")]),
    "a mark in front": (lambda data: b"\xef\xbb\xbf" + data, [(1, "byte_order_mark")]),
}


@pytest.mark.parametrize("name", NOT_ROWS)
def test_files_of_another_kind_fail_with_their_reason(command: Command, rows: list[Row], name: str) -> None:
    make, expected = NOT_ROWS[name]
    assert command.audit(make(lines(rows))) == (3, expected)


def test_every_bad_line_is_reported_and_the_good_ones_counted(command: Command, rows: list[Row]) -> None:
    twice = orjson.dumps(rows[1]).replace(b'"teacher":', b'"teacher":"","teacher":', 1)
    bad = rows[2] | {"licence": ""}
    spoiled = [b"{", rows[0], b"[1]", twice, b"7", bad, b"\xff\xfe", rows[3], b'{"id": "x"}', b"null"]
    code, failures = command.audit(spoiled)
    assert code == 3
    assert {line for line, _ in failures} == {1, 3, 4, 5, 6, 7, 9, 10}
    assert {(1, "bad_json"), (3, "not_an_object"), (4, "repeated_key"), (5, "not_an_object")} <= set(failures)
    assert {(6, "missing"), (7, "bad_json"), (9, "no_messages"), (10, "not_an_object")} <= set(failures)
    report = orjson.loads(command.report.read_bytes())
    assert (report["rows"], report["rows_failed"]) == (10, 8)


def test_a_line_of_a_megabyte_is_a_row_like_any_other(command: Command, rows: list[Row]) -> None:
    rows[1]["messages"][3]["content"] = "page " * 200_000
    assert command.audit(rows) == (3, [(2, "too_long")])


def test_arguments_that_lead_nowhere_are_errors_before_any_work(
    command: Command, rows: list[Row], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(write(tmp_path / "rows.jsonl", rows))
    good = ["--in", path, "--img-root", str(tmp_path)]
    below_a_file = str(tmp_path / "rows.jsonl" / "audit.json")
    for arguments, code, said in (
        (["--in", path], 64, "--img-root"),
        ([*good, "--profile", "other"], 64, "legacy_python"),
        (["--in", str(tmp_path / "none" / "a.jsonl"), "--img-root", "."], 1, "a.jsonl: no such file"),
        (["--in", path, "--img-root", str(tmp_path / "none")], 1, "--img-root"),
        ([*good, "--report", str(tmp_path)], 1, "it is a folder"),
        ([*good, "--report", below_a_file], 1, "cannot be written"),
        ([*good, "--template-dir", str(tmp_path / "none"), "--deep"], 1, "chat_template"),
    ):
        assert command(*arguments) == code, arguments
        assert said in capsys.readouterr().err
    assert not (tmp_path / "none").exists()
    assert not command.report.exists()


def test_the_evaluation_index_must_be_one(
    command: Command,
    rows: list[Row],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(check_distilled, "audit_file", functools.partial(audit_file, loading=False))
    monkeypatch.setattr(check_distilled.cli, "setup_logging", lambda: None)
    good = ["--in", str(write(tmp_path / "rows.jsonl", rows)), "--img-root", str(tmp_path)]
    (tmp_path / "other.json").write_text("{}")
    for name, said in (
        ("none.json", "no such file"),
        ("other.json", "not an evaluation index"),
        (".", "cannot be read"),
    ):
        assert command(*good, "--eval-index", str(tmp_path / name)) == 1
        assert said in capsys.readouterr().err
    assert command(*good) == 3  # none given and none in the hand-over: what was not checked did not pass
    assert "no_index" in capsys.readouterr().out


SHA1 = "da39a3ee5e6b4b0d3255bfef95601890afd80709"
HARMLESS = (
    f"commit {SHA1}",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    f"cache key: {SHA1}",
    "apt-key fingerprint 9DC858229FC7DD38854AE2D88D81803C0EBFCDC2",
    "id 123e4567-e89b-12d3-a456-426614174000, items-123e4567-e89b-12d3-a456-426614174000",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKm==",
    "class sk-toggleable__label-arrow sk-container-id-12 sk-estimator-doc-link-fitted",
    "https://example.org/sk-hynix-third-quarter-2024-earnings-call-20241024",
    "risk-management-2024-annual-report, hf_hub_download_with_a_long_name_of_its_own",
    "Authorization: Bearer <token>, Bearer authentication-and-authorization-for-everyone",
    "sk-..., YOUR_API_KEY, api_key=your-own-key-goes-here",
    "https://example.org/?token=abcdefabcdefabcdefab1234&key=7, xoxo-kisses-and-hugs",
    "-----BEGIN PUBLIC KEY-----, public key 3059301306072a8648ce3d020106082a8648ce3d030107034200",
)


def test_text_that_only_looks_random_is_no_key() -> None:
    for text in HARMLESS:
        assert list(Secrets().check(orjson.dumps({"content": text}))) == [], text

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tir_distill import cli
from tir_distill.records import AuditFailed, ExitCode, Stopped, TirError, UsageError


def outcome(error: BaseException | None) -> int:
    def main(_: object) -> None:
        if error:
            raise error

    with pytest.raises(SystemExit) as caught:
        cli.run(main, cli.Parser(prog="x"), [])
    return int(caught.value.code or 0)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (None, 0),
        (TirError("a"), 1),
        (RuntimeError("a"), 1),
        (Stopped("credits_exhausted"), 2),
        (KeyboardInterrupt(), 2),
        (AuditFailed("a"), 3),
        (UsageError("a"), 64),
        (OSError(errno.ENOSPC, "No space left on device"), 1),
    ],
)
def test_each_error_has_its_exit_code(error: BaseException | None, code: int) -> None:
    assert outcome(error) == code


def test_failures_of_a_path_or_disk_are_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert outcome(OSError(errno.ENOSPC, "No space left on device", "rows.jsonl")) == 1
    assert capsys.readouterr().err == "x: error: rows.jsonl: No space left on device; mend it and start again\n"
    assert outcome(OSError(errno.EBADF, "Bad file descriptor")) == 1
    assert "Traceback" in capsys.readouterr().err


def test_unknown_flags_exit_64(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        cli.run(lambda _: None, cli.Parser(prog="x"), ["--nope"])
    assert caught.value.code == ExitCode.USAGE
    assert "--nope" in capsys.readouterr().err


def test_keys_are_taken_out_of_errors_and_logs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SERPER_API_KEY", "sentinel-4711")
    assert outcome(TirError("header X-API-KEY: sentinel-4711")) == 1
    assert outcome(RuntimeError("sentinel-4711")) == 1
    text = capsys.readouterr().err
    assert "sentinel-4711" not in text
    assert "[redacted]" in text


@pytest.mark.parametrize(
    "form",
    [
        "sk/Ab+c d=12",
        "sk\\/Ab+c d=12",
        "sk%2FAb%2Bc%20d%3D12",
        "sk%2fAb%2bc%20d%3d12",
        "sk/Ab%2Bc%20d%3D12",
        "sk%2FAb%2Bc+d%3D12",
        "736b2f41622b6320643d3132",
        "c2svQWIrYyBkPTE",  # base64 of the key, without the character that also holds what follows
        "NrL0FiK2MgZD0xM",  # inside base64 of "Bearer " and the key
    ],
)
def test_keys_are_taken_out_in_every_spelling(monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk/Ab+c d=12")
    assert cli.redact(f"key {form} is wrong") == "key [redacted] is wrong"


def test_a_key_in_the_words_of_an_error_is_taken_out_escaped_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sesame\n\u2011open")
    assert outcome(RuntimeError(f"header {os.environ['SOME_API_KEY']!a}")) == 1
    assert outcome(RuntimeError(f"header {os.environ['SOME_API_KEY']!r}")) == 1
    text = capsys.readouterr().err
    assert "sesame" not in text
    assert text.count("header '[redacted]'") == 2


def test_progress_says_counts_rate_and_time_left() -> None:
    line = cli.ProgressLine("sampling", 10)
    line.update(done=5, accepted=3)
    text = line.text()
    assert text.startswith("sampling: 5/10, accepted 3, ")
    assert text.endswith("s left")


SCRIPTS = sorted((Path(cli.__file__).resolve().parents[1]).glob("*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_every_command_has_help_with_an_example(script: Path) -> None:
    done = subprocess.run([sys.executable, script, "--help"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "example" in done.stdout

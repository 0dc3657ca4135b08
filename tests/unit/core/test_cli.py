from __future__ import annotations

import errno
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

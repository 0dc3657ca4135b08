"""stop_run.py against running commands, in both its forms (issue 5: same path as an empty account)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import stop_run
from ledger_helpers import open_ledger
from rollout_helpers import FakeTeacher, question, teacher
from tir_distill.records import UsageError, read_jsonl, write_jsonl

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
COUNT = 24


def command(script: str, *arguments: object, teacher: FakeTeacher, folder: Path) -> subprocess.Popen[str]:
    environment = os.environ | teacher.env
    return subprocess.Popen(
        [sys.executable, str(SCRIPTS / script), *map(str, arguments)],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    said, _ = process.communicate(timeout=240)
    return process.returncode, said


def wait_for_work(server: FakeTeacher, requests: int, *processes: subprocess.Popen[str]) -> None:
    """Until the teacher has been asked so often."""
    deadline = time.monotonic() + 200
    while server.received < requests:
        assert time.monotonic() < deadline
        assert all(process.poll() is None for process in processes), [ended(process) for process in processes]
        time.sleep(0.02)


def stop(*arguments: object) -> None:
    stop_run.main(stop_run.parser().parse_args([str(argument) for argument in arguments]))


def configuration(folder: Path) -> Path:
    """Few conversations at once, so that a stop comes in the middle."""
    path = folder / "config.json"
    config = {"paths": {"state": str(folder / "state")}, "engine": {"concurrency": 4, "grace_seconds": 1.0}}
    path.write_text(json.dumps(config))
    return path


def finished(path: Path) -> dict[str, Any]:
    return {row["id"]: row for row in read_jsonl(path)}


@pytest.mark.slow
def test_a_run_folder_is_stopped_and_the_same_command_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_jsonl(tmp_path / "in.jsonl", [question(n).to_dict() for n in range(COUNT)])
    run = ("--in", tmp_path / "in.jsonl", "--out", tmp_path / "out" / "x", "--config", configuration(tmp_path))
    out = ("--out", tmp_path / "out" / "x")
    with teacher(latency=0.3) as server:
        first = command("distill_trajectories.py", *run, teacher=server, folder=tmp_path)
        wait_for_work(server, 6, first)
        stop(*out, "--reason", "prompt has a typo")
        assert "x: stopped (operator) since" in capsys.readouterr().out
        code, said = ended(first)
        assert code == 2, said
        assert "prompt has a typo" in said
        asked = server.received
        stop(*out, "--status")
        assert "stopped (operator)" in capsys.readouterr().out
        assert server.received == asked

        server.latency = 0.0
        code, said = ended(command("distill_trajectories.py", *run, teacher=server, folder=tmp_path))
        assert code == 0, said
        stop(*out, "--status")
        assert "x: goes on" in capsys.readouterr().out
        assert max(server.answered.values()) == 1, "what had been paid for was asked again"
    questions = tmp_path / "out" / "x" / "shards" / "all" / "0000-of-0001.questions.jsonl"
    assert len(finished(questions)) == COUNT


@pytest.mark.slow
def test_all_shards_of_a_named_run_stop_and_none_starts_until_the_flag_is_cleared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_jsonl(tmp_path / "in.jsonl", [question(n).to_dict() for n in range(COUNT)])
    config = configuration(tmp_path)
    (tmp_path / "resolved.json").write_text(json.dumps(_resolved(config)))

    def shard(index: int, server: FakeTeacher) -> subprocess.Popen[str]:
        place = tmp_path / "full" / f"{index}"
        return command(
            "sample_shard.py",
            *("--config", tmp_path / "resolved.json", "--questions", tmp_path / "in.jsonl", "--img-root", tmp_path),
            *("--run-dir", tmp_path / "full", "--run", "full", "--bucket", "demo", "--shard", index, "--shards", 2),
            *("--trajectories", f"{place}.t.jsonl", "--questions-out", f"{place}.q.jsonl"),
            teacher=server,
            folder=tmp_path,
        )

    with teacher(latency=0.3) as server:
        running = [shard(0, server), shard(1, server)]
        wait_for_work(server, 8, *running)
        stop("--run", "full", "--config", config, "--reason", "lunch")
        for process in running:
            code, said = ended(process)
            assert code == 2, said
            assert "operator" in said
        asked = server.received
        code, said = ended(shard(0, server))
        assert (code, server.received) == (2, asked), said

        server.latency = 0.0
        stop("--run", "full", "--config", config, "--clear")
        assert "full: goes on" in capsys.readouterr().out
        for process in [shard(0, server), shard(1, server)]:
            code, said = ended(process)
            assert code == 0, said
        assert max(server.answered.values()) == 1
    found = [finished(tmp_path / "full" / f"{index}.q.jsonl") for index in range(2)]
    assert sorted(found[0] | found[1]) == sorted(f"q{n}" for n in range(COUNT))


def _resolved(config: Path) -> dict[str, Any]:
    from tir_distill import cli

    return cli.load_config(config)


def test_a_wrong_name_is_answered_with_those_that_exist(tmp_path: Path) -> None:
    config = configuration(tmp_path)
    with pytest.raises(UsageError, match=r"'fulll' is no run of this configuration; expected one of .*'full'.*'pilot'"):
        stop("--run", "fulll", "--config", config, "--status")
    with pytest.raises(UsageError, match="no ledger there, so nothing of 'full' has been started"):
        stop("--run", "full", "--config", config, "--reason", "x")
    with pytest.raises(UsageError, match="no ledger there, so nothing of 'y' has been started"):
        stop("--out", tmp_path / "y", "--status")
    assert not (tmp_path / "state").exists(), "looking must not make a ledger"
    with pytest.raises(SystemExit, match="64"):
        stop("--run", "full")
    assert int(UsageError.exit_code) == 64


def test_a_run_name_that_has_used_nothing_is_refused_in_a_folder_of_others(tmp_path: Path) -> None:
    """``--out out/pilto`` for ``out/pilot``: the flag would be set for a run that nobody ever starts."""
    open_ledger(f"sqlite:///{tmp_path / 'out' / 'state' / 'ledger.sqlite'}", run="pilot").close()
    (tmp_path / "out" / "pilot").mkdir()
    with pytest.raises(UsageError, match=r"out/pilto.*no such run folder; there are: pilot"):
        stop("--out", tmp_path / "out" / "pilto", "--reason", "x")
    stop("--out", tmp_path / "out" / "pilot", "--reason", "x")

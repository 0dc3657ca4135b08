"""SIGKILL at random instants: the end is that of an undisturbed run, and nothing finished is paid for again."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rollout_helpers import FakeTeacher, essence, lines, script_of, search_then_answer, teacher

HERE = Path(__file__).resolve().parents[1]
CONCURRENCY = 64


def start(folder: Path, server: FakeTeacher, questions: int, **options: object) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "rollout_helpers", "--folder", str(folder), "--url", server.url]
    command += ["--questions", str(questions), "--concurrency", str(CONCURRENCY)]
    command += [word for name, value in options.items() for word in (f"--{name.replace('_', '-')}", str(value))]
    env = {**os.environ, "PYTHONPATH": f"{HERE.parent / 'scripts'}{os.pathsep}{HERE}"}
    return subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, start_new_session=True)


def kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(10)


def journal_of(folder: Path) -> Path:
    return folder / "state" / "journal" / "demo" / "0000-of-0001.jsonl"


def undisturbed(folder: Path, questions: int, most_turns: int, **options: object) -> tuple[int, int]:
    """Run once without a kill; returns teacher and search calls."""
    with teacher(script_of(search_then_answer, most_turns=most_turns)) as server:
        process = start(folder, server, questions, **options)
        assert process.wait(240) == 0
        return sum(server.answered.values()), sum(server.tool_calls.values())


def disturbed(
    folder: Path, questions: int, most_turns: int, kills: int, *, seed: int, most_wait: float, **options: object
) -> tuple[int, int]:
    """The same with kills at random instants, counted from the first journal line that a process writes."""
    chance = random.Random(seed)
    with teacher(script_of(search_then_answer, most_turns=most_turns), latency=0.01) as server:
        done = 0
        while done < kills:
            before = journal_of(folder).stat().st_size if journal_of(folder).exists() else 0
            process = start(folder, server, questions, **options)
            until = time.monotonic() + 30
            while process.poll() is None and time.monotonic() < until:
                if journal_of(folder).exists() and journal_of(folder).stat().st_size > before:
                    break
                time.sleep(0.005)
            time.sleep(chance.random() * most_wait)
            if process.poll() is not None:
                assert process.returncode == 0
                break
            kill(process)
            done += 1
        process = start(folder, server, questions, **options)
        assert process.wait(240) == 0
        assert done == kills, f"the run ended after {done} kills"
        return sum(server.answered.values()), sum(server.tool_calls.values())


def compare(
    tmp_path: Path, *, questions: int, most_turns: int, kills: int, seed: int, most_wait: float, **options: object
) -> None:
    calm_teacher, calm_tools = undisturbed(tmp_path / "calm", questions, most_turns, **options)
    calls, tools = disturbed(
        tmp_path / "killed", questions, most_turns, kills, seed=seed, most_wait=most_wait, **options
    )
    assert essence(tmp_path / "killed" / "t.jsonl") == essence(tmp_path / "calm" / "t.jsonl")
    assert lines(tmp_path / "killed" / "q.jsonl") == lines(tmp_path / "calm" / "q.jsonl")
    assert calm_teacher <= calls <= calm_teacher + kills * CONCURRENCY
    assert calm_tools <= tools <= calm_tools + kills * CONCURRENCY
    print(f"teacher calls {calm_teacher} -> {calls}, tool calls {calm_tools} -> {tools}, {kills} kills")


def test_killed_a_few_times(tmp_path: Path) -> None:
    compare(tmp_path, questions=80, most_turns=6, kills=4, seed=1, most_wait=0.15)


@pytest.mark.slow
def test_killed_thirty_times(tmp_path: Path) -> None:
    compare(tmp_path, questions=300, most_turns=15, kills=30, seed=2, most_wait=0.25, max_turns=15)


def deep(asked: object) -> dict[str, object]:
    """Fifteen turns for every conversation."""
    from rollout_helpers import Asked, call, completion

    assert isinstance(asked, Asked)
    if asked.turn < 14:
        return completion(None, calls=[call("search", {"query": f"{asked.question} {asked.sample} {asked.turn}"})])
    return completion("<answer>right</answer>")


def test_sixty_four_conversations_cut_off_at_turn_ten_go_on_from_there(tmp_path: Path) -> None:
    with teacher(deep) as server:
        questions = 32  # two samples each: 64 conversations at once
        process = start(tmp_path, server, questions, max_turns=15)
        until = time.monotonic() + 60
        while not any(turn == 10 for _, _, turn, _ in list(server.answered)) and time.monotonic() < until:
            time.sleep(0.001)
        kill(process)
        at_kill = sum(server.answered.values())
        unfinished = 64 * 15 - at_kill
        process = start(tmp_path, server, questions, max_turns=15)
        assert process.wait(120) == 0
        assert unfinished > 0
        assert sum(server.answered.values()) <= 64 * 15 + CONCURRENCY
        assert all(count <= 2 for count in server.answered.values())
        assert sum(count - 1 for count in server.answered.values()) <= CONCURRENCY
        assert len(server.answered) == 64 * 15
    rows = lines(tmp_path / "t.jsonl")
    assert len(rows) == 64
    assert all(len(row["turns"]) == 15 for row in rows)


def test_a_terminated_run_exits_with_two_and_goes_on(tmp_path: Path) -> None:
    with teacher(deep, latency=0.05) as server:
        process = start(tmp_path, server, 40, max_turns=15, grace=0.2)
        while not server.answered:
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGTERM)
        assert process.wait(20) == 2
        process = start(tmp_path, server, 40, max_turns=15)
        assert process.wait(120) == 0
        assert sum(count - 1 for count in server.answered.values()) <= CONCURRENCY


def test_two_processes_at_once_one_is_refused(tmp_path: Path) -> None:
    with teacher(deep, latency=0.3) as server:
        first = start(tmp_path, server, 10, max_turns=15)
        while not journal_of(tmp_path).exists():
            time.sleep(0.01)
        time.sleep(0.1)
        second = start(tmp_path, server, 10, max_turns=15)
        assert second.wait(30) not in (0, None)
        assert first.wait(60) == 0
        assert max(server.answered.values()) == 1

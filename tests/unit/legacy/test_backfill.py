"""Missing thinking, written by a fake teacher: what is accepted, what stays out, and that nothing is paid for twice."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from legacy_helpers import png
from rollout_helpers import FAST, Asked, FaultMix, call, completion, settings, teacher, text_of
from tir_distill.config import ROOT
from tir_distill.ledger import Ledger, LedgerSettings
from tir_distill.legacy.backfill import Backfill, BackfillReport, BackfillSettings, backfill_file
from tir_distill.legacy.journal import ReplyJournal
from tir_distill.legacy.same_action import action_of, plain_answer
from tir_distill.legacy.turns import python_call
from tir_distill.records import Stopped, read_json, read_jsonl, write_jsonl
from tir_distill.teacher import TeacherPool, TeacherSettings

CODE = "print(2 + 3)  # the sum"


def row(name: str, *, answer: str = "5", picture: bool = False) -> dict[str, Any]:
    """One call, then the answer; neither turn has a thought."""
    call = {"id": "call_0_0", "type": "function", "function": {"name": "python", "arguments": ""}}
    call["function"] = {"name": "python", "arguments": python_call(CODE).arguments}
    return {
        "id": name,
        "messages": [
            {"role": "system", "content": "S"},
            {"role": "user", "content": ("<image>" if picture else "") + f"Sum of {name}?"},
            {"role": "assistant", "content": "<think>\n\n</think>\n\nLet me see.", "tool_calls": [call], "turn": 0},
            {"role": "tool", "tool_call_id": "call_0_0", "content": "5"},
            {"role": "assistant", "content": f"<think>\n\n</think>\n\n<answer>{answer}</answer>", "turn": 1},
        ],
        "images": ["p.png"] if picture else [],
        "tools": '[{"type":"function","function":{"name":"python","parameters":{"type":"object","properties":'
        '{"code":{"type":"string"}},"required":["code"]}}}]',
        "task_type": "",
        "bucket": "old",
        "teacher": "legacy",
        "lineage": {"repaired_turns": "[]"},
    }


def honest(asked: Asked) -> Mapping[str, Any]:
    """Writes thoughts that name the step, and takes the step that thoughts name."""
    told = text_of(asked.body["messages"][-1]["content"])
    if "[Next message]" in told:
        assert "tools" not in asked.body
        step = told.split("[Next message]\n")[1].replace("<answer>", "").replace("</answer>", "")
        if "short" in asked.question:
            return completion("Hm.")
        if "teller" in asked.question:
            return completion(f"The given answer must be right, so I do this: {step}")
        return completion(f"I look at what I know, and so I do this: {step}")
    step = told.split("so I do this: ")[1]
    if "other" in asked.question and "call of" not in step:
        step = "6"
    if "call of python:\n" in step:
        code = step.split("call of python:\n")[1].replace("  # the sum", "")
        return completion("Let me see.", calls=[call("python", {"code": f"{code}\n"})])
    return completion(f"It is <answer>{step}.</answer>")


def run(
    folder: Path,
    rows: list[dict[str, Any]],
    script: Callable[[Asked], Mapping[str, Any]] = honest,
    *,
    limit: int | None = None,
    **server: Any,
) -> tuple[BackfillReport, Any, int]:
    """Report, the server, tokens in the ledger."""
    write_jsonl(folder / "queue.jsonl", rows)
    ledger_settings = LedgerSettings(max_tokens_total=limit)
    with teacher(script, **server) as fake, contextlib.ExitStack() as stack:
        fake.keep = True
        os.environ["TEACHER_URL"], os.environ["TEACHER_MODEL"] = fake.url, "fake"
        ledger = Ledger.open(f"sqlite:///{folder / 'ledger.sqlite'}", run="backfill", settings=ledger_settings)
        stack.callback(ledger.close)
        journal = ReplyJournal(folder / "journal.jsonl")
        stack.callback(journal.close)

        async def work() -> BackfillReport:
            chosen = TeacherSettings.from_config(settings())
            pictures = lambda path: (folder / path).read_bytes()  # noqa: E731
            async with TeacherPool.open(chosen, retry=FAST, read_picture=pictures) as pool:
                backfill = Backfill(
                    teacher=lambda row: pool.client(task_type=row["task_type"], bucket=row["bucket"]),
                    books=ledger,
                    journal=journal,
                    settings=BackfillSettings(run="backfill"),
                    report=BackfillReport(),
                )
                return await backfill_file(
                    folder / "queue.jsonl", folder / "out.jsonl", folder / "rejects.jsonl", backfill=backfill, at_once=4
                )

        report = asyncio.run(work())
        return report, fake, ledger.run_totals("backfill").tokens


def test_thoughts_that_lead_to_the_same_step_are_taken(tmp_path: Path) -> None:
    (tmp_path / "p.png").write_bytes(png())
    report, fake, tokens = run(tmp_path, [row("a", picture=True), row("b", answer="5.0")])
    first, second = read_jsonl(tmp_path / "out.jsonl")
    assert [first["id"], second["id"]] == ["a", "b"]
    assert first["messages"][2]["content"] == (
        "<think>\nI look at what I know, and so I do this: Let me see.\n\n"
        f"call of python:\n{CODE}\n</think>\n\nLet me see."
    )
    assert first["messages"][4]["content"] == (
        "<think>\nI look at what I know, and so I do this: 5\n</think>\n\n<answer>5</answer>"
    )
    assert first["messages"][2]["tool_calls"] == row("a")["messages"][2]["tool_calls"]
    assert first["teacher"] == "legacy+fake"
    assert first["lineage"]["repaired_turns"] == "[0,1]"
    assert (report.rows_written, report.turns_filled, report.replies_paid) == (2, 4, 8)
    assert tokens == 8 * 150
    assert fake.received == 8
    bodies = [body for body in fake.requests if "Sum of a" in text_of(body["messages"][1]["content"])]
    assert all(body["messages"][1]["content"][0]["type"] == "image_url" for body in bodies)
    assert all(message["role"] != "user" for body in bodies for message in body["messages"][2:])
    # the second turn is asked about with the first turn's new thoughts in place
    assert "I look at what I know" in bodies[-1]["messages"][2]["content"]


def test_what_stays_out_and_why(tmp_path: Path) -> None:
    talk = row("silent")
    talk["messages"][4]["content"] = "I cannot say."
    report, _, _ = run(tmp_path, [row("other"), row("short"), row("fine"), row("teller"), talk])
    assert [item["id"] for item in read_jsonl(tmp_path / "out.jsonl")] == ["fine"]
    assert {item["id"]: item["reason"] for item in read_jsonl(tmp_path / "rejects.jsonl")} == {
        "other": "another_step",
        "short": "short_thinking",
        "teller": "tells_of_the_note",
        "silent": "no_action",
    }
    assert report.to_dict()["dropped"] == {
        "another_step": 1, "no_action": 1, "short_thinking": 1, "tells_of_the_note": 1,
    }  # fmt: skip


def test_a_second_run_pays_nothing(tmp_path: Path) -> None:
    rows = [row(f"r{number}") for number in range(5)]
    first, _, _ = run(tmp_path, rows)
    kept = (tmp_path / "out.jsonl").read_bytes()
    second, fake, tokens = run(tmp_path, rows)
    assert (first.replies_paid, second.replies_paid, second.replies_from_journal) == (20, 0, 20)
    assert fake.received == 0
    assert tokens == 20 * 150
    assert (tmp_path / "out.jsonl").read_bytes() == kept


def test_the_budget_is_a_wall_and_what_was_paid_stays(tmp_path: Path) -> None:
    rows = [row(f"r{number}") for number in range(8)]
    with pytest.raises(Stopped, match="budget_tokens"):
        run(tmp_path, rows, limit=6_000)
    assert not (tmp_path / "out.jsonl").exists()
    paid = sum(1 for _ in (tmp_path / "journal.jsonl").open())
    assert paid > 0
    report, fake, _ = run(tmp_path, rows)
    assert fake.received == 32 - paid
    assert report.rows_written == 8


def test_an_endpoint_that_is_away_leaves_rows_waiting(tmp_path: Path) -> None:
    with pytest.raises(Stopped):
        run(tmp_path, [row("a")], faults=FaultMix(unavailable=1.0))
    assert not (tmp_path / "out.jsonl").exists()


def test_killed_and_started_again(tmp_path: Path) -> None:
    rows = [row(f"r{number}") for number in range(12)]
    write_jsonl(tmp_path / "queue.jsonl", rows)
    (tmp_path / "c.yaml").write_text(f"paths: {{state: {tmp_path / 'state'}}}\n")
    with teacher(honest, latency=0.15) as fake:
        environment = os.environ | {"TEACHER_URL": fake.url, "TEACHER_MODEL": "fake"}
        command = [
            sys.executable, ROOT / "scripts" / "backfill_thinking.py", "--queue", tmp_path / "queue.jsonl",
            "--img-root", tmp_path, "--out", tmp_path / "out.jsonl", "--config", tmp_path / "c.yaml", "--at-once", "2",
        ]  # fmt: skip
        journal = tmp_path / "out.journal.jsonl"
        process = subprocess.Popen(command, env=environment)
        while not journal.exists() or journal.read_bytes().count(b"\n") < 9:
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()
        paid = journal.read_bytes().count(b"\n")
        assert paid < 48
        with journal.open("ab") as handle:
            handle.write(b'[123,"torn')  # a power cut may leave half a line
        time.sleep(0.3)
        before = fake.received
        assert before - paid <= 2  # only what was under way is lost
        assert subprocess.run(command, env=environment, check=False).returncode == 0
        assert fake.received - before == 48 - paid
    assert [item["id"] for item in read_jsonl(tmp_path / "out.jsonl")] == [item["id"] for item in rows]
    report = read_json(tmp_path / "out.report.json")
    assert (report["replies_from_journal"], report["replies_paid"]) == (paid, 48 - paid)


def test_actions_are_compared_by_what_they_do() -> None:
    def python(code: str) -> Any:
        return action_of("", [("python", python_call(code).arguments)])

    assert python("x=1\n# why\nprint( x )") == python("x = 1\nprint(x)")
    assert python("print(1)") != python("print(2)")
    assert python("if if") != python("print(1)")
    assert action_of("", [("search", '{"query":"A  b"}')]) == action_of("t", [("search", '{"query": "a b"}')])
    assert action_of("<answer>1,000.</answer>", []) == action_of("so <answer>1000</answer>", [])
    assert action_of("no tags", []) == ""
    assert plain_answer("\\boxed{Cape Verde}.") == plain_answer("cape  verde")
    assert plain_answer("5") != plain_answer("6")


def test_a_journal_has_one_writer_and_passes_over_damage(tmp_path: Path) -> None:
    journal = ReplyJournal(tmp_path / "j.jsonl")
    journal.put("a", {"content": "é\n"})
    journal.put("b", 2)
    with pytest.raises(Exception, match="another process"):
        ReplyJournal(tmp_path / "j.jsonl")
    journal.close()
    data = (tmp_path / "j.jsonl").read_bytes()
    (tmp_path / "j.jsonl").write_bytes(data.replace(b'2]"]', b'3]"]') + b"[1,")
    again = ReplyJournal(tmp_path / "j.jsonl")
    assert (again.get("a"), again.get("b"), again.damaged) == ({"content": "é\n"}, None, 2)
    again.put("c", 3)
    again.close()
    third = ReplyJournal(tmp_path / "j.jsonl")
    assert third.get("c") == 3
    third.close()

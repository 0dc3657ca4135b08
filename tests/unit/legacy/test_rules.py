"""The rules that run on request, through Snakemake: code run again in the sandbox, thinking written by a teacher."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from rollout_helpers import Asked, call, completion, teacher, text_of
from tir_distill.records import read_json, read_jsonl, write_jsonl
from workflow_helpers import Clone, copy_project

THOUGHT = "<think>Two numbers are given and their sum is asked for.</think>"
TARGETS = ("results/legacy/old_verify.report.json", "results/legacy/old_backfilled.jsonl")


def legacy(name: str, numbers: tuple[int, int], recorded: int, *, thought: str = "") -> dict[str, Any]:
    first, second = numbers
    return {
        "id": name,
        "messages": [
            {"role": "system", "content": "Old prompt."},
            {"role": "user", "content": f"What is the sum called {name}?"},
            {"role": "assistant", "content": f"{thought}<code>\n```python\nprint({first} + {second})\n```\n</code>"},
            {"role": "user", "content": f"<tool_response>\nOutput: {recorded}\n</tool_response>"},
            {"role": "assistant", "content": f"{thought}<answer>{recorded}</answer>"},
        ],
    }


ROWS = [
    legacy("true", (2, 3), 5, thought=THOUGHT),
    legacy("false", (2, 3), 6, thought=THOUGHT),
    legacy("silent", (4, 5), 9),
    legacy("astray", (6, 7), 13),
]


def writes_and_follows(asked: Asked) -> Mapping[str, Any]:
    """Thoughts that name the step; the step that thoughts name, but for the row called astray."""
    told = text_of(asked.body["messages"][-1]["content"])
    if "[Next message]" in told:
        step = told.split("[Next message]\n")[1].replace("<answer>", "").replace("</answer>", "")
        return completion(f"From what is known I come to this step: {step}")
    step = told.split("come to this step: ")[1]
    if "call of python:\n" in step:
        return completion("", calls=[call("python", {"code": step.split("call of python:\n")[1]})])
    return completion(f"<answer>{'77' if 'astray' in asked.question else step}</answer>")


@pytest.mark.slow
@pytest.mark.workflow
def test_verification_and_backfill_run_as_rules(tmp_path: Path) -> None:
    root = copy_project(tmp_path / "clone")
    write_jsonl(root / "old.jsonl", ROWS)
    entry = {"input": "old.jsonl", "images": None, "licence": "MIT", "no_thinking": "queue"}
    (root / "over.yaml").write_text(yaml.safe_dump({"legacy": {"old": entry}}))
    with teacher(writes_and_follows) as fake:
        clone = Clone(root, {"TEACHER_URL": fake.url, "TEACHER_MODEL": "fake"})
        done = clone.snakemake("--configfile", "over.yaml", "--", *TARGETS)
        assert done.returncode == 0, done.stdout[-4000:]

        folder = root / "results" / "legacy"
        assert read_json(folder / "old_clean.report.json")["queued"] == 2
        assert [row["id"] for row in read_jsonl(folder / "old_verified.jsonl")] == ["old_true"]
        report = read_json(folder / "old_verify.report.json")
        assert report["cells"] == {"error": 0, "mismatch": 1, "no_picture": 0, "match": 1}
        wrong = [entry for entry in read_jsonl(folder / "old_verify.jsonl") if entry["verdict"] == "mismatch"]
        assert [(entry["id"], entry["cells"][0]["real"].strip()) for entry in wrong] == [("old_false", "5")]

        (filled,) = read_jsonl(folder / "old_backfilled.jsonl")
        assert filled["id"] == "old_silent"
        assert [m["content"] for m in filled["messages"] if m["role"] == "assistant"] == [
            "<think>\nFrom what is known I come to this step: call of python:\nprint(4 + 5)\n</think>\n\n",
            "<think>\nFrom what is known I come to this step: 9\n</think>\n\n<answer>9</answer>",
        ]
        rejects = list(read_jsonl(folder / "old_backfilled.rejects.jsonl"))
        assert [(entry["id"], entry["reason"]) for entry in rejects] == [("old_astray", "another_step")]

        paid = fake.received
        assert paid == read_json(folder / "old_backfilled.report.json")["replies_paid"]
        kept = (folder / "old_backfilled.jsonl").read_bytes()
        again = clone.snakemake("--configfile", "over.yaml", "--forcerun", "backfill_legacy", "--", TARGETS[1])
        assert again.returncode == 0, again.stdout[-4000:]
        assert fake.received == paid
        assert (folder / "old_backfilled.jsonl").read_bytes() == kept

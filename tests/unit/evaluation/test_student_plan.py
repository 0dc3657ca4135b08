"""A student's plan: exactly n samples of each question, whatever their verdicts and their searches."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

import infer_gaia_agent
from rollout_helpers import question, settings
from tir_distill.config import validate
from tir_distill.evaluation.student import RunFolder, StudentSettings, student_config
from tir_distill.records import TASK_TYPES, UsageError, dumps
from tir_distill.rollout import Outcome, PlanSettings, decide


@pytest.mark.parametrize(("samples", "task_type"), list(product((1, 3), TASK_TYPES)))
def test_no_verdict_ends_or_adds_a_sample(samples: int, task_type: str) -> None:
    config = settings(student={"samples": samples})
    chosen = student_config(config, StudentSettings.from_config(config), RunFolder(Path("run")))
    validate(chosen)
    plan = PlanSettings.from_config(chosen, task_type)
    most = config["sampling"]["max_search_per_traj_text"]
    for accepted, answered in product((True, False), repeat=2):
        taken = [Outcome(index=index, accepted=accepted, answered=answered, billed=most) for index in range(samples)]
        for count in range(samples):
            assert decide(taken[:count], plan, billed=count * most).buy == samples - count
        assert decide(taken, plan, billed=samples * most).status is not None


def test_a_run_keeps_its_ledger_and_its_keys_to_itself(tmp_path: Path) -> None:
    config = settings(ledger={"url": "postgresql+psycopg://host/db"})
    chosen = student_config(config, StudentSettings.from_config(config), RunFolder(tmp_path))
    assert chosen["ledger"]["url"] is None
    assert chosen["paths"]["state"] == str(tmp_path / "private" / "state")
    assert chosen["teacher"]["url_env"] == "STUDENT_URL"
    assert config["ledger"]["url"] is not None


def test_bad_lines_of_a_question_file_are_questions_that_were_not_asked(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    rows = [dumps(question(n).to_dict()).decode() for n in range(3)]
    path.write_text("\n".join([rows[0], "{", '{"id": "x"}', rows[1], rows[0], "[]", rows[2]]) + "\n")
    found = infer_gaia_agent.questions_of(path, None)
    assert [asked.id for asked in found.questions] == [question(n).id for n in range(3)]
    assert found.rejects == {
        "line 3": "bad_question", "unreadable 1": "unreadable_line", "unreadable 2": "unreadable_line",
    }  # fmt: skip
    assert [asked.id for asked in infer_gaia_agent.questions_of(path, 1).questions] == [question(0).id]
    path.write_text("{\n")
    with pytest.raises(UsageError, match=r"no question to ask; .*q.jsonl:1: not JSON"):
        infer_gaia_agent.questions_of(path, None)

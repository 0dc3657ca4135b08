"""A student's plan: exactly n samples of each question, whatever their verdicts and their searches."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from rollout_helpers import settings
from tir_distill.config import validate
from tir_distill.evaluation.student import RunFolder, StudentSettings, student_config
from tir_distill.records import TASK_TYPES
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

"""One length for filters, audit and training (RULINGS 12), and what the pilot's student learns (RULINGS 22)."""

from __future__ import annotations

from pathlib import Path

from tir_distill.audit import AuditSettings
from tir_distill.config import load
from tir_distill.export.mix import MixSettings, sft_arguments
from tir_distill.filters import FilterSettings


def test_one_value_sets_the_length_everywhere() -> None:
    config = {**load(), "max_length": 12_345}
    mix = MixSettings.from_config(config, "full")
    assert FilterSettings.from_config(config).max_length == 12_345
    assert AuditSettings.from_config(config, "distilled").max_length == 12_345
    assert mix.max_length == sft_arguments(mix, Path("mix"))["max_length"] == 12_345


def test_the_pilots_student_learns_one_epoch_of_the_pilots_rows_alone() -> None:
    config = load()
    mix = MixSettings.from_config(config, config["student"]["mix"])
    assert [(part.name, part.path.name, part.weight) for part in mix.parts] == [("pilot", "accepted.jsonl", 1.0)]
    assert sft_arguments(mix, Path("mix"))["num_train_epochs"] == 1

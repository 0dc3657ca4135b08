"""All rules over one trajectory. Every rule is evaluated for the record; the first that fails is the drop reason."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from ..records import Trajectory
from . import (
    extra_language,
    extra_observations,
    f01_correct,
    f02_blocked_urls,
    f03_self_search,
    f04_image_code_text,
    f06_letter,
    f07_repeated_turn,
    f08_truncated,
    f09_output_tokens,
    f10_thinking,
    f11_sequence,
    malformed,
)
from .repair import repair
from .report import Fail, FilterReport
from .settings import FilterSettings

Check = Callable[[Trajectory, FilterSettings], Fail | None]

BEFORE_F5: tuple[Check, ...] = (
    f01_correct.check,
    f02_blocked_urls.check,
    f03_self_search.check,
    f04_image_code_text.check,
)
AFTER_F5: tuple[Check, ...] = (
    f06_letter.check,
    f07_repeated_turn.check,
    f08_truncated.check,
    f09_output_tokens.check,
    f10_thinking.check,
    f11_sequence.check,
    malformed.check,
)
EXTRA: dict[str, Check] = {
    "unsupported_answer": extra_observations.unsupported_answer,
    "mixed_language": extra_language.mixed_language,
    "repeated_ngrams": extra_language.repeated_ngrams,
    "empty_search": extra_observations.empty_search,
    "evaluation_text": extra_observations.evaluation_text,
}
RULE_ORDER = (
    *("F1", "judge_failed", "F2", "F3", "F4", "F5", "F6", "F7", "F8", "F9", "F10", "F11", "malformed_call"),
    *EXTRA,
    "rule_error",
    "surplus",
)
"""Rule names in the order in which the first failing one is found. ``rule_error``: the rules could not be evaluated on
this sample; ``surplus``: another sample of the same question was accepted (both stage.py)."""


def evaluate(trajectory: Trajectory, settings: FilterSettings) -> FilterReport:
    """Repair (F5), then every rule. Pure; never raises on a trajectory that the records room could read."""
    repaired = repair(trajectory)
    sample = repaired.trajectory
    fails = [fail for check in BEFORE_F5 if (fail := check(sample, settings))]
    if repaired.fail is not None:
        fails.append(repaired.fail)
    fails += [fail for check in AFTER_F5 if (fail := check(sample, settings))]
    fails += [fail for name, check in EXTRA.items() if name in settings.extra and (fail := check(sample, settings))]
    final = dataclasses.replace(
        sample,
        accepted=not fails,
        filter_fails=tuple(fail.rule for fail in fails),
        filter_hash=settings.hash,
    )
    return FilterReport(final, tuple(fails))

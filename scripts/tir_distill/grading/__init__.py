"""Whether a final answer is right: the leaderboard's scorer, a guard in front of it, typed comparers, a judge.

Design notes.

* The official scorer is kept whole, faults included, because evaluation scores must compare with the leaderboard. A
  training decision never trusts it alone: ``rules.decide`` asks the guard first.
* Rules answer YES, NO or UNKNOWN. A doubt about unit, scale, rounding or date order is UNKNOWN and costs one judge
  request; the other choice, a threshold, would have put wrong answers into training data.
* "Undecided" is a verdict of its own (``correct=None``). It is never read as "wrong".
* The judge sees the final answer only, never the trajectory: a persuasive chain of thought must not win a verdict.
"""

from .calibration import Calibration, calibrate, wilson
from .gaia_scorer import question_scorer
from .grader import Grader
from .relaxed import relaxed_correct
from .reply import parse_reply
from .rules import compare, decide
from .settings import JudgeSettings

__all__ = [
    "Calibration",
    "Grader",
    "JudgeSettings",
    "calibrate",
    "compare",
    "decide",
    "parse_reply",
    "question_scorer",
    "relaxed_correct",
    "wilson",
]

"""What other caps and sampling plans would cost and yield (seed section 12).

Two kinds of questions go through one walk (``plans.walk``): recorded ones (``recorded``) and ones drawn from a
distribution that was fitted to the seed's figures of the full5k run (``drawn``). ``policy`` looks for a better plan.
"""

from .drawn import (
    FIT_SEEDS,
    FITTED,
    FULL5K,
    QUESTIONS,
    Distribution,
    average_figures,
    draw,
    draw_questions,
    figures,
    fit,
    misfit,
    old_figures,
    start,
)
from .plans import OLD_PLAN, Plan, Question, Result, simulate, walk
from .policy import Candidate, cheapest, compare
from .recorded import read_questions

__all__ = [
    "FITTED",
    "FIT_SEEDS",
    "FULL5K",
    "OLD_PLAN",
    "QUESTIONS",
    "Candidate",
    "Distribution",
    "Plan",
    "Question",
    "Result",
    "average_figures",
    "cheapest",
    "compare",
    "draw",
    "draw_questions",
    "figures",
    "fit",
    "misfit",
    "old_figures",
    "read_questions",
    "simulate",
    "start",
    "walk",
]

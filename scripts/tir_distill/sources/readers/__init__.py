"""Readers by the names that the configuration uses. One module per source."""

from __future__ import annotations

from ...records.errors import UsageError
from .base import NOT_OURS, EvaluationReader, QuestionReader, Reader
from .chartqa import ChartQaHuman
from .evaluation import Gaia, MmBrowseComp, SimpleVqa
from .evobrowsecomp import EvoBrowseComp
from .fvqa import FvqaTest, FvqaTrain
from .hotpotqa import HotpotQa
from .livevqa import LiveVqaLevel1, LiveVqaLevel2
from .tabmwp import TabMwpNumeric

QUESTION_READERS: dict[str, type[QuestionReader]] = {
    "fvqa": FvqaTrain,
    "livevqa_l1": LiveVqaLevel1,
    "livevqa_l2": LiveVqaLevel2,
    "evobrowsecomp": EvoBrowseComp,
    "chartqa": ChartQaHuman,
    "tabmwp": TabMwpNumeric,
    "hotpotqa": HotpotQa,
}

EVALUATION_READERS: dict[str, type[EvaluationReader]] = {
    "simplevqa": SimpleVqa,
    "fvqa_test": FvqaTest,
    "gaia": Gaia,
    "mmbrowsecomp": MmBrowseComp,
}


def question_reader(name: str) -> type[QuestionReader]:
    """Raises UsageError for a name that the configuration must not use."""
    if name not in QUESTION_READERS:
        raise UsageError(f"no question reader '{name}'; expected one of {sorted(QUESTION_READERS)}")
    return QUESTION_READERS[name]


def evaluation_reader(name: str) -> type[EvaluationReader]:
    """Raises UsageError for a name that the configuration must not use."""
    if name not in EVALUATION_READERS:
        raise UsageError(f"no evaluation reader '{name}'; expected one of {sorted(EVALUATION_READERS)}")
    return EVALUATION_READERS[name]


__all__ = [
    "EVALUATION_READERS",
    "NOT_OURS",
    "QUESTION_READERS",
    "EvaluationReader",
    "QuestionReader",
    "Reader",
    "evaluation_reader",
    "question_reader",
]

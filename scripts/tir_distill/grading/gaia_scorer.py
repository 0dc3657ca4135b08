"""The scorer of the GAIA leaderboard, with its behaviour kept to the letter so that scores compare.

It is unsafe on several kinds of reference (``grading.guard`` lists them); a training decision goes through
``grading.rules``, never straight here. Seed section 5, F1.
"""

from __future__ import annotations

import math
import re
import string

_SEPARATORS = re.compile(r"[,;]")
_WHITE = re.compile(r"\s")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def is_float(text: str) -> bool:
    """Whether Python reads the text as a number; ``1_000``, ``inf``, ``nan`` and full-width digits count."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def answer_number(text: str) -> float:
    """The answer as a number after dropping every ``$``, ``%`` and comma; infinity when it is none."""
    for mark in ("$", "%", ","):
        text = text.replace(mark, "")
    try:
        return float(text)
    except ValueError:
        return math.inf


def squeeze(text: str, *, drop_punctuation: bool) -> str:
    """Lower case without white space, and without ASCII punctuation when asked."""
    text = _WHITE.sub("", text).lower()
    return text.translate(_PUNCTUATION) if drop_punctuation else text


def _same_element(answer: str, reference: str) -> bool:
    if is_float(reference):
        return answer_number(answer) == float(reference)
    return squeeze(answer, drop_punctuation=False) == squeeze(reference, drop_punctuation=False)


def question_scorer(model_answer: str | None, ground_truth: str) -> bool:
    """Whether the leaderboard would count the answer as right. None is read as the text ``None``."""
    answer = "None" if model_answer is None else model_answer
    if is_float(ground_truth):
        return answer_number(answer) == float(ground_truth)
    if _SEPARATORS.search(ground_truth):
        references = _SEPARATORS.split(ground_truth)
        answers = _SEPARATORS.split(answer)
        return len(answers) == len(references) and all(map(_same_element, answers, references))
    return squeeze(answer, drop_punctuation=True) == squeeze(ground_truth, drop_punctuation=True)

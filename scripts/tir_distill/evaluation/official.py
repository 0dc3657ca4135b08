"""The leaderboard's verdict on every answer, with the guarded one beside it. No judge is asked."""

from __future__ import annotations

from collections.abc import Sequence

from ..grading import decide, question_scorer
from ..records import Question, Verdict


def official(answer: str | None, references: Sequence[str]) -> bool:
    """Whether the leaderboard would count it: its own answer counts, other accepted forms are ours."""
    return answer is not None and any(question_scorer(answer, reference) for reference in references)


def guarded(question: Question, answer: str | None) -> bool | None:
    """What the rules say that training decisions use; None where they would ask a judge."""
    verdict = decide(question.question, answer, question.references)
    return verdict.correct if verdict is not None else None


class OfficialGrader:
    """``rollout.ports.Grades``."""

    async def grade(self, question: Question, answer: str | None) -> Verdict:
        if answer is None:
            return Verdict(correct=False, path="no_answer")
        word = {True: "right", False: "wrong", None: "undecided"}[guarded(question, answer)]
        return Verdict(correct=official(answer, question.references), path="scorer", detail=f"guarded: {word}")

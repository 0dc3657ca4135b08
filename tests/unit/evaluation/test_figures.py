"""Figures counted by hand from a few samples."""

from __future__ import annotations

from typing import Any

import pytest

from rollout_helpers import question
from tir_distill.evaluation.compare import compare
from tir_distill.evaluation.metrics import metrics, summary
from tir_distill.evaluation.observed import Observed, observe
from tir_distill.records import TirError, ToolCall, ToolResult, Trajectory, Turn, Usage


def row(number: int, **changes: Any) -> Observed:
    base: dict[str, Any] = {
        "question_id": f"q{number}", "sample": 0, "level": "1", "has_picture": False, "official": False,
        "guarded": False, "answered": True, "truncated": False, "letter": False, "self_search": False,
        "image_code": False, "searches": 0, "opens": 0, "python_calls": 0, "turns": 1, "think_chars": 10,
        "completion_tokens": 5, "faults": {},
    }  # fmt: skip
    return Observed(**{**base, **changes})


def sample(*turns: Turn, answer: str | None = "Right.", **changes: Any) -> Trajectory:
    made: dict[str, Any] = {
        "question": question(1, task_type="text_search", meta={"level": "2"}), "sample_index": 0, "fingerprint": "f",
        "seed": 1, "teacher": "s", "protocol": "native", "system": "", "tools": (), "turns": turns, "stop": "answer",
        "answer": answer,
    }  # fmt: skip
    return Trajectory(**{**made, **changes})


def used(name: str, arguments: str, status: Any = "ok", malformed: str | None = None, **meta: Any) -> Turn:
    asked = ToolCall(id="c", name=name, arguments=arguments, malformed=malformed)
    given = ToolResult(call_id="c", name=name, status=status, content="x", meta=meta)
    return Turn(index=0, thinking="why", content="", calls=(asked,), results=(given,), usage=Usage(completion_tokens=7))


def test_one_sample_is_read_as_it_is() -> None:
    seen = observe(sample(used("search", '{"query":"a"}'), Turn(index=1, thinking="so", content="")))
    assert (seen.level, seen.official, seen.self_search, seen.searches) == ("2", True, True, 1)
    assert (seen.turns, seen.think_chars, seen.completion_tokens) == (2, 5, 7)


@pytest.mark.parametrize(
    ("turn", "faults", "searched"),
    [
        (used("search", "{", "model_error", "bad_json"), {"search bad_json": 1}, False),
        (used("search", '{"query":"a"}', cap="trajectory"), {"search over_limit": 1}, False),
        (used("python", '{"code":"1/0"}', "model_error", cell="timeout"), {"python timeout": 1}, False),
        (used("open", '{"url":"http://a.b/"}', "model_error", url="http://a.b/"), {"open failed": 1}, True),
        (used("open", '{"url":"http://a/"}', "model_error", blocked=True), {"open blocked": 1}, False),
    ],
)
def test_tool_errors_have_classes(turn: Turn, faults: dict[str, int], searched: bool) -> None:
    seen = observe(sample(turn))
    assert (seen.faults, seen.self_search) == (faults, searched)


def test_picture_code_counts_when_it_is_only_written() -> None:
    written = Turn(index=0, thinking="", content="```python\nfrom PIL import Image\n```")
    assert observe(sample(written)).image_code
    assert observe(sample(used("python", '{"code":"import cv2"}'))).image_code
    assert not observe(sample(used("python", '{"code":"print(1)"}'))).image_code


def test_scores_and_behaviour_by_hand() -> None:
    rows = [
        row(0, official=True, guarded=True, self_search=True, searches=2, image_code=True, has_picture=True),
        row(1, official=True, guarded=None, level="2", image_code=True, faults={"python error": 2}),
        row(2, level="2", letter=True, think_chars=40),
        row(3, level="2", answered=False, truncated=True),
        row(3, sample=1, official=True),
    ]
    done = [{"id": f"q{n}", "status": "exhausted"} for n in range(4)] + [{"id": "q4", "status": "deferred"}]
    found = metrics(rows, done, about={"model": "m"}, rejects={"g9": "file_missing"})
    score, behaviour = found["score"], found["behaviour"]
    assert found["questions"] == 6
    assert found["not_asked"] == {"deferred": 1, "file_missing": 1}
    assert (score["official"]["all"]["count"], score["official"]["all"]["total"]) == (2, 6)
    assert (score["official"]["level 2"]["count"], score["official"]["level 2"]["total"]) == (1, 3)
    assert (score["guarded"]["all"]["count"], score["guarded_undecided"]) == (1, 1)
    assert score["samples"]["mean"] == pytest.approx(3 / 5)
    assert (score["samples"]["any"]["count"], score["samples"]["any"]["total"]) == (3, 4)
    code = behaviour["image_code_without_picture"]
    assert (code["count"], code["total"]) == (1, 3)
    assert behaviour["self_search"]["count"] == 1
    assert behaviour["unanswered"]["count"] == 3
    assert behaviour["letter_answers"]["count"] == 1
    assert behaviour["per_question"]["think_chars"] == {"mean": 17.5, "median": 10.0, "max": 40}
    assert found["tool_errors"] == {"python error": 2}
    assert "official: all 2/6" in summary(found)


def test_a_comparison_pairs_questions() -> None:
    mine = [row(n, official=n < 6, self_search=True) for n in range(10)]
    other = [row(n, official=n in (0, 9)) for n in range(2, 12)] + [row(0, official=True)]
    result = compare(mine, other)
    # shared: 0 and 2 to 9; mine right on 0, 2, 3, 4, 5; theirs on 0 and 9
    assert result["official"] == {
        "both": 1, "first_only": 4, "second_only": 1, "neither": 3, "p": pytest.approx(2 * 6 / 32)
    }  # fmt: skip
    assert (result["questions"], result["only_in_first"], result["only_in_second"]) == (9, 1, 2)
    assert result["self_search"]["first_only"] == 9
    with pytest.raises(TirError, match="no question in common"):
        compare(mine, [row(99)])


def test_the_gate_in_the_figures_goes_by_the_configured_limits() -> None:
    wanted = [
        figure["wanted"]
        for figure in metrics([], [], about={}, gate={"min_self_search": 1, "max_image_code": 2})["gate"]
    ]
    assert wanted == ["> 1", "< 2"]
    assert [figure["wanted"] for figure in metrics([], [], about={})["gate"]] == ["> 30", "< 3"]

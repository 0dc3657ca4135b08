"""Searches by fate of the question, worked out by hand."""

from __future__ import annotations

from tir_distill.filters import SearchCosts


def test_means_by_fate_and_the_dearest_first() -> None:
    costs = SearchCosts()
    costs.add_sample("a", answered=True, accepted=False)
    costs.add_sample("a", answered=True, accepted=True)
    costs.add_sample("b", answered=True, accepted=False)
    costs.add_sample("c", answered=False, accepted=False)
    rows = [
        {"id": "a", "status": "accepted", "searches_billed": 4},
        {"id": "b", "status": "exhausted", "searches_billed": 24},
        {"id": "c", "status": "stopped_no_answer", "searches_billed": 9},
        {"id": "d", "status": "deferred", "searches_billed": 0},
    ]
    assert list(costs.add_questions(rows)) == rows
    assert costs.result() == {
        "per_question": {"accepted": 4.0, "rejected": 24.0, "unanswered": 4.5},
        "questions": {"accepted": 1, "rejected": 1, "unanswered": 2},
        "most_expensive": [
            {"id": "b", "searches": 24, "status": "exhausted"},
            {"id": "c", "searches": 9, "status": "stopped_no_answer"},
            {"id": "a", "searches": 4, "status": "accepted"},
        ],
    }

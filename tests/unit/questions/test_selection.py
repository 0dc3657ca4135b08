"""Who is chosen: by hash alone; how many: as configured, or an error that says how many there are."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tir_distill.config import load
from tir_distill.questions import BucketPlan, SelectionSettings
from tir_distill.questions.amounts import Amounts, resolve
from tir_distill.questions.natural import natural_key
from tir_distill.questions.selection import rank
from tir_distill.records import TirError, UsageError
from tir_distill.records.hashing import stable_int


def plan(name: str = "a", count: Any = 5, pilot: Any = 0, cap: int | None = None, priority: str = "P0") -> BucketPlan:
    return BucketPlan(
        name=name, task_type="text_search", priority=priority, count=count, pilot=pilot, max_per_group=cap
    )


def wanted(*plans: BucketPlan, total: int | None = None, fill: str | None = None) -> SelectionSettings:
    return SelectionSettings(seed=1, total=total, fill=fill, buckets=plans)


members = st.dictionaries(st.text("abc123", min_size=1, max_size=6), st.sampled_from("xyz"), max_size=25)


@settings(max_examples=60, deadline=None)
@given(members, st.integers(0, 2**31), st.one_of(st.none(), st.integers(1, 4)), st.randoms(use_true_random=False))
def test_order_of_rows_changes_nothing(groups: dict[str, str], seed: int, cap: int | None, rng: random.Random) -> None:
    pairs = list(groups.items())
    first = rank(plan(cap=cap), seed, pairs)
    rng.shuffle(pairs)
    assert rank(plan(cap=cap), seed, pairs) == first
    assert len(first.ids) + first.over_cap == len(pairs)
    for group in "xyz":
        taken = sum(groups[name] == group for name in first.ids)
        size = sum(value == group for value in groups.values())
        assert taken == (size if cap is None else min(size, cap))


@settings(max_examples=30, deadline=None)
@given(members, st.integers(0, 1000))
def test_a_question_of_another_group_changes_nobody_else(groups: dict[str, str], seed: int) -> None:
    """Removing candidates leaves the others in the same order: what decontamination takes moves nobody."""
    whole = rank(plan(cap=2), seed, groups.items()).ids
    rest = {name: group for name, group in groups.items() if group != "x"}
    assert rank(plan(cap=2), seed, rest.items()).ids == tuple(name for name in whole if groups[name] != "x")


def test_the_order_is_that_of_the_hash() -> None:
    names = [f"q{i}" for i in range(40)]
    assert list(rank(plan(), 9, [(name, name) for name in names]).ids) == sorted(
        names, key=lambda name: stable_int(9, name)
    )
    assert rank(plan(), 10, [(name, name) for name in names]).ids != rank(plan(), 9, [(n, n) for n in names]).ids


def test_an_id_that_comes_twice_is_an_error() -> None:
    with pytest.raises(TirError, match="'q1' comes twice"):
        rank(plan(), 1, [("q1", "a"), ("q2", "a"), ("q1", "b")])


def test_numbers_all_and_pilot() -> None:
    found = resolve(wanted(plan("a", 5, 2), plan("b", "all", "all"), total=12), {"a": 9, "b": 7})
    assert found == {"a": Amounts(5, 2), "b": Amounts(7, 7)}


def test_fill_takes_the_rest_whatever_its_own_count() -> None:
    for count in (0, 3, "all"):
        found = resolve(wanted(plan("a", "all"), plan("b", count), total=12, fill="b"), {"a": 9, "b": 7})
        assert {name: amounts.count for name, amounts in found.items()} == {"a": 9, "b": 3}


@pytest.mark.parametrize(
    ("settings_", "available", "said"),
    [
        (wanted(plan("a", 10)), {"a": 9}, r"buckets.a.count is 10, but .* has 9"),
        (wanted(plan("a", 4731)), {"a": 4612}, r"is 4,731, but .* has 4,612"),
        (wanted(plan("a", 5), plan("b"), total=12, fill="b"), {"a": 9, "b": 6}, r"fill needs 7, but .* has 6"),
        (wanted(plan("a", 13), plan("b"), total=12, fill="b"), {"a": 13, "b": 6}, r"already give 13 \(a 13\)"),
        (wanted(plan("a", 5), total=12), {"a": 9}, r"the counts make 5 \(a 5\), selection.total is 12"),
        (wanted(plan("a", 5, 6)), {"a": 9}, r"pilot is 6, but only 5"),
        (wanted(plan("a", 5), fill="a"), {"a": 9}, r"total is null"),
    ],
)
def test_wishes_that_cannot_be_met(settings_: SelectionSettings, available: dict[str, int], said: str) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        resolve(settings_, available)
    assert caught.value.exit_code == 64


def test_the_configuration_of_the_real_run() -> None:
    """Seed section 2: four buckets, 10,000 questions, a pilot of 1,000 + 600; three per article for LiveVQA."""
    real = SelectionSettings.from_config(load())
    assert [(p.name, p.priority, p.count, p.pilot, p.max_per_group) for p in real.buckets] == [
        ("fvqa_train", "P0", 4731, 1000, None),
        ("evobrowsecomp", "P0", 800, 0, None),
        ("livevqa_news_l2", "P1", 3469, 600, 3),
        ("chartqa_human", "P2", 1000, 0, None),
    ]
    assert (
        sum(amounts.count for amounts in resolve(real, dict.fromkeys([p.name for p in real.buckets], 5000)).values())
        == 10_000
    )


def test_natural_order() -> None:
    names = ["q10", "q9", "q", "q09", "q9a", "10", "9", "evobc_ZH_2", "evobc_EN_11", "evobc_EN_2"]
    assert sorted(names, key=natural_key) == [
        "9", "10", "evobc_EN_2", "evobc_EN_11", "evobc_ZH_2", "q", "q09", "q9", "q9a", "q10",
    ]  # fmt: skip


@given(st.lists(st.text(max_size=6), max_size=8))
def test_natural_order_is_total(names: list[str]) -> None:
    assert sorted(set(names), key=natural_key) == sorted(sorted(set(names), reverse=True), key=natural_key)

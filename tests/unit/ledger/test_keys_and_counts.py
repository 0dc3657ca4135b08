"""Which searches are the same, how calls are counted, who is dead, what a slow-down leaves."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tir_distill.ledger import normalise_query, search_key
from tir_distill.ledger.holder import is_dead, machine, new_holder, start_ticks
from tir_distill.ledger.rate import slow_factor, tolerance_s

SPELLINGS = ["Café  Foo", "cafe\u0301 foo", " CAFÉ\tFOO\n", "Ｃａｆé　ｆｏｏ", "\ufeffca\u200bfé\x00\u200e fo\u00ado"]
"""Composed, decomposed, other case and white space, full-width, unseen characters: one search (fault class C 37)."""


def test_four_spellings_are_one_search() -> None:
    assert {normalise_query(query) for query in SPELLINGS} == {"café foo"}
    assert len({search_key(query, "serper", {"num": 8}) for query in SPELLINGS}) == 1


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (("a b", "serper", {}), ("b a", "serper", {})),
        (("a", "serper", {}), ("a", "searxng", {})),
        (("a", "serper", {"gl": "us"}), ("a", "serper", {"gl": "cn"})),
        (('"a b"', "serper", {}), ("a b", "serper", {})),
        (("北京", "serper", {}), ("北平", "serper", {})),
        (("می\u200cخواهم", "serper", {}), ("میخواهم", "serper", {})),
    ],
)
def test_these_are_different_searches(
    left: tuple[str, str, dict[str, str]], right: tuple[str, str, dict[str, str]]
) -> None:
    assert search_key(*left) != search_key(*right)


@settings(max_examples=100, deadline=None)
@given(st.text())
def test_normalising_is_stable(query: str) -> None:
    once = normalise_query(query)
    assert normalise_query(once) == once
    assert normalise_query(f"  {query}\n") == once
    assert once == once.strip()
    search_key(query, "serper", {})


def test_damaged_text_has_a_key() -> None:
    assert search_key("a\ud800b", "serper", {}) == search_key("A?B", "serper", {})


def test_dead_and_living_holders() -> None:
    assert not is_dead(new_holder())
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    started = start_ticks(child.pid)
    name = f"{machine()}/{child.pid}/{started}/abcd"
    assert not is_dead(name)
    child.communicate(b"\n")
    assert is_dead(name)
    assert is_dead(f"{machine()}/{os.getpid()}/1/abcd"), "the process id was used again"
    assert not is_dead(f"elsewhere~1~2/{child.pid}/{started}/abcd"), "nothing is known of other machines"
    assert not is_dead("nonsense")


def test_rate_figures() -> None:
    assert slow_factor(4.0, since=50.0, now=0.0) == 4.0, "the clock was set back"
    assert tolerance_s(8.0) == pytest.approx(0.0625)
    assert tolerance_s(1.0) == pytest.approx(0.5)
    assert tolerance_s(100.0) == pytest.approx(0.05)
    assert slow_factor(4.0, since=0.0, now=0.0) == 4.0
    assert slow_factor(4.0, since=0.0, now=30.0) == pytest.approx(2.5)
    assert slow_factor(4.0, since=0.0, now=600.0) == pytest.approx(1.0, abs=1e-4)

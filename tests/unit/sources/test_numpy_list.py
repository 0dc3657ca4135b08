"""Lists that reached a table as text (seed section 9: "Morgan WallenWallencountry singer Morgan Wallen")."""

from __future__ import annotations

import ast
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tir_distill.records import BadRow
from tir_distill.sources import naive_parse, parse_list

STRINGS = st.lists(st.text(max_size=30), max_size=12)
APOSTROPHES = st.lists(st.text(alphabet="ab'\"\\ \n,[](){}.…é中", max_size=12), max_size=8)


def array(values: list[str]) -> np.ndarray:
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out


@given(STRINGS | APOSTROPHES)
@settings(max_examples=150, deadline=None)
def test_str_and_repr_of_an_object_array_come_back(values: list[str]) -> None:
    assert parse_list(str(array(values))) == values
    assert parse_list(repr(array(values))) == values


@given(STRINGS | APOSTROPHES)
@settings(max_examples=100, deadline=None)
def test_python_lists_tuples_json_and_arrays_come_back(values: list[str]) -> None:
    assert parse_list(repr(values)) == values
    assert parse_list(repr(tuple(values))) == values
    assert parse_list(json.dumps(values)) == values
    assert parse_list(json.dumps(values, ensure_ascii=False)) == values
    assert parse_list(f"[{', '.join(f'np.str_({value!r})' for value in values)}]") == values
    assert parse_list(array(values)) == values
    assert parse_list(values) == values


@given(st.lists(st.text(max_size=20).filter(lambda s: not s.endswith("\0")), max_size=8))
@settings(max_examples=50, deadline=None)
def test_fixed_width_text_arrays_come_back(values: list[str]) -> None:
    fixed = np.array(values, dtype=np.str_)
    assert parse_list(str(fixed)) == values
    assert parse_list(repr(fixed)) == values


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("['a' 'b'\n 'c']", ["a", "b", "c"]),
        ('["Tom O\'Dell" \'O Dell\']', ["Tom O'Dell", "O Dell"]),
        ("array(['a', 'b'], dtype=object)", ["a", "b"]),
        ("array([], dtype=float64)", []),
        ("np.array(['a'])", ["a"]),
        ("[]", []),
        ("", []),
        ("None", []),
        ("[None 'a' 5 2.5 True nan]", ["a", "5", "2.5", "True"]),
        ("[1. 2.]", ["1", "2"]),
        ("Mumbai", ["Mumbai"]),
        ('["\\ud83c\\uddea\\ud83c\\uddf8", null]', ["🇪🇸"]),
        ("['Morgan Wallen' 'Wallen'\n 'country singer Morgan Wallen']",
         ["Morgan Wallen", "Wallen", "country singer Morgan Wallen"]),
        ("['a ... b']", ["a ... b"]),
        ("[b'bytes']", ["bytes"]),
    ],
)  # fmt: skip
def test_forms(text: str, expected: list[str]) -> None:
    assert parse_list(text) == expected


@pytest.mark.parametrize(
    ("value", "expected"), [(None, []), (float("nan"), []), (7, ["7"]), (["a", None, 3], ["a", "3"]), (("x",), ["x"])]
)
def test_values_that_are_lists_already(value: object, expected: list[str]) -> None:
    assert parse_list(value) == expected


def test_a_list_that_numpy_shortened_is_refused() -> None:
    long = array([f"item {i}" for i in range(1001)])
    for text in (str(long), repr(long)):
        with pytest.raises(BadRow) as error:
            parse_list(text)
        assert error.value.reason == "elided_list"


@pytest.mark.parametrize(
    "text",
    ["['Mumbai', 'Bomb", "['Mumbai', 'Bomb]", "[a b]", "[['a']]", "['a'", "[np.str_('a']", "array('x')", "['\\x4']",
     "['a']]", "array(['a'], dtype=object"],
)  # fmt: skip
def test_a_cut_or_foreign_list_is_reported_not_evaluated(text: str) -> None:
    with pytest.raises(BadRow) as error:
        parse_list(text)
    assert error.value.reason == "unreadable_list"


@given(st.text(alphabet="[]()'\" ,.\\anpstr_xu0123\n", max_size=40))
@settings(max_examples=200, deadline=None)
def test_any_text_gives_a_list_or_a_bad_row(text: str) -> None:
    try:
        items = parse_list(text)
    except BadRow:
        return  # any other exception fails the test
    assert all(isinstance(item, str) for item in items)


def test_the_naive_reading_joins_adjacent_strings() -> None:
    text = "['Morgan Wallen' 'Wallen'\n 'country singer Morgan Wallen']"
    assert ast.literal_eval(text) == ["Morgan WallenWallencountry singer Morgan Wallen"]
    assert naive_parse(text) == ["Morgan WallenWallencountry singer Morgan Wallen"]
    assert naive_parse("['one']") == parse_list("['one']")
    assert naive_parse("array(['a'])") is None
    assert naive_parse(["a"]) is None

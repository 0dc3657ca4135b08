"""What stands in a ``.json`` file is read when it is certain, and else an error: no row is lost without a word."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tir_distill.records import TirError
from tir_distill.sources.json_table import DamagedLine, json_lines, json_rows

ONE, TWO, THREE = ({"id": str(i), "q": f"Q{i}?", "options": [], "deep": {"a": [{"b": 1}]}} for i in (1, 2, 3))


def rows(tmp_path: Path, text: str | bytes, name: str = "a.json") -> list[Any]:
    """Rows, a damaged one as its detail."""
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    found = json_lines(path) if name.endswith("l") else json_rows(path)
    return [row.detail if isinstance(row, DamagedLine) else row for row in found]


def without_id(row: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key != "id"}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps([ONE, TWO, THREE]),
        json.dumps([ONE, TWO, THREE], indent=3),
        "\ufeff \n" + json.dumps([ONE, TWO, THREE]),
        "\n".join(map(json.dumps, (ONE, TWO, THREE))),
        "\r\n\r\n".join(map(json.dumps, (ONE, TWO, THREE))) + "\r\n",
        "\ufeff" + "\n".join(map(json.dumps, (ONE, TWO, THREE))),
        json.dumps({"data": [ONE, TWO, THREE]}),
        json.dumps({"columns": ["a", "b"], "data": [ONE, TWO, THREE], "version": 1, "empty": []}),
        json.dumps({row["id"]: row for row in (ONE, TWO, THREE)}),
        json.dumps({row["id"]: without_id(row) for row in (ONE, TWO, THREE)}, indent=1),
    ],
)
def test_what_is_certain_is_read(text: str, tmp_path: Path) -> None:
    assert rows(tmp_path, text) == [ONE, TWO, THREE]


def test_an_id_of_its_own_wins_over_the_key(tmp_path: Path) -> None:
    assert rows(tmp_path, '{"7": {"id": "x"}, "8": {}}') == [{"id": "x"}, {"id": "8"}]


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ({"train": [ONE], "more": [TWO]}, "2 lists of objects, 0 objects and 0 other values"),
        ({"info": {"a": 1}, "data": [ONE]}, "1 lists of objects, 1 objects and 0 other values"),
        ({"1": ONE, "2": None}, "0 lists of objects, 1 objects and 1 other values"),
        ({"columns": ["a"], "data": [["x"], ["y"]]}, "0 lists of objects, 0 objects and 2 other values"),
        ({}, "0 lists of objects, 0 objects and 0 other values"),
        ("text", "it begins with neither"),
        (7, "it begins with neither"),
    ],
)
def test_what_is_not_certain_is_an_error_that_names_the_file(value: Any, found: str, tmp_path: Path) -> None:
    with pytest.raises(
        TirError, match=rf"a\.json: not certain what its rows are \(.*{found}.*expected a list of objects"
    ):
        rows(tmp_path, json.dumps(value))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  \n",
        "[{}]\n[{}]",
        '[{"a": 1}] x',
        '{"a": 1,\n"b": 2}\n{"a": 3,\n"b": 4}',
        "{'a': 1}",
        '{"a" 1}',
        "\xff\xfe",
    ],
)
def test_no_json_or_more_than_one_value(text: str, tmp_path: Path) -> None:
    with pytest.raises(TirError, match=r"a\.json: not certain"):
        rows(tmp_path, text.encode("latin-1"))


@pytest.mark.parametrize(
    "text", ["[", '[{"a": 1}', '[{"a": 1}, {"b"', '{"data": [{"a": 1}', '{"data"', '{"a": {"b": 1}, ']
)
def test_a_file_that_ends_in_the_middle(text: str, tmp_path: Path) -> None:
    with pytest.raises(TirError, match=r"a\.json: (the file ends in the middle|not certain)"):
        rows(tmp_path, text)


@pytest.mark.parametrize(
    ("element", "why"),
    [
        ("7", "is not an object"),
        ('"x"', "is not an object"),
        ('{"id": bad}', "cannot be read"),
        ('{"x": ' + "[" * 100_000 + "]" * 100_000 + "}", "cannot be read"),
        ('{"x": ' + "9" * 5000 + "}", "cannot be read"),
    ],
)
def test_a_damaged_element_costs_itself_only(element: str, why: str, tmp_path: Path) -> None:
    text = f"[{json.dumps(ONE)}, {element}, {json.dumps(TWO)}]"
    assert rows(tmp_path, text) == [ONE, f"a.json: element 2 {why}", TWO]


def test_bytes_that_are_no_utf8_are_not_hidden(tmp_path: Path) -> None:
    assert rows(tmp_path, '[{"q": "café"}]'.encode("latin-1")) == [{"q": "caf\udce9"}]


def test_a_byte_order_mark_costs_no_line(tmp_path: Path) -> None:
    assert rows(tmp_path, '\ufeff{"a": 1}\n{"a": 2}\n', "a.jsonl") == [{"a": 1}, {"a": 2}]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(st.dictionaries(st.text(max_size=4), VALUES, max_size=4), max_size=5), st.booleans(), st.integers(0, 2))
@settings(max_examples=60, deadline=None)
def test_lists_come_back_as_they_were(
    tmp_path_factory: pytest.TempPathFactory, values: list[Any], plain: bool, indent: int
) -> None:
    text = json.dumps(values, ensure_ascii=plain, indent=indent or None)
    assert rows(tmp_path_factory.getbasetemp(), text) == values

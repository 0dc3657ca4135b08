from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tir_distill.records import TirError, atomic_writer, read_jsonl, write_jsonl

ODD = "a\u2028b\u2029c\u0085d\x0ce\x1cf图"


def test_line_separators_of_unicode_are_text(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    assert write_jsonl(path, [{"text": ODD}, {"text": "second"}]) == 2
    assert path.read_bytes().count(b"\n") == 2
    assert [row["text"] for row in read_jsonl(path)] == [ODD, "second"]


TEXT = st.text(st.characters(exclude_categories=["Cs"]))


@given(st.lists(st.dictionaries(TEXT, TEXT, max_size=3), max_size=5))
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, str]]) -> None:
    path = tmp_path_factory.mktemp("rows") / "rows.jsonl"
    write_jsonl(path, rows)
    assert list(read_jsonl(path)) == rows


@pytest.mark.parametrize(
    ("text", "found"), [(b'{"a": 1}\n{"b"', ":2: not JSON"), (b"[1]\n", ":1: expected a JSON object")]
)
def test_a_bad_line_is_named_by_number(tmp_path: Path, text: bytes, found: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(text)
    with pytest.raises(TirError, match=found):
        list(read_jsonl(path))


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    write_jsonl(path, [{"old": 1}])
    with pytest.raises(RuntimeError), atomic_writer(path) as handle:
        handle.write(b"half")
        raise RuntimeError
    assert list(read_jsonl(path)) == [{"old": 1}]
    assert [item.name for item in tmp_path.iterdir()] == ["rows.jsonl"]


def test_lone_surrogates_are_an_error_with_words(tmp_path: Path) -> None:
    with pytest.raises(TirError, match="cannot be written as JSON"):
        write_jsonl(tmp_path / "rows.jsonl", [{"text": "\ud800"}])

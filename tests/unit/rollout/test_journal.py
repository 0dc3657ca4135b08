"""The journal after every kind of end (shared cases A 1, 2, 5, 13, 14)."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tir_distill.records import Stopped, TirError
from tir_distill.rollout import Journal
from tir_distill.rollout.journal import pack, unpack


def write(path: Path, events: list[dict[str, Any]]) -> None:
    journal = Journal(path)
    list(journal.events())
    for event in events:
        journal.append(event)
    journal.close()


def read(path: Path) -> list[dict[str, Any]]:
    journal = Journal(path)
    try:
        return [event for _, _, event in journal.events()]
    finally:
        journal.close()


EVENTS = [{"n": i, "text": "图片 \u2028\u0085 end" * i} for i in range(4)]


def test_lines_come_back_and_can_be_read_by_place(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    journal = Journal(path)
    places = [journal.append(event) for event in EVENTS]
    assert [journal.read(*place) for place in places] == EVENTS
    journal.close()
    assert read(path) == EVENTS
    assert path.read_bytes().count(b"\n") == 4


@pytest.mark.parametrize(
    "tail",
    [
        b'["00000000",{"id":"q7","mess',
        b'{"id":"q7","mess',
        b'["00000000",{"text":"' + "图".encode()[:2],
        b'["12345678",{"n":9}]\n',
        b"\n",
        b"\0\0\0\0",
        b"[",
    ],
)
def test_a_torn_end_is_cut_off_and_the_next_line_stands_alone(tmp_path: Path, tail: bytes) -> None:
    path = tmp_path / "j.jsonl"
    write(path, EVENTS)
    with path.open("ab") as handle:
        handle.write(tail)
    write(path, [{"n": "next"}])
    assert read(path) == [*EVENTS, {"n": "next"}]
    size = path.stat().st_size
    assert read(path) == [*EVENTS, {"n": "next"}]
    assert path.stat().st_size == size


def test_a_file_that_holds_only_a_torn_line(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    path.write_bytes(b'["0000')
    assert read(path) == []
    assert path.read_bytes() == b""


@settings(max_examples=60, deadline=None)
@given(cut=st.integers(0, 400))
def test_cut_at_any_byte_loses_only_what_was_cut(tmp_path_factory: pytest.TempPathFactory, cut: int) -> None:
    path = tmp_path_factory.mktemp("cut") / "j.jsonl"
    write(path, EVENTS)
    data = path.read_bytes()
    path.write_bytes(data[: min(cut, len(data))])
    whole = data[: min(cut, len(data))].count(b"\n")
    assert read(path) == EVENTS[:whole]


def test_damage_in_the_middle_costs_one_line(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    write(path, EVENTS)
    data = bytearray(path.read_bytes())
    data[data.index(b"\n") + 30] ^= 1
    path.write_bytes(bytes(data))
    assert read(path) == [EVENTS[0], *EVENTS[2:]]


def test_two_writers_are_refused(tmp_path: Path) -> None:
    first = Journal(tmp_path / "j.jsonl")
    with pytest.raises(TirError, match="another process"):
        Journal(tmp_path / "j.jsonl")
    first.close()
    Journal(tmp_path / "j.jsonl").close()


def test_a_full_disk_leaves_the_file_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "j.jsonl"
    journal = Journal(path)
    journal.append({"n": 1})
    real = os.write
    calls = []

    def write_half(fd: int, data: bytes) -> int:
        calls.append(1)
        if len(calls) > 1:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(fd, data[:5])

    monkeypatch.setattr(os, "write", write_half)
    with pytest.raises(Stopped, match="disk_full"):
        journal.append({"n": 2})
    monkeypatch.undo()
    journal.append({"n": 3})
    journal.close()
    assert read(path) == [{"n": 1}, {"n": 3}]


@pytest.mark.parametrize("line", [b"", b"\n", b"[]\n", b'["zzzzzzzz",{}]\n', b'["00000000",]\n', pack({"a": 1})[:-1]])
def test_no_bytes_make_the_reader_fail(line: bytes) -> None:
    assert unpack(line) is None

"""Frames: whatever way the bytes arrive, and whatever a hostile side sends."""

from __future__ import annotations

import json
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tir_distill.sandbox.frames import MAX_HEADER, BadFrame, Parser, encode


@given(
    st.lists(
        st.tuples(st.dictionaries(st.text(max_size=5), st.integers()), st.lists(st.binary(max_size=20), max_size=3)),
        max_size=4,
    ),
    st.integers(1, 7),
)
@settings(max_examples=60)
def test_frames_survive_any_cut(messages: list[tuple[dict[str, int], list[bytes]]], step: int) -> None:
    messages = [({k: v for k, v in header.items() if k != "blobs"}, blobs) for header, blobs in messages]
    stream = b"".join(encode(header, blobs) for header, blobs in messages)
    parser = Parser(max_blobs=3, max_bytes=100)
    got = [frame for at in range(0, len(stream), step) for frame in parser.feed(stream[at : at + step])]
    assert [(frame.header, list(frame.blobs)) for frame in got] == messages
    assert parser.idle


def raw(header: object) -> bytes:
    text = json.dumps(header).encode()
    return struct.pack("!I", len(text)) + text


@pytest.mark.parametrize(
    "data",
    [
        struct.pack("!I", MAX_HEADER + 1),
        b"\xff\xff\xff\xff",
        struct.pack("!I", 4) + b"abcd",
        raw([1]),
        raw({}),
        raw({"blobs": 3}),
        raw({"blobs": [0] * 4}),
        raw({"blobs": [-1]}),
        raw({"blobs": [True]}),
        raw({"blobs": [1.0]}),
        raw({"blobs": [101]}),
        raw({"blobs": [60, 60]}),
        struct.pack("!I", 100_000) + b"[" * 100_000,
    ],
)
def test_bad_frames_are_named(data: bytes) -> None:
    with pytest.raises(BadFrame):
        Parser(max_blobs=3, max_bytes=100).feed(data)

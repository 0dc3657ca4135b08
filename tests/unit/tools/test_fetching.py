"""Bodies as they come off the wire: packed, badly packed, packed without an envelope."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from collections.abc import AsyncIterator

import pytest

from tir_distill.tools.fetching import OpenFailed, _read


async def chunks(data: bytes, size: int) -> AsyncIterator[bytes]:
    for start in range(0, len(data), size):
        yield data[start : start + size]


def read(data: bytes, coding: str, size: int = 7, limit: int = 10_000) -> tuple[bytes, bool]:
    return asyncio.run(_read(chunks(data, size), coding, limit))


TEXT = b"a page of some length, " * 20
RAW = zlib.compressobj(wbits=-15)
BARE = RAW.compress(TEXT) + RAW.flush()


@pytest.mark.parametrize("size", [1, 7, 4096])
@pytest.mark.parametrize(
    ("data", "coding"),
    [
        (TEXT, ""),
        (TEXT, "identity"),
        (gzip.compress(TEXT), "gzip"),
        (zlib.compress(TEXT), "deflate"),
        (BARE, "deflate"),
    ],
    ids=["plain", "identity", "gzip", "deflate", "bare deflate"],
)
def test_every_packing_gives_the_page(data: bytes, coding: str, size: int) -> None:
    assert read(data, coding, size) == (TEXT, False)


@pytest.mark.parametrize(
    "data", [b"\xff" * 40, b"<html>not packed at all</html>", b"\x78\x9c\xff\xff\xff"], ids=["noise", "page", "cut"]
)
@pytest.mark.parametrize("coding", ["gzip", "deflate"])
def test_broken_packing_is_a_plain_failure(data: bytes, coding: str) -> None:
    with pytest.raises(OpenFailed, match="broken"):
        read(data, coding)


def test_a_bomb_is_cut_at_the_limit() -> None:
    data, cut = read(gzip.compress(b"0" * 5_000_000), "gzip", 4096, limit=1000)
    assert (len(data), cut) == (1000, True)

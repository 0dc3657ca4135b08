"""Order of work inside a shard, and pictures that no teacher takes (RULINGS 16, shared case H 82)."""

from __future__ import annotations

import io
import struct
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import PIL.Image
import pytest

from rollout_helpers import Asked, completion, lines, question, run, settings, teacher
from tir_distill.records import BadRow
from tir_distill.rollout.prepare import look_at


def png(width: int, height: int) -> bytes:
    buffer = io.BytesIO()
    PIL.Image.new("L", (width, height)).save(buffer, "PNG")
    return buffer.getvalue()


def header_only(width: int, height: int) -> bytes:
    """A PNG that names a size and holds nothing."""
    head = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    start = b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + head + struct.pack(">I", zlib.crc32(head))
    return start + struct.pack(">I", 0) + b"IDAT" + struct.pack(">I", zlib.crc32(b"IDAT"))


def test_urgent_questions_are_asked_first_and_files_keep_the_hand_overs_order(tmp_path: Path) -> None:
    questions = [replace(question(i), priority=f"P{2 - i % 3}") for i in range(9)]
    asked: list[str] = []

    def script(one: Asked) -> dict[str, Any]:
        asked.append(one.question)
        return completion("<answer>right</answer>")

    config = settings(engine={"concurrency": 1}, plan={"k_first": 1, "k_max": 1})
    with teacher(script) as server:
        run(tmp_path, questions, server, config)
    urgent = sorted(questions, key=lambda one: one.priority)
    assert asked == [one.question for one in urgent]
    assert [end["id"] for end in lines(tmp_path / "q.jsonl")] == [one.id for one in questions]


@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
@pytest.mark.parametrize("side", [20_000, 12_000])
def test_82_a_picture_of_too_many_pixels_is_refused_by_its_header(side: int) -> None:
    with pytest.raises(BadRow, match=r"big\.png: .*pixels"):
        look_at(header_only(side, side), "big.png")


def test_82_a_picture_is_measured_as_it_is() -> None:
    assert look_at(png(1, 1), "one.png") == (1, 1)
    assert look_at(png(24, 16), "a b 图.png") == (24, 16)

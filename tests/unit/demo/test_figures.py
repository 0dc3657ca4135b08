"""Numbers on pictures: what is drawn is read, also after lossy storage."""

from __future__ import annotations

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageDraw

from demo_helpers import stored
from tir_distill.demo.figures import PROBES, SEGMENTS, draw_number, read_number, read_plate
from tir_distill.demo.forms import FORMS, encode
from tir_distill.demo.scenes import draw_scene


@given(st.integers(0, 99_999_999))
@settings(max_examples=60, deadline=None)
def test_a_drawn_number_is_read_back(number: int) -> None:
    picture = Image.new("RGB", (160, 40), "white")
    draw_number(ImageDraw.Draw(picture), 7, 9, number)
    assert read_number(picture, 7, 9) == number


def test_each_probe_lies_in_its_own_segment_only() -> None:
    for name, (x, y) in PROBES.items():
        holding = [other for other, (x0, y0, x1, y1) in SEGMENTS.items() if x0 <= x <= x1 and y0 <= y <= y1]
        assert holding == [name]


def test_what_is_no_number_is_not_read() -> None:
    picture = Image.new("L", (60, 40), 255)
    assert read_number(picture, 5, 5) is None
    ImageDraw.Draw(picture).rectangle((5, 5, 16, 7), fill=0)  # one lone segment
    assert read_number(picture, 5, 5) is None


@pytest.mark.parametrize("form", sorted(FORMS))
def test_a_plate_survives_every_form_of_storage(form: str) -> None:
    data = stored(encode(draw_scene("lighthouse", 1874), form))
    with Image.open(io.BytesIO(data)) as picture:
        assert picture.size == (480, 360)
        assert read_plate(picture) == 1874


def test_a_picture_without_a_plate_has_none() -> None:
    assert read_plate(Image.effect_noise((480, 360), 80)) is None
    assert read_plate(Image.new("RGB", (480, 360), "white")) is None
    assert read_plate(Image.new("RGB", (3, 3), "white")) is None

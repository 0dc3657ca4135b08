"""Odd pictures as attachments are shown as everywhere else: upright, plain, or not at all (shared cases H 73 to 79)."""

from __future__ import annotations

import io

import PIL.Image
import pytest

from tir_distill.sources.gaia_tasks import shown_picture


def encoded(image: PIL.Image.Image, kind: str, **options: object) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def shown(data: bytes) -> PIL.Image.Image:
    found = shown_picture(data)
    assert found is not None
    return PIL.Image.open(io.BytesIO(found[1]))


def test_73_a_turned_photo_is_shown_upright() -> None:
    exif = PIL.Image.Exif()
    exif[0x0112] = 6
    image = shown(encoded(PIL.Image.effect_noise((24, 16), 90).convert("RGB"), "JPEG", exif=exif))
    assert image.size == (16, 24)
    assert not image.getexif()


@pytest.mark.parametrize(("mode", "kind"), [("CMYK", "JPEG"), ("P", "GIF"), ("P", "PNG"), ("RGBA", "PNG")])
def test_74_and_76_other_modes_are_shown_plain(mode: str, kind: str) -> None:
    image = shown(encoded(PIL.Image.effect_noise((24, 16), 90).convert("RGB").convert(mode), kind))
    assert (image.mode, image.size) == ("RGB", (24, 16))


def test_79_and_82_what_cannot_be_decoded_is_not_shown() -> None:
    cut = encoded(PIL.Image.effect_noise((64, 64), 90), "JPEG")
    assert shown_picture(cut[: len(cut) * 6 // 10]) is None
    assert shown_picture(b"") is None

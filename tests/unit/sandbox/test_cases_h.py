"""Odd pictures of cells and pages become plain PNG and look the same (shared cases H 73 to 79 and 82)."""

from __future__ import annotations

import io
import struct
import zlib

import PIL.Image
import pytest

from tir_distill.sandbox.pictures import both_forms, to_png

PIXELS = 1_000_000


def encoded(image: PIL.Image.Image, kind: str, **options: object) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def seen(data: bytes) -> PIL.Image.Image:
    """What becomes of a picture, decoded again."""
    answer, (png,) = to_png({"pixels": PIXELS}, [data])
    assert answer == {"failed": []}
    image = PIL.Image.open(io.BytesIO(png))
    assert (image.format, image.mode) == ("PNG", "RGB")
    return image


def grey_16() -> PIL.Image.Image:
    """16 columns, from black to white in equal steps."""
    row = struct.pack("<16H", *(4369 * n for n in range(16)))
    return PIL.Image.frombytes("I;16", (16, 4), row * 4)


def header_only(width: int, height: int) -> bytes:
    head = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + head + struct.pack(">I", zlib.crc32(head))


def test_73_a_turned_photo_comes_back_upright() -> None:
    photo = PIL.Image.new("RGB", (24, 16), "blue")
    photo.paste("red", (0, 0, 24, 8))
    exif = PIL.Image.Exif()
    exif[0x0112] = 6
    upright = seen(encoded(photo, "JPEG", exif=exif, quality=95, subsampling=0))
    assert upright.size == (16, 24)
    assert not upright.getexif()
    left, right = upright.getpixel((2, 12)), upright.getpixel((13, 12))
    assert isinstance(left, tuple)
    assert isinstance(right, tuple)
    assert left[2] > 200 > 60 > left[0]
    assert right[0] > 200 > 60 > right[2]


@pytest.mark.parametrize(("ink", "shown"), [((0, 255, 255, 0), (255, 0, 0)), ((0, 0, 0, 0), (255, 255, 255))])
def test_74_cmyk_is_no_negative(ink: tuple[int, ...], shown: tuple[int, ...]) -> None:
    data = encoded(PIL.Image.new("CMYK", (16, 16), ink), "JPEG", quality=95)
    pixel = seen(data).getpixel((8, 8))
    assert isinstance(pixel, tuple)
    assert max(abs(a - b) for a, b in zip(pixel, shown, strict=True)) < 6


@pytest.mark.parametrize("kind", ["GIF", "PNG"])
def test_76_transparent_parts_of_a_palette_lie_on_white(kind: str) -> None:
    image = PIL.Image.new("P", (8, 8), 1)
    image.putpalette([0, 0, 0, 0, 160, 0] + [0] * 762)
    image.paste(0, (0, 0, 4, 8))
    got = seen(encoded(image, kind, transparency=0))
    assert (got.getpixel((1, 1)), got.getpixel((6, 1))) == ((255, 255, 255), (0, 160, 0))


@pytest.mark.parametrize("kind", ["PNG", "TIFF"])
def test_77_16_bit_grey_is_scaled_not_clipped(kind: str) -> None:
    got = seen(encoded(grey_16(), kind)).convert("L")
    assert [got.getpixel((n, 2)) for n in range(16)] == [17 * n for n in range(16)]


def test_79_and_82_what_cannot_be_shown_is_named_and_the_others_come() -> None:
    fine = encoded(PIL.Image.new("RGB", (9, 9)), "PNG")
    cut = encoded(PIL.Image.effect_noise((64, 64), 90), "JPEG")
    blobs = [fine, cut[: len(cut) * 6 // 10], b"", header_only(20_000, 20_000), header_only(2000, 1000), fine]
    answer, done = to_png({"pixels": PIXELS}, blobs)
    assert answer == {"failed": [1, 2, 3, 4]}
    assert len(done) == 2


@pytest.mark.parametrize("mode", ["CMYK", "L", "RGB"])
def test_a_question_picture_has_the_same_pixels_in_both_forms(mode: str) -> None:
    data = encoded(PIL.Image.effect_noise((32, 24), 90).convert(mode), "JPEG")
    answer, (stored, png) = both_forms({}, [data])
    assert answer == {"kind": "JPEG"}
    assert stored == data
    with PIL.Image.open(io.BytesIO(png)) as second, PIL.Image.open(io.BytesIO(data)) as first:
        assert second.format == "PNG"
        assert second.convert("RGB").tobytes() == first.convert("RGB").tobytes()

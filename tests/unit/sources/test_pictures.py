"""The picture policy, one odd picture at a time (fault classes 73 to 82)."""

from __future__ import annotations

import hashlib
import io
import os
import struct
import subprocess
import sys
import warnings
import zlib
from pathlib import Path

import imagehash
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageCms

from sources_helpers import encoded, picture
from tir_distill import cli
from tir_distill.records import BadRow
from tir_distill.sources import PictureStore, distance, phash_of, picture_print, pictures, prepare

SRGB = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()


def reason_of(data: bytes) -> str:
    with pytest.raises(BadRow) as error:
        prepare(data)
    return error.value.reason


def png_header(width: int, height: int) -> bytes:
    """A PNG that claims a size and holds no pixels."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", b"") + chunk(b"IEND", b"")


@pytest.mark.parametrize(
    ("data", "ext"),
    [
        (encoded(picture(), "JPEG"), "jpg"),
        (encoded(picture().convert("L"), "JPEG"), "jpg"),
        (encoded(picture(), "PNG"), "png"),
        (encoded(picture().convert("L"), "PNG"), "png"),
        (encoded(picture(), "JPEG", progressive=True), "jpg"),
        (encoded(picture(), "JPEG", icc_profile=SRGB), "jpg"),
    ],
)
def test_plain_files_are_kept_byte_for_byte(data: bytes, ext: str) -> None:
    stored, pixels = prepare(data)
    assert stored.data == data
    assert stored.ext == ext
    assert stored.sha256 == hashlib.sha256(data).hexdigest()
    assert (stored.width, stored.height) == pixels.size == (64, 48)
    assert phash_of(pixels) == str(imagehash.phash(Image.open(io.BytesIO(data))))


def exif(orientation: int) -> Image.Exif:
    value = Image.Exif()
    value[0x0112] = orientation
    return value


def test_exif_rotation_is_applied_and_dropped() -> None:
    data = encoded(picture(24, 16), "JPEG", exif=exif(6), quality=95)
    stored, pixels = prepare(data)
    assert stored.ext == "png"
    assert (stored.width, stored.height) == (16, 24)
    again = Image.open(io.BytesIO(stored.data))
    assert again.size == (16, 24)
    assert again.getexif().get(0x0112) is None
    upright = Image.open(io.BytesIO(data)).rotate(-90, expand=True)
    assert np.array_equal(np.asarray(again), np.asarray(upright))
    assert np.array_equal(np.asarray(pixels), np.asarray(again))


@pytest.mark.parametrize("orientation", range(1, 9))
def test_all_orientations(orientation: int) -> None:
    stored, _ = prepare(encoded(picture(24, 16), "JPEG", exif=exif(orientation)))
    assert (stored.width, stored.height) == ((16, 24) if orientation >= 5 else (24, 16))


@pytest.mark.parametrize("value", [0, 9, 250])
def test_an_orientation_that_does_not_exist_is_none(value: int) -> None:
    data = encoded(picture(24, 16), "JPEG", exif=exif(value))
    assert prepare(data)[0].data == data


def test_cmyk_of_both_kinds() -> None:
    rgb = picture()
    plain = encoded(rgb.convert("CMYK"), "JPEG", quality=95)
    assert b"Adobe" not in plain or Image.open(io.BytesIO(plain)).mode == "CMYK"
    for data in (plain, encoded(rgb.convert("CMYK"), "TIFF")):
        stored, pixels = prepare(data)
        assert (stored.ext, pixels.mode) == ("png", "RGB")
        assert distance(phash_of(pixels), phash_of(rgb)) <= 6
        assert abs(np.asarray(pixels, float).mean() - np.asarray(rgb, float).mean()) < 12


def test_adobe_inverted_cmyk_is_not_a_negative() -> None:
    """Adobe writes CMYK inverted and says so in APP14; Pillow's encoder writes that marker too."""
    dark = Image.new("CMYK", (32, 32), (0, 0, 0, 230))
    _, pixels = prepare(encoded(dark, "JPEG"))
    assert np.asarray(pixels).mean() < 60


@pytest.mark.parametrize("form", ["GIF", "PNG"])
def test_palette_with_transparency_lies_on_white(form: str) -> None:
    image = Image.new("P", (20, 20), 0)
    image.putpalette([0, 0, 0, 200, 30, 30])
    image.paste(1, (0, 0, 10, 20))
    stored, pixels = prepare(encoded(image, form, transparency=0))
    assert (stored.ext, pixels.mode) == ("png", "RGB")
    assert pixels.getpixel((15, 5)) == (255, 255, 255)
    assert pixels.getpixel((5, 5)) == (200, 30, 30)


def test_alpha_lies_on_white_and_hides_its_colour() -> None:
    image = Image.new("RGBA", (10, 10), (255, 0, 0, 0))
    image.paste((0, 0, 255, 128), (0, 0, 5, 10))
    _, pixels = prepare(encoded(image))
    assert pixels.getpixel((8, 8)) == (255, 255, 255)
    assert pixels.getpixel((2, 2)) == (127, 127, 255)
    grey = Image.new("LA", (10, 10), (0, 0))
    assert prepare(encoded(grey))[1].getpixel((1, 1)) == (255, 255, 255)


def test_rgb_with_a_transparent_colour_is_not_plain() -> None:
    data = encoded(Image.new("RGB", (10, 10), (1, 2, 3)), "PNG", transparency=(1, 2, 3))
    stored, pixels = prepare(data)
    assert stored.data != data
    assert pixels.getpixel((0, 0)) == (255, 255, 255)


def test_16_bit_grey_is_scaled_not_clipped() -> None:
    eight = picture().convert("L")
    sixteen = Image.fromarray(np.asarray(eight).astype(np.uint16) * 257)
    assert sixteen.mode == "I;16"
    for form in ("PNG", "TIFF"):
        stored, pixels = prepare(encoded(sixteen, form))
        assert stored.ext == "png"
        assert np.array_equal(np.asarray(pixels), np.asarray(eight))
        assert distance(phash_of(pixels), phash_of(eight)) <= 2


def test_16_bit_rgb_png_is_not_kept_as_it_is() -> None:
    width, height = 4, 4
    rows = b"".join(b"\0" + struct.pack(">12H", *[40000] * 12) for _ in range(height))

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", width, height, 16, 2, 0, 0, 0)
    data = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    stored, pixels = prepare(data)
    assert stored.data != data
    assert stored.data[24] == 8
    assert pixels.getpixel((0, 0)) == (156, 156, 156)


def test_wide_ranges_are_stretched() -> None:
    values = np.linspace(-3.0, 5.0, 400, dtype=np.float32).reshape(20, 20)
    _, pixels = prepare(encoded(Image.fromarray(values), "TIFF"))
    assert (np.asarray(pixels).min(), np.asarray(pixels).max()) == (0, 255)


@pytest.mark.parametrize("form", ["GIF", "WEBP", "PNG", "TIFF"])
def test_of_an_animation_the_first_frame_is_kept(form: str) -> None:
    frames = [picture(32, 32, seed) for seed in (1, 2, 3)]
    options = {"lossless": True} if form == "WEBP" else {}
    data = encoded(frames[0], form, save_all=True, append_images=frames[1:], **options)
    stored, pixels = prepare(data)
    assert stored.ext == "png"
    assert getattr(Image.open(io.BytesIO(stored.data)), "n_frames", 1) == 1
    assert distance(phash_of(pixels), phash_of(frames[0])) <= 6  # GIF has 256 colours
    assert distance(phash_of(pixels), phash_of(frames[1])) > 6


@pytest.mark.parametrize("form", ["WEBP", "BMP", "AVIF", "JPEG2000", "PPM"])
def test_other_formats_become_png(form: str) -> None:
    stored, pixels = prepare(encoded(picture(), form))
    assert (stored.ext, stored.width, pixels.mode) == ("png", 64, "RGB")


def test_one_bit_becomes_grey() -> None:
    assert prepare(encoded(picture().convert("1")))[1].mode == "L"


def test_a_damaged_avif_is_a_bad_row() -> None:
    """Its decoder raises RuntimeError, whatever byte is wrong."""
    whole = encoded(picture(16, 16), "AVIF")
    said = []
    for at in range(len(whole)):
        data = bytearray(whole)
        data[at] ^= 0xFF
        try:
            prepare(bytes(data))
        except BadRow as error:
            said.append(error)
    assert {error.reason for error in said} <= {
        "picture_damaged", "picture_truncated", "picture_unknown_format", "picture_too_many_pixels",
        "picture_too_small", "picture_too_narrow", "picture_unsupported",
    }  # fmt: skip
    assert any("RuntimeError" in error.detail for error in said)


def black_png(width: int, height: int, depth: int, colour: int, channels: int) -> bytes:
    row = bytes(1 + width * channels * depth // 8)
    packer = zlib.compressobj(1)
    body = b"".join(packer.compress(row) for _ in range(height)) + packer.flush()

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", body) + chunk(b"IEND", b"")


PEAK = """
import resource, sys
from tir_distill.sources.pictures import prepare
data = open(sys.argv[1], "rb").read()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
stored, _ = prepare(data)
assert (stored.width, stored.height) == (8000, 7990)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1000)
"""


@pytest.mark.parametrize(("depth", "colour", "channels"), [(16, 0, 1), (8, 6, 4)])
def test_the_largest_picture_takes_the_memory_that_is_stated(
    depth: int, colour: int, channels: int, tmp_path: Path
) -> None:
    """Two copies of four bytes a pixel: 512 MB, for 16-bit grey and for transparency."""
    (tmp_path / "big.png").write_bytes(black_png(8000, 7990, depth, colour, channels))
    env = {**os.environ, "PYTHONPATH": str(Path(cli.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", PEAK, str(tmp_path / "big.png")],
                          env=env, capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 540


@pytest.mark.parametrize("kind", ["16-bit", "signed", "float", "alpha", "palette"])
def test_strips_give_the_same_pixels_as_the_whole(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    image = {
        "16-bit": lambda: Image.fromarray(rng.integers(0, 65536, (31, 20)).astype(np.uint16)),
        "signed": lambda: Image.fromarray(rng.integers(-9, 900, (31, 20)).astype(np.int32)),
        "float": lambda: Image.fromarray(rng.normal(size=(31, 20)).astype(np.float32)),
        "alpha": lambda: Image.fromarray(rng.integers(0, 256, (31, 20, 4), dtype=np.uint8)),
        "palette": lambda: picture(20, 31).quantize(9),
    }[kind]()
    options = {"transparency": 3} if kind == "palette" else {}
    data = encoded(image, "PNG" if kind in ("alpha", "palette") else "TIFF", **options)
    whole = prepare(data)[0].data
    for pixels in (1, 50, 60):
        monkeypatch.setattr(pictures, "_STRIP_PIXELS", pixels)
        assert prepare(data)[0].data == whole


def test_empty_unknown_and_small() -> None:
    assert reason_of(b"") == "picture_empty"
    assert reason_of(b"<html><body>404</body></html>") == "picture_unknown_format"
    assert reason_of(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n") == "picture_unknown_format"
    assert reason_of(encoded(Image.new("RGB", (1, 1)))) == "picture_too_small"
    assert reason_of(encoded(Image.new("RGB", (1000, 4)))) == "picture_too_narrow"


def test_a_decompression_bomb_is_refused_before_decoding() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert reason_of(png_header(20_000, 20_000)) == "picture_too_many_pixels"
        assert reason_of(png_header(10_000, 9_000)) == "picture_too_many_pixels"


@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP", "GIF"])
def test_cut_at_60_percent(form: str) -> None:
    data = encoded(picture(400, 300), form)
    assert reason_of(data[: len(data) * 6 // 10]) in ("picture_truncated", "picture_damaged")


def test_damaged_pixels_of_a_png_are_found() -> None:
    data = bytearray(encoded(picture(200, 200)))
    data[len(data) // 2] ^= 0xFF
    assert reason_of(bytes(data)) in ("picture_damaged", "picture_truncated")


@pytest.mark.filterwarnings("ignore:.*:UserWarning")
@given(st.binary(max_size=200), st.sampled_from(["JPEG", "PNG", "GIF", "WEBP", "TIFF"]), st.integers(0, 400))
@settings(max_examples=150, deadline=None)
def test_any_bytes_give_a_picture_or_a_bad_row(noise: bytes, form: str, at: int) -> None:
    good = encoded(picture(16, 16), form)
    at = min(at, len(good))
    for data in (noise, good[:at] + noise, good[:at] + noise + good[at + len(noise) :]):
        try:
            stored, pixels = prepare(data)
        except BadRow:
            continue  # any other exception fails the test
        assert pixels.mode in ("RGB", "L")
        assert Image.open(io.BytesIO(stored.data)).size == pixels.size


def test_the_stored_png_has_the_same_bytes_every_time() -> None:
    data = encoded(picture(), "WEBP", lossless=True)
    assert prepare(data)[0].data == prepare(data)[0].data


def test_what_is_hashed_is_what_is_stored() -> None:
    for data in (encoded(picture(), "JPEG"), encoded(picture(), "WEBP"), encoded(picture().convert("CMYK"), "JPEG")):
        stored, pixels = prepare(data)
        assert phash_of(pixels) == str(imagehash.phash(Image.open(io.BytesIO(stored.data))))


def test_flat_pictures_are_marked() -> None:
    white = Image.new("RGB", (50, 50), "white")
    noisy = Image.fromarray((200 + np.random.default_rng(1).integers(0, 8, (50, 50))).astype(np.uint8))
    half = Image.new("L", (50, 50), 0)
    half.paste(20, (0, 0, 25, 50))
    assert picture_print(white, "x", 4.0).flat
    assert picture_print(noisy, "x", 4.0).flat  # standard deviation of 0..7 is 2.3
    assert not picture_print(half, "x", 4.0).flat  # levels 0 and 20: standard deviation 10
    assert picture_print(half, "x", 10.0).flat
    assert not picture_print(picture(), "x", 4.0).flat


def test_distance() -> None:
    assert distance("0000000000000000", "000000000000000f") == 4
    assert distance("ffffffffffffffff", "0000000000000000") == 64


def test_store_writes_once(tmp_path: Path) -> None:
    store = PictureStore(tmp_path / "图片 store")
    stored, _ = prepare(encoded(picture()))
    path = store.add(stored)
    assert path == tmp_path / "图片 store" / stored.sha256[:2] / f"{stored.sha256}.png"
    before = path.stat().st_mtime_ns
    assert store.add(stored) == path
    assert path.stat().st_mtime_ns == before
    path.write_bytes(b"cut")
    store.add(stored)
    assert path.read_bytes() == stored.data
    assert [p.name for p in path.parent.iterdir()] == [path.name]

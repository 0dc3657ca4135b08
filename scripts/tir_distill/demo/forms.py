"""The ways in which a picture can be stored, odd ones among them: what readers meet in upstream files."""

from __future__ import annotations

import io
from collections.abc import Callable

import numpy as np
from PIL import Image

ORIENTATION = 0x0112
"""EXIF tag of a photo's rotation."""


def encode(picture: Image.Image, form: str = "png") -> bytes:
    """Bytes of the picture in one of FORMS."""
    return FORMS[form](picture)


def truncated(data: bytes) -> bytes:
    """A file whose header is whole and whose pixels are not: it opens, and fails to load."""
    return data[: len(data) * 2 // 5]


def flat_white() -> bytes:
    """A picture with nothing on it."""
    return _save(Image.new("RGB", (64, 64), (255, 255, 255)), "PNG")


def _save(picture: Image.Image, kind: str, **options: object) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, kind, **options)
    return buffer.getvalue()


def _exif_rotated(picture: Image.Image) -> bytes:
    """Stored lying on its side, with the tag that says so: shown upright, it equals ``picture``."""
    exif = Image.Exif()
    exif[ORIENTATION] = 6
    return _save(picture.transpose(Image.Transpose.ROTATE_90), "JPEG", quality=92, exif=exif.tobytes())


def _alpha(picture: Image.Image) -> bytes:
    """Transparent where it is white, and black beneath: over white it equals ``picture``."""
    pixels = np.asarray(picture.convert("RGBA")).copy()
    pixels[(pixels[..., :3] == 255).all(axis=-1)] = 0
    return _save(Image.fromarray(pixels, "RGBA"), "PNG")


def _grey16(picture: Image.Image) -> bytes:
    grey = np.asarray(picture.convert("L")).astype(np.uint16) * 257
    return _save(Image.fromarray(grey), "PNG")


FORMS: dict[str, Callable[[Image.Image], bytes]] = {
    "png": lambda picture: _save(picture, "PNG"),
    "jpeg": lambda picture: _save(picture, "JPEG", quality=90),
    "jpeg_again": lambda picture: _save(picture, "JPEG", quality=80),
    "jpeg_exif_rotated": _exif_rotated,
    "jpeg_cmyk": lambda picture: _save(picture.convert("CMYK"), "JPEG", quality=92),
    "png_palette": lambda picture: _save(picture.convert("P", palette=Image.Palette.ADAPTIVE, colors=64), "PNG"),
    "png_grey": lambda picture: _save(picture.convert("L"), "PNG"),
    "png_grey16": _grey16,
    "png_alpha": _alpha,
    "webp": lambda picture: _save(picture, "WEBP", lossless=True),
}

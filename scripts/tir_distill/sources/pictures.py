"""One policy for every picture, so that teacher, sandbox, hash and export see the same pixels.

A file is kept byte for byte when it is *plain*: a single-frame 8-bit RGB or grey JPEG or PNG without transparency and
without EXIF rotation. Everything else is decoded once and stored as PNG:

* EXIF orientation is applied, then dropped with all other metadata (a rotated phone photo is stored upright);
* of an animation the first frame is kept;
* transparency is laid over white; palette, CMYK (also Adobe's inverted kind), YCbCr, Lab become RGB; 1-bit grey;
* 16-bit grey is divided by 257, wider ranges are stretched to 0-255, so nothing is clipped to white;
* colour profiles are not applied: Pillow-based consumers do not apply them either.

The extension follows the content, never the name it came with. Refused, each under its own reason: empty files,
unknown formats (a web page saved as .jpg), truncated or damaged data (the whole picture is decoded), more pixels than
``MAX_PIXELS``, less than ``MIN_SIDE`` on a side, and shapes longer than ``MAX_ASPECT`` to 1, at which the image
processors of Qwen-VL models raise an error in the middle of a training run.
"""

from __future__ import annotations

import functools
import hashlib
import io
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

from ..records.errors import BadRow

MAX_PIXELS = 64_000_000
"""Width times height. Pillow takes four bytes a pixel, 256 MB; while a picture is turned into its stored form two such
copies are in memory, 512 MB, for every mode, since conversions work in strips of rows. WebP's and AVIF's decoders hold
copies of their own: 1 GB at the worst."""
MIN_SIDE = 2
MAX_ASPECT = 200

PNG_LEVEL = 3
"""A third of the time of zlib's usual 6 for a tenth more bytes: one press photo in four comes as WebP."""

FORMATS = ("JPEG", "MPO", "PNG", "WEBP", "GIF", "BMP", "TIFF", "AVIF", "JPEG2000", "ICO", "PPM")
"""Decoders that may run on unknown bytes. PostScript and the like, which start other programs, are not among them."""

_STRIP_PIXELS = 1_000_000
_ORIENTATION = 0x0112
_DECODER_ERRORS = (
    OSError,
    SyntaxError,
    ValueError,
    EOFError,
    IndexError,
    KeyError,
    TypeError,
    OverflowError,
    RuntimeError,
    ArithmeticError,
    AttributeError,
    AssertionError,
    BufferError,
    struct.error,
    zlib.error,
)
"""What Pillow's decoders raise on damaged data; AVIF's raises RuntimeError."""


@dataclass(frozen=True, slots=True)
class StoredPicture:
    """A picture as it is stored: the bytes and what every consumer needs to know of them."""

    data: bytes
    sha256: str
    ext: str
    """``jpg`` or ``png``."""
    width: int
    height: int


def prepare(data: bytes) -> tuple[StoredPicture, Image.Image]:
    """The stored form of a picture file and its decoded pixels (mode RGB or L). Raises BadRow."""
    image = _open(data)
    try:
        plain = _is_plain(image, data)
        image.seek(0)  # counting the frames may have moved on
        image.load()
        if image.format == "PNG":  # decoding alone checks no checksum of the pixel data; other readers do
            Image.open(io.BytesIO(data)).verify()
    except _DECODER_ERRORS as error:
        raise _damaged(error) from None
    if plain:
        return _stored(data, "jpg" if image.format == "JPEG" else "png", image), image
    kind = f"{image.format} of mode {image.mode}"
    try:
        image = flatten(image)
    except _DECODER_ERRORS as error:  # a mode that Pillow cannot convert
        raise BadRow("picture_unsupported", f"{kind}: {error}") from None
    buffer = io.BytesIO()
    image.save(buffer, "PNG", compress_level=PNG_LEVEL)
    return _stored(buffer.getvalue(), "png", image), image


def decode(data: bytes) -> Image.Image:
    """Pixels of a picture under the policy, when its stored form is not needed. Raises BadRow."""
    return prepare(data)[1]


def _stored(data: bytes, ext: str, image: Image.Image) -> StoredPicture:
    digest = hashlib.sha256(data).hexdigest()
    return StoredPicture(data=data, sha256=digest, ext=ext, width=image.width, height=image.height)


@functools.cache
def _decoders() -> list[str]:
    """Those of ``FORMATS`` that this build of Pillow has; most are registered by ``init`` only."""
    Image.init()
    return [name for name in FORMATS if name in Image.OPEN]


def _open(data: bytes) -> Image.Image:
    """Header only; size and format are checked before any pixel is decoded."""
    if not data:
        raise BadRow("picture_empty", "the picture file has 0 bytes")
    try:
        image = Image.open(io.BytesIO(data), formats=_decoders())
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:  # our own limit is lower
        raise BadRow("picture_too_many_pixels", str(error)) from None
    except UnidentifiedImageError:
        raise BadRow("picture_unknown_format", f"no picture format known here; starts with {data[:12]!r}") from None
    except _DECODER_ERRORS as error:
        raise _damaged(error) from None
    width, height = image.size
    if width * height > MAX_PIXELS:
        raise BadRow("picture_too_many_pixels", f"{width} x {height}, at most {MAX_PIXELS} pixels")
    if min(width, height) < MIN_SIDE:
        raise BadRow("picture_too_small", f"{width} x {height}, at least {MIN_SIDE} on each side")
    if max(width, height) >= MAX_ASPECT * min(width, height):
        raise BadRow("picture_too_narrow", f"{width} x {height}, at most {MAX_ASPECT} to 1")
    return image


def _is_plain(image: Image.Image, data: bytes) -> bool:
    if image.format not in ("JPEG", "PNG") or image.mode not in ("RGB", "L"):
        return False
    if getattr(image, "n_frames", 1) != 1 or "transparency" in image.info:
        return False
    if image.format == "PNG" and data[24] != 8:  # bit depth in IHDR; Pillow opens 16-bit RGB as RGB
        return False
    return orientation(image) == 1


def orientation(image: Image.Image) -> int:
    """EXIF orientation 1 to 8; 1 when there is none or it cannot be read."""
    try:
        value = image.getexif().get(_ORIENTATION, 1)
    except _DECODER_ERRORS:
        return 1
    return value if isinstance(value, int) and 1 <= value <= 8 else 1


def flatten(image: Image.Image) -> Image.Image:
    """A loaded picture upright, in 8 bits, RGB or grey, without any metadata. The picture given is used up."""
    turned = orientation(image)
    source, image = image, _to_rgb(image)
    source.close()  # its pixels go before the picture is turned
    image.info = {}
    if turned != 1:
        exif = Image.Exif()
        exif[_ORIENTATION] = turned
        image.info["exif"] = exif.tobytes()
        image = ImageOps.exif_transpose(image)
        image.info = {}
    return image


def _to_rgb(image: Image.Image) -> Image.Image:
    mode = image.mode
    if mode.startswith("I") or mode == "F":
        return _eight_bits(image)
    if mode == "1":
        return image.convert("L")
    if mode in ("RGBA", "LA", "PA", "La", "RGBa", "RGBX") or "transparency" in image.info:
        return _on_white(image)
    if mode in ("RGB", "L"):
        return image.copy()
    return image.convert("RGB")


def _strips(image: Image.Image) -> Iterator[tuple[int, Image.Image]]:
    """(first row, the rows from there on), about a million pixels at a time."""
    width, height = image.size
    rows = max(1, _STRIP_PIXELS // width)
    for top in range(0, height, rows):
        yield top, image.crop((0, top, width, min(top + rows, height)))


def _on_white(image: Image.Image) -> Image.Image:
    out = Image.new("RGB", image.size)
    for top, strip in _strips(image):
        rgba = strip.convert("RGBA")
        white = Image.new("RGBA", rgba.size, "white")
        out.paste(Image.alpha_composite(white, rgba).convert("RGB"), (0, top))
    return out


def _eight_bits(image: Image.Image) -> Image.Image:
    """Grey of more than 8 bits as 8 bits: 16-bit values divided by 257, other ranges stretched."""
    ends = [(float(values.min()), float(values.max())) for _, values in _grey_strips(image)]
    low, high = min(end[0] for end in ends), max(end[1] for end in ends)
    whole = image.mode.startswith("I")
    by_257 = image.mode.startswith("I;16") or (whole and low >= 0 and 255 < high <= 65535)
    as_it_is = whole and low >= 0 and high <= 255
    out = Image.new("L", image.size)
    for top, values in _grey_strips(image):
        if by_257:
            values = values / 257
        elif not as_it_is:
            values = (values - low) * (255 / (high - low)) if high > low else np.zeros_like(values)
        out.paste(Image.fromarray(np.rint(values).clip(0, 255).astype(np.uint8)), (0, top))
    return out


def _grey_strips(image: Image.Image) -> Iterator[tuple[int, np.ndarray[Any, np.dtype[np.float64]]]]:
    for top, strip in _strips(image):
        yield top, np.nan_to_num(np.asarray(strip, dtype=np.float64), nan=0.0, posinf=0.0, neginf=0.0)


def _damaged(error: Exception) -> BadRow:
    text = str(error).lower()
    cut = "truncated" in text or "end of file" in text or isinstance(error, EOFError)
    return BadRow("picture_truncated" if cut else "picture_damaged", f"{type(error).__name__}: {error}")

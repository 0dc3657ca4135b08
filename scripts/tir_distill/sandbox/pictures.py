"""Picture work that runs in locked workers only: the bytes come from the net or from cells."""

from __future__ import annotations

import io
import struct
from collections.abc import Sequence
from typing import Any


def to_png(header: dict[str, Any], blobs: Sequence[bytes]) -> tuple[dict[str, Any], list[bytes]]:
    """Task: each picture as plain 8-bit RGB PNG, first frame, alpha over white, upright. Those that cannot be read, or
    are larger than ``pixels``, are named in ``failed`` (positions).
    """
    done: list[bytes] = []
    failed: list[int] = []
    for position, data in enumerate(blobs):
        try:
            done.append(_png(data, header["pixels"]))
        except Exception:  # a picture library fails in any way on hostile bytes
            failed.append(position)
    return {"failed": failed}, done


def both_forms(header: dict[str, Any], blobs: Sequence[bytes]) -> tuple[dict[str, Any], list[bytes]]:
    """Task: a question picture as ``input_image.jpg`` and as ``image_<n>.png``, with the same pixels in both.

    The first is the stored file byte for byte, also where that is a PNG: PIL and OpenCV go by content, and a JPEG made
    of it would show the cell other pixels than the teacher saw. The second is a PNG, which loses nothing.
    """
    import PIL.Image

    (data,) = blobs
    with PIL.Image.open(io.BytesIO(data)) as image:
        kind = image.format
        png = io.BytesIO()
        if kind != "PNG":
            plain = image.convert("RGB") if image.mode not in ("RGB", "L") else image
            plain.save(png, "PNG", compress_level=1)
    return {"kind": kind}, [data, data if kind == "PNG" else png.getvalue()]


def _png(data: bytes, pixels: int) -> bytes:
    import PIL.Image
    import PIL.ImageOps

    with PIL.Image.open(io.BytesIO(data)) as opened:
        if opened.width * opened.height > pixels:
            raise ValueError("too many pixels")
        image: PIL.Image.Image = PIL.ImageOps.exif_transpose(opened)
        if image.mode.startswith("I;16") or image.mode == "I":
            image = image.point(lambda value: value / 256).convert("L")
        if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
            rgba = image.convert("RGBA")
            white = PIL.Image.new("RGBA", rgba.size, "white")
            image = PIL.Image.alpha_composite(white, rgba)
        buffer = io.BytesIO()
        image.convert("RGB").save(buffer, "PNG", compress_level=4)
    return buffer.getvalue()


def png_size(data: bytes) -> tuple[int, int] | None:
    """Width and height by the header alone, for the controller; None when it is no PNG."""
    if len(data) < 33 or data[:8] != b"\x89PNG\r\n\x1a\n" or data[12:16] != b"IHDR":
        return None
    width, height = struct.unpack("!II", data[16:24])
    return (width, height) if width and height else None

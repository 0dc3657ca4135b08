"""How many tokens a picture costs (Qwen vision patches: 16 pixels, merged two by two)."""

from __future__ import annotations

import math

from ..records import BadRow

FACTOR = 32
"""Pixels of side that one token covers: patch size 16 times merge size 2."""
MIN_PIXELS = 65_536
"""64 tokens at least. The Hugging Face processor and vLLM; ms-swift agrees with IMAGE_MIN_TOKEN_NUM=64."""
MAX_PIXELS = 16_777_216
MAX_RATIO = 200


def image_tokens(width: int, height: int, *, min_pixels: int = MIN_PIXELS, max_pixels: int = MAX_PIXELS) -> int:
    """Tokens of a picture of this size in pixels, after the processor's resize.

    Raises BadRow ``picture_shape`` when the processor would refuse it (no area, or sides over 200 : 1).
    """
    if min(width, height) < 1 or max(width, height) > MAX_RATIO * min(width, height):
        raise BadRow("picture_shape", f"{width}x{height}: the image processor refuses it")
    rows, columns = round(height / FACTOR), round(width / FACTOR)  # 0 for a thin strip: scaled up below
    pixels = rows * columns * FACTOR**2
    if pixels > max_pixels:
        scale = math.sqrt(height * width / max_pixels)
        rows = max(1, math.floor(height / scale / FACTOR))
        columns = max(1, math.floor(width / scale / FACTOR))
    elif pixels < min_pixels:
        scale = math.sqrt(min_pixels / (height * width))
        rows = math.ceil(height * scale / FACTOR)
        columns = math.ceil(width * scale / FACTOR)
    return rows * columns

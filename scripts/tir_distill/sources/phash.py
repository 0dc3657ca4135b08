"""The perceptual hash of a picture: ImageHash's default ``phash`` itself, taken from pixels that are decoded already.

Grey, 32 x 32 by Lanczos, DCT-II, the 8 x 8 lowest frequencies against their median (ImageHash 4.3). Faster variants
differ in some bits, so the library's own function is used; what is saved is the second decoding.

A *flat* picture (grey-level standard deviation up to ``flat_max_std``) has no structure to hash: all of them share a
hash or two, so they never match anything by hash alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PIL import Image

BITS = 64


@dataclass(frozen=True, slots=True)
class PicturePrint:
    """What an index keeps of a picture."""

    phash: str
    """16 hex digits."""
    flat: bool
    sha256: str
    """Of the stored form, see ``pictures``."""


def phash_of(image: Image.Image) -> str:
    """16 hex digits, equal to ``str(imagehash.phash(image))``."""
    import imagehash

    return str(imagehash.phash(image))


def grey_std(image: Image.Image) -> float:
    """Standard deviation of the grey levels, 0 to 127.5."""
    histogram = np.asarray(image.convert("L").histogram(), dtype=np.float64)
    levels = np.arange(256)
    total = histogram.sum()
    mean = float((histogram * levels).sum() / total)
    return float(np.sqrt((histogram * (levels - mean) ** 2).sum() / total))


def picture_print(image: Image.Image, sha256: str, flat_max_std: float) -> PicturePrint:
    """Hash, flatness and content hash of decoded pixels."""
    grey = image if image.mode == "L" else image.convert("L")
    return PicturePrint(phash=phash_of(grey), flat=grey_std(grey) <= flat_max_std, sha256=sha256)


def distance(left: str, right: str) -> int:
    """Differing bits of two hashes, 0 to 64."""
    return (int(left, 16) ^ int(right, 16)).bit_count()

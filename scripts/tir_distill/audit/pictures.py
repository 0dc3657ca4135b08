"""Every picture is there, inside the root, whole, and of the form that all readers see alike."""

from __future__ import annotations

import struct
import warnings
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from ..export import image_tokens
from ..records import BadRow
from .findings import Finding
from .view import View

CHECK = "pictures"
MIN_SIDE = 2
MAX_PIXELS = 64_000_000
ORIENTATION = 0x0112
PLAIN_MODES = ("RGB", "L")
"""What the sources store: anything else is decoded differently by different readers."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A picture as it was found."""

    size: tuple[int, int] | None
    """Width and height in pixels; None when it cannot be used."""
    problem: str = ""
    detail: str = ""
    phash: str = ""
    """16 hex digits, ImageHash's default; empty unless asked for."""
    flat: bool = False


@dataclass
class Pictures:
    """Looks at each distinct path once; keeps a few numbers per path."""

    root: Path
    hashes: bool
    """Also take perceptual hashes, for the evaluation check."""
    flat_max_std: float
    """Grey-level standard deviation up to which a picture has no structure to hash."""
    _seen: dict[str, Seen] = field(default_factory=dict)

    def look(self, path: str) -> Seen:
        """What is known of the picture at a row's path."""
        seen = self._seen.get(path)
        if seen is None:
            seen = self._seen[path] = self._look(path)
        return seen

    def check(self, view: View) -> Iterator[Finding]:
        """One finding per picture that cannot be used."""
        for number, path in enumerate(view.images):
            seen = self.look(path)
            if seen.problem:
                yield Finding(check=CHECK, reason=seen.problem, detail=f"images[{number}] {path}: {seen.detail}")

    def sizes(self, view: View) -> list[tuple[int, int]]:
        """Sizes of the usable pictures of a row, in the order of their places."""
        return [size for path in view.images if (size := self.look(path).size) is not None]

    @property
    def distinct(self) -> int:
        return len(self._seen)

    def _look(self, path: str) -> Seen:
        place = PurePosixPath(path)
        if not path or place.is_absolute() or ".." in place.parts or "\\" in path or "\x00" in path:
            return Seen(None, "outside_root", "must be relative and stay inside the root")
        whole = self.root / place
        if whole.is_symlink() and not whole.resolve().is_relative_to(self.root.resolve()):
            return Seen(None, "outside_root", "a link that leaves the root")
        if not whole.is_file():
            return Seen(None, "missing", "no such file")
        if whole.stat().st_size == 0:
            return Seen(None, "empty_file", "0 bytes")
        return self._decode(whole)

    def _decode(self, path: Path) -> Seen:
        from PIL import Image, UnidentifiedImageError

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", Image.DecompressionBombWarning)
                with Image.open(path) as image:
                    width, height = image.size
                    if width * height > MAX_PIXELS:
                        return Seen(None, "too_large", f"{width}x{height}")
                    image.load()
                    return self._judge(image)
        except Image.DecompressionBombError as error:
            return Seen(None, "too_large", str(error))
        except UnidentifiedImageError:
            return Seen(None, "not_a_picture", "unknown format")
        except (OSError, SyntaxError, ValueError, EOFError, IndexError, struct.error, zlib.error) as error:
            return Seen(None, "damaged", str(error))

    def _judge(self, image: object) -> Seen:
        from PIL import Image

        assert isinstance(image, Image.Image)
        width, height = image.size
        if min(width, height) < MIN_SIDE:
            return Seen(None, "too_small", f"{width}x{height}")
        try:
            image_tokens(width, height)
        except BadRow as error:
            return Seen(None, "shape", error.detail)
        if image.mode not in PLAIN_MODES or getattr(image, "n_frames", 1) > 1:
            return Seen((width, height), "not_plain", f"mode {image.mode}: readers decode it differently")
        if image.getexif().get(ORIENTATION, 1) not in (0, 1):
            return Seen((width, height), "rotated", "EXIF orientation: readers show it differently")
        if not self.hashes:
            return Seen((width, height))
        import imagehash
        from PIL import ImageStat

        grey = image if image.mode == "L" else image.convert("L")
        flat = ImageStat.Stat(grey).stddev[0] <= self.flat_max_std
        return Seen((width, height), phash=str(imagehash.phash(grey)), flat=flat)

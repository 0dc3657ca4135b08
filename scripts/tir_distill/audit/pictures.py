"""Every picture is there, inside the root, whole, and of the form that all readers see alike."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from ..export import image_tokens
from ..records import BadRow
from .findings import Finding
from .view import View

if TYPE_CHECKING:
    from PIL import Image

CHECK = "pictures"
MIN_SIDE = 2
MAX_PIXELS = 64_000_000
ORIENTATION = 0x0112
PLAIN_MODES = ("RGB", "L")
"""What the sources store: anything else is decoded differently by different readers."""
DEEP_MODES = ("I", "I;16", "I;16L", "I;16B", "F")
"""Grey of more than 8 bits: converting cuts it off at 255."""
FORMS = frozenset({"not_plain", "rotated"})
"""Problems that a trainer's reader converts away: sound in files that are not ours."""
SHOWN = 80
"""Characters of a path that a finding repeats."""


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
        if path[:5].lower() == "data:":  # as long as a picture, so it is not remembered
            return Seen(None, "not_a_file", "a picture inside the row; write it to a file below the root")
        seen = self._seen.get(path)
        if seen is None:
            seen = self._seen[path] = self._look(path)
        return seen

    def check(self, view: View) -> Iterator[Finding]:
        """One finding per picture that cannot be used."""
        for number, path in enumerate(view.images):
            seen = self.look(path)
            if not seen.problem or (seen.problem in FORMS and not view.profile.plain_pictures):
                continue
            name = path if len(path) <= SHOWN else f"{path[: SHOWN // 2]}…{path[-SHOWN // 2 :]}"
            yield Finding(check=CHECK, reason=seen.problem, detail=f"images[{number}] {name}: {seen.detail}")

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
        try:
            # A folder that is a link is the operator's (a run on a scratch disk, RULINGS 18); a picture has no reason.
            if whole.is_symlink() and not whole.resolve().is_relative_to(self.root.resolve()):
                return Seen(None, "outside_root", "a link that leaves the root")
            if not whole.is_file():
                return Seen(None, "missing", "no such file")
            if whole.stat().st_size == 0:
                return Seen(None, "empty_file", "0 bytes")
        except (OSError, RuntimeError, ValueError) as error:  # a name too long, links in a circle
            return Seen(None, "missing", str(getattr(error, "strerror", None) or error))
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
        except MemoryError:
            raise
        except Exception as error:  # a reader of pictures raises whatever the damage leads it to
            return Seen(None, "damaged", f"{type(error).__name__}: {error}")

    def _judge(self, image: Image.Image) -> Seen:
        width, height = image.size
        if min(width, height) < MIN_SIDE:
            return Seen(None, "too_small", f"{width}x{height}")
        try:
            image_tokens(width, height)
        except BadRow as error:
            return Seen(None, "shape", error.detail)
        if image.mode in DEEP_MODES and _highest(image) > 255:
            return Seen((width, height), "too_deep", f"mode {image.mode}: readers turn all above 255 to white")
        problem, detail = "", ""
        if image.mode not in PLAIN_MODES or getattr(image, "n_frames", 1) > 1:
            problem, detail = "not_plain", f"mode {image.mode}: readers decode it differently"
        elif image.getexif().get(ORIENTATION, 1) not in (0, 1):
            problem, detail = "rotated", "EXIF orientation: readers show it differently"
        if not self.hashes:
            return Seen((width, height), problem, detail)
        import imagehash
        from PIL import ImageOps, ImageStat

        grey = image if image.mode == "L" else image.convert("L")
        if problem == "rotated":  # as people and the evaluation sets see it
            grey = ImageOps.exif_transpose(grey)
        flat = ImageStat.Stat(grey).stddev[0] <= self.flat_max_std
        return Seen((width, height), problem, detail, str(imagehash.phash(grey)), flat)


def _highest(image: Image.Image) -> float:
    """The brightest level of a picture of one band."""
    highest = image.getextrema()[1]
    return max(highest) if isinstance(highest, tuple) else highest

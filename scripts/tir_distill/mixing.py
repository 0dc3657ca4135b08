"""What a training mix needs from other rooms, wired here: text rules, evaluation index, exact token counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from .export import Tokens, row_messages
from .records import BadRow


class Pictures:
    """What the pictures of a mix look like. Each file is decoded once."""

    def __init__(self, flat_max_std: float) -> None:
        self._flat_max_std = flat_max_std
        self._known: dict[Path, tuple[str, bool]] = {}

    def print_of(self, path: Path) -> tuple[str, bool]:
        """Perceptual hash and whether the picture has no contrast. Raises BadRow for one that cannot be read."""
        if path not in self._known:
            from .sources import picture_print

            with _opened(path) as image:
                found = picture_print(image, "", self._flat_max_std)
            self._known[path] = (found.phash, found.flat)
        return self._known[path]

    def hash_of(self, path: Path) -> int | None:
        """The hash as a number; None without contrast. Raises BadRow."""
        phash, flat = self.print_of(path)
        return None if flat else int(phash, 16)


def evaluation_matcher(index_path: Path, pictures: Pictures) -> Callable[[str, list[Path]], str | None]:
    """Which evaluation item a question with these picture files is, or None. Raises TirError for a missing index."""
    from .questions import EvaluationIndex

    index = EvaluationIndex.load(index_path)

    def match(text: str, files: list[Path]) -> str | None:
        found = index.match_text(text, [pictures.print_of(path) for path in files])
        return str(found[0]) if found else None

    return match


def _opened(path: Path) -> Any:
    from PIL import Image

    try:
        image = Image.open(path)
        image.load()
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise BadRow("bad_picture", f"{path}: {error}") from None
    return image


@dataclass(frozen=True, slots=True)
class NearJoins:
    """Near duplicates among questions and pictures, by the exact joins of decontamination."""

    jaccard_min: float
    min_units: int

    def texts(self, sets: Sequence[tuple[int, ...]]) -> Iterator[tuple[int, int]]:
        """All pairs of shingle sets with that Jaccard or more, the smaller index first, each once."""
        from .questions.jaccard import JaccardIndex, Sets

        if not sets:
            return
        joined = Sets.of(sets)
        left, right, _ = JaccardIndex(joined, self.jaccard_min, self.min_units).pairs(joined)
        yield from _each_once(left, right)

    def pictures(self, hashes: Sequence[int], max_bits: int) -> Iterator[tuple[int, int]]:
        """All pairs of 64-bit hashes within that many bits, the smaller index first, each once."""
        import numpy as np

        from .questions.hamming import HammingIndex

        values = np.array(hashes, dtype=np.uint64)
        left, right, _ = HammingIndex(values, max_bits).pairs(values)
        yield from _each_once(left, right)


def _each_once(left: Iterable[int], right: Iterable[int]) -> Iterator[tuple[int, int]]:
    return ((int(one), int(other)) for one, other in zip(left, right, strict=True) if one < other)


class RowTokens:
    """Counts a row's whole sequence, pictures included, exactly. Their sizes come from picture headers."""

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens
        self._sizes: dict[Path, tuple[int, int]] = {}

    def __call__(self, row: Mapping[str, Any], root: Path) -> int:
        """Tokens of a row whose picture paths are relative to ``root``."""
        text = self._tokens.renderer.render(row_messages(row["messages"]), orjson.loads(row["tools"]))
        return self._tokens.count_rendered(text, [self._size_of(root / path) for path in row["images"]]).sequence

    def _size_of(self, path: Path) -> tuple[int, int]:
        if path not in self._sizes:
            from PIL import Image

            with Image.open(path) as image:
                self._sizes[path] = image.size
        return self._sizes[path]

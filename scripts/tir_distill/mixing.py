"""What a training mix needs from other rooms, wired here: text rules, evaluation index, exact token counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from .export import Tokens, row_messages
from .records import BadRow


def evaluation_matcher(index_path: Path, config: Mapping[str, Any]) -> Callable[[str, list[Path]], str | None]:
    """Which evaluation item a question with these picture files is, or None. Raises TirError for a missing index."""
    from .questions import EvaluationIndex
    from .sources import picture_print

    index = EvaluationIndex.load(index_path)
    flat_max_std = config["decontamination"]["flat_max_std"]
    known: dict[Path, tuple[str, bool]] = {}

    def print_of(path: Path) -> tuple[str, bool]:
        if path not in known:
            with _opened(path) as image:
                found = picture_print(image, "", flat_max_std)
            known[path] = (found.phash, found.flat)
        return known[path]

    def match(text: str, pictures: list[Path]) -> str | None:
        found = index.match_text(text, [print_of(path) for path in pictures])
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


def near_duplicates(
    sets: Sequence[tuple[int, ...]], minimum: float, min_units: int
) -> Iterator[tuple[int, int, float]]:
    """All pairs of shingle sets with that Jaccard or more, the smaller index first, each once."""
    from .questions.jaccard import JaccardIndex, Sets

    if not sets:
        return
    joined = Sets.of(sets)
    for left, right, value in zip(*JaccardIndex(joined, minimum, min_units).pairs(joined), strict=True):
        if left < right:
            yield int(left), int(right), float(value)


def row_tokens(tokens: Tokens) -> Callable[[Mapping[str, Any], Path], int]:
    """A function that counts a row's whole sequence, pictures included, exactly. Sizes come from picture headers."""
    from PIL import Image

    sizes: dict[Path, tuple[int, int]] = {}

    def size_of(path: Path) -> tuple[int, int]:
        if path not in sizes:
            with Image.open(path) as image:
                sizes[path] = image.size
        return sizes[path]

    def count(row: Mapping[str, Any], root: Path) -> int:
        text = tokens.renderer.render(row_messages(row["messages"]), orjson.loads(row["tools"]))
        return tokens.count_rendered(text, [size_of(root / path) for path in row["images"]]).sequence

    return count

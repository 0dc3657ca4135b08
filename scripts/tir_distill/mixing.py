"""What a training mix needs from other rooms, wired here: text rules, evaluation index, exact token counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from .export import Tokens, image_tokens, row_messages
from .export.mix import Look, Print
from .records import BadRow

THUMBNAIL = 32
"""Side of a picture's thumbnail in pixels."""
MOST_APART = 8
"""Places of two thumbnails that are compared: those that differ most. Two tables differ in a few digits only, another
encoding of one table a little everywhere."""
PAIRS_AT_ONCE = 8192
MAX_DIFFERENCE = 25.0
"""Grey levels by which those places may differ on average."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A picture of a mix."""

    size: tuple[int, int]
    phash: str
    flat: bool
    print: Print | None


class Pictures:
    """What the pictures of a mix look like. Each file is decoded once."""

    def __init__(self, flat_max_std: float) -> None:
        self._flat_max_std = flat_max_std
        self._known: dict[Path, Seen | BadRow] = {}

    def look(self, path: Path) -> Seen:
        """Raises BadRow ``picture_missing``, ``bad_picture`` or ``picture_shape`` for one that cannot be used."""
        if path not in self._known:
            try:
                self._known[path] = self._decode(path)
            except BadRow as error:
                self._known[path] = error
        seen = self._known[path]
        if isinstance(seen, BadRow):
            raise BadRow(seen.reason, seen.detail)
        return seen

    def _decode(self, path: Path) -> Seen:
        from PIL import Image

        from .sources import picture_print

        try:
            with Image.open(path) as image:
                image_tokens(*image.size)
                image.load()
                found = picture_print(image, "", self._flat_max_std)
                small = image.convert("L").resize((THUMBNAIL, THUMBNAIL), Image.Resampling.BOX)
                seen = None if found.flat else Print(int(found.phash, 16), small.tobytes())
                return Seen(image.size, found.phash, found.flat, seen)
        except FileNotFoundError:
            raise BadRow("picture_missing", path.name) from None
        except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
            raise BadRow("bad_picture", f"{path.name}: {error}") from None


def evaluation_matcher(index_path: Path) -> Callable[[str, Sequence[Look]], str | None]:
    """Which evaluation item a text with these pictures is, or None. Raises TirError for a missing index."""
    from .questions import EvaluationIndex

    index = EvaluationIndex.load(index_path)

    def match(text: str, pictures: Sequence[Look]) -> str | None:
        found = index.match_text(text, [(seen.phash, seen.flat) for seen in pictures])
        return str(found[0]) if found else None

    return match


def row_check(
    profile: str | None, config: Mapping[str, Any], tokens: Tokens, secret_values: Sequence[str]
) -> Callable[[Mapping[str, Any]], None]:
    """A function that raises BadRow ``audit_<reason>`` for a row that the audit's row checks refuse.

    Without a profile nothing is checked.
    """
    if profile is None:
        return lambda row: None
    from .audit import AuditSettings, RowCheck, Secrets

    audit = RowCheck(AuditSettings.from_config(config, profile), tokens.renderer, Secrets(tuple(secret_values)))

    def check(row: Mapping[str, Any]) -> None:
        for finding in audit.findings(dict(row)):
            place = "" if finding.message is None else f"message {finding.message}: "
            raise BadRow(f"audit_{finding.reason}", f"{place}{finding.detail or finding.excerpt}"[:200])

    return check


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
        ordered = left < right
        yield from zip(left[ordered].tolist(), right[ordered].tolist(), strict=True)

    def pictures(self, prints: Sequence[Print], max_bits: int) -> Iterator[tuple[int, int]]:
        """All pairs of prints within that many bits whose thumbnails are alike, the smaller index first, each once."""
        import numpy as np

        from .questions.hamming import HammingIndex

        if not prints:
            return
        values = np.array([seen.phash for seen in prints], dtype=np.uint64)
        small = np.frombuffer(b"".join(seen.thumbnail for seen in prints), np.uint8).reshape(len(prints), -1)
        left, right, _ = HammingIndex(values, max_bits).pairs(values)
        ordered = left < right
        left, right = left[ordered], right[ordered]
        for start in range(0, len(left), PAIRS_AT_ONCE):
            one, other = left[start : start + PAIRS_AT_ONCE], right[start : start + PAIRS_AT_ONCE]
            apart = np.abs(small[one].astype(np.int16) - small[other])
            most = np.partition(apart, -MOST_APART, axis=1)[:, -MOST_APART:].mean(axis=1)
            alike = most <= MAX_DIFFERENCE
            yield from zip(one[alike].tolist(), other[alike].tolist(), strict=True)


class RowTokens:
    """Counts a row's whole sequence, pictures included, exactly."""

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens

    def __call__(self, row: Mapping[str, Any], sizes: Sequence[tuple[int, int]]) -> int:
        """Tokens of a row with pictures of these sizes."""
        text = self._tokens.renderer.render(row_messages(row["messages"]), orjson.loads(row["tools"]))
        return self._tokens.count_rendered(text, sizes).sequence

"""Which items a long text quotes: all its 13-token runs against theirs, in numpy, exactly.

The audit does this for every tool result, so it must cost far less than tokenising the text. The characters of the
folded text are one array: tokens are found where their kind changes, hashed as differences of one running sum, and
their runs hashed as sums over shifted arrays. A table of one entry per hash prefix leaves few runs to search for.
``text_units.gram_hashes`` says the same one token at a time.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..sources import text_units
from ..sources.text_units import GRAM_BASES, GRAM_TOKENS, MIX, MIX_END, SEPARATOR, SPACED, TOKEN_BASE, UNSPACED
from .spans import Hashes, Ints, unroll

SCREEN_BITS = 20
"""A table of one million entries: some 60,000 known grams leave 6 % of foreign ones for the search."""
UNKNOWN = 255
CODE_POINTS = 0x110000


def mixed(numbers: Hashes) -> Hashes:
    """``text_units.mix64`` of each."""
    for shift, factor in MIX:
        numbers = (numbers ^ (numbers >> np.uint64(shift))) * np.uint64(factor)
    return numbers ^ (numbers >> np.uint64(MIX_END))


def powers(base: int, count: int) -> Hashes:
    """``base ** 0 .. base ** (count - 1)`` modulo 2**64."""
    out = np.full(max(count, 1), base, dtype=np.uint64)
    out[0] = 1
    return np.cumprod(out, dtype=np.uint64)


class TokenHasher:
    """Hashes of a text's tokens. Holds what it learns of characters, and powers for the longest text so far."""

    def __init__(self) -> None:
        self._kinds = np.full(CODE_POINTS, UNKNOWN, dtype=np.uint8)
        self._grow(1 << 12)

    def _grow(self, length: int) -> None:
        self._up = powers(TOKEN_BASE, length)
        self._down = powers(pow(TOKEN_BASE, -1, 1 << 64), length)

    def _kinds_of(self, codes: Ints) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
        kinds = self._kinds[codes]
        if (kinds == UNKNOWN).any():
            for code in np.unique(codes[kinds == UNKNOWN]).tolist():
                self._kinds[code] = text_units.kind(chr(code))
            kinds = self._kinds[codes]
        return kinds

    def hashes(self, text: str) -> Hashes:
        """``text_units.token_hash`` of each token, in order."""
        data = text_units.fold(text).encode("utf-32-le", "surrogatepass")
        codes = np.frombuffer(data, dtype="<u4").astype(np.int64)
        if len(codes) > len(self._up):
            self._grow(2 * len(codes))
        kinds = self._kinds_of(codes)
        word = np.concatenate([[False], kinds == SPACED, [False]])
        single = kinds == UNSPACED
        starts = np.nonzero(single | (word[1:-1] & ~word[:-2]))[0]
        lasts = np.nonzero(single | (word[1:-1] & ~word[2:]))[0]
        terms = np.where(kinds == SEPARATOR, 0, codes).astype(np.uint64) * self._up[: len(codes)]
        sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(terms, dtype=np.uint64)])
        return mixed((sums[lasts + 1] - sums[starts]) * self._down[starts])


def gram_array(token_hashes: Hashes, size: int = GRAM_TOKENS) -> Hashes:
    """``text_units.gram_hash`` of every run of ``size`` tokens, in order; empty for fewer tokens."""
    count = len(token_hashes) - size + 1
    if count <= 0:
        return np.empty(0, dtype=np.uint64)
    sums = []
    for base in GRAM_BASES:
        total = token_hashes[:count].copy()
        for start in range(1, size):
            total *= np.uint64(base)  # modulo 2**64: arrays wrap without a warning
            total += token_hashes[start : start + count]
        sums.append(total)
    return mixed(sums[0] + mixed(sums[1]))


class GramIndex:
    """Grams of items, to be found again in texts."""

    def __init__(self, grams: Sequence[Hashes]) -> None:
        sizes = [len(item) for item in grams]
        flat = np.concatenate([np.empty(0, dtype=np.uint64), *grams])
        order = np.argsort(flat, kind="stable")
        self._owners = np.repeat(np.arange(len(sizes)), sizes)[order]
        self._known, self._starts, self._counts = np.unique(flat[order], return_index=True, return_counts=True)
        self._screen = np.zeros(1 << SCREEN_BITS, dtype=np.bool_)
        self._screen[self._known >> np.uint64(64 - SCREEN_BITS)] = True
        self._hasher = TokenHasher()

    def hits(self, text: str) -> list[tuple[int, int]]:
        """(item, how many of its grams stand in the text), by item."""
        if not len(self._known):
            return []
        grams = gram_array(self._hasher.hashes(text))
        grams = np.unique(grams[self._screen[grams >> np.uint64(64 - SCREEN_BITS)]])
        places = np.searchsorted(self._known, grams)
        places[places == len(self._known)] = 0
        places = places[self._known[places] == grams]
        if not len(places):
            return []
        _, owners = unroll(self._starts[places], self._counts[places])
        items, counts = np.unique(self._owners[owners], return_counts=True)
        return list(zip(items.tolist(), counts.tolist(), strict=True))

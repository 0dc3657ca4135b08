"""Text as sets of hashed units: what near-duplicate rules compare and what an evaluation index may hold.

One normalisation for every rule (decontamination, evaluation fingerprints, the audit), so that a text and its copy
meet wherever they are compared. Only the standard library is used and every function is pure: another process, machine
or Python version gives the same numbers.

* **Normalised text**: NFKC (full-width forms become ASCII), case folded, everything but letters, marks and digits is a
  separator.
* **Tokens**: a maximal run of letters and digits is one word; in scripts that are written without spaces (Chinese,
  Japanese kana, Hangul, Thai, Lao, Khmer, Burmese) each character is a token.
* **Units**: words, and the character *bigrams* of each unspaced run (a run of one character is a unit by itself).
  A mixed text has both kinds, so no threshold decides which kind a text is, and one edited character never changes it.

Hashes are the first 8 bytes of BLAKE2b. They hide the text from reading, not from a dictionary attack on single words:
the index says which common words occur, never in which order.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

GRAM_TOKENS = 13
"""Length of the grams looked for in long observations (the n of the usual n-gram contamination checks)."""

_UNSPACED = (
    "\u3040-\u30ff\u31f0-\u31ff"  # kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Han in the basic plane
    "\u3005\u3007"  # iteration mark, ideographic zero
    "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af"  # Hangul
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\U00020000-\U0003ffff"  # Han in the supplementary planes
)
_UNSPACED_RUN = re.compile(f"[{_UNSPACED}]+")
_SPLIT_RUNS = re.compile(f"([{_UNSPACED}]+)")
_TOKEN = re.compile(f"[{_UNSPACED}]|[^{_UNSPACED}\\s]+")


SEPARATOR, SPACED, UNSPACED = range(3)
"""Kinds of characters: no part of a token; part of a word; a token by itself."""


def kind(character: str) -> int:
    """The kind of a character of a folded text."""
    if not (character.isalnum() or unicodedata.category(character)[0] == "M"):
        return SEPARATOR
    return UNSPACED if _UNSPACED_RUN.match(character) else SPACED


def fold(text: str) -> str:
    """Width, compatibility forms and case made alike."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()


class _Separators(dict[int, int | str]):
    """For ``str.translate``: what separates becomes a space, the rest stays. Learns as it goes."""

    def __missing__(self, code: int) -> int | str:
        self[code] = " " if kind(chr(code)) == SEPARATOR else code
        return self[code]


_SEPARATORS = _Separators()


def normalise(text: str) -> str:
    """Normalised text: its words separated by single spaces. Equal texts but for case, width and punctuation agree."""
    return " ".join(fold(text).translate(_SEPARATORS).split())


def _runs(text: str) -> Iterator[tuple[bool, str]]:
    """(unspaced?, run) for each piece of each word, in order."""
    for word in normalise(text).split():
        if word.isascii():
            yield False, word
            continue
        for piece in _SPLIT_RUNS.split(word):
            if piece:
                yield _UNSPACED_RUN.fullmatch(piece) is not None, piece


def tokens(text: str) -> list[str]:
    """Words and single characters of unspaced scripts, in order."""
    return _TOKEN.findall(fold(text).translate(_SEPARATORS))


def units(text: str) -> frozenset[str]:
    """Distinct words and character bigrams: the sets that Jaccard compares."""
    out: set[str] = set()
    for unspaced, run in _runs(text):
        if unspaced and len(run) > 1:
            out.update(a + b for a, b in pairwise(run))
        else:
            out.add(run)
    return frozenset(out)


def script(text: str) -> str:
    """``cjk`` when characters of unspaced scripts outnumber words, else ``latin``."""
    unspaced = words = 0
    for is_unspaced, run in _runs(text):
        if is_unspaced:
            unspaced += len(run)
        else:
            words += 1
    return "cjk" if unspaced > words else "latin"


def hash64(text: str) -> int:
    """A 64-bit unsigned number fixed by the text."""
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def shingles(text: str) -> list[int]:
    """Sorted hashes of the distinct units."""
    return sorted({hash64(unit) for unit in units(text)})


def text_key(text: str) -> str:
    """Hash of the token sequence: equal for texts that differ only in case, width, punctuation and spacing."""
    return hashlib.sha256(" ".join(tokens(text)).encode("utf-8", "surrogatepass")).hexdigest()


_WORD64 = (1 << 64) - 1
TOKEN_BASE = 0x9FB21C651E98DF25
"""Multiplier of the polynomial over a token's characters; odd, so that it can be undone modulo 2**64."""
GRAM_BASES = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F)
"""Multipliers of the two polynomials over a run's tokens."""
MIX = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))
"""Shifts and multipliers of SplitMix64's last step, which ends with a shift by ``MIX_END``."""
MIX_END = 31


def mix64(number: int) -> int:
    """SplitMix64's last step: every bit of the number moves every bit of the result."""
    for shift, factor in MIX:
        number = (number ^ number >> shift) * factor & _WORD64
    return number ^ number >> MIX_END


def token_hash(token: str) -> int:
    """Hash of a token inside a gram: its code points as coefficients of a polynomial, mixed."""
    total = 0
    for character in reversed(token):
        total = total * TOKEN_BASE + ord(character) & _WORD64
    return mix64(total)


def gram_hash(token_hashes: Sequence[int]) -> int:
    """Hash of a run of tokens by their hashes: mix(p + mix(q)), p and q being polynomials in two bases, modulo 2**64.

    Sums of products can be taken over a whole text at once (``questions.gram_index``), which a hash of joined text
    cannot. Two of them, mixed, so that no arithmetic on neighbouring grams gives single tokens away: the order of words
    is found by trial only, as with any hash.
    """
    first = second = 0
    for value in token_hashes:
        first = first * GRAM_BASES[0] + value & _WORD64
        second = second * GRAM_BASES[1] + value & _WORD64
    return mix64(first + mix64(second) & _WORD64)


def gram_hashes(text: str, size: int = GRAM_TOKENS) -> list[int]:
    """Sorted distinct hashes of all runs of ``size`` tokens; empty for a shorter text."""
    hashes = [token_hash(token) for token in tokens(text)]
    return sorted({gram_hash(hashes[i : i + size]) for i in range(len(hashes) - size + 1)})


def jaccard(left: Iterable[int], right: Iterable[int]) -> float:
    """Shared units over all units of both; 0.0 when both are empty."""
    a, b = set(left), set(right)
    together = len(a | b)
    return len(a & b) / together if together else 0.0


@dataclass(frozen=True, slots=True)
class TextPrint:
    """What an index keeps of a text."""

    shingles: tuple[int, ...]
    """Sorted 64-bit hashes of the distinct units."""
    text_key: str
    """Hash of the token sequence."""
    script: str
    """``latin`` or ``cjk``; for display only."""
    grams: tuple[int, ...]
    """Sorted hashes of the 13-token runs."""

    @property
    def units(self) -> int:
        """How many distinct units the text has: the measure of "long"."""
        return len(self.shingles)

    @classmethod
    def of(cls, text: str) -> TextPrint:
        return cls(
            shingles=tuple(shingles(text)),
            text_key=text_key(text),
            script=script(text),
            grams=tuple(gram_hashes(text)),
        )

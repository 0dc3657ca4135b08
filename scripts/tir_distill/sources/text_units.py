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
from collections.abc import Collection, Iterable, Iterator, Sequence
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
_ASCII_WORD = re.compile(r"[a-z0-9]+")


def _words(text: str) -> list[str]:
    """Runs of letters, marks and digits of a normalised text."""
    if text.isascii():
        return _ASCII_WORD.findall(text)
    kept = "".join(c if c.isalnum() or unicodedata.category(c)[0] == "M" else " " for c in text)
    return kept.split()


def normalise(text: str) -> str:
    """Normalised text: its words separated by single spaces. Equal texts but for case, width and punctuation agree."""
    return " ".join(_words(unicodedata.normalize("NFKC", text).casefold()))


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
    out: list[str] = []
    for unspaced, run in _runs(text):
        out.extend(run) if unspaced else out.append(run)
    return out


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


def gram_hashes(text: str, size: int = GRAM_TOKENS) -> list[int]:
    """Sorted distinct hashes of all runs of ``size`` tokens; empty for a shorter text."""
    return sorted(set(_gram_sequence(tokens(text), size)))


def _gram_sequence(sequence: Sequence[str], size: int) -> Iterator[int]:
    return (hash64(" ".join(sequence[i : i + size])) for i in range(len(sequence) - size + 1))


def holds_gram(text: str, known: Collection[int], size: int = GRAM_TOKENS) -> bool:
    """Whether any run of ``size`` tokens of a (long) text is among the known hashes."""
    return any(gram in known for gram in _gram_sequence(tokens(text), size))


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

"""When the official scorer may not be believed, and when no rule may accept (seed section 5; see ``gaia_scorer``).

The scorer drops ASCII punctuation and white space, so ``1/12`` equals ``112``, ``1.5 m`` equals ``15 m`` and ``C++``
equals ``C``; it takes ``6,830`` for a list; a reference ``inf`` accepts anything that is no number.
"""

from __future__ import annotations

import math
import re
import string
from collections import Counter

from .gaia_scorer import is_float
from .text import fold, is_meaningful, is_single_letter, unwrap

_NUMBERS = re.compile(r"\d+|(?<![\w)])-(?=[\w.])|(?<=\d)[.,:](?=\d)|(?<=\d)-(?=\d)|(?<![\w.])\.(?=\d)")
"""Digits, and the signs between and before them, in order."""
_LOAD_BEARING = set("+#*/%&@^=<>$~|\\_!?:")
"""ASCII signs whose loss may change what an answer says."""
_GLUED = re.compile(
    r"\.(?=[a-z]{2})|(?<![\w.])\.(?=[^\W\d_])|\w\("
    r"|\b(?:[rR]e|[cC]o|[uU]n)-(?=[a-z])|'(?:re|ll|ve|[dmt])\b"
    r"|[\[(](?=[^,;\])]{0,80}[,;])|[\])]$"
)
"""Signs that build a word or an interval: ``example.com``, ``.NET``, ``f(x)``, ``re-sign``, ``we're``, ``[10, 20)``.

Those of initials, of ``O'Brien`` and of ``Coca-Cola`` may be left out.
"""
_UNIT_CASE = re.compile(r"\d\s?([^\W\d_]{1,3})(?![^\W_])")


def unusable(reference: str) -> bool:
    """Whether a reference says nothing at all, so that no answer can be compared with it."""
    return not is_meaningful(reference)


def unsafe(reference: str) -> bool:
    """Whether no rule may accept an answer for this reference: option letters, infinities, ``nan``, blanks."""
    if unusable(reference) or is_single_letter(reference):
        return True
    return is_float(reference) and not math.isfinite(float(reference))


def case_matters(answer: str, reference: str) -> bool:
    """Whether two texts differ only in case where case carries meaning: ``mW``/``MW``, ``CO``/``Co``."""
    a, r = fold(unwrap(answer), case=False), fold(unwrap(reference), case=False)
    if a == r or a.casefold() != r.casefold():
        return False
    return len(r) <= 2 or _UNIT_CASE.findall(a) != _UNIT_CASE.findall(r)


def scorer_is_safe(answer: str, reference: str) -> bool:
    """Whether a "right" of the official scorer can be believed: what it drops carries no meaning here."""
    if unsafe(reference) or not is_meaningful(answer):
        return False
    a, r = fold(answer), fold(reference)
    if sum(c.isalnum() for c in r) < 2 or case_matters(answer, reference):
        return False
    if _NUMBERS.findall(a) != _NUMBERS.findall(r):
        return False
    kept = (fold(unwrap(text), case=False) for text in (answer, reference))
    one, other = (_GLUED.findall(text) for text in kept)
    return one == other and _marks(a) == _marks(r)


def _marks(text: str) -> Counter[str]:
    return Counter(c for c in text if c in _LOAD_BEARING or (c not in string.printable and not c.isalnum()))

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

_NUMBERS = re.compile(
    r"\d+|(?<![\w)])-(?=[\w.])|(?<=\d)[.,:](?=\d)|(?<=[^\W_])-(?=\d)|(?<![\w.])\.(?=\d)|(?<=[^\W_])-(?![\w])"
)
"""Digits, and the signs between, before and behind them, in order; also the minus of ``AA-``, ``Cl-``, ``UTC-5``."""
_LOAD_BEARING = set("+#*/%&@^=<>$~|\\_!?:")
"""ASCII signs whose loss may change what an answer says."""
_GLUED = re.compile(
    r"\.(?=[a-z]{2})|(?<![\w.])\.(?=[^\W\d_])|\w\("
    r"|\b(?:[rR]e|[cC]o|[uU]n)-(?=[a-z])|'(?:re|ll|ve|[dmst])\b|s'(?!\w)"
    r"|\b[^\W\d_]-[^\W\d_]\b"
    r"|[\[(](?=[^,;\])]{0,80}[,;])|[\])]$"
)
"""Signs that build a word or an interval: ``example.com``, ``.NET``, ``f(x)``, ``re-sign``, ``x-y``, ``boy's``.

Those of initials, of ``O'Brien`` and of ``Coca-Cola`` may be left out.
"""
_UNIT_CASE = re.compile(r"\d\s?([^\W\d_]{1,5}(?:/[^\W\d_]{1,3})?)(?![^\W_])")
_LETTER = re.compile(r"([^\W_])((?:[\W_])*)")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_WORD = re.compile(r"[^\W_]+")
_INITIAL_DOT = re.compile(r"(?<=\b[^\W\d_])\.")
_CASELESS = frozenset({"yes", "no", "true", "false"})
ACRONYM = 4
"""Letters up to which a word in capitals may be another word than in small letters: ``WHO``, ``US``, ``AIDS``."""
FORMULA = 6
"""Characters up to which a word of letters and digits may be a formula or a code: ``CO2``."""


def unusable(reference: str) -> bool:
    """Whether a reference says nothing at all, so that no answer can be compared with it."""
    return not is_meaningful(reference)


def unsafe(reference: str) -> bool:
    """Whether no rule may accept an answer for this reference: option letters, infinities, ``nan``, blanks."""
    if unusable(reference) or is_single_letter(reference):
        return True
    return is_float(reference) and not math.isfinite(float(reference))


def case_matters(answer: str, reference: str) -> bool:
    """Whether two texts differ in case where case carries meaning: ``mW``/``MW``, ``CO``/``Co``, ``WHO``/``who``."""
    a, r = fold(unwrap(answer), case=False), fold(unwrap(reference), case=False)
    words, others = (_WORD.findall(_INITIAL_DOT.sub("", text)) for text in (a, r))
    if a == r or [word.casefold() for word in words] != [word.casefold() for word in others]:
        return False
    clear = len(words) > 2 or any(
        len(text) > ACRONYM and text.isupper() for text in (" ".join(words), " ".join(others))
    )
    if len(words) > 1 and words[0] in ("a", "A"):  # an article
        words, others = words[1:], others[1:]
    if any(_other_word(one, other, clear, len(words) == 1) for one, other in zip(words, others, strict=True)):
        return True
    return a.casefold() == r.casefold() and _UNIT_CASE.findall(a) != _UNIT_CASE.findall(r)


def _other_word(one: str, other: str, clear: bool, alone: bool) -> bool:
    """Whether a word may be another one in other case.

    ``clear``: more words tell which is meant, or a whole text is in capitals; ``alone``: there is no other word.
    """
    if one == other or (one.casefold() in _CASELESS and "NO" not in (one, other)):
        return False
    if not one.isalpha():
        return len(one) <= FORMULA
    if len(one) <= 2 and alone:
        return True
    return len(one) <= ACRONYM and not clear and one.isupper() != other.isupper()


def scorer_is_safe(answer: str, reference: str) -> bool:
    """Whether a "right" of the official scorer can be believed: what it drops carries no meaning here."""
    if unsafe(reference) or not is_meaningful(answer):
        return False
    a, r = fold(answer), fold(reference)
    if sum(c.isalnum() for c in r) < 2 or case_matters(answer, reference):
        return False
    if joined_otherwise(answer, reference):
        return False
    if _NUMBERS.findall(a) != _NUMBERS.findall(r):
        return False
    kept = (fold(unwrap(text), case=False) for text in (answer, reference))
    one, other = (_GLUED.findall(text) for text in kept)
    return one == other and _marks(a) == _marks(r)


def joined_otherwise(answer: str, reference: str) -> bool:
    """Whether one text writes together what the other writes apart: ``not able``/``notable``, ``black bird``.

    Apart or together is one where it cannot make another word: between a letter and a digit, at an inner capital
    (``NewYork``), between initials with dots, in Chinese and Japanese, and where a hyphen stands (``e-mail``).
    """
    a, r = _letters(answer), _letters(reference)
    if len(a) != len(r):
        return True
    for index in range(len(a) - 1):
        apart, together = sorted((side[index][1] for side in (a, r)), key=_is_joined)
        if _is_joined(apart) or not _is_joined(together) or "-" in apart:
            continue
        joined = a if a[index][1] == together else r
        left, right = joined[index][0], joined[index + 1][0]
        inner = left.islower() and right.isupper()
        initials = "." in apart and left.isupper() and right.isupper()
        measured = left.isdigit() != right.isdigit() or (left.isdigit() and together != "")
        if not (inner or initials or measured or _WIDE.search(left + right)):
            return True
    return False


def _is_joined(gap: str) -> bool:
    """Whether what stands between two letters leaves them in one word: nothing, a dot, an apostrophe."""
    return not gap.strip(".'")


def _letters(text: str) -> list[tuple[str, str]]:
    """Each letter or digit with what stands between it and the next."""
    return _LETTER.findall(fold(unwrap(text), case=False))


def _marks(text: str) -> Counter[str]:
    return Counter(c for c in text if c in _LOAD_BEARING or (c not in string.printable and not c.isalnum()))

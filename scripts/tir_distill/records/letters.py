"""Answers that are only an option letter, in whatever clothes: marks, sentences, markup, pictographs.

One definition for filters, audit, rows and legacy data. A single Latin letter is never an open answer here, whatever
it could also mean (``X`` the company, ``I`` the numeral): seed section 5, F6, knows no exception. A digit, a Chinese
character and ``A-`` or ``C++`` are answers.
"""

from __future__ import annotations

import re
import unicodedata

_AROUND_LETTER = re.compile(
    r"\\(?:boxed|text|mathrm|mathbf)|\b(?:the|final|answer|option|choice|is)\b|选项|答案|[是为]"
    r"|[\s*_`\"'“”‘’()\[\]{}<>（）【】$.。,，:：;；!！、]+"
)
"""Marks and label words that may stand around a letter. Signs that make a word of it (``C++``, ``F#``) are not here."""

LONGEST_LETTER_ANSWER = 60
"""Characters; a longer answer says more than a letter."""

_SQUARED = {0x1F150: 26, 0x1F170: 26, 0x1F1E6: 26}
"""First code point and count of letters in circles and squares that have no plain form of their own."""
_PLAIN = {first + offset: chr(97 + offset) for first, count in _SQUARED.items() for offset in range(count)}
_WORDS = re.compile(
    r"\bi(?:['’](?:d|ll|m)|\s+(?:would|will))?\s+(?:think|guess|believe|say|choose|pick|go(?:ing)?\s+(?:with|for))\b"
    r"|\b(?:it|that)['’]?s\b|\b(?:probably|likely|maybe|definitely|clearly|go\s+with|that)\b|[吧呢啊哦]$|^那?就"
    r"|</?\w[^<>]{0,20}>|\\text\w*|\b(?:option|choice|answer)\s?-"
    r"|\b(?:so|therefore|thus|hence|my|correct|right|letter|choose|chose|choosing|pick|select|selected|it|this|would|be)\b"
    r"|^我|选择?|应该?|正确|选?项|字母"
)
_ENDS = re.compile(r"^[-–—―/•·→>#+|~\s]+|(?:[—―/?|~\s]|\s[-–])+$")


def is_letter(answer: str | None) -> bool:
    """Whether an answer comes to a single Latin letter: ``B``, ``(b).``, ``Option B``, ``选项B``, full-width, boxed."""
    if not answer or len(answer) > LONGEST_LETTER_ANSWER:
        return False
    text = unicodedata.normalize("NFKC", answer.translate(_PLAIN))
    text = "".join(c for c in text if unicodedata.category(c) != "Cf").casefold()
    return _bare(text) or _bare(_ENDS.sub("", _WORDS.sub(" ", text)))


def _bare(text: str) -> bool:
    """One letter and nothing but marks around it."""
    left = _AROUND_LETTER.sub("", text)
    return len(left) == 1 and "a" <= left <= "z"

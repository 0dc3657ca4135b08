"""Option letters in more clothes than the plain ones of ``records.behaviour``: sentences, markup, pictographs.

A single Latin letter is never an open answer here, whatever it could also mean (``X`` the company, ``I`` the numeral):
seed section 5, F6, knows no exception. A digit, a Chinese character and ``A-`` or ``C++`` are answers.
"""

from __future__ import annotations

import re
import unicodedata

from ..records.behaviour import LONGEST_LETTER_ANSWER, is_letter

_SQUARED = {0x1F150: 26, 0x1F170: 26, 0x1F1E6: 26}
"""First code point and count of letters in circles and squares that have no plain form of their own."""
_PLAIN = {first + offset: chr(97 + offset) for first, count in _SQUARED.items() for offset in range(count)}
_WORDS = re.compile(
    r"</?\w[^<>]{0,20}>|\\text\w*|\b(?:option|choice|answer)\s?-"
    r"|\b(?:so|therefore|thus|hence|my|correct|right|letter|choose|chose|choosing|pick|select|selected|it|this|would|be)\b"
    r"|^我|选择?|应该?|正确|选?项|字母"
)
_ENDS = re.compile(r"^[-/•·→>#+|~\s]+|[/?|~\s]+$")


def is_option_letter(answer: str | None) -> bool:
    """Whether an answer comes to a single Latin letter."""
    if not answer or len(answer) > LONGEST_LETTER_ANSWER:
        return False
    text = unicodedata.normalize("NFKC", answer.translate(_PLAIN))
    text = "".join(c for c in text if unicodedata.category(c) != "Cf").casefold()
    return is_letter(answer) or is_letter(_ENDS.sub("", _WORDS.sub(" ", text)))

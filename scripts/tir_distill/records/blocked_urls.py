"""Blocked addresses, however they are written: escaped, percent-encoded, by a mirror's name, without a scheme."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterable
from urllib.parse import unquote

_SAME_HOST = (
    (re.compile(r"\b(?:www\.)?(?:hf\.co|hf-mirror\.com)\b", re.IGNORECASE), "huggingface.co"),
    (re.compile(r"\b\w+\.githubusercontent\.com\b|\bcdn\.jsdelivr\.net/gh\b", re.IGNORECASE), "github.com"),
    (re.compile(r"\b(\w+)-(co|com|net)\.translate\.goog\b", re.IGNORECASE), r"\1.\2"),
    (re.compile(r"\bdatasets-server\.huggingface\.co/", re.IGNORECASE), "huggingface.co/datasets/"),
    (re.compile(r"\bhuggingface\.co/api/", re.IGNORECASE), "huggingface.co/"),
)
"""Other names under which a blocked site serves the same files."""
_OTHER_HOSTS = ("hf.co", "hf-mirror", "githubusercontent", "jsdelivr", "translate.goog")
_ENCODED_OR_RENAMED = ("%", *_OTHER_HOSTS)
_WIDE = re.compile("[\uff21-\uff3a\uff41-\uff5a]")
_FORMAT = re.compile(
    "[\u00ad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f"
    "\ufeff\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0001\U000e0020-\U000e007f]"
)
"""Characters that nobody sees (category Cf). They stand in an address only to hide it."""
_SPELLED = (
    (re.compile(r"(?<=[A-Za-z0-9])[。．｡](?=[A-Za-z])|[\[({](?:\.|dot)[\])}]"), "."),
    (re.compile(r"\\"), "/"),
    (re.compile(r"(?<!:)/{2,}"), "/"),
    (re.compile(r"(?<=[A-Za-z])(?:\.?:\d{1,5}|\.)(?=/)"), ""),  # port, and the root's full stop
    (re.compile(r"/\.(?=/)"), ""),
    *((re.compile(r"(?<=[^/:\s])/[^/\s]+/\.\.(?=/)"), ""),) * 4,
    (re.compile(r"/\.\.(?=/)"), ""),
)
"""Spellings of an address that a server or a reader takes for the plain one."""
_WORD_END = re.compile(r"[\s\"'<>()\[\]{}`，。；、！？（）《》]+")


_LITERAL = re.compile(r"(?:[A-Za-z0-9_/:-]|\\\W)+")
_SIMPLE = re.compile(r"(?:[A-Za-z0-9_/:-]|\\\W|\.[*+])+")


@functools.lru_cache(maxsize=16)
def needles(patterns: tuple[str, ...]) -> tuple[str, ...] | None:
    """For each pattern, a name that every match holds, however it is spelled: ``huggingface``, ``gaia_web``.

    None when a pattern is not made of plain text and ``.*`` alone.

    Looking for a few plain strings is some ten times faster than the expression, and nearly always finds nothing.
    """
    found = []
    for pattern in patterns:
        if not _SIMPLE.fullmatch(pattern):
            return None
        literals = [re.sub(r"\\(\W)", r"\1", literal) for literal in _LITERAL.findall(pattern)]
        if not literals:
            return None
        longest = max(literals, key=len).casefold()
        found.append(re.split(r"[./]", longest)[0] or longest)
    return tuple(found)


@functools.lru_cache(maxsize=16)
def compiled(patterns: tuple[str, ...]) -> re.Pattern[str] | None:
    """One expression for all patterns; None when there are none."""
    return re.compile("|".join(f"(?:{p})" for p in patterns), re.IGNORECASE) if patterns else None


def blocked(text: str, patterns: tuple[str, ...]) -> str | None:
    """The first word of a text that matches a pattern, else None.

    Patterns are matched within single words: ``github\\.com/.*\\.jsonl`` must not reach from one address to a file name
    three sentences later.
    """
    expression = compiled(patterns)
    if expression is None or not text:
        return None
    plain = needles(patterns)
    if plain is not None:
        folded = text.casefold()
        marked = any(mark in folded for mark in plain) or any(mark in folded for mark in _ENCODED_OR_RENAMED)
        if not marked and (text.isascii() or not (_WIDE.search(text) or _FORMAT.search(text))):
            return None
    for form in _forms(text):
        if expression.search(form):
            for word in _WORD_END.split(form):
                if expression.search(word):
                    return word
    return None


def any_blocked(texts: Iterable[str], patterns: tuple[str, ...]) -> str | None:
    """The first blocked word in several texts."""
    return next((word for text in texts if (word := blocked(text, patterns))), None)


def _forms(text: str) -> list[str]:
    """The text as it stands, decoded, and with each address in its plain spelling and under its first name."""
    forms = [text]
    if "%" in text:
        once = unquote(text)
        forms += [once, unquote(once)] if once != text else []
    forms += [seen for form in forms if not form.isascii() and (seen := _FORMAT.sub("", form)) != form]
    for form in tuple(forms):
        plain = form if form.isascii() else unicodedata.normalize("NFKC", _SPELLED[0][0].sub(".", form))
        for pattern, instead in (*_SPELLED, *_SAME_HOST):
            plain = pattern.sub(instead, plain)
        if plain != form:
            forms.append(plain)
    return forms

"""Blocked addresses, however they are written: escaped, percent-encoded, by a mirror's name, without a scheme."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from urllib.parse import unquote

_SAME_HOST = (
    (re.compile(r"\b(?:www\.)?(?:hf\.co|hf-mirror\.com)\b", re.IGNORECASE), "huggingface.co"),
    (re.compile(r"\braw\.githubusercontent\.com\b|\bcdn\.jsdelivr\.net/gh\b", re.IGNORECASE), "github.com"),
)
"""Other names under which a blocked site serves the same files."""
_OTHER_HOSTS = re.compile(r"hf\.co|hf-mirror|githubusercontent|jsdelivr", re.IGNORECASE)
_WORD_END = re.compile(r"[\s\"'<>()\[\]{}`，。；、！？（）《》]+")


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
    forms = [text]
    if "%" in text:
        once = unquote(text)
        forms += [once, unquote(once)] if once != text else []
    for form in tuple(forms):
        if _OTHER_HOSTS.search(form):
            for pattern, name in _SAME_HOST:
                form = pattern.sub(name, form)
            forms.append(form)
    return forms

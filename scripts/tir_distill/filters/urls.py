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
_OTHER_HOSTS = ("hf.co", "hf-mirror", "githubusercontent", "jsdelivr")
_ENCODED_OR_RENAMED = ("%", *_OTHER_HOSTS)
_WORD_END = re.compile(r"[\s\"'<>()\[\]{}`，。；、！？（）《》]+")


_LITERAL = re.compile(r"(?:[A-Za-z0-9_/:-]|\\\W)+")
_SIMPLE = re.compile(r"(?:[A-Za-z0-9_/:-]|\\\W|\.[*+])+")


@functools.lru_cache(maxsize=16)
def needles(patterns: tuple[str, ...]) -> tuple[str, ...] | None:
    """For each pattern, text that every match holds; None when a pattern is not made of plain text and ``.*`` alone.

    Looking for a few plain strings is some ten times faster than the expression, and nearly always finds nothing.
    """
    found = []
    for pattern in patterns:
        if not _SIMPLE.fullmatch(pattern):
            return None
        literals = [re.sub(r"\\(\W)", r"\1", literal) for literal in _LITERAL.findall(pattern)]
        if not literals:
            return None
        found.append(max(literals, key=len).casefold())
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
        if not any(needle in folded for needle in plain) and not any(mark in folded for mark in _ENCODED_OR_RENAMED):
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
        folded = form.casefold()
        if any(host in folded for host in _OTHER_HOSTS):
            for pattern, name in _SAME_HOST:
                form = pattern.sub(name, form)
            forms.append(form)
    return forms

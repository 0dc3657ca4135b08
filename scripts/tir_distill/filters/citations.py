"""Which of a numbered list of search results a text leans on: by number, by place in the list, by title, by site.

Generous on purpose: it is asked only about lists that hold a blocked address, and there a result cited unseen is worse
than a sample too few.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

_RESULT = re.compile(r"^(\d+)\. (.*)\nURL: (\S+)", re.MULTILINE)
_SHORTEST_TITLE = 12
"""Characters below which a title is too common to prove a citation."""
_SHORTEST_SITE = 5

_THING = r"(?:results?|sources?|hits?|links?|entry|entries|references?|refs?|citations?|snippets?)"
_SACHE = r"(?:结果|来源|链接|网页|网站|页面|条目|文章|资料)"
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_COUNTS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_CHINESE = "一二三四五六七八九十"
_WORTH = {
    **{word: place for place, word in enumerate(_ORDINALS, start=1)},
    **{word: place for place, word in enumerate(_COUNTS, start=1)},
    **{sign: place for place, sign in enumerate(_CHINESE, start=1)},
    "top": 1,
    "couple": 2,
    "两": 2,
    "few": 3,
    "几": 3,
}
_NUMBER = rf"(?:\d{{1,3}}|{'|'.join(_COUNTS)}|[{_CHINESE}])"

_LISTED = re.compile(
    rf"(?:\b{_THING}|{_SACHE})\s*(?:number|numbers|nos?\.?|#|[:：])?\s*[\[(（]?"
    rf"({_NUMBER}(?:\s*(?:,\s*(?:and|or|&)?|、|and|&|to|or|through|和|与|及|至|到|[-–~])\s*#?{_NUMBER})*)(?![\w.]*\d|[致样直般定些种切起])"
)
"""``results 2 and 1``, ``source #1``, ``结果1``, ``来源一``; not ``结果一致``."""
_PIECE = re.compile(rf"({_NUMBER})(?:\s*(?:to|through|至|到|[-–~])\s*#?({_NUMBER}))?")
_BRACKETED = re.compile(r"[\[(（【]\s*(\d{1,3}(?:\s*[,、]\s*\d{1,3})*)\s*[\])）】]")
_ORDINAL = re.compile(
    rf"\b({'|'.join(_ORDINALS)}|top|(\d{{1,2}})(?:st|nd|rd|th))\s+(?:\w+\s+)?{_THING}"
    rf"|第\s*(\d{{1,3}}|[{_CHINESE}])\s*(?:[条篇项]|个\s*(?:搜索|检索)?{_SACHE}|{_SACHE})|第\s*(\d{{1,3}})\s*个"
)
_LEADING = re.compile(
    rf"\b(?:first|top)\s+({'|'.join(_COUNTS)}|couple|few|\d{{1,2}})\s+(?:\w+\s+)?(?:of\s+)?{_THING}"
    rf"|前\s*(\d{{1,2}}|[{_CHINESE}两几])\s*[条个篇项]"
)
_LEADER = re.compile(rf"[首头]\s*[条个篇]|最(?:上|前)面的\s*{_SACHE}")
_LAST = re.compile(rf"\b(?:last|final|bottom)\s+(?:\w+\s+)?{_THING}|最后一?\s*[条个篇]")
_ALL = re.compile(
    rf"\b(?:both|all|each|every|any)\s+(?:of\s+)?(?:the\s+|these\s+)?(?:\w+\s+)?{_THING}"
    rf"|(?:所有|全部|每[条个]|两[条个])\s*(?:的\s*)?(?:搜索|检索)?{_SACHE}"
)


class Listed(NamedTuple):
    """One search result as it was shown."""

    number: int
    title: str
    url: str


def listed(content: str) -> list[Listed]:
    """The results that a search's text shows."""
    return [Listed(int(number), title, url) for number, title, url in _RESULT.findall(content)]


def plain(text: str) -> str:
    """Text in the spelling in which titles and numbers are looked for."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def numbers_cited(said: str, count: int) -> set[int]:
    """Numbers of results that a text (``plain``) names, of a list that long."""
    found: set[int] = set()
    for match in _LISTED.finditer(said):
        for first, last in _PIECE.findall(match.group(1)):
            found.update(range(_worth(first), _worth(last or first) + 1) if count else ())
    for match in _BRACKETED.finditer(said):
        found.update(int(number) for number in re.findall(r"\d+", match.group(1)))
    for match in _ORDINAL.finditer(said):
        word, digits, chinese, piece = match.groups()
        found.add(_worth(digits or word or chinese or piece))
    for match in _LEADING.finditer(said):
        found.update(range(1, _worth(match.group(1) or match.group(2)) + 1))
    if _LEADER.search(said):
        found.add(1)
    if _LAST.search(said):
        found.add(count)
    if _ALL.search(said):
        found.update(range(1, count + 1))
    return found


def _worth(word: str) -> int:
    return int(word) if word.isdecimal() else _WORTH[word]


def title_cited(said: str, title: str) -> bool:
    """Whether a text (``plain``) holds a title that is long enough to be no chance."""
    wanted = plain(title)
    return len(wanted) >= _SHORTEST_TITLE and wanted in said


def site_cited(said: str, url: str, others: Sequence[str]) -> bool:
    """Whether a text (``plain``) names the site of an address, unless an address among the others is there too."""
    name = _site(url)
    if len(name) < _SHORTEST_SITE or any(_site(other) == name for other in others):
        return False
    return re.search(rf"\b{' ?'.join(map(re.escape, name))}\b", said) is not None


def _site(url: str) -> str:
    try:
        host = urlsplit(url if "//" in url else f"//{url}").hostname or ""
    except ValueError:
        return ""
    parts = host.casefold().split(".")
    return parts[-2] if len(parts) > 1 else ""

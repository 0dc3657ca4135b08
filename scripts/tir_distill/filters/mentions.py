"""What a text says that can be recognised later: numbers, words, Chinese pairs of characters, names of pictures."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal, InvalidOperation

_NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?%?|(?<=[a-z_])\d+(?:\.\d+)?", re.ASCII)
_WORD = re.compile(r"[^\W\d_]{3,}")
_CJK_RUN = re.compile(r"[\u3400-\u9fff\u3040-\u30ff]{2,}")
_CJK_ONLY = re.compile(r"[\u3400-\u9fff\u3040-\u30ff]+")
_NOTICE = re.compile(r"^\[[^\]\n]*\]$|^\(no output\)$", re.MULTILINE)
_COMMON_TEXT = """
the and for are but not you all any can had her was one our out has him his how its may new now old see two way who
did get let put say she too use that with have this will your from they know want been good much some time very when
come here just like long make many more only over such take than them well were what done okay none true false null
size mode width height shape saved image picture output result print text value array type list file line there which
their about would these other into could then also after first
"""
_COMMON = frozenset(_COMMON_TEXT.split())
"""Words too common in printed output and prose alike to show that one was read."""
_PICTURE = re.compile(
    r"\b(?:image|picture|photo|crop\w*|zoom\w*|enlarge\w*|magnif\w*|rotat\w*|resiz\w*|sharpen\w*|region|patch|figure|plot"
    r"|sign(?:s|age|board)?|banners?|labels?|logos?|letter(?:s|ing)|captions?|inscriptions?|spell(?:s|ed)?|written"
    r"|shows?|shown|see(?!\s*[.,!])|seen|visible|look(?:s|ing)?|reads?|display\w*)\b|图|裁剪|裁切|放大|旋转|锐化|看到|看出|可见|显示|区域|牌|写着|写有|字样|标志|横幅|标签",
    re.IGNORECASE,
)
_TOOL_PICTURE = re.compile(
    r"\b(?:crop\w*|zoom\w*|enlarge\w*|magnif\w*|rotat\w*|sharpen\w*)\b|裁剪|裁切|放大|旋转|锐化", re.IGNORECASE
)
_FAILURE = re.compile(
    r"\b(?:error|errors|failed|fails|failure|exception|traceback|crash\w*)\b|报错|错误|失败|异常", re.IGNORECASE
)
_ELSEWHERE = re.compile(
    r"\b(?:by|from|per|as|in|according\s+to)\s+(?:the|this|that|an?|my|its)\s+(?:\w+\s+){0,2}?"
    r"(?:articles?|pages?|search(?:es)?|sources?|websites?|memory|knowledge)\b"
    r"|\b(?:from|by)\s+memory\b|\b(?:according\s+to|from|by|on)\s+wikipedia\b|\bi\s+(?:already\s+)?(?:know|knew|remember)\b"
    r"|\b(?:articles?|pages?|search\s+results?|sources?|websites?|wikipedia)\s+(?:\w+\s+)?"
    r"(?:says?|said|states?|tells?|confirms?|gives?|mentions?|has|have)\b"
    r"|(?:根据|按照|依据|从)[^，。；]{0,6}(?:文章|网页|页面|资料|搜索|检索|记忆)|(?:文章|网页|页面|资料|搜索结果)[^，。；]{0,4}(?:说|写|提到|指出)|我(?:已经)?(?:知道|记得)",
    re.IGNORECASE,
)
_RUN = re.compile(r"\b(?:pixels?|outputs?|printed|the\s+(?:code|cell|script))\b|像素|输出|打印|代码", re.IGNORECASE)
MOST_NUMBERS = 400
"""Numbers of one output whose roundings are looked for; a printed array is not read number by number."""


def mentions(text: str) -> set[str]:
    """Recognisable pieces of a text, in one spelling."""
    text = _NOTICE.sub(" ", text).casefold()
    words = set(_WORD.findall(text)) - _COMMON
    if not text.isascii():
        words = {word for word in words if not _CJK_ONLY.fullmatch(word)}
        for run in set(_CJK_RUN.findall(text)):
            words.update(run[i : i + 2] for i in range(len(run) - 1))
    words.update(number for piece in set(_NUMBER.findall(text)) if (number := _plain(piece)))
    return words


def all_mentions(texts: Iterable[str]) -> set[str]:
    found: set[str] = set()
    for text in texts:
        found |= mentions(text)
    return found


def _plain(piece: str) -> str | None:
    if piece.isdecimal():
        return piece.lstrip("0") or "0"
    try:
        value = Decimal(piece.rstrip("%").replace(",", ""))
    except InvalidOperation:
        return None
    return _spelled(f"{value:f}")


def _spelled(text: str) -> str:
    return (text.rstrip("0").rstrip(".") if "." in text else text).lstrip("-") or "0"


def with_roundings(pieces: set[str]) -> set[str]:
    """The pieces, and each decimal number also as people quote it: rounded, or as a percentage."""
    found = set(pieces)
    decimals = [piece for piece in pieces if "." in piece][:MOST_NUMBERS]
    for piece in decimals:
        value = Decimal(piece)
        for form in (value, value * 100):
            for places in range(4):
                rounded = _spelled(f"{form:.{places}f}")  # round() refuses more digits than the context's precision
                if len(rounded.replace(".", "").lstrip("0")) >= 2:
                    found.add(rounded)
    return found


def speaks_of_picture(text: str) -> bool:
    """Whether a text speaks of something seen."""
    return bool(_PICTURE.search(text))


def speaks_of_tool_picture(text: str) -> bool:
    """Whether a text speaks of a picture that only a tool can have made."""
    return bool(_TOOL_PICTURE.search(text))


def speaks_of_other_source(text: str) -> bool:
    """Whether a text says that it stands on something else than what was just shown: an article, a search, memory."""
    return bool(_ELSEWHERE.search(text))


def speaks_of_run(text: str) -> bool:
    """Whether a text speaks of what code gave."""
    return bool(_RUN.search(text))


def speaks_of_failure(text: str) -> bool:
    """Whether a text speaks of something that went wrong."""
    return bool(_FAILURE.search(text))

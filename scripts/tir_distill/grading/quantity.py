"""A number with what stands beside it: currency, scale, percent sign, unit. Read and compared exactly."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from .match import Match
from .numbers import Number, is_rounding, leading_number, parse_number
from .text import fold, strip_outer, unwrap
from .units import CURRENCIES, MONEY_SCALES, SCALES, SHARED_SIGNS, find_unit

PLAIN = "plain"
PERCENT = "percent"
DECADE = "?decade"
NEAR = Fraction(5, 100)
"""Relative difference up to which two values in different units are left to the judge (rounded conversions)."""

_PERCENT_WORDS = frozenset({"%", "percent", "per cent", "pct", "百分比"})
_PERCENT_QUESTION = re.compile(
    r"%|percent|per cent|proportion|\bshare of\b"
    r"|\b(?:unemployment|inflation|growth|interest|literacy|mortality|birth|death|tax|poverty|success|approval) rate\b"
    r"|百分|比例|占比|(?<![汇频心速功倍])率",
    re.IGNORECASE,
)
"""A rate of another kind (exchange, heart, frames) is no share."""
_COUNT_QUESTION = re.compile(r"\bhow many\b|\bnumber of\b|(?:多少|几)[个人名次位年天只家座条]", re.IGNORECASE)
"""Asks for a count: no share and no money, whatever the number."""
_NUMBERED = re.compile(
    r"\b(?:version|release|section|chapter|figure|table|python|java|ios|android)\b|版本|章|节", re.IGNORECASE
)
"""Questions whose decimals may be labels: version 3.10 is not version 3.1."""
_MONEY_IN_QUESTION = re.compile(
    r"[$€£¥￥₹₩]|\b(?:dollars?|euros?|pounds? sterling|yuan|rmb|yen|rupees?)\b"
    r"|美元|欧元|英镑|日元|人民币|韩元|卢比|港元|港币",
    re.IGNORECASE,
)
_CURRENCY_FIRST = re.compile(
    "(?P<sign>[+-]?) ?(?P<mark>"
    + "|".join(sorted(map(re.escape, CURRENCIES), key=len, reverse=True))
    + ") ?(?P<rest>[-+.\\d].*)",
    re.IGNORECASE,
)
_SCALE = re.compile(r" ?(" + "|".join(sorted(SCALES, key=len, reverse=True)) + r")(?![a-z])", re.IGNORECASE)
_PART = re.compile(r"(?:,? and |, | )")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A value in the base unit of its dimension."""

    number: Number
    """As written, before scale and unit."""
    value: Fraction
    """In base units; a percentage is divided by 100."""
    dimension: str
    """``plain``, ``percent``, ``money:<currency>``, a dimension of ``units``, or ``?<unknown unit>``."""
    unit: str = ""
    scaled: bool = False
    """A scale word (million, 万) was there."""


def parse_quantity(text: str) -> Quantity | None:
    """Read a whole answer as one quantity, or None. ``5 ft 10 in`` and ``1 hour and 15 minutes`` are one."""
    text = strip_outer(fold(unwrap(text), case=False))
    return _single(text) or _compound(text)


def _single(text: str) -> Quantity | None:
    chinese = re.fullmatch(r"百分之(.+)", text)
    if chinese:
        number = parse_number(chinese.group(1).casefold())
        return Quantity(number, number.value / 100, PERCENT, "%") if number else None
    found = _CURRENCY_FIRST.fullmatch(text)
    if found and found["mark"].casefold() in CURRENCIES:
        return _money(found["sign"] + found["rest"], CURRENCIES[found["mark"].casefold()])
    whole = parse_number(text.casefold())
    if whole is not None:
        return Quantity(whole, whole.value, PLAIN)
    start = leading_number(text)
    if start is None:
        words = text.rpartition(" ")
        spelled = parse_number(words[0].casefold())
        ordinal = words[2].casefold() == "second"  # twenty second: 22nd or 20 s
        start = (spelled, words[2]) if spelled and words[2] and not ordinal else None
    if start is None:
        return None
    number, rest = start
    return _with_rest(number, rest)


def _with_rest(number: Number, rest: str) -> Quantity | None:
    scale = _SCALE.match(rest)
    factor = 1
    if scale:
        factor = SCALES[scale.group(1).casefold()]
        rest = rest[scale.end() :]
    decade = rest == "s" and number.value.denominator == 1 and number.value % 10 == 0  # 1990s are no seconds
    rest = rest.strip()
    value = number.value * factor
    word = rest.casefold()
    if not rest:
        return Quantity(number, value, PLAIN, scaled=bool(scale))
    if word in _PERCENT_WORDS:
        return Quantity(number, value / 100, PERCENT, "%", bool(scale))
    if word in CURRENCIES:
        return Quantity(number, value, f"money:{CURRENCIES[word]}", CURRENCIES[word], bool(scale))
    if decade:
        return Quantity(number, value, DECADE, "s")
    unit = find_unit(rest)
    if unit is not None:
        return Quantity(number, value * unit.factor, unit.dimension, rest, bool(scale))
    if re.fullmatch(r"[^\W\d_][^\d,;]{0,30}", rest):
        name = rest if _is_symbol(rest) else word
        plural = len(word) > 3 and word.endswith("s") and not word.endswith("ss")
        return Quantity(number, value, f"?{name[:-1] if plural else name}", rest, bool(scale))
    return None


def _is_symbol(unit: str) -> bool:
    """Whether an unknown unit may be a symbol, whose case carries meaning: ``Mb/s``, ``MBps``, ``mmol``, ``Mbar``."""
    return len(unit) <= 5 or not unit.replace(" ", "").isalpha() or not unit[1:].islower()


def _money(text: str, currency: str) -> Quantity | None:
    start = leading_number(text)
    if start is None:
        return None
    number, rest = start
    rest = rest.strip()
    factor = 1
    if rest:
        word = rest.casefold()
        factor = SCALES.get(word) or MONEY_SCALES.get(word) or 0
        if not factor:
            return None
    return Quantity(number, number.value * factor, f"money:{currency}", currency, factor != 1)


def _compound(text: str) -> Quantity | None:
    """Two or more quantities of one known dimension, largest unit first, as one sum."""
    pieces = re.findall(r"[^\d\s]*\d[\d.,/]*\s?[^\d\s,]+", text)
    if not 2 <= len(pieces) <= 4 or _PART.sub("", text).replace(" ", "") != "".join(pieces).replace(" ", ""):
        return None
    parts = [_single(piece) for piece in pieces]
    known = [part for part in parts if part is not None and find_unit(part.unit)]
    if len(known) != len(parts) or len({part.dimension for part in known}) != 1:
        return None
    sizes = [part.value / part.number.value for part in known if part.number.value]
    if len(sizes) != len(known) or sorted(sizes, reverse=True) != sizes or len(set(sizes)) != len(sizes):
        return None
    return Quantity(known[-1].number, sum((p.value for p in known), Fraction(0)), known[0].dimension, known[0].unit)


def asks_percent(question: str) -> bool:
    """Whether a question asks for a share, so that ``39`` and ``39%`` mean the same."""
    return bool(_PERCENT_QUESTION.search(question))


def compare_quantities(answer: Quantity, reference: Quantity, question: str = "") -> Match:
    """Same value or not; UNKNOWN whenever the unit, the scale or the rounding leaves a doubt."""
    a, r = answer, reference
    if a.dimension == r.dimension:
        if a.value == r.value:
            labels = a.number.decimals != r.number.decimals and _NUMBERED.search(question)
            return Match.UNKNOWN if labels or _written_otherwise(a, r) else Match.YES
        if a.dimension == PLAIN:
            return _unequal_plain(a, r, question)
        if a.dimension == DECADE:
            return Match.NO if (a.value - r.value) % 100 else Match.UNKNOWN  # 1990s and 90s
        if a.dimension.startswith("?"):
            return Match.UNKNOWN if is_rounding(a.number, r.number) or a.scaled != r.scaled else Match.NO
        return Match.UNKNOWN if _near(a.value, r.value) and _could_round(a, r) else Match.NO
    kinds = {a.dimension, r.dimension}
    if kinds == {PLAIN, PERCENT}:
        return _plain_and_percent(a, r, question)
    money = [q for q in (a, r) if q.dimension.startswith("money:")]
    if len(money) == 2:
        named = {"CNY", "JPY"} == {a.unit, r.unit}
        shared = any({a.unit, r.unit} <= signs for signs in SHARED_SIGNS) and not named
        return Match.UNKNOWN if shared else Match.NO
    if len(money) == 1 and PLAIN in kinds:
        # TabMWP and others keep the sign out of the reference: more in the answer is right, less is the judge's
        if a.value == r.value:
            return Match.YES if r.dimension == PLAIN and _fits_question(a, question) else Match.UNKNOWN
        return Match.UNKNOWN if _other_scale(a.value, r.value) or _could_round(a, r) else Match.NO
    return Match.UNKNOWN


def _written_otherwise(a: Quantity, r: Quantity) -> bool:
    """``6/8`` beside ``3/4``, ``02138`` beside ``2138``: one value, but the one may be a score, a signature, a code."""
    if a.dimension != PLAIN and not a.dimension.startswith("?"):
        return False
    return a.number.ratio != r.number.ratio or a.number.zeros != r.number.zeros


def _fits_question(money: Quantity, question: str) -> bool:
    """Whether an answer's currency is among those that the question speaks of, when it speaks of any."""
    if _COUNT_QUESTION.search(question) and not _MONEY_IN_QUESTION.search(question):
        return False
    asked = {CURRENCIES[mark.casefold()] for mark in _MONEY_IN_QUESTION.findall(question)}
    return not asked or any({money.unit, currency} <= signs for currency in asked for signs in _same_money(money.unit))


def _same_money(currency: str) -> list[frozenset[str]]:
    return [frozenset({currency}), *(signs for signs in SHARED_SIGNS if currency in signs)]


def _near(a: Fraction, r: Fraction) -> bool:
    return abs(a - r) <= NEAR * abs(r)


def _could_round(a: Quantity, r: Quantity) -> bool:
    """Different units or scales may have been rounded on conversion; equal ones only as ``is_rounding`` says."""
    if a.unit != r.unit or a.scaled != r.scaled:
        return True
    return is_rounding(a.number, r.number)


def _other_scale(a: Fraction, r: Fraction) -> bool:
    return any(a * Fraction(10) ** k == r or a == r * Fraction(10) ** k for k in (2, 3, 4, 6, 8, 9))


def _unequal_plain(a: Quantity, r: Quantity, question: str) -> Match:
    if is_rounding(a.number, r.number):
        return Match.UNKNOWN
    if (a.scaled or r.scaled or asks_percent(question)) and _other_scale(a.value, r.value):
        return Match.UNKNOWN
    if asks_percent(question) and (_near(a.value * 100, r.value) or _near(a.value, r.value * 100)):
        return Match.UNKNOWN  # 66.7 and 0.6667
    return Match.UNKNOWN if a.scaled != r.scaled and _near(a.value, r.value) else Match.NO


def _plain_and_percent(a: Quantity, r: Quantity, question: str) -> Match:
    plain = a if a.dimension == PLAIN else r
    if a.value == r.value:  # 39 % is 0.39, but asked for a percentage 0.39 may be 0.39 %, and no count is 100 %
        doubt = plain.value and (asks_percent(question) or plain.value.denominator == 1)
        return Match.UNKNOWN if doubt or _COUNT_QUESTION.search(question) else Match.YES
    if a.number.value == r.number.value:  # 39 % and 39: only the question can tell
        return Match.YES if asks_percent(question) and abs(plain.value) > 1 else Match.UNKNOWN
    rounded = is_rounding(a.number, r.number) or _near(a.value, r.value) or _near(a.number.value, r.number.value)
    return Match.UNKNOWN if rounded else Match.NO

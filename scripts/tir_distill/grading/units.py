"""Units that are converted exactly. Symbols keep their case (``mW`` is not ``MW``); words do not."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit in terms of its dimension's base."""

    dimension: str
    factor: Fraction
    """How many base units one of it is."""


def _table(dimension: str, entries: dict[str, str]) -> dict[str, Unit]:
    return {name: Unit(dimension, Fraction(factor)) for names, factor in entries.items() for name in names.split("|")}


SYMBOLS: dict[str, Unit] = {
    **_table(
        "length",
        {"km": "1000", "m": "1", "cm": "1/100", "mm": "1/1000", "µm|μm|um": "1/1000000", "nm": "1/1000000000"}
        | {"mi": "1609.344", "yd": "0.9144", "ft": "0.3048", "in": "0.0254"},
    ),
    **_table("area", {"km^2|km2|sq km": "1000000", "m^2|m2|sq m": "1", "cm^2|cm2": "1/10000", "ha": "10000"}),
    **_table("mass", {"t": "1000", "kg": "1", "g": "1/1000", "mg": "1/1000000", "lb|lbs": "0.45359237"}),
    **_table("volume", {"m^3|m3": "1000", "L|l": "1", "ml|mL": "1/1000", "cl|cL": "1/100"}),
    **_table("time", {"h|hr|hrs": "3600", "min|mins": "60", "s|sec|secs": "1", "ms": "1/1000"}),
    **_table("speed", {"km/h|kph|kmh": "5/18", "m/s": "1", "mph": "0.44704"}),
    **_table("power", {"W": "1", "mW": "1/1000", "kW": "1000", "MW": "1000000", "GW": "1000000000"}),
    **_table("data", {"B": "1", "KB|kB": "1000", "MB": "1000000", "GB": "1000000000", "TB": "1000000000000"}),
    **_table("frequency", {"Hz": "1", "kHz": "1000", "MHz": "1000000", "GHz": "1000000000"}),
}

WORDS: dict[str, Unit] = {
    **_table(
        "length",
        {"kilometer|kilometre|千米|公里": "1000", "meter|metre|米": "1", "centimeter|centimetre|厘米|公分": "1/100"}
        | {"millimeter|millimetre|毫米": "1/1000", "mile|英里": "1609.344", "yard": "0.9144"}
        | {"foot|feet|英尺": "0.3048", "inch|inches|英寸": "0.0254"},
    ),
    **_table(
        "area",
        {"square kilometer|square kilometre|平方公里|平方千米": "1000000", "square meter|square metre|平方米": "1"}
        | {"hectare|公顷": "10000"},
    ),
    **_table(
        "mass",
        {"tonne|吨": "1000", "kilogram|kilo|公斤|千克": "1", "gram|克": "1/1000", "milligram|毫克": "1/1000000"}
        | {"pound": "0.45359237", "斤": "1/2"},
    ),
    **_table("volume", {"liter|litre|升": "1", "milliliter|millilitre|毫升": "1/1000"}),
    **_table(
        "time",
        {
            "week|星期|周": "604800",
            "day|天|日": "86400",
            "hour|小时": "3600",
            "minute|分钟": "60",
            "second|秒|秒钟": "1",
        },
    ),
    **_table("calendar", {"century|centuries|个世纪": "1200", "decade": "120", "year|yr|年": "12", "month|个月": "1"}),
    **_table(
        "power", {"watt|瓦": "1", "kilowatt|千瓦": "1000", "megawatt|兆瓦": "1000000", "gigawatt|吉瓦": "1000000000"}
    ),
}

CURRENCIES = {
    **dict.fromkeys(("$", "us$", "usd", "dollar", "dollars", "us dollar", "us dollars", "美元", "美金"), "USD"),
    **dict.fromkeys(("€", "eur", "euro", "euros", "欧元"), "EUR"),
    **dict.fromkeys(("£", "gbp", "pound sterling", "pounds sterling", "英镑"), "GBP"),
    **dict.fromkeys(("cny", "rmb", "yuan", "元", "人民币", "元人民币"), "CNY"),
    **dict.fromkeys(("jpy", "yen", "日元"), "JPY"),
    **dict.fromkeys(("¥", "￥"), "¥"),
    **dict.fromkeys(("₹", "inr", "rs", "rs.", "rupee", "rupees", "卢比"), "INR"),
    **dict.fromkeys(("₩", "krw", "韩元"), "KRW"),
    **dict.fromkeys(("hk$", "hkd", "港元", "港币"), "HKD"),
    **dict.fromkeys(("a$", "aud"), "AUD"),
    **dict.fromkeys(("c$", "cad"), "CAD"),
}
"""Folded mark -> currency. ``$`` alone is read as US dollars; ``¥`` stays open between yen and yuan."""

SHARED_SIGNS = (frozenset({"USD", "AUD", "CAD", "HKD"}), frozenset({"¥", "CNY", "JPY"}))
"""Within one of these sets two marks may mean the same money, since people write plain ``$`` and ``¥`` for several."""

SCALES = {
    "thousand": 10**3,
    "million": 10**6,
    "mn": 10**6,
    "billion": 10**9,
    "bn": 10**9,
    "trillion": 10**12,
    "千": 10**3,
    "万": 10**4,
    "萬": 10**4,
    "百万": 10**6,
    "千万": 10**7,
    "亿": 10**8,
    "億": 10**8,
    "万亿": 10**12,
}
MONEY_SCALES = {"k": 10**3, "m": 10**6, "b": 10**9}
"""Single letters are scales only beside a currency: ``5 m`` alone is five metres."""


def find_unit(text: str) -> Unit | None:
    """The unit a text names, else None. ``text`` keeps its case."""
    if text in SYMBOLS:
        return SYMBOLS[text]
    word = text.casefold()
    if word in WORDS:
        return WORDS[word]
    if len(word) > 3 and word.endswith("s") and word[:-1] in WORDS:
        return WORDS[word[:-1]]
    return None

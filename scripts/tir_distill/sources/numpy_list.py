r"""Lists that reached a table as text: ``str()`` or ``repr()`` of a numpy array, of a Python list, or JSON.

``str(np.array(["a", "b"], dtype=object))`` is ``['a' 'b']``. Python reads adjacent literals as one string, so
``ast.literal_eval`` gives ``['ab']``: the damage of seed section 9 ("Morgan WallenWallencountry singer ..."). Here the
literals are read one by one; a comma or white space separates them.

Forms: ``[]``; elements on several lines; double quotes around apostrophes; ``array([...], dtype=object)``;
``np.str_('a')``; bare numbers, booleans and None; tuples; JSON. numpy leaves out the middle of a long array
(``...``): such a list is refused, because what it held is gone.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from typing import Any

import orjson

from ..records.errors import BadRow

_NOTHING = ("None", "null", "nan", "NaN", "<NA>")
"""How an absent list reads once it was written as text."""
_WRAPPED = re.compile(r"\s*(?:np\.|numpy\.)?array\((.*)\)\s*", re.DOTALL)
_ARRAY_HEAD = re.compile(r"(?:np\.|numpy\.)?array\(")
_AFTER_LIST = re.compile(r"\s*(?:,\s*(?:dtype|shape)\s*=\s*(?:[^,()]+|\([^()]*\))\s*)*")
_TOKEN = re.compile(
    r"""
    (?P<space>[\s,]+)
  | (?P<literal>(?:\b[bBuU])?(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"))
  | (?P<open>(?:np\.|numpy\.)?(?:str_|object_)\()
  | (?P<close>\))
  | (?P<elided>\.\.\.)
  | (?P<bare>[^\s,'"()\[\]{}]+)
    """,
    re.VERBOSE | re.DOTALL,
)


def parse_list(value: Any) -> list[str]:
    """The list's elements as text; None and empty values are left out.

    Takes text in any form above, a list, a tuple, a numpy array, or a single string or number (one element). Raises
    BadRow: ``elided_list`` when numpy left elements out, ``unreadable_list`` for anything else that cannot be read.
    """
    if value is None:
        return []
    if isinstance(value, str):
        return _from_text(value)
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return _clean(value)
    if isinstance(value, bool | int | float):
        return _clean([value])
    raise BadRow("unreadable_list", f"expected a list, found {type(value).__name__}")


def naive_parse(text: Any) -> list[str] | None:
    """What ``ast.literal_eval`` makes of the text, when that is a list; else None. Used to flag answers it garbles."""
    if not isinstance(text, str):
        return None
    try:
        value = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return [str(item) for item in value] if isinstance(value, list | tuple) else None


def _clean(values: Iterable[Any]) -> list[str]:
    out = []
    for item in values:
        if isinstance(item, bytes):
            item = item.decode("utf-8", "replace")
        if isinstance(item, list | tuple | dict | set):
            raise BadRow("unreadable_list", "a list inside the list")
        if item is not None and item == item:  # NaN stands for an absent value in tables
            out.append(item if isinstance(item, str) else str(item))
    return out


def _from_text(text: str) -> list[str]:
    stripped = text.strip()
    if not stripped or stripped in _NOTHING:
        return []
    if wrapped := _WRAPPED.fullmatch(stripped):
        stripped = wrapped.group(1).strip()
        end = stripped.rfind("]")
        if not stripped.startswith("[") or end < 0 or not _AFTER_LIST.fullmatch(stripped[end + 1 :]):
            raise BadRow("unreadable_list", f"unknown array form: {_excerpt(text)}")
        stripped = stripped[: end + 1]
    elif _ARRAY_HEAD.match(stripped):
        raise BadRow("unreadable_list", f"no closing bracket: {_excerpt(text)}")
    if stripped[0] not in "[(":
        return [stripped]
    as_json = _from_json(stripped)
    if as_json is not None:
        return _clean(as_json)
    if stripped[-1] != {"[": "]", "(": ")"}[stripped[0]]:
        raise BadRow("unreadable_list", f"no closing bracket: {_excerpt(text)}")
    return _scan(stripped[1:-1], text)


def _from_json(text: str) -> list[Any] | None:
    if not text.startswith("["):
        return None
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    return value if isinstance(value, list) else None


def _scan(body: str, whole: str) -> list[str]:
    """Read the elements between the brackets."""
    out: list[str] = []
    at = depth = 0
    while at < len(body):
        token = _TOKEN.match(body, at)
        if token is None:
            raise BadRow("unreadable_list", f"at character {at + 1} of {_excerpt(whole)}")
        at = token.end()
        kind, text = token.lastgroup, token.group()
        if kind == "elided":
            raise BadRow("elided_list", "numpy left elements out of the middle")
        if kind == "literal":
            out.append(_literal(text, whole))
        elif kind == "bare" and text not in ("None", "nan", "<NA>"):
            out.append(_bare(text, whole))
        elif kind == "open":
            depth += 1
        elif kind == "close":
            depth -= 1
    if depth:
        raise BadRow("unreadable_list", f"unpaired bracket in {_excerpt(whole)}")
    return out


def _literal(text: str, whole: str) -> str:
    # A line end inside quotes is no Python literal, but tables written by hand have it.
    try:
        value = ast.literal_eval(text.replace("\r", "\\r").replace("\n", "\\n"))
    except (ValueError, SyntaxError) as error:
        raise BadRow("unreadable_list", f"bad string literal in {_excerpt(whole)}") from error
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _bare(text: str, whole: str) -> str:
    if text in ("True", "False"):
        return text
    try:
        float(text)
    except ValueError:
        raise BadRow("unreadable_list", f"unquoted text in {_excerpt(whole)}") from None
    return text.rstrip(".") if text.endswith(".") else text


def _excerpt(text: str) -> str:
    return repr(text if len(text) <= 80 else text[:77] + "...")

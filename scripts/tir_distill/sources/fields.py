"""Typed access to the fields of a row, so that a damaged row is a BadRow and never another exception."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Mapping
from typing import Any

import orjson

from ..records.errors import BadRow

Row = Mapping[str, Any]

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


class Undecodable:
    """Stands in a row for a text field whose bytes are no UTF-8."""


def first(row: Row, *names: str) -> Any:
    """The first of several spellings of a field that is there and not None; else None."""
    for name in names:
        if (value := row.get(name)) is not None:
            return value
    return None


def text(row: Row, *names: str) -> str:
    """A text field, stripped. Raises BadRow ``missing_<first name>`` when it is absent, empty or of another type."""
    value = first(row, *names)
    key = names[0].lower().replace(" ", "_")
    if isinstance(value, Undecodable):
        raise BadRow("undecodable_text", f"field '{names[0]}' is not UTF-8")
    if is_number(value):
        value = str(value)
    if not isinstance(value, str) or not value.strip():
        found = "nothing" if value is None or value == "" else type(value).__name__
        raise BadRow(f"missing_{key}", f"field '{names[0]}' must be text, found {found}")
    return writable(value.strip(), names[0])


def optional_text(row: Row, *names: str) -> str:
    """A text field, stripped, or empty text when it is absent or of another type."""
    value = first(row, *names)
    if is_number(value):
        return str(value)
    return writable(value.strip(), names[0]) if isinstance(value, str) else ""


def is_number(value: Any) -> bool:
    """Whether a value is a number that can stand as text: neither a truth value nor NaN or infinite."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def parsed_text(value: str) -> Any:
    """What JSON text or a Python literal stands for; the text itself when it is neither."""
    try:
        return orjson.loads(value)
    except orjson.JSONDecodeError:
        pass
    try:
        return ast.literal_eval(value.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return value


def writable(value: str, name: str) -> str:
    """The text itself. Raises BadRow when UTF-8 cannot hold it (lone surrogates)."""
    if not value.isascii():
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            raise BadRow("undecodable_text", f"field '{name}' holds half a surrogate pair") from None
    return value


def is_writable(value: str) -> bool:
    """Whether UTF-8 can hold the text."""
    try:
        writable(value, "")
    except BadRow:
        return False
    return True


def decrypted(value: str, name: str) -> str:
    """A decrypted text, stripped. Raises BadRow ``undecryptable`` for control characters: a wrong key made them."""
    if _CONTROL.search(value):
        raise BadRow("undecryptable", f"field '{name}' holds control characters once decrypted")
    if not value.strip():
        raise BadRow(f"missing_{name}", f"field '{name}' is empty once decrypted")
    return writable(value.strip(), name)


def mapping(row: Row, name: str) -> Row:
    """A nested object. Raises BadRow ``missing_<name>``."""
    value = row.get(name)
    if not isinstance(value, Mapping):
        raise BadRow(f"missing_{name}", f"field '{name}' must be an object, found {type(value).__name__}")
    return value

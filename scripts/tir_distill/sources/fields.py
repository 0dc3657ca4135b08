"""Typed access to the fields of a row, so that a damaged row is a BadRow and never another exception."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

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
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not value.strip():
        found = "nothing" if value is None or value == "" else type(value).__name__
        raise BadRow(f"missing_{key}", f"field '{names[0]}' must be text, found {found}")
    return writable(value.strip(), names[0])


def optional_text(row: Row, *names: str) -> str:
    """A text field, stripped, or empty text when it is absent or of another type."""
    value = first(row, *names)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return writable(value.strip(), names[0]) if isinstance(value, str) else ""


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

"""Keys that stand twice in one JSON object: each reader keeps another one, and some refuse the file."""

from __future__ import annotations

import json
from typing import Any

import orjson


class _Repeated(Exception):
    """Carries the key out of the parser."""


def repeated_key(text: str | bytes) -> str | None:
    """The first key that an object in this JSON text holds twice; None when there is none, or for text that is no JSON.

    Text that is written as ``orjson`` writes it comes back the same from its values, which a repeated key cannot; only
    other text is read a second time, key by key.
    """
    try:
        data = text.encode() if isinstance(text, str) else text.strip()
        if orjson.dumps(orjson.loads(data)) == data:
            return None
        json.loads(data, object_pairs_hook=_once)
    except _Repeated as found:
        return str(found)
    except (ValueError, TypeError, RecursionError):  # for other checks to say
        return None
    return None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise _Repeated(next(name for name in names if names.count(name) > 1))
    return found

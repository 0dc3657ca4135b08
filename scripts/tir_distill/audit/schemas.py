"""What a declared tool takes, read from its JSON Schema as far as calls can be held against it.

Any legal schema is read: a list of types, ``anyOf``, ``true`` for anything. What is no schema is said once where the
tools are declared (``problems``) and stands in nobody's way afterwards (``takes``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

JSON_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "array": (list,),
    "object": (dict,),
    "boolean": (bool,),
    "null": (type(None),),
}
ANYTHING = (object,)


@dataclass(frozen=True, slots=True)
class Takes:
    """A tool's arguments."""

    required: tuple[str, ...]
    types: Mapping[str, tuple[type, ...]]
    """Name -> the types that its value may have."""


def takes(function: Mapping[str, Any]) -> Takes:
    """The arguments of a declared function; what cannot be read is left out."""
    schema = function.get("parameters")
    if not isinstance(schema, dict):
        return Takes((), {})
    properties, required = schema.get("properties"), schema.get("required")
    return Takes(
        tuple(name for name in required if isinstance(name, str)) if isinstance(required, list) else (),
        {name: _types(value) for name, value in properties.items()} if isinstance(properties, dict) else {},
    )


def problems(function: Mapping[str, Any]) -> Iterator[str]:
    """What is no JSON Schema in a declared function's parameters."""
    name, schema = function["name"], function.get("parameters")
    if schema is None:
        return
    if not isinstance(schema, dict):
        yield f"{name}: parameters must be an object, not {type(schema).__name__}"
        return
    properties, required = schema.get("properties"), schema.get("required")
    if properties is not None and not isinstance(properties, dict):
        yield f"{name}: properties must be an object, not {type(properties).__name__}"
    elif properties is not None:
        for key, value in properties.items():
            if not isinstance(value, dict | bool):
                yield f"{name}: {key} must be a schema, not {type(value).__name__}"
            elif isinstance(value, dict) and "type" in value and not _is_type(value["type"]):
                yield f"{name}: the type of {key} must be a name or a list of names"
    if required is not None and not (isinstance(required, list) and all(isinstance(item, str) for item in required)):
        yield f"{name}: required must be a list of names"


def _is_type(value: object) -> bool:
    names = value if isinstance(value, list) else [value]
    return bool(names) and all(isinstance(name, str) for name in names)


def _types(schema: object) -> tuple[type, ...]:
    """An unknown name, or none, allows anything."""
    stated = schema.get("type") if isinstance(schema, dict) else None
    names = stated if isinstance(stated, list) else [stated]
    found: tuple[type, ...] = ()
    for name in names:
        kinds = JSON_TYPES.get(name) if isinstance(name, str) else None
        if kinds is None:
            return ANYTHING
        found += kinds
    return found or ANYTHING

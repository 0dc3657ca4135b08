"""The one system prompt, from resources/."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from ..records import TirError
from ..teacher import instructions

RESOURCES = Path(__file__).resolve().parents[3] / "resources"
TOOL_NAMES = ("search", "open", "python")


def system_prompt() -> str:
    """The text of resources/system_prompt.txt. Raises TirError when the file is missing."""
    path = RESOURCES / "system_prompt.txt"
    try:
        return path.read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        raise TirError(f"{path} is missing: restore it from the repository") from None


def tool_schemas() -> tuple[dict[str, Any], ...]:
    """The three schemas in their fixed order."""
    return tuple(orjson.loads((RESOURCES / "tools" / f"{name}.json").read_bytes()) for name in TOOL_NAMES)


def system_for(tools: Sequence[Mapping[str, Any]], *, text_protocol: bool) -> str:
    """The system text of a conversation: in text mode it also says how a call is written."""
    system = system_prompt()
    return f"{system}\n\n{instructions(tools)}" if text_protocol else system

"""The tool schemas as the teacher gets them: ``resources/tools/*.json``, byte order kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..records.jsonl import read_json

FOLDER = Path(__file__).resolve().parents[3] / "resources" / "tools"
ORDER = ("search", "open", "python")
PARAMETER = {"search": "query", "open": "url", "python": "code"}
"""The one required parameter of each tool."""


def load(folder: Path = FOLDER) -> tuple[dict[str, Any], ...]:
    """Schemas in the fixed order. Raises TirError naming a file that is missing or broken."""
    return tuple(read_json(folder / f"{name}.json") for name in ORDER)

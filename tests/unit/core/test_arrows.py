"""Arrows between rooms point one way (DESIGN section 2). Read from the source, so a lazy import counts too."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[3] / "scripts" / "tir_distill"

MAY_IMPORT: dict[str, set[str]] = {
    "records": set(),
    "sandbox": set(),
    "demo": set(),
    "sources": {"records"},
    "questions": {"records", "sources"},
    "ledger": {"records"},
    "teacher": {"records"},
    "grading": {"records"},
    "filters": {"records"},
    "export": {"records"},
    "report": {"records"},
    "tools": {"records", "sandbox", "ledger"},
    "rollout": {"records", "teacher", "tools", "ledger", "grading", "filters"},
    "audit": {"records", "export"},
    "legacy": {"records", "export", "teacher", "ledger", "sandbox"},
    "evaluation": {"records", "rollout", "grading", "filters"},
}
"""Room -> rooms it may import besides itself."""

TOP_LEVEL = {"config", "cli", "workflow", "pipeline", "mixing"}
"""Modules above the rooms: they wire rooms together, and no room may import them."""


def rooms_imported(path: Path, source: str) -> set[str]:
    """Names of the sibling rooms (or top-level modules) that one file imports, relative or absolute.

    ``path`` is relative to the package.
    """
    here = path.parts
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            if node.level:
                base = list(here[: len(here) - node.level])
                parts = [*base, *(node.module or "").split(".")] if node.module else base
                targets = [[*parts, alias.name] for alias in node.names] if not parts else [parts]
            elif (node.module or "").split(".")[0] == "tir_distill":
                parts = (node.module or "").split(".")[1:]
                targets = [[*parts, alias.name] for alias in node.names] if not parts else [parts]
            else:
                continue
            found.update(target[0] for target in targets if target and target[0])
        elif isinstance(node, ast.Import):
            found.update(alias.name.split(".")[1] for alias in node.names if alias.name.startswith("tir_distill."))
    return found - {here[0]}


def test_reader_of_imports_sees_every_form() -> None:
    text = (
        "from ..records import x\nfrom tir_distill.tools import y\nimport tir_distill.ledger\n"
        "from .. import filters\nfrom .shard import z\nimport json\n"
    )
    assert rooms_imported(Path("rollout/loop.py"), text) == {"records", "tools", "ledger", "filters"}


@pytest.mark.parametrize("room", sorted(MAY_IMPORT))
def test_a_room_imports_only_what_it_may(room: str) -> None:
    wrong = {
        f"{path.relative_to(PACKAGE)} imports {other}"
        for path in (PACKAGE / room).rglob("*.py")
        for other in rooms_imported(path.relative_to(PACKAGE), path.read_text(encoding="utf-8")) - MAY_IMPORT[room]
        if other in MAY_IMPORT or other in TOP_LEVEL
    }
    assert not wrong


def test_every_room_has_an_entry() -> None:
    rooms = {path.name for path in PACKAGE.iterdir() if path.is_dir() and any(path.glob("*.py"))}
    assert rooms <= set(MAY_IMPORT)

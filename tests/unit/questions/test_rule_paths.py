"""Folders of the configuration may have a space in their name: no shell line of these rules takes a path apart."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

RULES = Path(__file__).parents[3] / "rules"
FIELD = re.compile(r"\{(?:input|output|log|params\.config|params\.images)(?:\.\w+)?(?:\[\d+\])?\}")


@pytest.mark.parametrize("name", ["questions.smk", "sources.smk", "evaluation.smk"])
def test_paths_are_quoted_and_so_are_their_folders(name: str) -> None:
    text = (RULES / name).read_text(encoding="utf-8")
    folders = re.findall(r"(.)\$\(dirname", text)
    assert folders
    assert set(folders) == {'"'}
    assert FIELD.findall(text) == []

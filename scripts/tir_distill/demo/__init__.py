"""The embedded counterparts of a real run: drawn sources, a teacher, a search engine, a reader and a judge.

``python -m tir_distill.demo draw`` writes small sources in the layouts that upstream has; ``python -m tir_distill.demo
serve`` speaks the real protocols on one local port. The rest of the project reaches both exactly as it reaches the
real ones: a mirror folder and URLs from the environment.

Design notes:

- The teacher holds no answer to a demo question. ``resources/demo/questions.yaml`` tells it where to look (what to
  search for, which line of a page to read); the fact comes from the page that its search and open calls brought back,
  or from pixels that its python cell measured. Right answers stand in ``truth.yaml``, which only the drawing reads.
  So a changed fact in the corpus changes the answer, and without a search engine no search row is accepted.
- It is stateless and decides from the conversation that it is sent, as a model does. What it says is fixed by question
  text, sample seed and turn, never by the order in which requests arrive: a killed and resumed run gets equal samples.
- Pictures carry their number in seven-segment figures, so that a program can truly read them; the drawing uses
  Pillow's own font, so the same bytes come out on any machine with the same libraries.
- For real rows (``--corpus-from-questions``) the question file is the source of facts: it becomes pages that the
  teacher must find by searching, and the answer key of chart and table questions, whose real pictures it cannot read.

This room imports no other room.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .inventory import Expectation


def expectations(question_file: Path) -> list[Expectation]:
    """What the scripted samples of a drawn hand-over must come to (``resources/demo/playbook.yaml``)."""
    from . import inventory

    return inventory.expectations(question_file)


def draw(out: Path, *, seed: int = 0) -> dict[str, int]:
    """Draw all demo sources under ``out`` in upstream layouts; returns the number of rows per source."""
    from .drawing import draw_sources

    return draw_sources(out, seed)

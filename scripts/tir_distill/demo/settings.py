"""How the embedded servers behave."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

from .inventory import RESOURCES

MODEL = "demo-teacher"
TEACHER_KEY = "demo-teacher-key-0001"
SEARCH_KEY = "demo-search-key-0001"
JUDGE_KEY = "demo-judge-key-0001"
"""Dummy values that only these servers know; a request with another key is refused as upstream refuses it."""


@dataclass
class Faults:
    """Faults on demand; may be changed while serving (``POST /faults``)."""

    credits: int | None = None
    """Searches that are still paid for; None: without end."""
    search_429_every: int = 0
    """Each n-th search answers 429; 0: none."""
    teacher_429_every: int = 0
    retry_after_s: float = 0.2
    latency_ms: float = 0.0
    """Added to every answer."""


@dataclass(frozen=True)
class ServerSettings:
    """One process of embedded servers."""

    port_file: Path
    questions: Path | None = None
    parent: int | None = None
    port: int = 0
    corpus: Path = RESOURCES / "corpus.jsonl"
    corpus_from_questions: bool = False
    resources: Path = RESOURCES
    credits: int | None = None
    search_429_every: int = 0
    teacher_429_every: int = 0
    latency_ms: float = 0.0

    @classmethod
    def from_arguments(cls, args: argparse.Namespace) -> ServerSettings:
        return cls(
            port_file=args.port_file,
            questions=args.questions,
            parent=args.parent,
            port=args.port,
            corpus=args.corpus or RESOURCES / "corpus.jsonl",
            corpus_from_questions=args.corpus_from_questions,
            credits=args.credits,
            search_429_every=args.search_429_every,
            teacher_429_every=args.teacher_429_every,
            latency_ms=args.latency_ms,
        )

    def faults(self) -> Faults:
        return Faults(
            credits=self.credits,
            search_429_every=self.search_429_every,
            teacher_429_every=self.teacher_429_every,
            latency_ms=self.latency_ms,
        )

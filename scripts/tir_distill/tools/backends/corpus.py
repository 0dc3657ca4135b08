"""A local corpus: an SQLite file with an FTS5 table ``docs(url, title, body, date)``. Free, offline, repeatable.

``build_corpus`` indexes trigrams, which find words of any script, Chinese without spaces included. Tables made
elsewhere with another tokenizer work too, as far as that tokenizer goes.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import sqlite3
import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ...ledger import Door, Fetched
from ...records import TirError, UsageError
from ..search_results import SearchResult, distinct, one_line
from ..search_settings import SearchSettings
from .base import ProviderStop, answer

SNIPPET_CHARS = 240
TITLE_WEIGHT = 4.0
INDEXED_CHARS = 3
"""Shorter words cannot be looked up among trigrams."""
MAX_TERMS = 200
"""Of a longer query the first ones are looked for: SQLite takes a thousand alternatives, and nobody means that many."""
_WORD = re.compile(r"\w+")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")


class Document(NamedTuple):
    """One page of a corpus, as its table holds it."""

    url: str
    title: str
    body: str
    date: str | None = None


def document_of(value: Mapping[str, Any]) -> Document | str:
    """A document from ``url``, ``text``, ``title`` and ``date``, or in words what is missing."""
    url, text = one_line(value.get("url")), value.get("text")
    if not url:
        return "url: expected the address of the page"
    if not isinstance(text, str) or not text.strip():
        return "text: expected the text of the page"
    return Document(url, one_line(value.get("title")) or url, text, one_line(value.get("date")) or None)


def build_corpus(path: Path, docs: Iterable[Document]) -> int:
    """Write a corpus file, which takes its place when it is whole; returns how many documents it holds.

    Raises TirError when there is none; an older file then stays.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    part.unlink(missing_ok=True)
    try:
        with contextlib.closing(sqlite3.connect(part)) as connection, connection:
            connection.execute(
                "CREATE VIRTUAL TABLE docs USING fts5(url UNINDEXED, title, body, date UNINDEXED, tokenize='trigram')"
            )
            cursor = connection.executemany("INSERT INTO docs VALUES (?, ?, ?, ?)", docs)
            count = max(cursor.rowcount, 0)
        if not count:
            raise TirError(f"{path}: no document was usable; expected url and text in each line")
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return count


def terms(query: str) -> list[str]:
    """Search terms of a query: its words, and for Chinese, Japanese and Korean every three neighbouring characters."""
    found: list[str] = []
    for word in _WORD.findall(unicodedata.normalize("NFKC", query)):
        rest = word
        for run in _CJK.findall(word):
            found += [run[i : i + 3] for i in range(max(1, len(run) - 2))]
            rest = rest.replace(run, " ")
        found += rest.split()
    return list(dict.fromkeys(found))


class CorpusBackend:
    """SEARCH_CORPUS names the file."""

    name = "corpus"
    paid = False

    def __init__(self, settings: SearchSettings, *, path: Path) -> None:
        self._settings = settings
        self._path = path

    @classmethod
    def from_env(cls, settings: SearchSettings) -> CorpusBackend:
        """Raises UsageError when the file is not named or not there."""
        name = os.environ.get("SEARCH_CORPUS", "").strip()
        if not name:
            raise UsageError(
                "SEARCH_CORPUS is not set; it names an SQLite file with a table docs(url, title, body, date)"
            )
        if not Path(name).is_file():
            raise UsageError(f"{name}: no such corpus file (SEARCH_CORPUS)")
        return cls(settings, path=Path(name))

    def params(self) -> Mapping[str, Any]:
        try:
            state = self._path.stat()
        except OSError as error:
            raise self._unusable(error) from None
        return {"num": self._settings.results, "corpus": f"{state.st_size}-{state.st_mtime_ns}"}

    async def ask(self, query: str, _door: Door) -> Fetched:
        try:
            found = await asyncio.to_thread(self._find, query)
        except (sqlite3.Error, OSError) as error:
            raise self._unusable(error) from None
        return answer(distinct(found, self._settings.results))

    def _unusable(self, error: Exception) -> ProviderStop:
        return ProviderStop("corpus_unusable", f"{self._path} (SEARCH_CORPUS) cannot be searched: {error}")

    def _find(self, query: str) -> list[SearchResult | None]:
        words = terms(query)[:MAX_TERMS]
        if not words:
            return []
        with contextlib.closing(sqlite3.connect(f"file:{self._path}?mode=ro", uri=True)) as connection:
            indexed = any(len(word) >= INDEXED_CHARS for word in words)
            rows = self._ranked(connection, words) if indexed else self._containing(connection, words)
        return [SearchResult.of(title, url, around(body, words), date) for url, title, body, date in rows]

    def _ranked(self, connection: sqlite3.Connection, words: list[str]) -> list[Any]:
        match = " OR ".join('"' + word.replace('"', '""') + '"' for word in words)
        return connection.execute(
            "SELECT url, title, body, date FROM docs WHERE docs MATCH ? "
            f"ORDER BY bm25(docs, 0.0, {TITLE_WEIGHT}, 1.0, 0.0), rowid LIMIT ?",
            (match, self._settings.results),
        ).fetchall()

    def _containing(self, connection: sqlite3.Connection, words: list[str]) -> list[Any]:
        """Words shorter than a trigram are in no index."""
        where = " OR ".join("instr(lower(title || ' ' || body), lower(?)) > 0" for _ in words)
        return connection.execute(
            f"SELECT url, title, body, date FROM docs WHERE {where} ORDER BY rowid LIMIT ?",
            (*words, self._settings.results),
        ).fetchall()

    async def close(self) -> None:
        """Nothing stays open between searches."""


def around(body: str | None, words: Iterable[str]) -> str:
    """The part of the body that begins shortly before the first place where a term stands."""
    text = " ".join((body or "").split())
    low = text.lower()
    places = [place for word in words if (place := low.find(word.lower())) >= 0]
    start = max(0, min(places, default=0) - SNIPPET_CHARS // 4)
    part = text[start : start + SNIPPET_CHARS]
    return ("…" if start else "") + part + ("…" if start + SNIPPET_CHARS < len(text) else "")

"""Pages in a full-text index: what the embedded search engine finds and the reader reads (SQLite FTS5, in memory)."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import orjson

from .question_file import QuestionFile

_WORD = re.compile(r"[0-9a-zà-öø-ÿ]+|[\u3400-\u9fff]+", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+|\n+")
SNIPPET_CHARS = 220
STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at based be by did do does for from had has have how in is it its many much of on or than "
        "that the then this to was were what when where which who with image photo picture shown here",
    )
)
"""Words that say nothing about a page."""


@dataclass(frozen=True)
class Page:
    url: str
    title: str
    date: str
    body: str


def words(text: str) -> Iterator[str]:
    """Index terms: Latin words in lower case, and pairs of neighbouring CJK characters."""
    for run in _WORD.findall(text.lower()):
        if run[0] < "\u3400" or len(run) == 1:
            yield run
        else:
            yield from (run[index : index + 2] for index in range(len(run) - 1))


def read_pages(path: Path) -> list[Page]:
    """Pages of a JSON Lines file with url, title, date, body."""
    rows = (orjson.loads(line) for line in path.read_bytes().split(b"\n") if line.strip())
    return [Page(row["url"], row["title"], row.get("date", ""), row["body"]) for row in rows]


def pages_of(questions: QuestionFile) -> Iterator[Page]:
    """A page per question, so that a teacher can find by searching what it does not know."""
    for question in questions.all():
        mark = question.mark()
        about = f"Picture mark: {mark}\n" if mark else ""
        yield Page(
            url=f"https://records.example/{question.id}",
            title=f"Record {question.id}",
            date="",
            body=f"On record: {question.text}\n{about}Answer: {question.answer}\n"
            f"The entry was checked twice and is filed under {question.id}.",
        )


class Corpus:
    """Searchable pages. Ranking: bm25 with the title weighing three times the body; ties by order of the pages."""

    def __init__(self, pages: Iterable[Page], questions: QuestionFile | None = None) -> None:
        self._base = list(pages)
        self._questions = questions
        self._pages: dict[str, Page] = {}
        self._order: list[Page] = []
        self._index = sqlite3.connect(":memory:")
        self._build()

    def _build(self) -> None:
        self._order = [*self._base, *(pages_of(self._questions) if self._questions else ())]
        self._pages = {page.url: page for page in self._order}
        self._index.executescript(
            "DROP TABLE IF EXISTS pages;"
            'CREATE VIRTUAL TABLE pages USING fts5(title, body, tokenize="unicode61 remove_diacritics 0");'
        )
        self._index.executemany(
            "INSERT INTO pages(rowid, title, body) VALUES (?, ?, ?)",
            (
                (number, " ".join(words(page.title)), " ".join(words(page.body)))
                for number, page in enumerate(self._order, start=1)
            ),
        )

    def _fresh(self) -> None:
        if self._questions is not None and self._questions.refresh():
            self._build()

    def search(self, query: str, limit: int = 10) -> list[tuple[Page, str]]:
        """Best pages with a snippet each."""
        self._fresh()
        terms = [term for term in dict.fromkeys(words(query)) if term not in STOP_WORDS]
        if not terms:
            return []
        match = " OR ".join(f'"{term}"' for term in terms)
        found = self._index.execute(
            "SELECT rowid FROM pages WHERE pages MATCH ? ORDER BY bm25(pages, 3.0, 1.0), rowid LIMIT ?", (match, limit)
        )
        return [(page, snippet(page.body, terms)) for (number,) in found for page in [self._order[number - 1]]]

    def page(self, url: str) -> Page | None:
        self._fresh()
        return self._pages.get(url) or self._pages.get(url.rstrip("/"))


def snippet(body: str, terms: Iterable[str]) -> str:
    """The sentence that holds most of the terms, with the one after it, cut to a snippet's length."""
    wanted = set(terms)
    sentences = [part for part in _SENTENCE.split(body) if part.strip()]
    if not sentences:
        return ""
    best = max(range(len(sentences)), key=lambda index: (len(wanted & set(words(sentences[index]))), -index))
    text = " ".join(sentences[best : best + 2])
    return text if len(text) <= SNIPPET_CHARS else text[: SNIPPET_CHARS - 1].rstrip() + "…"

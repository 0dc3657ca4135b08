#!/usr/bin/env python3
"""Make a local search corpus from documents: what `search.backend: corpus` searches, free, offline and repeatable.

Input, one JSON object a line: `url` and `text`; `title` and `date` when there are any. A line without an address or
without text, and an address that came before, is named, counted and set aside. Name the file in SEARCH_CORPUS.
"""

from tir_distill import cli  # isort: skip

import argparse
from collections.abc import Iterator
from pathlib import Path

from tir_distill.records import UsageError
from tir_distill.records.hand_files import SetAside, objects
from tir_distill.tools.backends.corpus import Document, build_corpus, document_of

parser = cli.Parser(description=__doc__, example="build_search_corpus.py pages.jsonl --out corpus.sqlite")
parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="documents (JSON Lines)")
parser.add_argument("--out", required=True, type=Path, help="SQLite file to write; an older one is replaced")


def main(args: argparse.Namespace) -> None:
    if missing := [str(path) for path in args.files if not path.is_file()]:
        raise UsageError(f"no such file: {', '.join(missing)}")
    asides = [SetAside(path) for path in args.files]
    with cli.ProgressLine("documents") as progress:

        def documents() -> Iterator[Document]:
            seen: set[str] = set()
            for aside in asides:
                for number, value in objects(aside.path, aside):
                    document = document_of(value)
                    if isinstance(document, str):
                        aside.add(number, "not_a_document", document)
                    elif document.url in seen:
                        aside.add(number, "repeated_url", f"{document.url} came before; the first one is kept")
                    else:
                        seen.add(document.url)
                        progress.update(done=len(seen))
                        yield document

        count = build_corpus(args.out, documents())
    for aside in asides:
        if aside.total:
            print(f"{aside.path}: {aside}")
    print(f"{args.out}: {count} documents; use it with search.backend: corpus and SEARCH_CORPUS={args.out}")


if __name__ == "__main__":
    cli.run(main, parser)

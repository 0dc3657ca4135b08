"""Office files as plain text, with nothing but zip and XML. Runs only inside locked workers.

The sandbox has no library for these formats, so a student would fail on the format and not on the question. Every
part is read under a limit, whatever the archive claims of its size: a zip bomb is a message.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator, Sequence
from typing import Any
from xml.etree import ElementTree

from . import spreadsheet

MAX_PART = 32 << 20
"""Bytes of one part, unpacked."""
MAX_ALL = 96 << 20
"""Bytes of all parts that are read."""
MAX_PARTS = 5000
MAX_TEXT = 4_000_000
"""Characters of a rendering; what is beyond is left out."""


class Unreadable(Exception):
    """The file is not what its name says, or too large; the text says which."""


class Package:
    """An Office archive that reads its parts under a limit."""

    def __init__(self, data: bytes) -> None:
        try:
            self._archive = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, ValueError, OverflowError, NotImplementedError) as error:
            raise Unreadable(f"no Office file: {error}") from None
        self.names = self._archive.namelist()
        if len(self.names) > MAX_PARTS:
            raise Unreadable(f"it has {len(self.names)} parts, at most {MAX_PARTS} are read")
        self._left = MAX_ALL

    def xml(self, name: str) -> ElementTree.Element:
        """A part, parsed. Raises Unreadable, also for a part that is missing."""
        try:
            with self._archive.open(name) as handle:
                data = handle.read(min(MAX_PART, self._left) + 1)
        except KeyError:
            raise Unreadable(f"the part {name} is missing") from None
        except Exception as error:  # zlib, lzma, encrypted and damaged members raise almost anything
            raise Unreadable(f"the part {name} is damaged: {type(error).__name__}: {error}") from None
        if len(data) > min(MAX_PART, self._left):
            raise Unreadable(f"it unpacks to more than {MAX_PART >> 20} MB in one part or {MAX_ALL >> 20} MB in all")
        self._left -= len(data)
        if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
            raise Unreadable(f"the part {name} declares entities")
        try:
            return ElementTree.fromstring(data)
        except (ElementTree.ParseError, ValueError, LookupError) as error:
            raise Unreadable(f"the part {name} is no XML: {error}") from None


def render(header: dict[str, Any], blobs: Sequence[bytes]) -> tuple[dict[str, Any], list[bytes]]:
    """Task: ``kind`` is ``xlsx``, ``docx`` or ``pptx``.

    Answers ``files`` (suffix and title of each rendering, in the order of the blobs) or ``problem``.
    """
    try:
        package = Package(blobs[0])
        if header["kind"] == "xlsx":
            pieces = spreadsheet.sheets(package)
        elif header["kind"] == "docx":
            pieces = [(".txt", "its text", "\n".join(document(package)))]
        else:
            pieces = [(".txt", "its text", "\n".join(slides(package)))]
    except Unreadable as error:
        return {"problem": str(error)[:300]}, []
    files = [[suffix, title] for suffix, title, _ in pieces]
    return {"files": files}, [text[:MAX_TEXT].encode("utf-8", "replace") for _, _, text in pieces]


def local(element: ElementTree.Element) -> str:
    """Tag without its namespace: the strict and the usual flavour differ in nothing else."""
    return str(element.tag).rpartition("}")[2]


def text_of(element: ElementTree.Element) -> str:
    """Text of a paragraph's runs; tabs and breaks kept."""
    out = []
    for item in element.iter():
        name = local(item)
        if name == "t":
            out.append(item.text or "")
        elif name == "tab":
            out.append("\t")
        elif name in ("br", "cr"):
            out.append("\n")
    return "".join(out)


def document(package: Package) -> Iterator[str]:
    """Paragraphs and table rows of a docx in reading order, then its notes."""
    root = package.xml("word/document.xml")
    body = next((item for item in root.iter() if local(item) == "body"), root)
    yield from _blocks(body)
    for part in ("word/footnotes.xml", "word/endnotes.xml", "word/comments.xml"):
        if part in package.names:
            lines = [line for line in _blocks(package.xml(part)) if line.strip()]
            if lines:
                yield f"[{part.removeprefix('word/').removesuffix('.xml')}]"
                yield from lines


def _blocks(parent: ElementTree.Element) -> Iterator[str]:
    for item in parent:
        name = local(item)
        if name == "p":
            yield text_of(item)
        elif name == "tbl":
            for row in (child for child in item if local(child) == "tr"):
                cells = [" ".join(_blocks(cell)).strip() for cell in row if local(cell) == "tc"]
                yield " | ".join(cells)
        else:
            yield from _blocks(item)


def slides(package: Package) -> Iterator[str]:
    """Slides of a pptx by number, with tables and speaker notes."""
    numbered = re.compile(r"ppt/slides/slide(\d+)\.xml$")
    found = sorted((int(match[1]), name) for name in package.names if (match := numbered.match(name)))
    if not found:
        raise Unreadable("no slide is in it")
    for number, name in found:
        yield f"--- slide {number} ---"
        yield from _paragraphs(package.xml(name))
        notes = f"ppt/notesSlides/notesSlide{number}.xml"
        if notes in package.names:
            lines = list(_paragraphs(package.xml(notes)))
            if lines:
                yield "[notes]"
                yield from lines


def _paragraphs(root: ElementTree.Element) -> Iterator[str]:
    for item in root.iter():
        if local(item) == "p":
            line = text_of(item)
            if line.strip():
                yield line

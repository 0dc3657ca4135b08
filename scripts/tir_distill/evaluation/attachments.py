"""A question's attached file: what it is, what it is called in the sandbox, and what is made of it beside it."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

PICTURES = (".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp", ".tif", ".tiff")
OFFICE = {".xlsx": "xlsx", ".xlsm": "xlsx", ".docx": "docx", ".pptx": "pptx"}
PLAIN = (".txt", ".csv", ".tsv", ".json", ".jsonl", ".jsonld", ".xml", ".html", ".md", ".py", ".pdb", ".yaml", ".yml")
MAX_BYTES = 48 << 20
"""A larger file is named but not placed: the work folder also has to hold what the student makes of it."""
_PLACED = re.compile(r"[^\w.\- ]|^\.+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Rendering:
    """Texts made of a file, or why there are none."""

    files: tuple[tuple[str, str, bytes], ...] = ()
    """Suffix of the name, what it is, the bytes."""
    problem: str = ""


Render = Callable[[str, bytes], Awaitable[Rendering]]
"""Makes the rendering of a file of a kind (``xlsx``, ``docx``, ``pptx``, ``pdf``) in a locked worker."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A file of the work folder."""

    name: str
    said: str
    """What the user message says of it, after its name."""
    data: bytes


@dataclass(frozen=True, slots=True)
class Attachment:
    """What a question's file comes to."""

    files: tuple[Placed, ...] = ()
    left_out: str = ""
    """Said of a file that is named but not there."""

    @property
    def words(self) -> str:
        """The lines below the question."""
        if self.left_out:
            return self.left_out
        lines = [f"- {file.name}{f' ({file.said})' if file.said else ''}" for file in self.files]
        return "Attached files, in python's working folder:\n" + "\n".join(lines)


def kind_of(name: str) -> str:
    """``picture``, ``xlsx``, ``docx``, ``pptx``, ``pdf``, ``text`` or ``other``."""
    suffix = PurePosixPath(name).suffix.lower()
    if suffix in PICTURES:
        return "picture"
    if suffix in OFFICE:
        return OFFICE[suffix]
    if suffix == ".pdf":
        return "pdf"
    return "text" if suffix in PLAIN else "other"


def plain_name(name: str) -> str:
    """A name that is safe to place and to write into code."""
    return _PLACED.sub("_", PurePosixPath(name.replace("\\", "/")).name)[-80:] or "attachment"


async def attach(path: Path, render: Render) -> Attachment:
    """Place a file under its name, with renderings beside it. A broken file is placed too, and its fault is said."""
    name = plain_name(path.name)
    size = path.stat().st_size
    if size > MAX_BYTES:
        words = f"{size >> 20} MB, at most {MAX_BYTES >> 20} MB are placed"
        return Attachment(left_out=f"Attached file: {name} (not available: {words}).")
    data = path.read_bytes()
    kind = kind_of(name)
    if kind in ("text", "other", "picture"):
        return Attachment((Placed(name, "as it is" if kind == "other" else "", data),))
    made = await render(kind, data)
    said = f"no text could be made of it: {made.problem}" if made.problem else ""
    stem = PurePosixPath(name).stem
    texts = [Placed(f"{stem}{suffix}", title, text) for suffix, title, text in made.files]
    return Attachment((Placed(name, said, data), *texts))

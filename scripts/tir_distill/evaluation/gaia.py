"""GAIA validation as questions for a student, in a private folder only (gated terms, RULINGS 20).

The rows and files come from the folder of the source ``gaia`` (``sources``); nothing is downloaded here.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..records import BadRow, Question
from ..records.jsonl import write_jsonl
from ..records.private import mark_private
from ..sources.fields import Row, optional_text, text
from ..sources.picture_bytes import inside, is_file
from ..sources.pictures import prepare as prepare_picture
from ..sources.readers.evaluation import Gaia
from ..sources.tables import DamagedLine
from .attachments import Attachment, Placed, Render, attach, kind_of, plain_name

log = logging.getLogger(__name__)

BUCKET = "gaia"


@dataclass(frozen=True, slots=True)
class Task:
    """One row."""

    id: str
    question: str
    answer: str
    level: str
    file: Path | None


class GaiaTasks(Gaia):
    """The evaluation reader's rows with what a student's score needs as well."""

    columns = (*Gaia.columns, "Level", "level", "Final answer", "final_answer")  # type: ignore[assignment]  # longer

    def task(self, row: Row, index: int) -> Task:
        """Raises BadRow."""
        place = optional_text(row, "file_path") or optional_text(row, "file_name")
        file = inside(self.folder, self._find(place)) if place else None
        if file is not None and not is_file(file):
            raise BadRow("file_missing", f"{self.row_id(row, index)}: {place!r} was not fetched")
        return Task(
            id=self.row_id(row, index),
            question=text(row, "Question", "question"),
            answer=text(row, "Final answer", "final_answer"),
            level=text(row, "Level", "level").removeprefix("Level").strip(),
            file=file,
        )


@dataclass(frozen=True, slots=True)
class Prepared:
    """Questions in the order of the set, and the rows that cannot be asked."""

    questions: tuple[Question, ...]
    rejects: Mapping[str, str]
    """Id -> reason."""


async def prepare_gaia(
    source: Path, folder: Path, render: Render, *, tolerant: bool = True, limit: int | None = None
) -> Prepared:
    """Write questions, pictures and attached files below ``folder``, which is marked private, and return the questions.

    ``folder`` is the picture root of the questions. Raises TirError when the source is not there.
    """
    mark_private(folder)
    reader = GaiaTasks(source, tolerant=tolerant)
    questions: list[Question] = []
    rejects: dict[str, str] = {}
    for index, row in enumerate(reader.raw_rows()):
        if limit is not None and len(questions) >= limit:
            break
        if isinstance(row, DamagedLine):
            rejects[f"{BUCKET}#{index}"] = "damaged_line"
            continue
        try:
            questions.append(await _question(reader.task(row, index), folder, render))
        except BadRow as error:
            rejects[reader.row_id(row, index)] = error.reason
            log.warning("%s is not asked: %s", reader.row_id(row, index), error.reason)
    write_jsonl(folder / "questions.jsonl", (question.to_dict() for question in questions))
    return Prepared(tuple(questions), rejects)


async def _question(task: Task, folder: Path, render: Render) -> Question:
    images: tuple[str, ...] = ()
    words = ""
    files: list[dict[str, str]] = []
    if task.file is not None:
        picture = _picture(task.file, folder) if kind_of(task.file.name) == "picture" else None
        if picture is not None:
            images = (picture,)
        else:
            found = await attach(task.file, render)
            files = [_keep(file, task, folder) for file in found.files]
            words = _words(task.file, found)
    meta: dict[str, Any] = {"level": task.level, "private": True}
    if files:
        meta["files"] = files
    return Question(
        id=task.id,
        source="gaia",
        bucket=BUCKET,
        priority="P0",
        phase="full",
        task_type="image_search" if images else "text_search",
        question=f"{task.question}\n\n{words}" if words else task.question,
        answer=task.answer,
        images=images,
        meta=meta,
    )


def _words(file: Path, found: Attachment) -> str:
    if kind_of(file.name) == "picture":
        return f"{found.words}\n(The picture cannot be shown: its file is damaged or of an unusual kind.)"
    return found.words


def _picture(file: Path, folder: Path) -> str | None:
    """Store an attached picture as every consumer can read it; None when it cannot be decoded."""
    try:
        stored, _ = prepare_picture(file.read_bytes())
    except BadRow:
        return None
    path = f"images/{stored.sha256}.{stored.ext}"
    (folder / "images").mkdir(exist_ok=True)
    (folder / path).write_bytes(stored.data)
    return path


def _keep(file: Placed, task: Task, folder: Path) -> dict[str, str]:
    path = f"files/{plain_name(task.id)}/{file.name}"
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_bytes(file.data)
    return {"name": file.name, "path": path, "sha256": hashlib.sha256(file.data).hexdigest()}

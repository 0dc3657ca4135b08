"""GAIA validation as questions for a student, in a private folder only (gated terms, RULINGS 20).

The rows and the policy for pictures are those of ``sources``, handed in by the command.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from ..records import Question
from ..records.jsonl import write_jsonl
from ..records.private import mark_private
from .attachments import Attachment, Placed, Render, attach, kind_of, plain_name

log = logging.getLogger(__name__)

BUCKET = "gaia"


class Task(Protocol):
    """One row (``sources.gaia_tasks.GaiaTask``)."""

    @property
    def id(self) -> str: ...
    @property
    def question(self) -> str: ...
    @property
    def answer(self) -> str: ...
    @property
    def level(self) -> str: ...
    @property
    def file(self) -> Path | None: ...
    @property
    def reject(self) -> str: ...


ShowPicture = Callable[[bytes], tuple[str, bytes] | None]
"""Extension and bytes of a picture as it is shown; None when it cannot be decoded."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """Questions in the order of the set, and the rows that cannot be asked."""

    questions: tuple[Question, ...]
    rejects: Mapping[str, str]
    """Id -> reason."""


async def prepare_gaia(tasks: Iterable[Task], folder: Path, *, render: Render, show: ShowPicture) -> Prepared:
    """Write questions, pictures and attached files below ``folder``, which is marked private, and return the questions.

    ``folder`` is the root of the questions' pictures and files. Raises what ``tasks`` raises.
    """
    mark_private(folder)
    questions: list[Question] = []
    rejects: dict[str, str] = {}
    for task in tasks:
        if task.reject:
            rejects[task.id] = task.reject
            log.warning("%s is not asked: %s", task.id, task.reject)
        else:
            questions.append(await _question(task, folder, render, show))
    write_jsonl(folder / "questions.jsonl", (question.to_dict() for question in questions))
    return Prepared(tuple(questions), rejects)


async def _question(task: Task, folder: Path, render: Render, show: ShowPicture) -> Question:
    images: tuple[str, ...] = ()
    words = ""
    files: list[dict[str, str]] = []
    if task.file is not None:
        picture = _picture(task.file, folder, show) if kind_of(task.file.name) == "picture" else None
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


def _picture(file: Path, folder: Path, show: ShowPicture) -> str | None:
    """Store an attached picture as every consumer can read it; None when it cannot be decoded."""
    shown = show(file.read_bytes())
    if shown is None:
        return None
    ext, data = shown
    path = f"images/{hashlib.sha256(data).hexdigest()}.{ext}"
    (folder / "images").mkdir(exist_ok=True)
    (folder / path).write_bytes(data)
    return path


def _keep(file: Placed, task: Task, folder: Path) -> dict[str, str]:
    path = f"files/{plain_name(task.id)}/{file.name}"
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_bytes(file.data)
    return {"name": file.name, "path": path, "sha256": hashlib.sha256(file.data).hexdigest()}

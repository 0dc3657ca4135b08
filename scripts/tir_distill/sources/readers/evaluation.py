"""SimpleVQA, GAIA and MMBrowseComp: read only to know what must not be trained on. FVQA test is in ``fvqa``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from ..candidate import EvaluationItem
from ..fields import Row, decrypted, first, optional_text, text
from ..keystream import decrypt_canary
from ..picture_bytes import is_file, read_picture_file
from .base import BadRow, EvaluationReader
from .fvqa import gather

PICTURE_SUFFIXES = (".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp", ".tif", ".tiff")


def _name(value: Any, fallback: str) -> str:
    known = isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip()
    return str(value).strip() if known else fallback


class SimpleVqa(EvaluationReader):
    """Both languages; ``image`` is base64 text, or an Image struct in converted copies."""

    source = "simplevqa"
    columns = ("data_id", "image", "question", "language")
    required = ("data_id", "image", "question")

    def row_id(self, row: Row, index: int) -> str:
        return _name(row.get("data_id"), f"simplevqa#{index}")

    def parse(self, row: Row, index: int) -> EvaluationItem:
        pictures, problems = gather(row.get("image"), self.folder)
        return EvaluationItem(
            id=self.row_id(row, index), text=text(row, "question"), pictures=pictures, problems=problems
        )


class Gaia(EvaluationReader):
    """Validation questions of all levels; attachments that are pictures count as pictures.

    The set has a table over all levels and, at some revisions, one per level with the same rows: an id counts once.
    """

    source = "gaia"
    columns = ("task_id", "Question", "question", "file_name", "file_path")
    required = ("task_id", "Question")

    def files(self) -> list[Path]:
        files = [path for path in super().files() if path.name.startswith("metadata")]
        return files or super().files()

    def raw_rows(self) -> Iterator[Any]:
        seen: set[str] = set()
        for row in super().raw_rows():
            name = row.get("task_id") if isinstance(row, dict) else None
            if isinstance(name, str) and name in seen:
                continue
            if isinstance(name, str):
                seen.add(name)
            yield row

    def row_id(self, row: Row, index: int) -> str:
        return _name(row.get("task_id"), f"gaia#{index}")

    def parse(self, row: Row, index: int) -> EvaluationItem:
        pictures: tuple[bytes, ...] = ()
        problems: tuple[str, ...] = ()
        place = optional_text(row, "file_path") or optional_text(row, "file_name")
        if place.lower().endswith(PICTURE_SUFFIXES):
            pictures, problems = gather([{"path": self._find(place)}], self.folder)
        return EvaluationItem(
            id=self.row_id(row, index), text=text(row, "Question", "question"), pictures=pictures, problems=problems
        )

    def _find(self, place: str) -> str:
        """The attachment's path in the source, by its whole path or beside the table."""
        name = PurePosixPath(place).name
        if is_file(self.folder / name) or ".." in place or place.startswith("/"):
            return name
        beside = [path.parent / name for path in self.files()]
        return next((p.relative_to(self.folder).as_posix() for p in beside if is_file(p)), place)


class MmBrowseComp(EvaluationReader):
    """Questions encrypted under one canary; pictures are named by URL and lie in the folder under their last part."""

    source = "mmbrowsecomp"
    columns = ("id", "question", "images", "canary")
    required = ("id", "question", "canary")

    def row_id(self, row: Row, index: int) -> str:
        return _name(row.get("id"), f"mmbrowsecomp#{index}")

    def parse(self, row: Row, index: int) -> EvaluationItem:
        plain = decrypt_canary(text(row, "question"), text(row, "canary"), "question")
        pictures, problems = [], []
        urls = first(row, "images")
        for url in urls if isinstance(urls, list | tuple) else []:
            try:
                pictures.append(self._picture(url))
            except BadRow as error:
                problems.append(error.reason)
        return EvaluationItem(
            id=self.row_id(row, index),
            text=decrypted(plain, "question"),
            pictures=tuple(pictures),
            problems=tuple(problems),
        )

    def _picture(self, url: Any) -> bytes:
        if not isinstance(url, str):
            raise BadRow("picture_missing", "an image entry is no URL")
        try:
            name = PurePosixPath(unquote(urlsplit(url).path)).name
        except ValueError:
            raise BadRow("picture_missing", "an image entry is no URL") from None
        for folder in ("MMBC_images", ""):
            if name and is_file(self.folder / folder / name):
                return read_picture_file(self.folder, f"{folder}/{name}" if folder else name)
        raise BadRow("picture_missing", f"{name!r} was not fetched")

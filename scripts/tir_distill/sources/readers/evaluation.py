"""SimpleVQA, GAIA and MMBrowseComp: read only to know what must not be trained on. FVQA test is in ``fvqa``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from ..candidate import EvaluationItem
from ..fields import Row, decrypted, first, optional_text, parsed_text, text
from ..keystream import decrypt_canary
from ..picture_bytes import is_file, read_picture_file
from .base import BadRow, EvaluationReader
from .fvqa import evaluation_item, gather

PICTURE_SUFFIXES = (".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp", ".tif", ".tiff")


def _name(value: Any, fallback: str) -> str:
    known = isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip()
    return str(value).strip() if known else fallback


class SimpleVqa(EvaluationReader):
    """Both languages; ``image`` is base64 text, or an Image struct in converted copies."""

    source = "simplevqa"
    columns = ("data_id", "image", "question", "language")
    required = ("data_id", "image", "question")
    essential = (("image",), ("question",))

    def row_id(self, row: Row, index: int) -> str:
        return _name(row.get("data_id"), f"simplevqa#{index}")

    def parse(self, row: Row, index: int) -> EvaluationItem:
        pictures, problems = gather(row.get("image"), self.folder)
        return evaluation_item(self.row_id(row, index), lambda: text(row, "question"), pictures, problems)


class Gaia(EvaluationReader):
    """Validation questions of all levels; attachments that are pictures count as pictures.

    The set has a table over all levels and, at some revisions, one per level with the same rows: a row counts once.
    Another question under an id that was there before is indexed too, and noted.
    """

    source = "gaia"
    columns = ("task_id", "Question", "question", "file_name", "file_path")
    required = ("task_id", "Question")
    essential = (("Question", "question"),)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._parsed: set[str] = set()

    def files(self) -> list[Path]:
        files = [path for path in super().files() if path.name.startswith("metadata")]
        return files or super().files()

    def raw_rows(self) -> Iterator[Any]:
        seen: set[tuple[str, str, str]] = set()
        for row in super().raw_rows():
            name = row.get("task_id") if isinstance(row, dict) else None
            if isinstance(row, dict) and isinstance(name, str):
                content = (name, repr(first(row, "Question", "question")), repr(row.get("file_name") or ""))
                if content in seen:
                    continue
                seen.add(content)
            yield row

    def row_id(self, row: Row, index: int) -> str:
        return _name(row.get("task_id"), f"gaia#{index}")

    def parse(self, row: Row, index: int) -> EvaluationItem:
        pictures: tuple[bytes, ...] = ()
        problems: tuple[str, ...] = ()
        place = optional_text(row, "file_path") or optional_text(row, "file_name")
        if place.lower().endswith(PICTURE_SUFFIXES):
            pictures, problems = gather([{"path": self._find(place)}], self.folder)
        name = self.row_id(row, index)
        if name in self._parsed:
            problems = (*problems, "repeated_id")
        self._parsed.add(name)
        return evaluation_item(name, lambda: text(row, "Question", "question"), pictures, problems)

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
    essential = (("question",), ("canary",), ("images",))

    def row_id(self, row: Row, index: int) -> str:
        return _name(row.get("id"), f"mmbrowsecomp#{index}")

    def parse(self, row: Row, index: int) -> EvaluationItem:
        pictures, problems = [], []
        urls = row.get("images")  # none in two rows of five
        if isinstance(urls, str) and urls.lstrip().startswith("["):
            urls = parsed_text(urls)
        for url in urls if isinstance(urls, list | tuple) else [] if urls is None or urls == "" else [urls]:
            try:
                pictures.append(self._picture(url))
            except BadRow as error:
                problems.append(error.reason)
        return evaluation_item(self.row_id(row, index), lambda: self._plain(row), pictures, problems)

    @staticmethod
    def _plain(row: Row) -> str:
        return decrypted(decrypt_canary(text(row, "question"), text(row, "canary"), "question"), "question")

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

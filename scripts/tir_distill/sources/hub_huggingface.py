"""Hugging Face Hub through huggingface_hub. The endpoint is HF_ENDPOINT, the token HF_TOKEN or the stored login.

``hf_hub_download`` of huggingface_hub 2.x writes to a file of its own per process and deletes it on any failure, so an
interrupted 1.5 GB file would start again at zero. The library's ``http_get`` resumes from any offset; with a ``.part``
file kept between runs only the rest is fetched.
"""

from __future__ import annotations

import glob
import logging
import os
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ..records.errors import TirError, UsageError
from . import faults
from .backend import Listing, RemoteFile
from .settings import SourceSettings

log = logging.getLogger("tir_distill")

DEFAULT_ENDPOINT = "https://huggingface.co"
TIMEOUT_S = 30.0
REFUSED_RANGE = 416
"""The server does not give the part of a file that was asked for."""


class HuggingFaceBackend:
    """One data set at one revision."""

    def __init__(self, settings: SourceSettings) -> None:
        from huggingface_hub import HfApi

        self._settings = settings
        self._repo = settings.repo
        self._endpoint = os.environ.get("HF_ENDPOINT", DEFAULT_ENDPOINT).rstrip("/")
        self._api = HfApi(endpoint=self._endpoint)
        self.name = urlsplit(self._endpoint).netloc

    @property
    def _page(self) -> str:
        return f"{self._endpoint}/datasets/{self._repo}"

    def listing(self) -> Listing:
        from huggingface_hub.errors import HFValidationError

        try:
            info = self._api.dataset_info(
                self._repo, revision=self._settings.revision, files_metadata=True, timeout=TIMEOUT_S
            )
        except HFValidationError as error:
            raise UsageError(f"sources.sets.{self._settings.id}.repo: {error}") from error
        except _library_errors() as error:
            raise self._explain(error, "") from error
        files = tuple(
            RemoteFile(
                path=item.rfilename,
                size=item.size if item.lfs is None else item.lfs.size,
                sha256=None if item.lfs is None else item.lfs.sha256,
                git_sha1=item.blob_id if item.lfs is None else None,
            )
            for item in info.siblings or ()
        )
        return Listing(revision=str(info.sha), files=files, licence=_licence(info))

    def download(self, file: RemoteFile, listing: Listing, folder: Path) -> None:
        from huggingface_hub import get_hf_file_metadata, hf_hub_url
        from huggingface_hub.file_download import http_get
        from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]  # public, lazily exported

        target = folder / file.path
        part = target.with_name(f"{target.name}.{(file.digest or listing.revision)[:12]}.part")
        url = hf_hub_url(self._repo, file.path, repo_type="dataset", revision=listing.revision, endpoint=self._endpoint)
        headers = build_hf_headers()
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            metadata = get_hf_file_metadata(url, headers=headers, endpoint=self._endpoint, retry_on_errors=True)
            if urlsplit(metadata.location).netloc != urlsplit(url).netloc:
                headers.pop("authorization", None)  # the storage has signed its URL; our token is not for it
            size = file.size if file.size is not None else metadata.size
            resume = part.stat().st_size if part.exists() else 0
            if size is not None and resume > size:
                resume = 0

            def take(start: int) -> None:
                with part.open("r+b" if part.exists() else "w+b") as handle:
                    if handle.seek(0, os.SEEK_END) > start:
                        handle.truncate(start)
                    handle.seek(start)
                    http_get(
                        metadata.location,
                        handle,
                        resume_size=start,
                        headers=headers,
                        expected_size=size,
                        displayed_filename=file.path,
                    )
                    handle.flush()
                    os.fsync(handle.fileno())

            try:
                take(resume)
            except _library_errors() as error:
                if resume == 0 or _status(error) != REFUSED_RANGE:
                    raise
                log.warning("%s: the server does not continue at byte %d; starting again", file.path, resume)
                take(0)
            part.replace(target)
            for stale in target.parent.glob(f"{glob.escape(target.name)}.*.part"):  # of earlier revisions
                stale.unlink()
        except _library_errors() as error:
            raise self._explain(error, file.path, part, file.size) from error

    def _explain(self, error: Exception, path: str, part: Path | None = None, size: int | None = None) -> TirError:
        """The library's exception as one of ours."""
        import httpx2
        from huggingface_hub import errors

        status = _status(error)
        if isinstance(error, RecursionError):
            return faults.unreadable(self._repo, self.name, error)
        what = f"{self._repo}/{path}" if path else self._repo
        if faults.is_storage(error) or "Not enough free disk space" in str(error):
            return faults.storage(what, error if isinstance(error, OSError) else OSError(str(error)))
        if isinstance(error, errors.RevisionNotFoundError):
            return faults.unknown(f"revision {self._settings.revision!r}", self._repo, self.name)
        if isinstance(error, errors.GatedRepoError) or (status in (401, 403) and self._settings.gated):
            return faults.no_access(self._repo, self.name, "HF_TOKEN", status, gated=True, page=self._page)
        if isinstance(error, errors.RepositoryNotFoundError) and status != 404:
            return faults.no_access(self._repo, self.name, "HF_TOKEN", status, gated=False, page=self._page)
        if isinstance(error, errors.RepositoryNotFoundError):
            return faults.unknown("data set", self._repo, self.name)
        if isinstance(error, errors.EntryNotFoundError) or status == 404:
            return faults.unknown(f"file {path!r}" if path else "data set", self._repo, self.name)
        if status in (401, 403):
            return faults.no_access(self._repo, self.name, "HF_TOKEN", status, gated=False, page=self._page)
        if status is not None and (status == 429 or status >= 500):
            return faults.hub_busy(what, self.name, status)
        got = part.stat().st_size if part is not None and part.exists() else 0
        short = "Consistency check failed" in str(error) or isinstance(error, httpx2.RemoteProtocolError)
        if short and size is not None and 0 < got < size:
            return faults.short_body(what, got, size)
        return faults.unreachable(what, self.name, error)


def _status(error: Exception) -> int | None:
    return getattr(getattr(error, "response", None), "status_code", None)


def _library_errors() -> tuple[type[Exception], ...]:
    """What huggingface_hub raises: its HTTP errors are OSErrors, an answer that is no JSON is a ValueError."""
    import httpx2

    return (OSError, httpx2.HTTPError, ValueError, RecursionError)


def _licence(info: Any) -> str:
    card = info.card_data or {}
    value = card.get("license", "")
    if isinstance(value, list):
        value = ", ".join(map(str, value))
    tags = [tag.split(":", 1)[1] for tag in info.tags or [] if re.match(r"license:", tag)]
    return str(value or (tags[0] if tags else ""))

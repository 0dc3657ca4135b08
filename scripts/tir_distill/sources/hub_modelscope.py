"""ModelScope through its own client. The endpoint is MODELSCOPE_ENDPOINT, the token MODELSCOPE_API_TOKEN.

The client keeps ``<file>.incomplete`` beside the target and resumes it, checks sizes and sha256, and retries by itself.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from ..records.errors import TirError
from . import faults
from .backend import Listing, RemoteFile
from .settings import SourceSettings


class ModelScopeBackend:
    """One data set at one revision. There is no commit lookup: branches and tags are recorded as they are named."""

    def __init__(self, settings: SourceSettings) -> None:
        from modelscope_hub import HubApi
        from modelscope_hub.config import HubConfig

        self._settings = settings
        self._repo = settings.repo
        config = HubConfig()
        self._api = HubApi(config)
        # The default branch has another name than on Hugging Face; a configuration for both says "main".
        self._revision = "master" if settings.revision == "main" else settings.revision
        self._endpoint = str(config.endpoint)
        self.name = urlsplit(self._endpoint).netloc

    def listing(self) -> Listing:
        try:
            found = self._api.list_repo_files(self._repo, "dataset", revision=self._revision)
        except _library_errors() as error:
            raise self._explain(error, "") from error
        files = tuple(
            RemoteFile(path=item.path, size=item.size or None, sha256=(item.sha256 or "").lower() or None)
            for item in found
            if item.type != "tree"
        )
        return Listing(revision=self._revision, files=files)

    def download(self, file: RemoteFile, listing: Listing, folder: Path) -> None:
        try:
            self._api.download_file(
                self._repo,
                "dataset",
                file.path,
                revision=listing.revision,
                local_dir=folder,
                expected_sha256=file.sha256,
                file_size=file.size,
            )
        except _library_errors() as error:
            part = folder / f"{file.path}.incomplete"
            raise self._explain(error, file.path, part, file.size) from error

    def _explain(self, error: Exception, path: str, part: Path | None = None, size: int | None = None) -> TirError:
        """The client's exception as one of ours."""
        from modelscope_hub import errors

        status = getattr(error, "status_code", None)
        if isinstance(error, RecursionError):
            return faults.unreadable(self._repo, self.name, error)
        what = f"{self._repo}/{path}" if path else self._repo
        page = f"{self._endpoint}/datasets/{self._repo}"
        if isinstance(error, errors.FileSizeMismatchError):
            return faults.hub_busy(what, self.name, 502, "the file offered has another size than the listing says")
        if isinstance(error, errors.FileIntegrityError):
            return faults.ChecksumMismatch(f"{what}: {error}; the file was removed, run again")
        if isinstance(error, errors.AuthenticationError | errors.PermissionDeniedError) or status in (401, 403):
            return faults.no_access(
                self._repo, self.name, "MODELSCOPE_API_TOKEN", status, gated=self._settings.gated, page=page
            )
        if isinstance(error, errors.NotExistError) or status == 404:
            wanted = f"file {path!r}" if path else f"data set or revision {self._settings.revision!r}"
            return faults.unknown(wanted, self._repo, self.name)
        if status is not None and (status == 429 or status >= 500):
            return faults.hub_busy(what, self.name, status)
        if faults.is_storage(error):
            return faults.storage(what, error if isinstance(error, OSError) else OSError(str(error)))
        got = part.stat().st_size if part is not None and part.exists() else 0
        if size is not None and 0 < got < size:
            return faults.short_body(what, got, size)
        return faults.unreachable(what, self.name, error)


def _library_errors() -> tuple[type[Exception], ...]:
    """What the client raises; an answer that is no JSON is a ValueError."""
    import requests
    from modelscope_hub.errors import HubError

    return (HubError, requests.RequestException, OSError, ValueError, RecursionError)

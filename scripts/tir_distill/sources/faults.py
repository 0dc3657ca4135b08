"""Every way in which fetching can fail, as one sentence and one exit code.

===============================  ====  ========================================================
what happened                    exit  what to do
===============================  ====  ========================================================
no such data set, revision, file  64   the configuration names something that is not there
no access (401, 403, gated)        1   accept the terms on the hub's page, set the token
checksum differs                   1   the file was removed (transport) or upstream has changed
rate limit, 5xx, connection,       2   run the same command again; what was fetched stays
short body, disk full
===============================  ====  ========================================================
"""

from __future__ import annotations

import errno

from ..records.errors import Stopped, TirError, UsageError


class NoAccess(TirError):
    """The hub knows the data set and does not give it to us."""


class ChecksumMismatch(TirError):
    """Bytes are not those that were promised."""


def unknown(what: str, repo: str, hub: str, detail: str = "") -> UsageError:
    """A data set, revision or file that is not on the hub."""
    return UsageError(f"{repo}: {what} not found on {hub}{_tail(detail)}; check sources.sets in the configuration")


def no_access(repo: str, hub: str, token_env: str, status: int | None, *, gated: bool, page: str) -> NoAccess:
    """401 or 403, and what a person must do."""
    said = f" (HTTP {status})" if status else ""
    if gated:
        return NoAccess(
            f"{repo}: gated on {hub}{said}: open {page}, accept its terms with your account, "
            f"and set {token_env} to a token of that account"
        )
    return NoAccess(
        f"{repo}: {hub} refused access{said}: no such data set, or one that needs {token_env} set to a token "
        f"that may read it ({page})"
    )


def hub_busy(repo: str, hub: str, status: int, detail: str = "") -> Stopped:
    """429 and 5xx that outlasted the client's own retries."""
    if status == 429:
        return Stopped(
            "hub_rate_limit", f"{repo}: {hub} limits the rate (HTTP 429{_tail(detail, ', ')}); run again later"
        )
    return Stopped("hub_unavailable", f"{repo}: {hub} answers HTTP {status}{_tail(detail, ', ')}; run again later")


def unreachable(repo: str, hub: str, error: BaseException) -> Stopped:
    """No connection, a time-out, or a connection that broke."""
    text = str(error).splitlines()[0] if str(error) else type(error).__name__
    return Stopped("hub_unreachable", f"{repo}: no connection to {hub} ({text}); run again, what was fetched stays")


def unreadable(repo: str, hub: str, error: BaseException) -> TirError:
    """An answer that no parser takes, such as lists nested a hundred thousand deep."""
    return TirError(f"{repo}: the answer of {hub} cannot be read ({error}); check the endpoint")


def short_body(path: str, got: int, expected: int) -> Stopped:
    """The server closed the connection early, again and again."""
    return Stopped(
        "short_body", f"{path}: received {got} of {expected} bytes; run again to fetch the rest, what was fetched stays"
    )


def storage(path: str, error: OSError) -> TirError:
    """The local disk refuses: full, read-only, no permission."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return Stopped("disk_full", f"{path}: no space left on the device; free some and run again")
    return TirError(f"{path}: cannot be written ({error.strerror or error})")


def damaged(path: str) -> ChecksumMismatch:
    """Bytes that are not what the hub lists."""
    return ChecksumMismatch(f"{path}: the checksum is not the one that the hub lists; the file was removed, run again")


def not_as_pinned(path: str, expected: str, found: str) -> ChecksumMismatch:
    """Bytes that the hub lists and the configuration does not expect."""
    return ChecksumMismatch(
        f"{path}: sha256 {found} but sources.sets pins {expected}: upstream has changed; "
        "review the new file, then change revision or sha256"
    )


def is_storage(error: BaseException) -> bool:
    """Whether an OSError comes from the local file system rather than from the network."""
    return isinstance(error, OSError) and error.errno in (
        errno.ENOSPC,
        errno.EDQUOT,
        errno.EROFS,
        errno.EACCES,
        errno.EPERM,
        errno.EIO,
    )


def _tail(detail: str, lead: str = ": ") -> str:
    return f"{lead}{detail}" if detail else ""

"""What can go wrong between us and a teacher, told apart by what should be done about it.

Nothing here is ever the model's fault: a fault consumes no sample and is never graded (DESIGN section 4.5).
"""

from __future__ import annotations

import email.utils
import math
import re
import time
from collections.abc import Mapping
from typing import Literal

FaultKind = Literal[
    "rate_limited",
    "server",
    "timeout",
    "reset",
    "bad_body",
    "refused",
    "context_length",
    "bad_request",
    "bad_key",
    "wrong_endpoint",
    "credits_exhausted",
]
"""``rate_limited`` 429; ``server`` 5xx; ``timeout`` no whole answer in time; ``reset`` connection refused or cut;
``bad_body`` an answer that is no chat completion (HTML page, cut JSON); ``refused`` the provider's content inspection;
``context_length`` the conversation is longer than the model takes; ``bad_request`` any other 4xx; ``bad_key`` 401/403;
``wrong_endpoint`` 404/405, no such path or model;
``credits_exhausted`` the account is empty."""

ENDPOINT_KINDS: frozenset[FaultKind] = frozenset({"rate_limited", "server", "timeout", "reset", "bad_body"})
"""Faults that time may heal. The others come back for certain when the same request is sent again."""

MAX_DETAIL = 300
"""Characters of a server's body kept in a fault's detail."""

_CREDITS = re.compile(r"insufficient_quota|not enough credits|insufficient balance|arrearage|billing_hard_limit", re.I)
_REFUSED = re.compile(
    r"data_inspection_failed|datainspection|content_filter|content management policy|inappropriate content"
    r"|content_policy|risk control|sensitive",
    re.I,
)
_TOO_LONG = re.compile(
    r"context_length|context length|maximum context|context window|range of input length|input is too long"
    r"|longer than the (?:model's|maximum)|prompt is too long|max_model_len|exceeds? the (?:model|max)",
    re.I,
)


class TeacherFault(Exception):
    """A request failed for good (or, inside the client, one try of it). ``retry_after``: seconds asked for."""

    def __init__(self, kind: FaultKind, detail: str = "", retry_after: float | None = None) -> None:
        super().__init__(f"{kind}: {detail}" if detail else kind)
        self.kind: FaultKind = kind
        self.detail = detail
        self.retry_after = retry_after

    @property
    def certain(self) -> bool:
        """The same request would fail again."""
        return self.kind not in ENDPOINT_KINDS


def fault_of_status(status: int, headers: Mapping[str, str], body: bytes) -> TeacherFault:
    """Class of an answer whose status is not 200."""
    text = shown(body)
    if status in (402, 429) and _CREDITS.search(text):
        return TeacherFault("credits_exhausted", f"HTTP {status}: {text}")
    if status == 402:
        return TeacherFault("credits_exhausted", f"HTTP 402: {text}")
    if status == 429:
        return TeacherFault("rate_limited", f"HTTP 429: {text}", retry_after(headers))
    if status >= 500 or status in (408, 409, 425):
        return TeacherFault("server", f"HTTP {status}: {text}", retry_after(headers))
    if _REFUSED.search(text):
        return TeacherFault("refused", f"HTTP {status}: {text}")
    if status in (401, 403):
        return TeacherFault("bad_key", f"HTTP {status}: {text}")
    if status in (404, 405):  # no question's fault: every request would be answered so
        return TeacherFault("wrong_endpoint", f"HTTP {status}: {text}; are the URL (with /v1) and the model right?")
    if status == 413 or _TOO_LONG.search(text):
        return TeacherFault("context_length", f"HTTP {status}: {text}")
    return TeacherFault("bad_request", f"HTTP {status}: {text}")


def fault_of_error(error: Mapping[str, object]) -> TeacherFault:
    """Class of an ``error`` object that came with status 200, as some gateways send it."""
    code = error.get("code")
    status = code if isinstance(code, int) and not isinstance(code, bool) and 400 <= code < 600 else None
    text = f"{error.get('type', '')} {code or ''} {error.get('message', '')}".strip()
    if status is None:
        status = 429 if re.search(r"rate.?limit|too many requests", text, re.I) else 400
        if not (_CREDITS.search(text) or _REFUSED.search(text) or _TOO_LONG.search(text)) and status == 400:
            status = 500
    return fault_of_status(status, {}, text.encode())


def shown(body: bytes) -> str:
    """The start of a body on one line, fit for a log."""
    return " ".join(body[: 4 * MAX_DETAIL].decode("utf-8", "replace").split())[:MAX_DETAIL]


def retry_after(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """Seconds that ``Retry-After`` asks for, from its number or its HTTP date; None when absent or unreadable.

    A date is counted from the later of two starts, ours and the server's own ``Date``, so that a server whose clock
    is ahead is not asked too early.
    """
    value = headers.get("Retry-After", "").strip()
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        until = _http_date(value)
        if until is None:
            return None
        starts = [time.time() if now is None else now, _http_date(headers.get("Date", ""))]
        seconds = until - min(start for start in starts if start is not None)
    return max(0.0, seconds) if math.isfinite(seconds) else None


def _http_date(value: str) -> float | None:
    try:
        return email.utils.parsedate_to_datetime(value).timestamp()
    except (TypeError, ValueError, OverflowError):
        return None

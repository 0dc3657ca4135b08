"""What can go wrong between us and a teacher, told apart by what should be done about it.

Nothing here is ever the model's fault: a fault consumes no sample and is never graded (DESIGN section 4.5).
"""

from __future__ import annotations

import email.utils
import math
import re
import time
from collections.abc import Callable, Mapping
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

Clean = Callable[[str], str]
"""Takes the key out of a server's text. It has to see the whole text: half a key is not found any more."""

_CREDITS = re.compile(
    r"insufficient_quota|exceeded your current quota|not enough credits|insufficient[_ ]balance|arrearage"
    r"|billing_hard_limit",
    re.I,
)
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


def as_it_is(text: str) -> str:
    """``Clean`` where there is no key."""
    return text


def fault_of_status(status: int, headers: Mapping[str, str], body: bytes, clean: Clean = as_it_is) -> TeacherFault:
    """Class of an answer whose status is not 200."""
    return _classed(status, headers, body.decode("utf-8", "replace"), clean)


def _classed(status: int, headers: Mapping[str, str], said: str, clean: Clean) -> TeacherFault:
    text = _one_line(said, as_it_is)  # what is shown may lack a word that a short key is part of
    kind = _kind(status, text)
    detail = f"HTTP {status}: {_one_line(said, clean)}"
    if kind == "wrong_endpoint":
        detail += "; are the URL (with /v1) and the model right?"
    return TeacherFault(kind, detail, retry_after(headers) if kind in ("rate_limited", "server") else None)


def _kind(status: int, text: str) -> FaultKind:
    if status == 402 or (400 <= status < 500 and _CREDITS.search(text)):  # DashScope says Arrearage with a 400
        return "credits_exhausted"
    if status == 429:
        return "rate_limited"
    if status >= 500 or status in (408, 409, 425):
        return "server"
    if _REFUSED.search(text):
        return "refused"
    if status in (401, 403):
        return "bad_key"
    if status in (404, 405):  # no question's fault: every request would be answered so
        return "wrong_endpoint"
    if status == 413 or _TOO_LONG.search(text):
        return "context_length"
    return "bad_request"


def fault_of_error(error: Mapping[str, object] | str, clean: Clean = as_it_is) -> TeacherFault:
    """Class of an ``error`` that came with status 200, as some gateways send it."""
    said: Mapping[str, object] = {"message": error} if isinstance(error, str) else error
    code = said.get("code")
    number = int(code) if isinstance(code, str) and re.fullmatch(r"[45]\d\d", code) else code
    status = number if isinstance(number, int) and not isinstance(number, bool) and 400 <= number < 600 else None
    text = f"{said.get('type', '')} {code or ''} {said.get('message', '')}".strip()
    if status is None:
        known = _CREDITS.search(text) or _REFUSED.search(text) or _TOO_LONG.search(text)
        slow = re.search(r"rate.?limit|too many requests", text, re.I)
        status = 429 if slow else 400 if known else 500
    return _classed(status, {}, text, clean)


def shown(body: bytes, clean: Clean = as_it_is) -> str:
    """The start of a body on one line, fit for a log."""
    return _one_line(body.decode("utf-8", "replace"), clean)


def _one_line(text: str, clean: Clean) -> str:
    return " ".join(clean(text).split())[:MAX_DETAIL]


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

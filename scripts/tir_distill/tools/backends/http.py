"""What the HTTP backends share: one client, and errors that hold no key."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx
import orjson

from .base import TryAgain

MAX_DETAIL_CHARS = 200


def new_client(timeout_s: float) -> httpx.AsyncClient:
    """One pool of connections for all searches of a process."""
    return httpx.AsyncClient(
        timeout=httpx.Timeout(timeout_s, connect=min(10.0, timeout_s), pool=None),
        limits=httpx.Limits(max_connections=128, max_keepalive_connections=32),
    )


def retry_after_s(header: str | None, now: datetime | None = None) -> float | None:
    """Seconds named by a Retry-After header, which holds a number or an HTTP date; None when it names none."""
    if not header:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        when = parsedate_to_datetime(header)
    except ValueError:
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return max(0.0, (when - (now or datetime.now(UTC))).total_seconds())


def at_the_door(door: Callable[[], Awaitable[None]]) -> dict[str, Any]:
    """Request extensions that await ``door`` when the connection stands and the request is about to be written.

    Before that, a connection may take longer to be made than a time slot lasts. What ``door`` raises ends the request.
    """

    async def trace(event: str, info: Mapping[str, Any]) -> None:
        # A proxy's CONNECT is sent by the same code and is no request to the provider.
        if event.endswith(".send_request_headers.started") and info["request"].method != b"CONNECT":
            await door()

    return {"trace": trace}


async def send(client: httpx.AsyncClient, method: str, url: str, **kwargs: Any) -> httpx.Response:
    """One request. A transport error becomes TryAgain; its text names the kind only, never headers."""
    try:
        return await client.request(method, url, **kwargs)
    except httpx.TimeoutException:
        raise TryAgain("timeout", "no answer in time") from None
    except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
        raise TryAgain("bad_url", type(error).__name__) from None
    except httpx.HTTPError as error:
        raise TryAgain("connection", type(error).__name__) from None


def json_object(response: httpx.Response) -> dict[str, Any] | None:
    """The body as a JSON object, or None for HTML, empty, cut-off and other bodies.

    An answer is paid for whether or not its text is sound: a byte order mark is passed over, and bytes or escapes that
    stand for no character (half of a cut emoji) are replaced.
    """
    text = response.content.decode("utf-8-sig", "replace")
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        value = _loads_unsound(text)
    return value if isinstance(value, dict) else None


def _loads_unsound(text: str) -> Any:
    """What the standard library reads and orjson refuses, made sound; None for what is no JSON at all."""
    try:
        value = json.loads(text, parse_constant=lambda _: None)
        return orjson.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None


def excerpt(response: httpx.Response, secret: str) -> str:
    """Start of a body for an error text, on one line, with the key taken out should the provider echo it."""
    text = " ".join(response.text.split())
    if secret:
        text = text.replace(secret, "[redacted]")
    return text[:MAX_DETAIL_CHARS]


def raise_if_passing(response: httpx.Response, secret: str) -> None:
    """Raise TryAgain for 408, 429 and 5xx."""
    status = response.status_code
    if status == 429:
        raise TryAgain("rate_limited", "429", retry_after_s(response.headers.get("retry-after")))
    if status == 408 or status >= 500:
        wait = retry_after_s(response.headers.get("retry-after"))
        raise TryAgain("server_error", f"{status} {excerpt(response, secret)}", wait)

"""One judge model behind an OpenAI-compatible endpoint: asked, retried, and told apart from a wrong answer.

Three kinds of failure stay apart. A reply that says nothing is asked for again and then given up (undecided). A broken
transport is retried, then undecided; when that happens several times in a row the endpoint is down and the run stops.
A refused key, used-up credit or a lasting 429 stops the run at once: going on would only mark samples as ungraded.
"""

from __future__ import annotations

import asyncio
import email.utils
import logging
import random
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..records import Stopped
from .cache import Judged
from .prompt import defused, judge_messages
from .reply import parse_reply
from .settings import JudgeSettings

if TYPE_CHECKING:
    from openai import AsyncOpenAI

log = logging.getLogger(__name__)

LONGEST_BACKOFF_S = 20.0
CREDIT_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached"})


class TransportFault(Exception):
    """No usable reply reached us. ``kind``: ``rate_limited``, ``transport`` or ``refused`` (this request only)."""

    def __init__(self, kind: str, detail: str, retry_after: float | None = None) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind = kind
        self.retry_after = retry_after


class Reply(NamedTuple):
    """What came back, read."""

    verdict: bool | None
    reason: str


class Judge:
    """Asks one model. Shared by all gradings of a process; requests in flight are bounded by ``gate``."""

    def __init__(self, client: AsyncOpenAI, model: str, settings: JudgeSettings, gate: asyncio.Semaphore) -> None:
        self.model = model
        self._client = client
        self._settings = settings
        self._gate = gate
        self._broken = 0
        self.requests = 0
        """Requests sent, retries included."""

    async def ask(
        self, question: str, references: Sequence[str], answer: str, picture: str | None = None
    ) -> Judged | None:
        """The decided verdict, or None when the judge could not be brought to one. Raises Stopped."""
        deadline = time.monotonic() + self._settings.patience_s
        attempt = 0
        remind = False
        while attempt < self._settings.attempts:
            wait = min(self._settings.backoff_s * 2**attempt, LONGEST_BACKOFF_S) * random.uniform(0.8, 1.2)
            try:
                async with self._gate:
                    reply = await self._request(
                        judge_messages(question, references, answer, picture=picture, remind=remind), answer
                    )
            except TransportFault as fault:
                if fault.kind == "refused":
                    return None
                wait = max(wait, fault.retry_after or 0.0)
                if fault.kind == "rate_limited":
                    if time.monotonic() + wait > deadline:
                        raise Stopped("endpoint_saturated", f"judge {self.model} kept answering 429") from None
                else:
                    attempt += 1
                    if attempt >= self._settings.attempts:
                        self._gave_up(fault)
                        return None
                await asyncio.sleep(wait)
                continue
            self._broken = 0
            if reply.verdict is not None:
                return Judged(correct=reply.verdict, model=self.model, reason=reply.reason)
            attempt += 1
            remind = True
        return None

    def _gave_up(self, fault: TransportFault) -> None:
        self._broken += 1
        log.warning("judge %s: no reply after %d attempts (%s)", self.model, self._settings.attempts, fault)
        if self._broken >= self._settings.breaker:
            raise Stopped("endpoint_saturated", f"judge {self.model} cannot be reached ({fault})")

    async def _request(self, messages: list[dict[str, Any]], answer: str) -> Reply:
        import openai

        self.requests += 1
        try:
            completion: Any = await self._client.chat.completions.create(
                model=self.model,
                messages=messages,  # type: ignore[arg-type]
                temperature=0.0,
                top_p=0.1,
                max_tokens=self._settings.max_tokens,
            )
        except (openai.AuthenticationError, openai.PermissionDeniedError) as error:
            raise Stopped(
                "bad_key", f"the judge refused the key in {self._settings.key_env} (status {error.status_code})"
            ) from None
        except openai.APIStatusError as error:
            raise _status_fault(error) from None
        except openai.APIConnectionError as error:  # timeouts too
            raise TransportFault("transport", type(error).__name__) from None
        except (openai.OpenAIError, ValueError) as error:  # a body that is no JSON
            raise TransportFault("transport", f"unreadable reply ({type(error).__name__})") from None
        text, finished = _content(completion)
        return Reply(parse_reply(text, finished=finished, graded=defused(answer)), text.strip()[:200])


def _content(completion: Any) -> tuple[str, bool]:
    """The reply's text and whether it is whole. The client checks no types, so everything is looked at first."""
    choices = getattr(completion, "choices", None)
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = getattr(choice, "message", None)
    if message is None or isinstance(message, str | list | dict):
        raise TransportFault("transport", "reply without a message")
    content = getattr(message, "content", None)
    if isinstance(content, list):  # parts, as some servers send them
        parts = [part.get("text") if isinstance(part, dict) else part for part in content]
        content = "".join(part for part in parts if isinstance(part, str))
    if content is not None and not isinstance(content, str):
        raise TransportFault("transport", f"reply of type {type(content).__name__}")
    return content or "", getattr(choice, "finish_reason", None) != "length"


def _status_fault(error: Any) -> Exception:
    """What an HTTP error status means for us."""
    status: int = error.status_code
    code = error.body.get("code") if isinstance(error.body, dict) else None
    if status == 402 or (isinstance(code, str) and code in CREDIT_CODES):
        return Stopped("credits_exhausted", "the judge's credit is used up")
    if status == 429:
        return TransportFault("rate_limited", "status 429", retry_after(error.response.headers.get("retry-after")))
    if status == 404:
        return Stopped(
            "bad_endpoint", f"the judge answers 404: check the address and the model name {error.body!s:.80}"
        )
    if status >= 500 or status in (408, 409):
        return TransportFault("transport", f"status {status}", retry_after(error.response.headers.get("retry-after")))
    return TransportFault("refused", f"status {status}")


def retry_after(header: str | None) -> float | None:
    """Seconds to wait from a Retry-After header, given as seconds or as an HTTP date; None when it says nothing."""
    if not header:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        when = email.utils.parsedate_to_datetime(header)
    except ValueError:
        return None
    return max(0.0, when.timestamp() - time.time())

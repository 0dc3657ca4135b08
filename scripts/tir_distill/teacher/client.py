"""Asks a teacher: one HTTP pool, replicas by least work, retries, breaker."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from ..records import Message, Stopped, dumps
from .faults import TeacherFault, fault_of_status
from .reply import Reply, read_body, read_reply
from .retry import Breaker, RetryPolicy
from .settings import Endpoint, TeacherSettings
from .transcript import PictureReader, Transcript

log = logging.getLogger(__name__)

SLACK = 4
"""Requests that a conversation's usual replica may have above the least busy one (its prefix cache is worth that)."""

REST_S = 5.0
"""Seconds for which a replica that failed is passed over while another one answers."""


@dataclass(slots=True)
class Replica:
    """One address and what is known of it."""

    url: str
    in_flight: int = 0
    failed_at: float = -REST_S


@dataclass(slots=True)
class Counters:
    """What was asked, for progress and statistics."""

    requests: int = 0
    retries: int = 0
    faults: dict[str, int] = field(default_factory=dict)
    prompt_tokens: int = 0
    completion_tokens: int = 0


class TeacherClient:
    """One served model. Share it: it holds nothing of any conversation."""

    def __init__(
        self,
        endpoint: Endpoint,
        settings: TeacherSettings,
        session: aiohttp.ClientSession,
        *,
        retry: RetryPolicy | None = None,
        read_picture: PictureReader | None = None,
    ) -> None:
        self.endpoint = endpoint
        self.settings = settings
        self.counters = Counters()
        self.breaker = Breaker()
        self._session = session
        self._retry = retry or RetryPolicy(attempts=settings.attempts)
        self._read_picture = read_picture or _no_pictures
        self._replicas = [Replica(f"{url}/chat/completions") for url in endpoint.urls]
        self._jitter = random.Random()  # spreads waits; decides nothing that is kept

    @property
    def model(self) -> str:
        return self.endpoint.model

    async def complete(
        self,
        messages: Transcript | Sequence[Message],
        tools: Sequence[Mapping[str, Any]],
        *,
        seed: int,
        max_tokens: int | None = None,
        owner: str = "",
    ) -> Reply:
        """One reply. Raises TeacherFault when the tries are used up, Stopped when no further request makes sense; the
        Stopped of a request that used up its own tries has the TeacherFault as its cause.

        ``owner`` names the conversation, ``<question>#<sample>``; its requests prefer one replica.
        """
        limit = max_tokens or self.settings.max_tokens
        if not isinstance(messages, Transcript):
            messages = Transcript.of(messages, self._read_picture, text_protocol=self.settings.text_protocol)
        body = self._body(messages, tools, seed, limit)
        tries = 0
        avoid: Replica | None = None
        while True:
            self.breaker.check()
            replica = self._choose(owner, avoid)
            first = tries == 0
            tries += 1
            self.breaker.waiting_first += first
            try:
                reply = await self._once(replica, body, tools, limit)
            except TeacherFault as fault:
                self._count(fault)
                if not fault.certain:
                    replica.failed_at, avoid = time.monotonic(), replica
                caught = fault
            else:
                self.breaker.success()
                self.counters.prompt_tokens += reply.usage.prompt_tokens
                self.counters.completion_tokens += reply.usage.completion_tokens
                return reply
            finally:
                self.breaker.waiting_first -= first
            if caught.kind in ("bad_key", "wrong_endpoint", "credits_exhausted"):
                self.breaker.trip(caught.kind, f"teacher: {caught.detail}")
            wait = self._retry.wait(tries, caught, self._jitter.random())
            if wait is None:
                try:
                    self.breaker.exhausted(caught, owner.rpartition("#")[0], opening=len(messages) <= 2)
                except Stopped as stopped:
                    raise stopped from caught
                raise caught
            self.counters.retries += 1
            await asyncio.sleep(wait)

    def _count(self, fault: TeacherFault) -> None:
        seen = self.counters.faults.get(fault.kind, 0)
        self.counters.faults[fault.kind] = seen + 1
        if seen == 0:  # the first of each kind is worth a line; the rest is a number in the progress
            log.warning("teacher: %s (tried again as the policy says; further ones are only counted)", fault)

    def _body(self, messages: Transcript, tools: Sequence[Mapping[str, Any]], seed: int, max_tokens: int) -> bytes:
        head: dict[str, Any] = {
            "model": self.endpoint.model,
            "temperature": self.settings.temperature,
            "top_p": self.settings.top_p,
            "max_tokens": max_tokens,
            "seed": seed,
        }
        if tools and not self.settings.text_protocol:
            head["tools"] = list(tools)
        if self.settings.chat_template_kwargs:
            head["chat_template_kwargs"] = dict(self.settings.chat_template_kwargs)
        return messages.joined(dumps(head)[:-1] + b',"messages":', b"}")

    def _choose(self, owner: str, avoid: Replica | None) -> Replica:
        """The conversation's own replica while it is not much busier than the least busy one that works."""
        if len(self._replicas) == 1:
            return self._replicas[0]
        now = time.monotonic()
        working = [r for r in self._replicas if now - r.failed_at >= REST_S and r is not avoid]
        candidates = working or [r for r in self._replicas if r is not avoid]
        least = min(candidates, key=lambda replica: replica.in_flight)
        usual = self._replicas[hash(owner) % len(self._replicas)] if owner else least
        return usual if usual in candidates and usual.in_flight <= least.in_flight + SLACK else least

    async def _once(self, replica: Replica, body: bytes, tools: Sequence[Mapping[str, Any]], max_tokens: int) -> Reply:
        """One request. Every way in which it can fail comes out as a TeacherFault."""
        self.counters.requests += 1
        replica.in_flight += 1
        start = time.monotonic()
        try:
            async with self._session.post(replica.url, data=body, headers=self.endpoint.headers()) as response:
                data = await response.read()
                if response.status != 200:
                    raise fault_of_status(response.status, response.headers, data, self.endpoint.without_key)
        except TimeoutError:
            raise TeacherFault("timeout", f"no answer within {self.settings.request_timeout:g} s") from None
        except (aiohttp.ClientError, OSError) as error:
            detail = self.endpoint.without_key(f"{type(error).__name__}: {error}")
            raise TeacherFault("reset", detail[:200]) from None
        finally:
            replica.in_flight -= 1
        return read_reply(
            read_body(data, self.endpoint.without_key),
            tools,
            max_tokens=max_tokens,
            text_protocol=self.settings.text_protocol,
            latency_s=round(time.monotonic() - start, 3),
        )


def _no_pictures(path: str) -> bytes:
    raise ValueError(f"this client was opened without a picture reader, but a message holds {path}")


class TeacherPool:
    """Every teacher of a run over one HTTP pool."""

    def __init__(
        self,
        settings: TeacherSettings,
        session: aiohttp.ClientSession,
        retry: RetryPolicy | None,
        read_picture: PictureReader | None,
    ) -> None:
        self.settings = settings
        self._session = session
        self._retry = retry
        self._read_picture = read_picture
        self._clients: dict[Endpoint, TeacherClient] = {}

    @classmethod
    @contextlib.asynccontextmanager
    async def open(
        cls,
        settings: TeacherSettings,
        *,
        retry: RetryPolicy | None = None,
        read_picture: PictureReader | None = None,
    ) -> AsyncIterator[TeacherPool]:
        """The pool has no limit of its own: the number of conversations is the limit."""
        timeout = aiohttp.ClientTimeout(total=settings.request_timeout, sock_connect=min(30, settings.request_timeout))
        connector = aiohttp.TCPConnector(limit=0, ttl_dns_cache=300)
        async with aiohttp.ClientSession(connector=connector, timeout=timeout, auto_decompress=True) as session:
            yield cls(settings, session, retry, read_picture)

    def client(self, *, task_type: str, bucket: str) -> TeacherClient:
        """The teacher of a question. Raises UsageError when its address or name is not set."""
        endpoint = self.settings.names_for(task_type=task_type, bucket=bucket).resolve()
        if endpoint not in self._clients:
            self._clients[endpoint] = TeacherClient(
                endpoint, self.settings, self._session, retry=self._retry, read_picture=self._read_picture
            )
        return self._clients[endpoint]

    def counters(self) -> Counters:
        """Sums over all teachers."""
        total = Counters()
        for client in self._clients.values():
            counters = client.counters
            total.requests += counters.requests
            total.retries += counters.retries
            total.prompt_tokens += counters.prompt_tokens
            total.completion_tokens += counters.completion_tokens
            for kind, count in counters.faults.items():
                total.faults[kind] = total.faults.get(kind, 0) + count
        return total

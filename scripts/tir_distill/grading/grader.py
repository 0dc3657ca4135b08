"""Grading one answer: rules, ChartQA's relaxed rule where configured, then the judge."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..records import Question, TirError, Verdict
from .cache import Judged, VerdictCache, verdict_key
from .guard import unsafe, unusable
from .judge import Judge
from .prompt import prompt_hash
from .relaxed import relaxed_correct
from .rules import decide
from .settings import JudgeSettings

if TYPE_CHECKING:
    from openai import AsyncOpenAI

MIME = {b"\x89PNG": "image/png", b"\xff\xd8\xff": "image/jpeg"}


def data_url(raw: bytes) -> str:
    """A picture file as a data URL."""
    mime = next((mime for head, mime in MIME.items() if raw.startswith(head)), "application/octet-stream")
    return f"data:{mime};base64,{base64.b64encode(raw).decode()}"


class Grader:
    """Grades answers and remembers what it paid for. One per process; every method may run concurrently."""

    def __init__(self, settings: JudgeSettings, cache: Path | None = None, *, image_root: Path | None = None) -> None:
        self.settings = settings
        self.cache = VerdictCache(cache)
        self.agreement: Counter[str] = Counter()
        """Of the second judge with the first: ``agrees``, ``disagrees``, ``undecided``."""
        self._image_root = image_root
        self._flights: dict[str, asyncio.Task[Judged | None]] = {}
        self._judges: list[Judge] = []
        self._client: AsyncOpenAI | None = None

    @classmethod
    def from_config(
        cls, config: Mapping[str, Any], cache_path: Path | None = None, *, image_root: Path | None = None
    ) -> Grader:
        """Settings from the section ``judge``; the key is read from the environment when the judge is first needed."""
        return cls(JudgeSettings.from_config(config), cache_path, image_root=image_root)

    async def grade(self, question: Question, answer: str | None) -> Verdict:
        """The verdict on a final answer. Raises Stopped when the judge can no longer be asked (key, credit, 429)."""
        verdict = decide(question.question, answer, question.references)
        if verdict is not None and (verdict.correct or answer is None):
            return verdict
        if answer is not None and question.bucket in self.settings.chart_relaxed:
            for reference in question.references:
                if not unsafe(reference) and relaxed_correct(answer, reference):
                    return Verdict(correct=True, path="relaxed", reference=reference, detail="within 5 %")
        if verdict is not None:
            return verdict
        return await self._judged(question, answer or "")

    async def _judged(self, question: Question, answer: str) -> Verdict:
        judges = self._open()
        if not judges:
            return Verdict(correct=None, path="judge_failed", detail="no judge configured")
        picture, picture_hash = await self._picture(question)
        references = [reference for reference in question.references if not unusable(reference)]
        first = await self._one(judges[0], question.question, references, answer, picture, picture_hash)
        model = judges[0].model
        if first is None:
            return Verdict(correct=None, path="judge_failed", judge_model=model, detail="no clear verdict")
        detail = ""
        if len(judges) > 1:
            second = await self._one(judges[1], question.question, references, answer, picture, picture_hash)
            word = "undecided" if second is None else "agrees" if second.correct is first.correct else "disagrees"
            self.agreement[word] += 1
            detail = f"second judge {word}"
        return Verdict(correct=first.correct, path="judge", judge_model=model, detail=detail)

    async def _one(
        self,
        judge: Judge,
        question: str,
        references: list[str],
        answer: str,
        picture: str | None,
        picture_hash: str,
    ) -> Judged | None:
        """From the cache, from a request already in flight for the same case, or asked now."""
        key = verdict_key(question, references, answer, judge.model, prompt_hash(), picture_hash)
        known = self.cache.get(key)
        if known is not None:
            return known
        flight = self._flights.get(key)
        if flight is None:
            flight = asyncio.ensure_future(judge.ask(question, references, answer, picture))
            self._flights[key] = flight
            flight.add_done_callback(lambda task: self._landed(key, task))
        # a caller that is cancelled must not take the request from the others that wait for it
        return await asyncio.shield(flight)

    def _landed(self, key: str, task: asyncio.Task[Judged | None]) -> None:
        self._flights.pop(key, None)
        if task.cancelled() or task.exception() is not None:
            return
        judged = task.result()
        if judged is not None:
            self.cache.put(key, judged)

    def _open(self) -> list[Judge]:
        """The judges, made when first needed; none without a key or when switched off."""
        key = os.environ.get(self.settings.key_env)
        if not self.settings.enabled or not key:
            return []
        if not self._judges:
            import openai

            self._client = openai.AsyncOpenAI(
                api_key=key, base_url=self.settings.url, timeout=self.settings.timeout_s, max_retries=0
            )
            gate = asyncio.Semaphore(self.settings.concurrency)
            models = [self.settings.model, *([self.settings.second_model] if self.settings.second_model else [])]
            self._judges = [Judge(self._client, model, self.settings, gate) for model in models]
        return self._judges

    async def _picture(self, question: Question) -> tuple[str | None, str]:
        if not self.settings.attach_image or self._image_root is None or not question.images:
            return None, ""
        path = self._image_root / question.images[0]
        try:
            raw = await asyncio.to_thread(path.read_bytes)
        except OSError as error:
            raise TirError(
                f"{question.id}: the judge is to see {path}, which cannot be read ({error.strerror}); give the"
                " hand-over folder as image root, or set judge.attach_image to false"
            ) from None
        return data_url(raw), hashlib.sha256(raw).hexdigest()

    async def close(self) -> None:
        """Give up requests in flight and close connections."""
        for flight in list(self._flights.values()):
            flight.cancel()
        await asyncio.gather(*self._flights.values(), return_exceptions=True)
        if self._client is not None:
            await self._client.close()
            self._client, self._judges = None, []

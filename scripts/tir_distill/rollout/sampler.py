"""Samples of one question: bought by the plan, graded, filtered, recorded."""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal, Protocol

from ..records import BadRow, Question, Stopped, TirError, TokenCounter, Trajectory, Verdict
from ..teacher import TeacherFault, Transcript
from .control import Control
from .faults import SampleFault
from .loop import Conversation, Setting, converse
from .notices import searches
from .plan import Next, at_once, decide
from .ports import Books, Completer, Evaluates, Grades, Session
from .replay import restore_python
from .seeds import sample_seed
from .settings import EngineSettings, PlanSettings
from .state import ShardState

log = logging.getLogger(__name__)

SHARED_STOPS = frozenset({"endpoint_saturated", "bad_key", "wrong_endpoint", "credits_exhausted", "context_length"})
"""Stops that have nothing to do with any question: the run's other shards are told of them."""

DOUBTFUL = frozenset({"bad_request", "context_length"})
"""Faults of one request, as it seems: an endpoint that has begun to refuse everybody says the same."""

NO_JUDGE = "no judge configured"
"""The grader's detail when there is no judge to fail: then an undecided sample is final."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """One question made ready: everything that all its samples share."""

    question: Question
    setting: Setting
    plan: PlanSettings
    fingerprint: str
    system: str
    teacher: Completer
    opening: Callable[[], Transcript]
    """Makes the first two messages; called once per batch of samples, so that pictures are in memory only meanwhile."""
    image_sizes: Sequence[tuple[int, int]]
    versions: Mapping[str, str]


class OpensSession(Protocol):
    """Opens the tools of one conversation."""

    def __call__(self, question: Question, sample: int, fingerprint: str) -> Awaitable[Session]: ...


@dataclass(slots=True)
class Tally:
    """Counts of this process, for progress and the last line."""

    questions: int = 0
    accepted: int = 0
    deferred: int = 0
    samples: int = 0
    searches: int = 0


@dataclass(slots=True)
class Sampler:
    """Takes samples. One per process; holds no conversation."""

    run: str
    state: ShardState
    control: Control
    engine: EngineSettings
    open_session: OpensSession
    grader: Grades
    evaluate: Evaluates
    books: Books
    filter_hash: str = ""
    counter: TokenCounter | None = None
    slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(64))
    tally: Tally = field(default_factory=Tally)
    failed: dict[str, tuple[int, SampleFault]] = field(default_factory=dict)
    """Question id -> sample and fault that put it aside in this run; written down when the run ends."""

    def status(self, prepared: Prepared) -> Next:
        """Where the question stands."""
        question_id = prepared.question.id
        known = self.state.question(question_id)
        step = decide(known.outcomes(), prepared.plan, billed=self._billed_by_finished(question_id))
        if step.status == "stopped_question_budget" and known.begun():  # begun while there was room: it is finished
            step = Next(buy=len(known.begun()))
        if step.status is None and known.attempts >= self.engine.deferred_attempts:
            if known.accepted_sample() is not None:
                return Next(status="accepted", reason="accepted; a further sample could not be taken")
            return Next(status="deferred", reason=known.fault)
        return step

    def billed(self, question_id: str) -> int:
        """Paid searches of the question, those of adopted samples included, which are in another run's books.

        The journal knows them while every sample of the question is finished; the ledger is asked only when there is
        also something that did not come to an end, because that costs a query.
        """
        known = self.state.question(question_id)
        own = known.billed(adopted=False)
        if known.partial or known.void or question_id in self.state.stale:
            own = max(own, self.books.question_billed(self.run, question_id))
        return known.billed(adopted=True) + own

    def _billed_by_finished(self, question_id: str) -> int:
        """The same without the samples that are under way: what the plan goes by, before a kill and after it.

        The ledger is asked where searches were paid for that no finished sample of these settings holds.
        """
        known = self.state.question(question_id)
        own = known.billed(adopted=False)
        capped = any(outcome.capped for outcome in known.outcomes())
        if capped or known.void or question_id in self.state.stale:
            own = max(own, self.books.question_billed(self.run, question_id) - known.billed_begun())
        return known.billed(adopted=True) + own

    async def sample_question(self, prepared: Prepared) -> None:
        """Buy samples until the question is done, put aside, or the run stops. Never raises for one sample's fault."""
        question_id = prepared.question.id
        while not self.control.stopping and question_id not in self.failed:
            step = self.status(prepared)
            if step.status is not None:
                break
            known = self.state.question(question_id)
            chances = self.engine.deferred_attempts - known.attempts
            together = at_once(
                min(step.buy, chances),
                billed=self.billed(question_id),
                searches_each=prepared.setting.limits.max_searches,
                plan=prepared.plan,
            )
            indexes = list(islice(known.free_indexes(), together))
            try:
                opening = await asyncio.to_thread(prepared.opening) if prepared.question.images else prepared.opening()
            except BadRow as error:  # a picture that was there when the shard began
                self._set_aside(question_id, indexes[0], SampleFault(error.reason, error.detail))
                return
            done = await asyncio.gather(
                *(self._guarded(prepared, index, opening) for index in indexes), return_exceptions=True
            )
            for outcome in done:
                if isinstance(outcome, BaseException):
                    raise outcome

    async def _guarded(self, prepared: Prepared, index: int, opening: Transcript) -> None:
        """One sample within the limit of conversations; its fault or stop is noted, not raised."""
        async with self.slots:
            self.look_for_stop()
            if self.control.stopping:
                return
            try:
                await self.take_sample(prepared, index, opening)
            except SampleFault as fault:
                self._set_aside(prepared.question.id, index, fault)
            except Stopped as stopped:
                if isinstance(stopped.__cause__, TeacherFault):  # its own tries are used up, unlike those of others
                    kind, detail = stopped.__cause__.kind, stopped.__cause__.detail
                    self._set_aside(prepared.question.id, index, SampleFault(kind, detail))
                self.control.stop(stopped.reason, stopped.detail)
                if stopped.reason in SHARED_STOPS:
                    self.books.stop(stopped.reason, stopped.detail)
            except BadRow as error:  # what one reply or result holds cannot be written down
                self._set_aside(prepared.question.id, index, SampleFault(error.reason, error.detail))
            except TirError:
                raise
            except Exception as error:  # one question must not hold up the others; it ends as deferred, with its trace
                log.exception("%s#%d: unexpected error; this is a bug", prepared.question.id, index)
                self._set_aside(prepared.question.id, index, SampleFault("internal", _place_of(error)))

    def look_for_stop(self) -> None:
        """Obey the run's stop flag, whichever process raised it."""
        flag = self.books.stopped()
        if flag is not None:
            self.control.stop(flag.reason, flag.detail)

    def _set_aside(self, question_id: str, index: int, fault: SampleFault) -> None:
        if fault.certain and fault.kind in DOUBTFUL:
            self.state.doubt(question_id, index, fault.kind, fault.detail)
        elif fault.certain:  # this sample can never be taken; the next index takes its place, outside k
            self.state.add_deferral(question_id, index, fault.kind, fault.detail, void=True)
        else:
            self.failed.setdefault(question_id, (index, fault))
        log.info("%s#%d could not be taken: %s", question_id, index, fault)

    def write_down_deferrals(self) -> None:
        """Count this run against the questions that it had to put aside: one attempt each, however often each tried.

        The same in a run that ended because the endpoint answers nobody: seen from a shard whose last questions always
        hang that is the same thing, and a run must be able to end (RULINGS 8). ``--retry deferred`` opens them again.

        Samples whose request was refused stay void only when the run did not end because of the endpoint: an account
        that is empty or a server that was started otherwise must cost no sample.
        """
        refused_all = self.control.reason is not None and self.control.reason.reason in SHARED_STOPS
        for question_id, index, kind, detail in self.state.settle_doubts(void=not refused_all):
            self.failed.setdefault(question_id, (index, SampleFault(kind, detail)))
        for question_id, (index, fault) in self.failed.items():
            self.state.add_deferral(question_id, index, fault.kind, fault.detail)

    async def take_sample(self, prepared: Prepared, index: int, opening: Transcript) -> Trajectory:
        """One sample from its first or next turn to its record. Raises SampleFault or Stopped."""
        question = prepared.question
        memory = self.state.memory(question.id, index)
        recorder = self.state.recorder(question.id, index)
        session = await self.open_session(question, index, prepared.fingerprint)
        try:
            memory.close_gaps(prepared.setting.limits.max_calls_per_turn)
            if memory.results:
                await restore_python(memory, session, recorder, prepared.setting.limits.max_calls_per_turn)
            conversation = await converse(
                prepared.setting,
                index,
                opening,
                teacher=prepared.teacher,
                session=session,
                memory=memory,
                recorder=recorder,
                tight=prepared.plan.max_searches - self.billed(question.id) < prepared.setting.limits.max_searches,
            )
        finally:
            await session.close()
        verdict = await self.grader.grade(question, conversation.answer)
        if verdict.path == "judge_failed" and verdict.detail != NO_JUDGE and not self._last_attempt(question.id):
            raise SampleFault("judge_failed", verdict.detail)  # the conversation is kept; only the grade is missing
        trajectory = await self._finished(prepared, index, conversation, verdict)
        self.state.add_sample(trajectory)
        self.tally.samples += 1
        self.tally.searches += trajectory.searches
        return trajectory

    def _last_attempt(self, question_id: str) -> bool:
        """One more failure would give the question up: then an ungraded sample is better than none."""
        known = self.state.question(question_id)
        return known.attempts + 1 >= self.engine.deferred_attempts

    async def _finished(
        self, prepared: Prepared, index: int, conversation: Conversation, verdict: Verdict
    ) -> Trajectory:
        trajectory = Trajectory(
            question=prepared.question,
            sample_index=index,
            fingerprint=prepared.fingerprint,
            seed=sample_seed(prepared.question.id, index, prepared.setting.version),
            teacher=prepared.teacher.model,
            protocol=_protocol(prepared),
            system=prepared.system,
            tools=tuple(prepared.setting.tools),
            turns=conversation.turns,
            stop=conversation.stop,
            answer=conversation.answer,
            verdict=verdict,
            filter_hash=self.filter_hash,
            searches=searches(conversation.turns),
            searches_billed=sum(_billed(r.meta) for turn in conversation.turns for r in turn.results),
            versions=prepared.versions,
            notes=conversation.notes,
        )
        if self.counter is not None:
            sizes = [*prepared.image_sizes, *_tool_sizes(trajectory)]
            try:
                tokens = await asyncio.to_thread(self.counter.count, trajectory, sizes)
            except BadRow as error:  # a malformed call that no template takes: never exported, so never counted
                trajectory = replace(trajectory, notes=(*trajectory.notes, f"tokens not counted: {error}"))
            else:
                trajectory = replace(trajectory, tokens=tokens)
        report = self.evaluate(trajectory)
        return replace(
            trajectory, accepted=report.accepted, filter_fails=tuple(dict.fromkeys(f.rule for f in report.fails))
        )


def _place_of(error: Exception) -> str:
    """The kind of an error and where it was raised. Not its words: they may quote a header, and so a key."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{place}"


def _protocol(prepared: Prepared) -> Literal["native", "text"]:
    return "text" if prepared.setting.limits.text_protocol else "native"


def _billed(meta: Mapping[str, Any]) -> int:
    billed = meta.get("billed", 0)
    return billed if isinstance(billed, int) else 0


def _tool_sizes(trajectory: Trajectory) -> list[tuple[int, int]]:
    return [(p.width, p.height) for turn in trajectory.turns for r in turn.results for p in r.images]

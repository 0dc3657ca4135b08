"""One shard from its questions to its two files."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..records import PRIORITIES, Progress, Question, Stopped, TokenCounter, read_jsonl, write_json
from .adopt import adopt
from .control import Control
from .journal import Journal
from .outputs import write_outputs
from .plan import Next
from .ports import Books, ChoosesTeacher, Evaluates, Grades
from .prepare import Pictures, Preparation, prepare
from .sampler import OpensSession, Prepared, Sampler
from .selection import Selection
from .settings import EngineSettings
from .state import ShardState, journal_path

log = logging.getLogger(__name__)

SYNC_S = 1.0
"""Longest time that a journal line may wait to be on the disk; also how often the stop flag is looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardJob:
    """What is to be sampled and where it goes."""

    run: str
    run_dir: Path
    bucket: str
    index: int
    shards: int
    questions: Sequence[Question]
    """In hand-over order; all of them appear in the outputs, but see ``selected``."""
    image_root: Path
    trajectories: Path
    questions_out: Path
    adopt: Sequence[Path] = ()
    """Folders of other runs."""
    selected: frozenset[str] | None = None
    """Ids of the questions to sample now; None: all. The others keep their place in the outputs when they had come to
    an end before, and are left out when they had not."""
    retry_deferred: bool = False
    top_up: Path | None = None
    """The shard's filtered samples, when their verdicts are to decide what is bought (RULINGS 2)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rooms:
    """What other rooms bring."""

    tools: Sequence[Mapping[str, Any]]
    layers: Mapping[str, str]
    teacher_for: ChoosesTeacher
    open_session: OpensSession
    grader: Grades
    evaluate: Evaluates
    filter_hash: str
    books: Books
    counter: TokenCounter | None = None
    spend: Callable[[], Mapping[str, int | float]] = field(default=lambda: {})
    """Further numbers for the progress line: tokens, money."""
    note_adopted: Callable[[Mapping[str, int]], None] = field(default=lambda _: None)
    """Told once how many paid searches of each question came with adopted samples: they count against its limit, and
    this run's ledger does not know them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardReport:
    """What happened. Counts by status add up to ``questions``."""

    questions: int
    statuses: Mapping[str, int]
    samples_taken: int
    """In this process; what was replayed or adopted is not in it."""
    adopted: int
    kept: int = 0
    """Questions outside the selection that had ended before: they stand in the outputs and count in ``questions``."""
    unfinished: int = 0
    """Questions outside the selection that have begun and not ended: not in the outputs until a run takes them in."""


async def sample_shard(
    config: Mapping[str, Any],
    job: ShardJob,
    rooms: Rooms,
    *,
    progress: Progress | None = None,
    handle_signals: bool = True,
    journal: Journal | None = None,
) -> ShardReport:
    """Sample every question to its end and write the outputs.

    ``journal``: the shard's, when the caller holds it already; it is left open.

    Raises Stopped (exit 2) when something is left; then no output is written, ``<run>/state/stop.json`` says why, and
    the same call goes on from the journal. Raises TirError when another process holds the journal.
    """
    engine = EngineSettings.from_config(config)
    questions = _without_repeats(job.questions)
    pictures = Pictures(job.image_root, job.run_dir)
    with _held(journal, job) as journal:
        selection = await asyncio.to_thread(Selection.of, job.selected, questions, journal.path, job.questions_out)
        questions = list(selection.concerned)
        ready = await asyncio.to_thread(
            prepare,
            questions,
            config=config,
            pictures=pictures,
            tools=rooms.tools,
            teacher_for=rooms.teacher_for,
            layers=rooms.layers,
        )
        for question_id, error in ready.bad.items():
            log.warning("%s is not sampled: %s", question_id, error)
        fingerprints = {item.question.id: item.fingerprint for item in ready.ready}
        state = await asyncio.to_thread(ShardState, journal, fingerprints)
        _report_journal(state)
        selection.refuse_other_settings(state, job.run_dir)
        adopted = await asyncio.to_thread(
            adopt, state, fingerprints, job.adopt, job.run_dir, shard=(job.index, job.shards)
        )
        rooms.note_adopted(state.billed_elsewhere())
        control = Control(engine.grace_seconds)
        sampler = Sampler(
            run=job.run,
            state=state,
            control=control,
            engine=engine,
            open_session=rooms.open_session,
            grader=rooms.grader,
            evaluate=rooms.evaluate,
            books=rooms.books,
            filter_hash=rooms.filter_hash,
            counter=rooms.counter,
            slots=asyncio.Semaphore(engine.concurrency),
        )
        if job.retry_deferred:
            _reopen(state, selection.of_ready(ready.ready))
        if job.top_up is not None:
            _take_final_verdicts(state, fingerprints, job.top_up, rooms.filter_hash)
        with control.signals() if handle_signals else contextlib.nullcontext():
            await _run(sampler, selection.of_ready(ready.ready), engine, rooms, progress)
        ends = {item.question.id: sampler.status(item) for item in ready.ready}
        await asyncio.to_thread(journal.sync)
        _stop_if_unfinished(job, control, sampler, selection.of_ends(ends))
        ends = selection.as_before(ends, state)
        unfinished = {question_id for question_id, end in ends.items() if end.status is None}
        questions = [question for question in questions if question.id not in unfinished]
        ends = {question_id: end for question_id, end in ends.items() if question_id not in unfinished}
        billed = {question_id: sampler.billed(question_id) for question_id in ends}
        try:
            await asyncio.to_thread(
                write_outputs,
                questions,
                ends,
                ready.bad,
                billed,
                state,
                trajectories=job.trajectories,
                questions_out=job.questions_out,
            )
        except OSError as error:  # the journal holds everything
            where = f"{job.trajectories}: {error.strerror}"
            raise Stopped("disk_full", f"{where}; nothing is lost, free some space and start again") from None
        return ShardReport(
            questions=len(questions),
            statuses=_count(ends, ready),
            samples_taken=sampler.tally.samples,
            adopted=adopted,
            kept=selection.outside(question.id for question in questions),
            unfinished=len(unfinished),
        )


@contextlib.contextmanager
def _held(journal: Journal | None, job: ShardJob) -> Iterator[Journal]:
    if journal is not None:
        yield journal
        return
    with contextlib.closing(Journal(journal_path(job.run_dir, job.bucket, job.index, job.shards))) as own:
        yield own


async def _run(
    sampler: Sampler, ready: Sequence[Prepared], engine: EngineSettings, rooms: Rooms, progress: Progress | None
) -> None:
    """Workers over the questions, a keeper beside them, until all is done or the grace period is over."""
    queue = iter(_by_priority(ready))
    workers = [asyncio.create_task(_work(sampler, queue)) for _ in range(min(engine.concurrency, len(ready)))]
    keeper = asyncio.create_task(_keep(sampler, rooms, progress))
    cutter = asyncio.create_task(sampler.control.wait_cut())
    try:
        await _until_done(workers, keeper, cutter)
    finally:
        for task in (*workers, keeper, cutter):
            task.cancel()
        await asyncio.gather(*workers, keeper, cutter, return_exceptions=True)
    sampler.write_down_deferrals()
    _show(sampler, rooms, progress)


async def _until_done(
    workers: Sequence[asyncio.Task[None]], keeper: asyncio.Task[None], cutter: asyncio.Task[None]
) -> None:
    """Wait for all workers. Raises the first error of any; returns when the cutter says so."""
    pending: set[asyncio.Task[None]] = set(workers)
    while pending:
        done, _ = await asyncio.wait({*pending, keeper, cutter}, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
        if cutter in done:
            return
        pending -= done


async def _work(sampler: Sampler, queue: Iterator[Prepared]) -> None:
    for prepared in queue:
        if sampler.control.stopping:
            return
        await sampler.sample_question(prepared)
        step = sampler.status(prepared)
        sampler.tally.questions += 1
        sampler.tally.accepted += step.status == "accepted"
        sampler.tally.deferred += step.status == "deferred" or prepared.question.id in sampler.failed


async def _keep(sampler: Sampler, rooms: Rooms, progress: Progress | None) -> None:
    """Once a second: journal to the disk, stop flag, progress."""
    while True:
        await asyncio.sleep(SYNC_S)
        await asyncio.to_thread(sampler.state.journal.sync)
        sampler.look_for_stop()
        _show(sampler, rooms, progress)


def _show(sampler: Sampler, rooms: Rooms, progress: Progress | None) -> None:
    if progress is not None:
        tally = sampler.tally
        progress.update(
            done=tally.questions,
            accepted=tally.accepted,
            deferred=tally.deferred,
            samples=tally.samples,
            searches=tally.searches,
            **rooms.spend(),
        )


def _by_priority(ready: Sequence[Prepared]) -> list[Prepared]:
    """P0 first, hand-over order inside (RULINGS 16)."""
    rank = {name: place for place, name in enumerate(PRIORITIES)}
    return sorted(ready, key=lambda item: rank.get(item.question.priority, len(rank)))


def _without_repeats(questions: Sequence[Question]) -> list[Question]:
    seen: dict[str, Question] = {}
    for question in questions:
        if question.id in seen:
            log.warning("%s is listed more than once; only its first line counts", question.id)
        seen.setdefault(question.id, question)
    return list(seen.values())


def _report_journal(state: ShardState) -> None:
    if state.journal.damaged:
        log.warning("%s: %d damaged lines passed over", state.journal.path, state.journal.damaged)
    if state.stale:
        log.warning(
            "%s: %d samples of %d questions were taken under other settings and are not used",
            state.journal.path,
            sum(state.stale.values()),
            len(state.stale),
        )


def _reopen(state: ShardState, ready: Sequence[Prepared]) -> None:
    for item in ready:
        if state.question(item.question.id).attempts:
            state.reopen(item.question.id)


def _take_final_verdicts(state: ShardState, fingerprints: Mapping[str, str], filtered: Path, filters: str) -> None:
    """Let the plan go by what the filter stage says, whichever way it differs from what sampling said.

    A verdict counts for the very sample that it was given on: a file made under other settings says nothing of today's
    samples with the same index.
    """
    lost = won = 0
    for row in read_jsonl(filtered):
        question_id, accepted = row["id"], row["accepted"]
        if question_id not in fingerprints or row.get("fingerprint") != fingerprints[question_id]:
            continue
        changed = state.settle_verdict(question_id, row["sample_index"], accepted=accepted, filters=filters)
        lost, won = lost + (changed and not accepted), won + (changed and accepted)
    log.info("%s: the filters took back %d accepted samples and accepted %d others", filtered, lost, won)


def _stop_if_unfinished(job: ShardJob, control: Control, sampler: Sampler, ends: Mapping[str, Next]) -> None:
    """Raise Stopped, its mark written, when any question is not at its end."""
    left = [question_id for question_id, end in ends.items() if end.status is None]
    if not left:
        return
    if control.reason is not None:
        stopped = control.reason
    else:
        kinds = sorted({fault.kind for _, fault in sampler.failed.values()})
        stopped = Stopped("deferred", f"{len(left)} questions could not be sampled ({', '.join(kinds)})")
    detail = f"{stopped.detail}; {len(left)} of {len(ends)} questions left".lstrip("; ")
    mark = {"reason": stopped.reason, "detail": detail, "left": len(left)}
    with suppress(OSError):  # a full disk is already the reason; the exit code says it as well
        write_json(job.run_dir / "state" / "stop.json", mark)
    raise Stopped(stopped.reason, detail)


def _count(ends: Mapping[str, Next], ready: Preparation) -> dict[str, int]:
    counts: dict[str, int] = {"deferred": len(ready.bad)} if ready.bad else {}
    for end in ends.values():
        counts[str(end.status)] = counts.get(str(end.status), 0) + 1
    return counts

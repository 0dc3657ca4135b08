"""All rooms put together for one shard: what the two sampling commands call."""

from __future__ import annotations

import contextlib
import copy
import functools
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any

from ..filters import FilterSettings, evaluate
from ..grading import Grader
from ..ledger import Ledger, LedgerSettings, Owner, ledger_url
from ..records import Progress, Question, TokenCounter
from ..teacher import RetryPolicy, TeacherPool, TeacherSettings, refuse_unsendable
from ..tools import Toolbox
from ..tools.search import SearchTool
from .journal import Journal
from .metered import Meter, Metered
from .ports import Completer, Grades, Session
from .prepare import Pictures
from .shard import Rooms, ShardJob, ShardReport, sample_shard

FilesOf = Callable[[Question], Mapping[str, Path]]
"""Attached files of a question: name in the work folder -> file."""


async def run_shard(
    config: Mapping[str, Any],
    job: ShardJob,
    *,
    counter: TokenCounter | None = None,
    progress: Progress | None = None,
    retry: RetryPolicy | None = None,
    clear_stop: bool = False,
    grader: Grades | None = None,
    filters: FilterSettings | None = None,
    files_of: FilesOf | None = None,
    journal: Journal | None = None,
) -> ShardReport:
    """Open every room, sample the shard, close them. Raises what ``sample_shard`` raises.

    ``clear_stop``: take the run's stop flag away first; only for the command that starts a whole run. ``grader``: in
    place of rules and judge. ``filters``: in place of those that the configuration alone describes; the extra rule
    ``evaluation_text`` needs an index that only the caller can read. ``files_of``: files that python cells find beside
    the pictures. ``journal``: the shard's, already open and locked.
    """
    async with open_rooms(
        config,
        job,
        counter=counter,
        retry=retry,
        clear_stop=clear_stop,
        grader=grader,
        filters=filters,
        files_of=files_of,
    ) as rooms:
        return await sample_shard(config, job, rooms, progress=progress, journal=journal)


@contextlib.asynccontextmanager
async def open_rooms(
    config: Mapping[str, Any],
    job: ShardJob,
    *,
    counter: TokenCounter | None = None,
    retry: RetryPolicy | None = None,
    clear_stop: bool = False,
    grader: Grades | None = None,
    filters: FilterSettings | None = None,
    files_of: FilesOf | None = None,
) -> AsyncIterator[Rooms]:
    """The real rooms of a shard. Raises UsageError for an address or a key that is missing or cannot be sent."""
    if config["search"]["backend"] == "serper":
        refuse_unsendable("SERPER_API_KEY", trimmed=True)
    refuse_unsendable(config["judge"]["key_env"])
    async with contextlib.AsyncExitStack() as stack:
        url = ledger_url(config)
        if url.startswith("sqlite:///"):
            Path(url.removeprefix("sqlite:///")).parent.mkdir(parents=True, exist_ok=True)
        ledger = Ledger.open(url, run=job.run, settings=LedgerSettings.from_config(config))
        stack.callback(ledger.close)
        if clear_stop:
            ledger.clear_stop()
        budgets = config["budgets"]
        limited = budgets["max_tokens_total"] is not None or budgets["max_usd_total"] is not None
        meter = Meter(ledger, job.run, limited=limited)
        stack.callback(meter.settle)
        toolbox = await Toolbox.open(config=config, ledger=ledger, run_dir=job.run_dir, image_root=job.image_root)
        stack.push_async_callback(toolbox.close)
        lowered: dict[int, Toolbox] = {0: toolbox}
        adopted: dict[str, int] = {}

        def toolbox_for(question: Question) -> Toolbox:
            """The tools, with the question's search limit lowered by what its adopted samples have used."""
            used = adopted.get(question.id, 0)
            if used not in lowered:
                search = SearchTool.from_config(with_lower_limits(config, used), ledger)
                stack.push_async_callback(search.close)
                lowered[used] = copy.copy(toolbox)
                lowered[used].search = search
            return lowered[used]

        if grader is None:
            cache = job.run_dir / "state" / "judge" / f"{job.bucket}-{job.index:04d}-of-{job.shards:04d}.jsonl"
            own = Grader.from_config(config, cache, image_root=job.image_root)
            stack.push_async_callback(own.close)
            grader = own
        pool = await stack.enter_async_context(
            TeacherPool.open(
                TeacherSettings.from_config(config),
                retry=retry,
                read_picture=Pictures(job.image_root, job.run_dir).read,
            )
        )
        chosen = filters or FilterSettings.from_config(config)
        teachers: dict[int, Completer] = {}

        def teacher_for(question: Question) -> Completer:
            client = pool.client(task_type=question.task_type, bucket=question.bucket)
            return teachers.setdefault(id(client), Metered(client, meter))

        async def open_session(question: Question, sample: int, fingerprint: str) -> Session:
            owner = Owner(
                run=job.run,
                bucket=question.bucket,
                question_id=question.id,
                sample=sample,
                task_type=question.task_type,
            )
            return await toolbox_for(question).session(owner, question.images, files_of(question) if files_of else None)

        def spend() -> dict[str, int | float]:
            meter.settle()
            totals = ledger.run_totals(job.run)
            return {"billed": totals.searches_billed, "tokens": totals.tokens, "usd": round(totals.usd, 2)}

        yield Rooms(
            tools=toolbox.schemas,
            layers=toolbox.layers(),
            teacher_for=teacher_for,
            open_session=open_session,
            grader=grader,
            evaluate=functools.partial(evaluate, settings=chosen),
            filter_hash=chosen.hash,
            books=ledger,
            counter=counter,
            spend=spend,
            note_adopted=adopted.update,
        )


def with_lower_limits(config: Mapping[str, Any], used: int) -> dict[str, Any]:
    """The configuration with ``used`` searches less for each question."""
    plan = dict(config["plan"])
    for key in ("max_search_per_question", "max_search_per_question_text"):
        plan[key] = max(0, plan[key] - used)
    return {**config, "plan": plan}

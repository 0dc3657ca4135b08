"""The filter stage: one shard of raw samples in, the same samples with the final word out. Streaming, in order."""

from __future__ import annotations

import dataclasses
import logging
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from ..records import BadRow, Progress, TirError, Trajectory, UsageError, atomic_writer, dumps, read_jsonl
from .evaluate import evaluate
from .report import Fail, FilterReport
from .settings import FilterSettings

SURPLUS = "surplus"
"""Rule of a sample that passes every filter while another of the same question is the one kept."""


RULE_ERROR = "rule_error"
"""Rule of a sample on which a rule raised: it is set aside and counted, and the rest of its shard goes on."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class FilterCounts:
    """What one file came to. ``samples`` = ``accepted`` + all of ``dropped``."""

    samples: int
    accepted: int
    repaired: int
    dropped: dict[str, int]
    """First failing rule -> samples."""


def read_trajectories(path: Path) -> Iterator[Trajectory]:
    """Samples of a raw or filtered shard. Raises TirError naming file and line for one that cannot be read."""
    for number, row in enumerate(read_jsonl(path), start=1):
        try:
            yield Trajectory.from_dict(row)
        except (KeyError, TypeError, ValueError, AttributeError, BadRow) as error:
            raise TirError(
                f"{path}: sample {number}: not a trajectory ({type(error).__name__}: {error}); delete the"
                " file and start again, its samples are replayed from the journal"
            ) from error


def one_per_question(reports: Iterable[FilterReport]) -> Iterator[FilterReport]:
    """Of the accepted samples of one question, keep the lowest index (seed section 12; RULINGS 3).

    Samples of a question stand together; a question that comes again later is surplus as a whole.
    """
    done: set[str] = set()
    for question_id, group in groupby(reports, key=lambda report: report.trajectory.question.id):
        members = list(group)
        passing = [report for report in members if report.accepted]
        kept = None
        if passing and question_id not in done:
            kept = min(passing, key=lambda report: report.trajectory.sample_index)
            done.add(question_id)
        for report in members:
            yield report if report is kept or not report.accepted else _surplus(report)


def _surplus(report: FilterReport) -> FilterReport:
    sample = dataclasses.replace(report.trajectory, accepted=False, filter_fails=(SURPLUS,))
    return FilterReport(sample, (Fail(SURPLUS, "another_sample_kept"),))


def filter_reports(trajectories: Iterable[Trajectory], settings: FilterSettings) -> Iterator[FilterReport]:
    """Evaluate, and keep one accepted sample per question."""
    return one_per_question(_evaluated(trajectory, settings) for trajectory in trajectories)


def _evaluated(trajectory: Trajectory, settings: FilterSettings) -> FilterReport:
    """The rules' word. A sample on which they raise is dropped as it was, under a reason of its own.

    Faults that are not the sample's (files, memory, our own errors) go up: they would drop good samples unseen.
    """
    try:
        return evaluate(trajectory, settings)
    except (TirError, OSError, MemoryError):
        raise
    except Exception as error:
        kind = type(error).__name__
        log.warning("%s: set aside, the rules cannot be evaluated (%s: %s)", trajectory.key, kind, error)
        sample = dataclasses.replace(trajectory, accepted=False, filter_fails=(RULE_ERROR,), filter_hash=settings.hash)
        return FilterReport(sample, (Fail(RULE_ERROR, kind),))


def filter_file(
    source: Path, target: Path, settings: FilterSettings, *, limit: int | None = None, progress: Progress | None = None
) -> FilterCounts:
    """Filter one shard. ``target`` appears whole or not at all; the same input gives the same bytes.

    ``limit``: only the first samples, for a trial. Raises TirError when a line is no trajectory, and UsageError when
    ``evaluation_text`` is asked for without fingerprints: it would pass everything in silence.
    """
    if "evaluation_text" in settings.extra and settings.evaluation is None:
        raise UsageError("filters.extra: evaluation_text needs the fingerprints of the evaluation sets")
    samples = accepted = repaired = 0
    dropped: Counter[str] = Counter()
    with atomic_writer(target) as handle:
        for report in filter_reports(_first(read_trajectories(source), limit), settings):
            samples += 1
            if report.first is None:
                accepted += 1
            else:
                dropped[report.first] += 1
            repaired += any(note.startswith("f5_cut:") for note in report.trajectory.notes)
            handle.write(dumps(report.trajectory.to_dict()) + b"\n")
            if progress is not None:
                progress.update(done=samples, accepted=accepted)
    return FilterCounts(samples, accepted, repaired, dict(sorted(dropped.items())))


def _first(trajectories: Iterator[Trajectory], limit: int | None) -> Iterator[Trajectory]:
    for number, trajectory in enumerate(trajectories):
        if limit is not None and number >= limit:
            return
        yield trajectory

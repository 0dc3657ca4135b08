"""``stats.json``: what became of every sample and question. Counts that do not add up are an error, not a note."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from ..records import TirError, Trajectory
from .behaviour import BehaviourFigures, behaviour_of
from .evaluate import RULE_ORDER
from .report import FilterReport
from .sample_costs import SampleCosts

_SECOND = re.compile(r"^second judge (agrees|disagrees|undecided)$")
QUESTION_STATUSES = ("accepted", "exhausted", "stopped_question_budget", "stopped_no_answer", "deferred")


class StatsBuilder:
    """Collects figures one sample at a time; memory grows by a few bytes per sample."""

    def __init__(self) -> None:
        self._samples: Counter[str] = Counter()
        self._accepted: Counter[str] = Counter()
        self._correct: Counter[str] = Counter()
        self._repaired: Counter[str] = Counter()
        self._first: dict[str, Counter[str]] = defaultdict(Counter)
        self._any: dict[str, Counter[str]] = defaultdict(Counter)
        self._paths: dict[str, Counter[str]] = defaultdict(Counter)
        self._verdicts: dict[str, Counter[str]] = defaultdict(Counter)
        self._agreement: Counter[str] = Counter()
        self._behaviour: dict[str, BehaviourFigures] = defaultdict(BehaviourFigures)
        self._behaviour_accepted: dict[str, BehaviourFigures] = defaultdict(BehaviourFigures)
        self._costs: dict[str, SampleCosts] = defaultdict(SampleCosts)
        self._requests = self._searches = 0
        self._exact = 0
        self._statuses: dict[str, Counter[str]] = defaultdict(Counter)
        self._questions: Counter[str] = Counter()

    def add(self, report: FilterReport | Trajectory, raw: Trajectory | None = None) -> None:
        """Count one sample by its final word: a report of the filters, or a line of a filtered shard.

        ``raw`` is the sample before repair; behaviour is then that of the teacher, not of the repaired conversation.
        """
        sample = report.trajectory if isinstance(report, FilterReport) else report
        bucket = sample.question.bucket
        self._samples[bucket] += 1
        self._correct[bucket] += sample.correct
        self._repaired[bucket] += bool(sample.repaired_turns)
        self._exact += sample.tokens.exact
        if sample.accepted:
            self._accepted[bucket] += 1
        else:
            fails = dict.fromkeys(sample.filter_fails or ("unknown",))
            self._first[next(iter(fails))][bucket] += 1
            for rule in fails:
                self._any[rule][bucket] += 1
        verdict = sample.verdict
        path = verdict.path if verdict else "not_graded"
        self._paths[path][bucket] += 1
        word = {True: "right", False: "wrong", None: "undecided"}[verdict.correct if verdict else None]
        self._verdicts[path][word] += 1
        second = _SECOND.match(verdict.detail) if verdict else None
        if second:
            self._agreement[second.group(1)] += 1
        figures = behaviour_of(raw or sample)
        self._behaviour[bucket].add(figures)
        self._costs[bucket].add(raw or sample, figures)
        if sample.accepted:
            self._behaviour_accepted[bucket].add(behaviour_of(sample))
        self._requests += sample.searches_billed
        self._searches += sample.searches

    def add_questions(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Count the lines of ``.questions.jsonl`` files by status."""
        for row in rows:
            bucket = row["bucket"]
            self._questions[bucket] += 1
            self._statuses[row["status"]][bucket] += 1

    def result(
        self, config: Mapping[str, Any] | None = None, *, search: Mapping[str, int] | None = None
    ) -> dict[str, Any]:
        """The document. Raises TirError when counts do not close.

        ``search``: the ledger's ``requests`` and ``cache_hits`` of the run. They win over the samples' own sums, since
        an adopted sample was billed to another run.
        """
        self._check()
        total = sum(self._samples.values())
        accepted = sum(self._accepted.values())
        rules = [rule for rule in (*RULE_ORDER, *sorted(set(self._any) - set(RULE_ORDER))) if rule in self._any]
        status = {name: sum(self._statuses.get(name, Counter()).values()) for name in QUESTION_STATUSES}
        return {
            "samples": total,
            "accepted": accepted,
            "dropped": total - accepted,
            "correct": sum(self._correct.values()),
            "repaired": sum(self._repaired.values()),
            "samples_per_accepted": round(total / accepted, 3) if accepted else None,
            "buckets": {bucket: self._bucket(bucket) for bucket in sorted(self._samples | self._questions)},
            "per_bucket": {
                bucket: self._costs[bucket].to_dict(questions=self._questions[bucket], accepted=self._accepted[bucket])
                for bucket in sorted(self._samples | self._questions)
            },
            "drops": {
                "first": {rule: _sorted(self._first[rule]) for rule in rules if rule in self._first},
                "any": {rule: _sorted(self._any[rule]) for rule in rules},
            },
            "verdict_paths": {path: _sorted(counts) for path, counts in sorted(self._paths.items())},
            "verdicts": {path: _sorted(counts) for path, counts in sorted(self._verdicts.items())},
            "judge_agreement": self._judge_agreement(),
            "behaviour": {bucket: figures.to_dict() for bucket, figures in sorted(self._behaviour.items())},
            "behaviour_accepted": {
                bucket: figures.to_dict() for bucket, figures in sorted(self._behaviour_accepted.items())
            },
            "search": dict(
                search or {"requests": self._requests, "cache_hits": max(0, self._searches - self._requests)}
            ),
            "search_used": self._searches,
            "searches_per_accepted": round(self._searches / accepted, 3) if accepted else None,
            "questions": {"total": sum(self._questions.values()), **status},
            "deferred": status["deferred"],
            "stopped_question_budget": status["stopped_question_budget"],
            "stopped_no_answer": status["stopped_no_answer"],
            "tokens_exact": self._exact,
            "config": dict(config or {}),
        }

    def _bucket(self, bucket: str) -> dict[str, Any]:
        samples, accepted = self._samples[bucket], self._accepted[bucket]
        return {
            "samples": samples,
            "accepted": accepted,
            "correct": self._correct[bucket],
            "repaired": self._repaired[bucket],
            "samples_per_accepted": round(samples / accepted, 3) if accepted else None,
            "questions": self._questions[bucket],
            "questions_by_status": {
                name: counts[bucket] for name, counts in sorted(self._statuses.items()) if counts[bucket]
            },
        }

    def _judge_agreement(self) -> dict[str, Any] | None:
        total = sum(self._agreement.values())
        if not total:
            return None
        decided = self._agreement["agrees"] + self._agreement["disagrees"]
        rate = round(self._agreement["agrees"] / decided, 4) if decided else None
        return {**_sorted(self._agreement), "total": total, "agreement": rate}

    def _check(self) -> None:
        for bucket, samples in self._samples.items():
            dropped = sum(counts[bucket] for counts in self._first.values())
            if samples != self._accepted[bucket] + dropped:
                raise TirError(
                    f"counts do not close for {bucket}: {samples} samples, {self._accepted[bucket]} accepted,"
                    f" {dropped} dropped"
                )
        unknown = set(self._statuses) - set(QUESTION_STATUSES)
        if unknown:
            raise TirError(f"question status {sorted(unknown)} is none of {QUESTION_STATUSES}")


def _sorted(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items()))

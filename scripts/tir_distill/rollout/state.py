"""What a shard's journal knows, question by question, with the lines themselves left on disk.

Kept in memory are places in the file and a few numbers per sample, so a run of any size stays flat.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..records import TirError, ToolResult, Trajectory
from ..teacher import Reply
from .journal import Journal
from .memory import Memory, reply_from_dict, reply_to_dict
from .plan import Outcome

FORMAT = 1
"""Of the events in a journal; raised when an older program would misread them."""

Place = tuple[int, int]
"""Offset and length of a journal line."""


@dataclass(slots=True)
class Kept:
    """One finished sample."""

    outcome: Outcome
    place: Place
    adopted: bool = False
    """Taken over from another run, whose books hold its searches."""


@dataclass(slots=True)
class QuestionState:
    """Everything known of one question under one fingerprint."""

    fingerprint: str
    samples: dict[int, Kept] = field(default_factory=dict)
    partial: dict[int, list[Place]] = field(default_factory=dict)
    """Places of the events of samples that have not ended, in order."""
    paid: dict[int, dict[tuple[int, int], int]] = field(default_factory=dict)
    """Billed searches of samples that have not ended, by turn and position."""
    void: set[int] = field(default_factory=set)
    """Sample indexes that can never be taken: the same request would fail again."""
    attempts: int = 0
    """Runs in which a sample of the question could not be taken, and samples that never can be."""
    fault: str = ""
    """The last reason for that."""

    def outcomes(self) -> list[Outcome]:
        return [self.samples[index].outcome for index in sorted(self.samples)]

    def billed(self, *, adopted: bool) -> int:
        """Billed searches of finished samples: of those taken over, or of this run's own."""
        return sum(kept.outcome.billed for kept in self.samples.values() if kept.adopted == adopted)

    def begun(self) -> list[int]:
        """Indexes of samples that have begun and can still be finished."""
        return [index for index in self.partial if index not in self.void]

    def billed_begun(self) -> int:
        """Billed searches of those, as far as the journal knows them."""
        return sum(sum(self.paid.get(index, {}).values()) for index in self.begun())

    def free_indexes(self) -> Iterator[int]:
        """Sample indexes that are still to be taken, lowest first."""
        index = 0
        while True:
            if index not in self.samples and index not in self.void:
                yield index
            index += 1

    def accepted_sample(self) -> int | None:
        """The lowest accepted index: one row per question (RULINGS 3)."""
        return next((outcome.index for outcome in self.outcomes() if outcome.accepted), None)


class ShardState:
    """A journal and its index. All changes go through the journal first."""

    def __init__(self, journal: Journal, fingerprints: dict[str, str]) -> None:
        """Read the journal. ``fingerprints``: question id -> current fingerprint; events of another are passed over."""
        self.journal = journal
        self._fingerprints = fingerprints
        self._questions: dict[str, QuestionState] = {}
        self.stale: dict[str, int] = defaultdict(int)
        """Finished samples per question that were taken under another fingerprint."""
        self._doubts: list[tuple[dict[str, Any], str]] = []
        """Deferrals not yet written, each with the question's fault before it."""
        headed = False
        for offset, length, event in journal.events():
            headed = check_head(event, journal.path) or headed
            self._learn(event, (offset, length))
        if not headed:
            journal.append({"e": "head", "format": FORMAT})

    def question(self, question_id: str) -> QuestionState:
        """The question's state, empty at first."""
        state = self._questions.get(question_id)
        if state is None:
            state = self._questions[question_id] = QuestionState(self._fingerprints[question_id])
        return state

    def billed_elsewhere(self) -> dict[str, int]:
        """Question id -> billed searches of its adopted samples, where there are any."""
        counts = {question_id: state.billed(adopted=True) for question_id, state in self._questions.items()}
        return {question_id: count for question_id, count in counts.items() if count}

    # ---- reading ----------------------------------------------------------------------------------------------------

    def _learn(self, event: dict[str, Any], place: Place) -> None:
        kind, question_id = event.get("e"), event.get("q")
        fingerprint = self._fingerprints.get(str(question_id))
        if kind == "head" or not isinstance(question_id, str) or fingerprint is None:
            return
        if event.get("fp") != fingerprint:
            if kind == "sample":
                self.stale[question_id] += 1
            return
        state = self.question(question_id)
        if kind == "sample":
            self._keep(state, event, place)
        elif kind in ("reply", "result", "rewind"):
            if event["s"] not in state.samples:
                state.partial.setdefault(event["s"], []).append(place)
                if kind == "result":
                    _note_paid(state, event, event["result"].get("meta") or {})
        elif kind == "deferred":
            state.attempts += 1
            state.fault = event["reason"]
            if event["void"]:
                state.void.add(event["s"])
        elif kind == "final":
            kept = state.samples.get(event["s"])
            if kept is not None:
                kept.outcome = replace(kept.outcome, accepted=event["accepted"])
        elif kind == "reopened":
            state.attempts, state.fault = 0, ""
            state.void.clear()

    def _keep(self, state: QuestionState, event: dict[str, Any], place: Place) -> None:
        index = event["s"]
        if index in state.samples:  # the first one stands; a later one can only come of a copied file
            return
        outcome = Outcome(
            index=index,
            accepted=event["accepted"],
            answered=event["answered"],
            billed=event["billed"],
            capped=event["capped"],
        )
        state.samples[index] = Kept(outcome, place, adopted="from" in event)
        state.partial.pop(index, None)
        state.paid.pop(index, None)

    def memory(self, question_id: str, sample: int) -> Memory:
        """What is known of an unfinished sample."""
        memory = Memory()
        for offset, length in self.question(question_id).partial.get(sample, ()):
            event = self.journal.read(offset, length)
            if event["e"] == "reply":
                memory.replies[event["t"], event["a"]] = reply_from_dict(event["reply"])
            elif event["e"] == "result":
                memory.results[event["t"], event["i"]] = ToolResult.from_dict(event["result"])
            else:
                memory.forget_after(event["t"])
                memory.notes.append(event["note"])
        return memory

    def row(self, question_id: str, sample: int) -> dict[str, Any]:
        """The record of a finished sample, as in trajectories_raw.jsonl."""
        row: dict[str, Any] = self.journal.read(*self.question(question_id).samples[sample].place)["row"]
        return row

    # ---- writing ----------------------------------------------------------------------------------------------------

    def recorder(self, question_id: str, sample: int) -> JournalRecorder:
        """Where one conversation puts what it has paid for."""
        return JournalRecorder(self, question_id, sample)

    def add_event(self, question_id: str, sample: int, event: dict[str, Any]) -> None:
        """Write one step of an unfinished sample."""
        place = self.journal.append({**event, "q": question_id, "s": sample, "fp": self._fingerprints[question_id]})
        state = self.question(question_id)
        state.partial.setdefault(sample, []).append(place)
        if event["e"] == "result":
            _note_paid(state, {**event, "s": sample}, event["result"].meta)

    def add_sample(self, trajectory: Trajectory, *, adopted: str = "") -> None:
        """Write a finished sample: from now on it is done, whatever happens."""
        self.add_row(trajectory.question.id, sample_event(trajectory), trajectory.to_dict(), adopted)

    def add_row(self, question_id: str, head: dict[str, Any], row: dict[str, Any], adopted: str = "") -> None:
        """The same for a record that is already a row."""
        state = self.question(question_id)
        origin = {"from": adopted} if adopted else {}
        event = {**head, "q": question_id, "fp": state.fingerprint, **origin, "row": row}
        self._keep(state, event, self.journal.append(event))

    def add_deferral(self, question_id: str, sample: int, reason: str, detail: str, *, void: bool = False) -> None:
        """A sample could not be taken in this run. ``void``: it never can."""
        state = self.question(question_id)
        event = _deferral(state, question_id, sample, reason, detail, void=void)
        self._learn(event, self.journal.append(event))

    def doubt(self, question_id: str, sample: int, reason: str, detail: str) -> None:
        """The endpoint refused the sample's request as such: it is void, unless the endpoint turns out to be at fault.

        Known in memory only until ``settle_doubts``; after a kill the request is made again.
        """
        state = self.question(question_id)
        self._doubts.append((_deferral(state, question_id, sample, reason, detail, void=True), state.fault))
        self._learn(self._doubts[-1][0], (0, 0))

    def settle_doubts(self, *, void: bool) -> list[tuple[str, int, str, str]]:
        """Write them down, or take them back: then the list says what was taken back (question, sample, reason,
        detail)."""
        doubts, self._doubts = self._doubts, []
        if void:
            for event, _ in doubts:
                self.journal.append(event)
            return []
        for event, fault in reversed(doubts):
            state = self.question(event["q"])
            state.void.discard(event["s"])
            state.attempts, state.fault = state.attempts - 1, fault
        return [(event["q"], event["s"], event["reason"], event["detail"]) for event, _ in doubts]

    def settle_verdict(self, question_id: str, sample: int, *, accepted: bool, filters: str) -> bool:
        """Take over the filter stage's word on a finished sample (``top_up``); returns whether it is another one.

        The record stays as it was written; only what the plan goes by changes, and stays so in later runs.
        """
        kept = self.question(question_id).samples.get(sample)
        if kept is None or kept.outcome.accepted == accepted:
            return False
        event = {"e": "final", "q": question_id, "s": sample, "fp": self.question(question_id).fingerprint}
        event |= {"accepted": accepted, "filters": filters}
        self._learn(event, self.journal.append(event))
        return True

    def reopen(self, question_id: str) -> None:
        """Forget earlier failures (``--retry deferred``)."""
        event = {"e": "reopened", "q": question_id, "fp": self.question(question_id).fingerprint}
        self._learn(event, self.journal.append(event))


def _note_paid(state: QuestionState, event: Mapping[str, Any], meta: Mapping[str, Any]) -> None:
    billed = meta.get("billed")
    if isinstance(billed, int) and billed:
        state.paid.setdefault(event["s"], {})[event["t"], event["i"]] = billed


def _deferral(
    state: QuestionState, question_id: str, sample: int, reason: str, detail: str, *, void: bool
) -> dict[str, Any]:
    event = {"e": "deferred", "q": question_id, "s": sample, "fp": state.fingerprint}
    return event | {"reason": reason, "detail": detail, "void": void}


def check_head(event: dict[str, Any], path: Path) -> bool:
    """Whether it is the line that names the journal's format. Raises TirError when that is one of the future."""
    if event.get("e") != "head":
        return False
    if event.get("format", 1) > FORMAT:
        raise TirError(
            f"{path}: written by a newer version (journal format {event['format']}, this one reads {FORMAT});"
            " update tir-distill, or give another run folder"
        )
    return True


def sample_event(trajectory: Trajectory) -> dict[str, Any]:
    """What the index needs to know of a sample, beside its row."""
    capped = any(r.meta.get("cap") == "question" for turn in trajectory.turns for r in turn.results)
    return {
        "e": "sample",
        "s": trajectory.sample_index,
        "accepted": trajectory.accepted,
        "answered": trajectory.answer is not None,
        "billed": trajectory.searches_billed,
        "capped": capped,
    }


@dataclass(frozen=True, slots=True)
class JournalRecorder:
    """``ports.Recorder`` on a journal."""

    state: ShardState
    question_id: str
    sample: int

    def reply(self, turn: int, ask: int, reply: Reply) -> None:
        self._add({"e": "reply", "t": turn, "a": ask, "reply": reply_to_dict(reply)})

    def result(self, turn: int, position: int, result: ToolResult) -> None:
        self._add({"e": "result", "t": turn, "i": position, "result": result})

    def rewind(self, turn: int, note: str) -> None:
        self._add({"e": "rewind", "t": turn, "note": note})

    def _add(self, event: dict[str, Any]) -> None:
        self.state.add_event(self.question_id, self.sample, event)


def journal_path(run_dir: Path, bucket: str, index: int, shards: int) -> Path:
    """``<run>/state/journal/<bucket>/<nnnn>-of-<N>.jsonl``."""
    return run_dir / "state" / "journal" / bucket / f"{index:04d}-of-{shards:04d}.jsonl"

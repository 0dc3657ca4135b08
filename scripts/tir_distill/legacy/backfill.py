"""Thinking written by a teacher for turns that have none (seed section 11: drop such rows or have them completed).

Per turn two questions are asked. *Write*: the conversation so far, and the step that the row takes next; the teacher
writes the thoughts that lead there. *Check*: the conversation so far and those thoughts, not the step; the teacher
acts, and must make the same calls with the same arguments, or give the same answer (``same_action``). A row of which
one turn fails stays out.

Both questions stand at the end of the last message that the model was told, as the forced-answer notice does: a user
message after a tool result would take all earlier thinking out of the rendered prompt. Every reply is journalled before
it is used, so a killed run is continued without paying for a reply again; requests that were under way are lost.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import orjson

from ..export import IMAGE_TAG, Row, find_markup
from ..records import BadRow, Message, Progress, Stopped, atomic_writer, digest, dumps, read_jsonl, stable_int
from ..records.conversation import assistant_content
from ..teacher import Reply, TeacherFault
from .clean import thought_and_text, without_thinking
from .journal import ReplyJournal
from .same_action import action_of, calls_of
from .window import in_order

WRITE = (
    "\n\n[Note: your next message is settled; it stands below. Reply with nothing but the thoughts that come before it:"
    " what you see and know so far, what follows from it, and why this is the right step, with every detail that the"
    " step needs. Write them as your own thoughts at that moment, in the language of the question. Do not mention this"
    " note, do not say that the step was settled, and call no tool.]\n\n[Next message]\n{step}"
)
CHECK = (
    "\n\n[Note: you have thought about this already, your thoughts stand below. Take now the step that they lead to.]"
    "\n\n[Thoughts]\n{thinking}"
)

_TELLS = re.compile(
    r"\b(?:settled|given|provided|known|following) (?:step|message|answer|action)\b|\[?next message\]", re.I
)


class Books(Protocol):
    """Token budget of a run: ``ledger.Ledger``."""

    def reserve_tokens(self, run: str, tokens: int, usd: float | None = None) -> str: ...
    def settle_tokens(self, run: str, hold: str | None, tokens: int, usd: float | None = None) -> None: ...


class Completer(Protocol):
    """A teacher: ``teacher.TeacherClient``."""

    @property
    def model(self) -> str: ...
    async def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[Mapping[str, Any]],
        *,
        seed: int,
        max_tokens: int | None = None,
    ) -> Reply: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class BackfillSettings:
    """How thinking is asked for."""

    run: str
    """Name under which tokens are counted in the ledger."""
    tries: int = 2
    """Thoughts written for a turn before the row is given up."""
    min_think_chars: int = 20
    """F10: shorter thoughts are none."""
    max_tokens: int = 4096
    seed: int = 0


@dataclass
class BackfillReport:
    """Counts; ``rows_read`` = ``rows_written`` + the sum of ``dropped``."""

    rows_read: int = 0
    rows_written: int = 0
    turns_filled: int = 0
    replies_paid: int = 0
    replies_from_journal: int = 0
    dropped: Counter[str] = field(default_factory=Counter)

    def to_dict(self) -> dict[str, Any]:
        return {key: getattr(self, key) for key in self.__dataclass_fields__} | {
            "dropped": dict(sorted(self.dropped.items()))
        }


@dataclass(frozen=True, slots=True)
class Backfill:
    """Fills rows; hold one per run."""

    teacher: Callable[[Row], Completer]
    books: Books
    journal: ReplyJournal
    settings: BackfillSettings
    report: BackfillReport

    async def fill(self, row: Row) -> Row:
        """The row with a thought in every turn. Raises BadRow naming why it stays out, TeacherFault, Stopped."""
        messages: list[Row] = [dict(message) for message in row["messages"]]
        missing = without_thinking(row, self.settings.min_think_chars)
        tools = orjson.loads(row["tools"])
        for number in missing:
            thinking = await self._thinking(row, messages, number, tools)
            visible = thought_and_text(messages[number]["content"])[1]
            messages[number]["content"] = assistant_content(thinking, visible)
        lineage = row["lineage"] | {
            "repaired_turns": dumps([row["messages"][n].get("turn", n) for n in missing]).decode()
        }
        return row | {"messages": messages, "lineage": lineage, "teacher": f"legacy+{self.teacher(row).model}"}

    async def _thinking(
        self, row: Row, messages: Sequence[Row], number: int, tools: Sequence[Mapping[str, Any]]
    ) -> str:
        wanted = messages[number]
        action = action_of(thought_and_text(wanted["content"])[1], calls_of(wanted))
        if not action:
            raise BadRow("no_action", f"{row['id']}: message {number} neither calls a tool nor answers")
        reason = "another_step"
        for attempt in range(self.settings.tries):
            written = await self._ask(row, messages[:number], WRITE.replace("{step}", step_text(wanted)), [], attempt)
            thinking = str(written["content"]).strip()
            if found := self._unfit(thinking):
                reason = found
                continue
            acted = await self._ask(row, messages[:number], CHECK.replace("{thinking}", thinking), tools, attempt)
            if action_of(acted["content"], [tuple(call) for call in acted["calls"]]) == action:
                self.report.turns_filled += 1
                return thinking
            reason = "another_step"
        raise BadRow(reason, f"{row['id']}: no thoughts for message {number} in {self.settings.tries} tries")

    def _unfit(self, thinking: str) -> str | None:
        if len(thinking) < self.settings.min_think_chars:
            return "short_thinking"
        if find_markup(thinking, by_model=True):
            return "markup_in_thinking"
        return "tells_of_the_note" if _TELLS.search(thinking) else None

    async def _ask(
        self, row: Row, told: Sequence[Row], note: str, tools: Sequence[Mapping[str, Any]], attempt: int
    ) -> dict[str, Any]:
        """Content and calls of the reply, from the journal where it was paid for before."""
        settings, teacher = self.settings, self.teacher(row)
        messages = with_parts([*told[:-1], {**told[-1], "content": told[-1]["content"] + note}], row["images"])
        key = digest([row["id"], teacher.model, attempt, messages, [tool["function"]["name"] for tool in tools]])
        if (known := self.journal.get(key)) is not None:
            self.report.replies_from_journal += 1
            return dict(known)
        pictures = sum(
            part["type"] == "image" for m in messages if isinstance(m["content"], list) for part in m["content"]
        )
        expected = sum(len(str(message)) for message in messages) // 3 + 2000 * pictures + settings.max_tokens
        hold = self.books.reserve_tokens(settings.run, expected)
        spent = 0
        try:
            seed = stable_int(settings.seed, "backfill", key) % 2**31
            reply = await teacher.complete(messages, tools, seed=seed, max_tokens=settings.max_tokens)
            spent = reply.usage.prompt_tokens + reply.usage.completion_tokens
            calls = [[call.name, call.arguments] for call in reply.calls if not call.malformed]
            paid: dict[str, Any] = {"content": reply.content, "calls": calls}
            if reply.truncated:  # half a thought or half a call is none
                paid = {"content": "", "calls": []}
            self.journal.put(key, paid)
            self.report.replies_paid += 1
        finally:
            self.books.settle_tokens(settings.run, hold, spent)
        return paid


def step_text(message: Mapping[str, Any]) -> str:
    """A message as the teacher is told it: visible text, then each call."""
    lines = [thought_and_text(message["content"])[1]]
    for name, arguments in calls_of(message):
        value = orjson.loads(arguments)
        lines.append(f"call of {name}:\n{value['code'] if name == 'python' else arguments}")
    return "\n\n".join(line for line in lines if line)


def with_parts(messages: Sequence[Row], images: Sequence[str]) -> list[Message]:
    """Messages of a row as a request takes them: ``<image>`` tags become parts that name the picture."""
    paths = iter(images)
    out: list[Message] = []
    for message in messages:
        kept: Message = {key: value for key, value in message.items() if key != "turn"}
        if message["role"] in ("user", "tool") and IMAGE_TAG in message["content"]:
            texts = message["content"].split(IMAGE_TAG)
            parts: list[Message] = [{"type": "text", "text": texts[0]}] if texts[0] else []
            for text in texts[1:]:
                parts.append({"type": "image", "image": next(paths)})
                parts += [{"type": "text", "text": text}] if text else []
            kept["content"] = parts
        out.append(kept)
    return out


async def backfill_file(
    queue: Path, out: Path, rejects: Path, *, backfill: Backfill, at_once: int, progress: Progress | None = None
) -> BackfillReport:
    """Complete every row of the queue, in its order. Raises Stopped when rows wait for the teacher: run it again."""
    report = backfill.report
    waiting = 0

    async def work(row: Row) -> tuple[Row, Row | BadRow | TeacherFault]:
        try:
            return row, await backfill.fill(row)
        except (BadRow, TeacherFault) as error:
            return row, error

    with atomic_writer(rejects) as bad, atomic_writer(out) as good:
        async for row, result in in_order(read_jsonl(queue), work, at_once):
            report.rows_read += 1
            if isinstance(result, TeacherFault):
                waiting += 1
            elif isinstance(result, BadRow):
                report.dropped[result.reason] += 1
                bad.write(dumps({"id": row["id"], "reason": result.reason, "detail": result.detail}) + b"\n")
            else:
                report.rows_written += 1
                good.write(dumps(result) + b"\n")
            if progress is not None:
                progress.update(done=report.rows_read, kept=report.rows_written, waiting=waiting)
        if waiting:
            raise Stopped("deferred", f"{waiting} rows wait for the teacher; what was paid for is kept, run it again")
    return report

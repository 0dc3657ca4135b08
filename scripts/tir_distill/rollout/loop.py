"""One conversation, from the question to its end. Knows nothing of grading, filters, journals or buckets.

The loop asks ``Memory`` before it asks the teacher or a tool, so going on after a kill is the same code as starting.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..records import Question, StopReason, Turn, turn_messages
from ..records.behaviour import find_answer
from ..teacher import Reply, TeacherFault, Transcript
from .faults import SampleFault
from .memory import Memory
from .notices import is_forced, searches, with_notice
from .ports import Completer, Recorder, Session
from .seeds import request_seed
from .settings import Limits
from .tool_turn import SEARCH, keep_calls, run_calls


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """How a conversation ended."""

    turns: tuple[Turn, ...]
    stop: StopReason
    answer: str | None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Everything a conversation needs that is the same for all samples of its question."""

    question: Question
    tools: Sequence[Mapping[str, Any]]
    limits: Limits
    version: int
    """``sampling.protocol_version``."""


async def converse(
    setting: Setting,
    sample: int,
    opening: Transcript,
    *,
    teacher: Completer,
    session: Session,
    memory: Memory,
    recorder: Recorder,
    tight: bool = False,
) -> Conversation:
    """Run one sample to its end. Raises SampleFault or Stopped; then everything paid for is with the recorder.

    ``tight``: the question's search budget may run out in this sample.
    """
    limits = setting.limits
    transcript = opening.copy()
    turns: list[Turn] = []
    notes = list(memory.notes)
    owner = f"{setting.question.id}#{sample}"

    async def ask(turn: int, again: int) -> Reply:
        known = memory.replies.get((turn, again))
        if known is not None:
            return known
        seed = request_seed(setting.question.id, sample, turn, again, setting.version)
        try:
            reply = await teacher.complete(
                transcript, setting.tools, seed=seed, max_tokens=limits.max_tokens, owner=owner
            )
        except TeacherFault as fault:
            raise SampleFault(fault.kind, fault.detail, certain=fault.certain) from None
        recorder.reply(turn, again, reply)
        return reply

    while True:
        index, forced = len(turns), is_forced(turns)
        reply = await ask(index, 0)
        answer = find_answer(reply.content)
        if not (reply.truncated or reply.calls or answer or forced):
            notes.append(f"turn {index} had neither call nor answer and was asked for once more")
            reply = await ask(index, 1)
            answer = find_answer(reply.content)
        if reply.truncated:
            turns.append(_turn(reply, index, forced=forced))
            return Conversation(turns=tuple(turns), stop="truncated", answer=None, notes=tuple(notes))
        if forced or not reply.calls:
            turns.append(_turn(reply, index, forced=forced))
            stop: StopReason = "answer" if answer else "no_answer"
            return Conversation(turns=tuple(turns), stop=stop, answer=answer, notes=tuple(notes))
        calls = keep_calls(reply.calls, index, limits.max_calls_per_turn)
        if any(call.recovered for call in calls):
            notes.append(f"turn {index}: call recovered from text")
        made, asked = searches(turns), sum(call.name == SEARCH for call in calls)
        in_order = tight or made + asked > limits.max_searches
        done = await run_calls(calls, index, session, memory, recorder, made=made, searches_in_order=in_order)
        results = with_notice(done, turns, limits)
        turn = Turn(
            index=index,
            thinking=reply.thinking,
            content=reply.content,
            calls=calls,
            results=results,
            finish_reason=reply.finish_reason,
            usage=reply.usage,
            latency_s=reply.latency_s,
            forced=forced,
            dropped_calls=len(reply.calls) - len(calls),
        )
        turns.append(turn)
        transcript.extend(turn_messages(turn))


def _turn(reply: Reply, index: int, *, forced: bool) -> Turn:
    """A last turn: its calls, if any, are neither run nor kept."""
    return Turn(
        index=index,
        thinking=reply.thinking,
        content=reply.content,
        finish_reason=reply.finish_reason,
        usage=reply.usage,
        latency_s=reply.latency_s,
        forced=forced,
        dropped_calls=len(reply.calls),
    )

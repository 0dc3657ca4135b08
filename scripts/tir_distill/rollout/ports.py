"""What the rollout needs of other rooms, as narrow as it uses it. Tests hand in small stand-ins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from ..records import Question, ToolCall, ToolResult, Trajectory, Verdict
from ..teacher import Reply, Transcript


class Completer(Protocol):
    """A teacher (``teacher.TeacherClient``)."""

    @property
    def model(self) -> str: ...

    async def complete(
        self,
        messages: Transcript,
        tools: Sequence[Mapping[str, Any]],
        *,
        seed: int,
        max_tokens: int | None = None,
        owner: str = "",
    ) -> Reply: ...


class Session(Protocol):
    """The tools of one conversation (``tools.ToolSession``)."""

    async def call(self, call: ToolCall, *, made: int = 0) -> ToolResult: ...

    async def close(self) -> None: ...


class Grades(Protocol):
    """``grading.Grader``."""

    async def grade(self, question: Question, answer: str | None) -> Verdict: ...


class Judged(Protocol):
    """``filters.FilterReport``, as far as sampling looks at it."""

    @property
    def accepted(self) -> bool: ...

    @property
    def fails(self) -> Sequence[Any]: ...


class Evaluates(Protocol):
    """The filters with their settings bound."""

    def __call__(self, trajectory: Trajectory, /) -> Judged: ...


class Recorder(Protocol):
    """Where a conversation puts what it has paid for, the moment it has it."""

    def reply(self, turn: int, ask: int, reply: Reply) -> None: ...

    def result(self, turn: int, position: int, result: ToolResult) -> None: ...

    def rewind(self, turn: int, note: str) -> None: ...


class StopSign(Protocol):
    """``ledger.StopFlag``."""

    @property
    def reason(self) -> str: ...

    @property
    def detail(self) -> str: ...


class Books(Protocol):
    """``ledger.Ledger``, as far as the engine itself looks at it."""

    def stopped(self) -> StopSign | None: ...

    def stop(self, reason: str, detail: str) -> None: ...

    def question_billed(self, run: str, question_id: str) -> int: ...

    def reserve_tokens(self, run: str, tokens: int) -> str: ...

    def settle_tokens(self, run: str, hold: str | None, tokens: int) -> None: ...


class ChoosesTeacher(Protocol):
    """Which teacher answers a question."""

    def __call__(self, question: Question, /) -> Completer: ...

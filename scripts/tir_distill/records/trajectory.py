"""What one sample was: the question, each turn of the teacher, each tool result, the verdict.

A trajectory is written whole, one line in ``trajectories_raw.jsonl``, and is enough by itself to rebuild the
conversation that the teacher had (``records.conversation``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from .question import Question

ToolStatus = Literal["ok", "model_error", "infrastructure"]
"""``ok``: the tool did its work; ``model_error``: the call was wrong or its code failed, and the model was told;
``infrastructure``: our side failed, so the sample must not be graded."""

StopReason = Literal["answer", "no_answer", "truncated"]
"""``answer``: an ``<answer>`` was given; ``no_answer``: the turns ended without one; ``truncated``: the teacher's text
was cut at its token limit (F8)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A picture that a tool produced, stored once by content."""

    path: str
    """Relative to the run folder: ``tool_images/<sha256>.png``."""
    sha256: str
    width: int
    height: int

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> Picture:
        return cls(path=row["path"], sha256=row["sha256"], width=row["width"], height=row["height"])


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One call that the model asked for and we kept."""

    id: str
    """Ours, unique in the trajectory (``call_<turn>_<position>``): servers send empty and repeated ids."""
    name: str
    arguments: str
    """A JSON object as text. For a malformed call, what the model wrote."""
    recovered: bool = False
    """Read from text because the server's parser had left it there."""
    malformed: str | None = None
    """Why it could not be run (``bad_json``, ``unknown_tool``, ``missing_parameter``, ...), else None."""

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> ToolCall:
        return cls(
            id=row["id"],
            name=row["name"],
            arguments=row["arguments"],
            recovered=row.get("recovered", False),
            malformed=row.get("malformed"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What the model was told in reply to one call."""

    call_id: str
    name: str
    status: ToolStatus
    content: str
    """Text of the tool message, already neutralised and cut."""
    images: tuple[Picture, ...] = ()
    notice: str = ""
    """Said by us after the result: turn limit or search cap reached, answer now (seed sections 9 and 12)."""
    meta: Mapping[str, Any] = field(default_factory=dict)
    """Facts for filters and statistics, never shown to the model.

    search: ``query``, ``billed`` (0 or 1), ``cached`` (bool), ``urls`` (list), ``blocked`` (int, results taken out),
    ``cap`` (absent, or ``trajectory`` | ``question`` | ``run``: nothing was searched).
    open: ``url``, ``final_url``, ``hops`` (list of URLs), ``kind``, ``bytes``, ``cached``, ``blocked`` (bool).
    python: ``cell`` (``ok`` | ``error`` | ``timeout`` | ``memory`` | ``disk`` | ``killed``), ``restarted`` (bool).
    any: ``truncated`` (bool).
    """

    @property
    def text(self) -> str:
        """Content and notice as the model reads them."""
        return "\n\n".join(part for part in (self.content, self.notice) if part)

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> ToolResult:
        return cls(
            call_id=row["call_id"],
            name=row["name"],
            status=row["status"],
            content=row["content"],
            images=tuple(Picture.from_dict(item) for item in row.get("images", ())),
            notice=row.get("notice", ""),
            meta=dict(row.get("meta") or {}),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens as the server counted them; 0 where it said nothing."""

    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One reply of the teacher and the results of its calls."""

    index: int
    thinking: str
    """Whole and unchanged but for outer white space, without the tags."""
    content: str
    """Visible text, without thinking and without call markup."""
    calls: tuple[ToolCall, ...] = ()
    results: tuple[ToolResult, ...] = ()
    """One per call, in call order. Empty when the turn has none."""
    finish_reason: str = "stop"
    usage: Usage = Usage()
    latency_s: float = 0.0
    forced: bool = False
    """This reply was asked for by a notice (turn limit, search cap)."""
    dropped_calls: int = 0
    """Calls beyond ``max_calls_per_turn``: neither run nor kept."""

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> Turn:
        return cls(
            index=row["index"],
            thinking=row["thinking"],
            content=row["content"],
            calls=tuple(ToolCall.from_dict(item) for item in row.get("calls", ())),
            results=tuple(ToolResult.from_dict(item) for item in row.get("results", ())),
            finish_reason=row.get("finish_reason", "stop"),
            usage=Usage(**row.get("usage", {})),
            latency_s=row.get("latency_s", 0.0),
            forced=row.get("forced", False),
            dropped_calls=row.get("dropped_calls", 0),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """How the final answer was graded (F1)."""

    correct: bool | None
    """None: undecided (the judge failed). Never counted as wrong."""
    path: str
    """What decided: ``exact``, ``scorer``, ``typed``, ``relaxed`` (ChartQA's 5 % rule), ``judge``, ``unsafe``,
    ``no_answer`` or ``judge_failed``."""
    judge_model: str = "rule"
    """The judge's name, or ``rule``."""
    reference: str | None = None
    """The reference that matched."""
    detail: str = ""

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> Verdict:
        return cls(**{key: row[key] for key in cls.__slots__ if key in row})


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenCounts:
    """Counted once, when the sample is written, so that filtering tokenises nothing."""

    assistant: int = 0
    """Thinking, visible text and calls of all turns."""
    sequence: int = 0
    """The whole rendered conversation, tools and pictures included."""
    exact: bool = False
    """True: counted with the model's vocabulary; False: estimated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trajectory:
    """One finished sample of one question."""

    question: Question
    sample_index: int
    fingerprint: str
    """sha256 of everything that decides the sample (DESIGN section 4.1)."""
    seed: int
    teacher: str
    """The served model's name."""
    protocol: Literal["native", "text"]
    system: str
    tools: tuple[Mapping[str, Any], ...]
    """The schemas that were sent, OpenAI shape."""
    turns: tuple[Turn, ...]
    stop: StopReason
    answer: str | None
    """Text inside the last ``<answer>``, stripped; None when there is none."""
    verdict: Verdict | None = None
    filter_fails: tuple[str, ...] = ()
    """Rules failed at sampling time, in order; the filter stage owns the final word (RULINGS 2)."""
    accepted: bool = False
    filter_hash: str = ""
    """Hash of the filter settings under which ``accepted`` was decided."""
    searches: int = 0
    """Search calls that were answered, billed or cached."""
    searches_billed: int = 0
    tokens: TokenCounts = TokenCounts()
    repaired_turns: tuple[int, ...] = ()
    """Turns cut out by the F5 repair; empty in raw records."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Package, prompt hash, tool schema hash, protocol version, configuration hash, sandbox layers."""
    notes: tuple[str, ...] = ()
    """What else happened: recovered calls, restart after a differing replay, a plain re-ask."""

    @property
    def correct(self) -> bool:
        return self.verdict is not None and self.verdict.correct is True

    @property
    def key(self) -> str:
        """Names the sample among all others: ``<question id>#<sample index>``."""
        return f"{self.question.id}#{self.sample_index}"

    def to_dict(self) -> dict[str, Any]:
        """The line of ``trajectories_raw.jsonl``; nested records stay objects that orjson writes as they are."""
        row: dict[str, Any] = {"id": self.question.id}
        for name in self.__slots__:
            row[name] = getattr(self, name)
        row["question"] = self.question.to_dict()
        row["correct"] = self.correct
        row["judge_model"] = self.verdict.judge_model if self.verdict else None
        return row

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> Trajectory:
        return cls(
            question=Question.from_dict(row["question"]),
            sample_index=row["sample_index"],
            fingerprint=row["fingerprint"],
            seed=row["seed"],
            teacher=row["teacher"],
            protocol=row["protocol"],
            system=row["system"],
            tools=tuple(row["tools"]),
            turns=tuple(Turn.from_dict(item) for item in row["turns"]),
            stop=row["stop"],
            answer=row["answer"],
            verdict=Verdict.from_dict(row["verdict"]) if row.get("verdict") else None,
            filter_fails=tuple(row.get("filter_fails", ())),
            accepted=row.get("accepted", False),
            filter_hash=row.get("filter_hash", ""),
            searches=row.get("searches", 0),
            searches_billed=row.get("searches_billed", 0),
            tokens=TokenCounts(**row.get("tokens", {})),
            repaired_turns=tuple(row.get("repaired_turns", ())),
            versions=dict(row.get("versions", {})),
            notes=tuple(row.get("notes", ())),
        )

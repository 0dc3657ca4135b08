"""Hand-made trajectories for tests: short to write, and accepted by every filter unless a test says otherwise."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from tir_distill.config import DEFAULTS, read
from tir_distill.filters import FilterSettings
from tir_distill.records import (
    Picture,
    Question,
    TokenCounts,
    ToolCall,
    ToolResult,
    Trajectory,
    Turn,
    Verdict,
)

THINK = "I should look at this carefully before I say anything about it."
"""Thinking above F10's limit, different from all others only when a test makes it so."""


def default_settings(**changes: Any) -> FilterSettings:
    """Settings of ``config/config.yaml``, with changes to ``filters`` (and ``max_length``) by name."""
    config = read(DEFAULTS)
    if "max_length" in changes:
        config["max_length"] = changes.pop("max_length")
    evaluation = changes.pop("evaluation", None)
    config["filters"] = {**config["filters"], **changes}
    return FilterSettings.from_config(config, evaluation=evaluation)


def make_question(task_type: str = "text_search", **changes: Any) -> Question:
    """A question of the given task type; picture tasks have one picture."""
    row: dict[str, Any] = {
        "id": "q1",
        "source": "fvqa_train",
        "bucket": {
            "text_search": "evobrowsecomp",
            "image_search": "fvqa_train",
            "image_reasoning": "chartqa_human",
        }[task_type],
        "priority": "P0",
        "phase": "pilot",
        "task_type": task_type,
        "question": "Which city is meant?",
        "answer": "Mumbai",
        "candidate_answers": "[]",
        "images": [] if task_type == "text_search" else ["images/fvqa_train/q1.png"],
        "meta": {},
    }
    return Question.from_dict({**row, **changes})


def make_picture(name: str = "a", width: int = 64, height: int = 64) -> Picture:
    """A tool picture; the name stands for its content."""
    sha = (name * 64)[:64]
    return Picture(path=f"tool_images/{sha}.png", sha256=sha, width=width, height=height)


class Script:
    """Builds turns in order: each method adds one turn (or one call to the turn being built) and returns the script."""

    def __init__(self) -> None:
        self.turns: list[Turn] = []

    def turn(
        self,
        *calls: tuple[ToolCall, ToolResult],
        thinking: str | None = None,
        content: str = "",
        **changes: Any,
    ) -> Script:
        """One turn with any calls, made by ``self.a_search`` and the like."""
        number = len(self.turns)
        self.turns.append(
            Turn(
                index=number,
                thinking=f"{THINK} Step {_word(number)}." if thinking is None else thinking,
                content=content,
                calls=tuple(call for call, _ in calls),
                results=tuple(result for _, result in calls),
                **changes,
            )
        )
        return self

    def _pair(
        self, name: str, arguments: Any, content: str, *, place: int = 0, malformed: str | None = None, **result: Any
    ) -> tuple[ToolCall, ToolResult]:
        call_id = f"call_{len(self.turns)}_{place}"
        text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
        status = result.pop("status", "ok")
        return (
            ToolCall(id=call_id, name=name, arguments=text, malformed=malformed),
            ToolResult(call_id=call_id, name=name, status=status, content=content, **result),
        )

    def a_search(
        self, query: str = "city on the west coast", results: str | None = None, **more: Any
    ) -> tuple[ToolCall, ToolResult]:
        text = "1. Mumbai\nURL: https://example.org/mumbai\nA city." if results is None else results
        meta = {"query": query, "billed": 1, "cached": False, "urls": ["https://example.org/mumbai"], "blocked": 0}
        return self._pair("search", {"query": query}, text, meta={**meta, **more.pop("meta", {})}, **more)

    def an_open(
        self, url: str = "https://example.org/mumbai", text: str = "# Mumbai\n\nMumbai is a city.", **more: Any
    ) -> tuple[ToolCall, ToolResult]:
        meta = {"url": url, "final_url": url, "hops": [], "kind": "html"}
        return self._pair("open", {"url": url}, text, meta={**meta, **more.pop("meta", {})}, **more)

    def a_cell(
        self, code: str, output: str = "(no output)", *, pictures: Sequence[Picture] = (), **more: Any
    ) -> tuple[ToolCall, ToolResult]:
        meta = {"cell": "ok", "restarted": False, **more.pop("meta", {})}
        return self._pair("python", {"code": code}, output, images=tuple(pictures), meta=meta, **more)

    def a_failed_cell(self, code: str, output: str, **more: Any) -> tuple[ToolCall, ToolResult]:
        return self.a_cell(code, output, status="model_error", meta={"cell": "error"}, **more)

    def search(self, query: str = "city on the west coast", **more: Any) -> Script:
        return self.turn(self.a_search(query), **more)

    def cell(self, code: str, output: str = "(no output)", *, thinking: str | None = None, **more: Any) -> Script:
        return self.turn(self.a_cell(code, output, **more), thinking=thinking)

    def failed_cell(self, code: str, output: str, *, thinking: str | None = None, **more: Any) -> Script:
        return self.turn(self.a_failed_cell(code, output, **more), thinking=thinking)

    def answer(self, answer: str = "Mumbai", *, thinking: str | None = None, **more: Any) -> Script:
        """The last turn."""
        return self.turn(thinking=thinking, content=f"<answer>{answer}</answer>", **more)

    def done(self, task_type: str = "text_search", *, question: Question | None = None, **changes: Any) -> Trajectory:
        """The finished sample; ``changes`` go to the Trajectory."""
        content = self.turns[-1].content if self.turns else ""
        given = content.removeprefix("<answer>").removesuffix("</answer>") if "<answer>" in content else None
        fields: dict[str, Any] = {
            "question": question or make_question(task_type),
            "sample_index": 0,
            "fingerprint": "f" * 64,
            "seed": 1,
            "teacher": "teacher",
            "protocol": "native",
            "system": "You have three tools.",
            "tools": ({"type": "function", "function": {"name": "search"}},),
            "turns": tuple(self.turns),
            "stop": "no_answer" if given is None else "answer",
            "answer": given,
            "verdict": Verdict(correct=True, path="exact", reference=given)
            if given is not None
            else Verdict(correct=False, path="no_answer"),
            "searches": sum(call.name == "search" for turn in self.turns for call in turn.calls),
            "searches_billed": sum(call.name == "search" for turn in self.turns for call in turn.calls),
            "tokens": TokenCounts(assistant=400, sequence=3000, exact=True),
        }
        return Trajectory(**{**fields, **changes})


def good(task_type: str = "text_search", **changes: Any) -> Trajectory:
    """A sample that every rule accepts: one search, one open, an answer."""
    script = Script().search()
    script.turn(script.an_open())
    return script.answer().done(task_type, **changes)


def _word(number: int) -> str:
    words = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    return words[number] if number < len(words) else f"later {number}"

"""The embedded teacher: from a chat request to a chat completion, without memory."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from PIL import Image, UnidentifiedImageError

from .acts import ACTS, Scene
from .dialogue import Dialogue, read_dialogue
from .figures import read_plate
from .inventory import RESOURCES, Ask, Hop, Script, dice, load_playbook, load_questions
from .lookup import Lookup
from .moves import Move
from .prose import Voice
from .question_file import QuestionFile, picture_mark
from .reckoning import reckon, reckon_with_key

CREATED = 1767225600
"""The time that every reply carries: replies do not depend on the clock."""
SAMPLES = 16
"""A request's seed carries the sample's index in its remainder by this number."""


@lru_cache(maxsize=512)
def look(data: bytes) -> tuple[int | None, str]:
    """What the teacher sees in a picture: the number on its plate, if any, and the picture's mark."""
    try:
        with Image.open(io.BytesIO(data)) as picture:
            plate = read_plate(picture)
    except (UnidentifiedImageError, OSError):
        plate = None
    return plate, picture_mark(data)


@dataclass(frozen=True)
class Teacher:
    """Questions it knows how to look up, scripts it follows, and the question file for all others."""

    asks: Mapping[str, Ask]
    scripts: Mapping[str, tuple[Script, ...]]
    questions: QuestionFile

    @classmethod
    def open(cls, questions: QuestionFile, folder: Path = RESOURCES) -> Teacher:
        """Reads questions.yaml and playbook.yaml, never truth.yaml."""
        scripts: dict[str, list[Script]] = {}
        for script in load_playbook(folder):
            scripts.setdefault(script.question, []).append(script)
        return cls(
            asks={ask.text: ask for ask in load_questions(folder)},
            scripts={key: tuple(value) for key, value in scripts.items()},
            questions=questions,
        )

    def reply(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The body of the answer to ``POST /v1/chat/completions``."""
        dialogue = read_dialogue(request)
        seed = int(request.get("seed") or 0)
        move = self.move(dialogue, seed)
        return completion(request, dialogue, move, seed)

    def move(self, dialogue: Dialogue, seed: int) -> Move:
        """The next step for question text, sample seed and turn."""
        sample = seed % SAMPLES
        voice = Voice(dialogue.question, seed, dialogue.turns, sample)
        plate, mark = look(dialogue.pictures[0]) if dialogue.pictures else (None, "")
        ask = self.asks.get(dialogue.question)
        if ask is None:
            return self._real_row(dialogue, voice, mark)
        if ask.hops:
            needs_plate = any("{plate}" in hop.query for hop in ask.hops)
            lookup = Lookup(ask.hops, plate if needs_plate else None, ask.text)
            honest = partial(lookup.next_move, dialogue, voice)
        else:
            lookup = None
            honest = partial(reckon, ask, dialogue, voice, sample)
        for script in self.scripts.get(ask.key, ()):
            if sample in script.samples:
                return ACTS[script.act](Scene(ask, dialogue, voice, honest, lookup, plate, script.options))
        return honest()

    def _real_row(self, dialogue: Dialogue, voice: Voice, mark: str) -> Move:
        """A row that is not of the demo: found by searching its record, or computed with the file as answer key."""
        known = self.questions.find(dialogue.question, mark)
        if known is not None and known.task_type == "image_reasoning":
            return reckon_with_key(known.answer, dialogue, voice)
        query = f"{dialogue.question[:240]} {mark}".strip()
        return Lookup((Hop(query, "Answer"),), None, dialogue.question, mark).next_move(dialogue, voice)


def completion(request: Mapping[str, Any], dialogue: Dialogue, move: Move, seed: int) -> dict[str, Any]:
    """A move in the protocol's words, as vLLM answers it with a reasoning parser and a tool parser."""
    message: dict[str, Any] = {"role": "assistant", "content": move.content or None, "reasoning_content": move.thinking}
    finish: str = move.finish or "stop"
    if move.calls and (move.swallowed or not dialogue.native):
        message["content"] = "\n".join([*([move.content] if move.content else []), *_as_text(move)])
    elif move.calls:
        message["tool_calls"] = [
            {
                "id": f"call_{dice('call', dialogue.question, seed, dialogue.turns, index):016x}",
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(call.arguments, ensure_ascii=False)},
            }
            for index, call in enumerate(move.calls)
        ]
        finish = "tool_calls"
    spoken = [move.thinking, move.content, *(json.dumps(call.arguments, ensure_ascii=False) for call in move.calls)]
    completion_tokens = sum(estimate(text) for text in spoken) + 12 * len(move.calls) + 4
    limit = request.get("max_completion_tokens") or request.get("max_tokens")
    if limit and completion_tokens >= limit:
        completion_tokens, finish = limit, "length"
    prompt_tokens = estimate(_all_text(request["messages"])) + 220 * len(dialogue.pictures)
    return {
        "id": f"chatcmpl-{dice('reply', dialogue.question, seed, dialogue.turns):016x}",
        "object": "chat.completion",
        "created": CREATED,
        "model": request.get("model", ""),
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": completion_tokens,
            "total_tokens": prompt_tokens + completion_tokens,
        },
    }


def _as_text(move: Move) -> list[str]:
    """Calls as text: without the closing tag when a parser swallowed it (seed section 9), whole otherwise."""
    lines = []
    for call in move.calls:
        if call.name == "python":
            lines.append(f"<code>\n```python\n{call.arguments['code']}\n```\n</code>")
            continue
        text = json.dumps({"action": call.name, **call.arguments}, ensure_ascii=False)
        lines.append(f"<tool_call>{text}" + ("" if move.swallowed else "</tool_call>"))
    return lines


def estimate(text: str) -> int:
    """Tokens of a text, roughly: four Latin characters or one and a half CJK characters each."""
    wide = sum(1 for char in text if char >= "\u2e80")
    return (len(text) - wide) // 4 + wide * 2 // 3


def _all_text(messages: Any) -> str:
    """The text of all messages; pictures are counted apart."""
    out = []
    for message in messages:
        content = message.get("content")
        parts = content if isinstance(content, list) else [{"type": "text", "text": content or ""}]
        out += [part["text"] for part in parts if part.get("type") == "text"]
        out += [json.dumps(call.get("function", {})) for call in message.get("tool_calls") or ()]
    return "\n".join(out)

"""What decides a sample, as one hash: equal hash, replayed from the journal; another hash, bought again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ..records import Question, digest
from .settings import Limits


def fingerprint(
    question: Question,
    *,
    image_hashes: Sequence[str],
    system: str,
    tools: Sequence[Mapping[str, Any]],
    teacher: str,
    limits: Limits,
    config: Mapping[str, Any],
) -> str:
    """sha256 hex over the question, its pictures, the prompt, the schemas, the teacher's name and the settings.

    Of the settings only those count that touch this question, so raising ``max_turns_text`` buys no picture question
    again. Not in it: phase, priority and meta (the pilot's samples serve the full run), everything under ``plan`` and
    ``engine``, and any code (``protocol_version`` stands for that).
    """
    sampling = config["sampling"]
    return digest(
        {
            "question": [
                question.id,
                question.task_type,
                question.question,
                question.answer,
                question.candidate_answers,
            ],
            "images": list(image_hashes),
            "system": system,
            "tools": [dict(tool) for tool in tools],
            "teacher": teacher,
            "limits": asdict(limits),
            "sampling": {
                key: sampling[key]
                for key in ("protocol_version", "temperature", "top_p", "max_obs_chars", "chat_template_kwargs")
            },
            "search": {key: config["search"][key] for key in ("backend", "results", "region")},
        }
    )

"""A judge over the real protocol whose replies a test decides."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any

from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from tir_distill.grading import Grader, JudgeSettings
from tir_distill.records import Question

KEY = "sk-sentinel-judge-key-0123456789"


def a_question(answer: str = "Mumbai", *candidates: str, bucket: str = "fvqa_train", **changes: Any) -> Question:
    row: dict[str, Any] = {
        "id": "q1",
        "source": "fvqa_train",
        "bucket": bucket,
        "priority": "P0",
        "phase": "pilot",
        "task_type": "image_search",
        "question": "Which city is shown?",
        "answer": answer,
        "candidate_answers": json.dumps(list(candidates)),
        "images": [],
    }
    return Question.from_dict({**row, **changes})


def completion(text: str | None, *, finish_reason: str = "stop") -> dict[str, Any]:
    """A chat completion as servers send it."""
    message = {"role": "assistant", "content": text}
    return {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "judge",
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}],
    }


Answer = str | dict[str, Any] | Response
"""A reply's text, a whole body, or any HTTP response."""


class FakeJudge:
    """Answers each request by ``decide(case, number)``; keeps what it was asked."""

    def __init__(self, server: HTTPServer, decide: Callable[[dict[str, Any], int], Answer]) -> None:
        self.url = server.url_for("/v1")
        self.requests: list[dict[str, Any]] = []
        self.keys: set[str] = set()
        self._decide = decide
        self._lock = threading.Lock()
        server.expect_request("/v1/chat/completions", method="POST").respond_with_handler(self._handle)

    def _handle(self, request: Request) -> Response:
        body = request.get_json()
        with self._lock:
            self.requests.append(body)
            self.keys.add(request.headers.get("Authorization", ""))
            number = len(self.requests)
        answer = self._decide(self.case(body), number)
        if isinstance(answer, Response):
            return answer
        payload = completion(answer) if isinstance(answer, str) else answer
        return Response(json.dumps(payload), content_type="application/json")

    @staticmethod
    def case(body: dict[str, Any]) -> dict[str, Any]:
        """The case inside a request."""
        content = body["messages"][1]["content"]
        text = content if isinstance(content, str) else content[-1]["text"]
        start = text.index("{")
        case: dict[str, Any] = json.JSONDecoder().raw_decode(text[start:])[0]
        return {**case, "model": body["model"]}


def a_grader(url: str, cache: Any = None, **changes: Any) -> Grader:
    """A grader with short waits."""
    settings: dict[str, Any] = {"url": url, "backoff_s": 0.01, "timeout_s": 2.0, "patience_s": 2.0}
    return Grader(JudgeSettings(**{**settings, **changes}), cache)

from __future__ import annotations

import orjson
import pytest

from tir_distill.records import (
    BadRow,
    Picture,
    Question,
    TokenCounts,
    ToolCall,
    ToolResult,
    Trajectory,
    Turn,
    Usage,
    Verdict,
    conversation,
)

ROW = {
    "id": "fvqa_train_12",
    "source": "fvqa_train",
    "bucket": "fvqa_train",
    "priority": "P0",
    "phase": "pilot",
    "task_type": "image_search",
    "question": "Which city?",
    "answer": "Mumbai",
    "candidate_answers": '["Bombay", "Mumbai"]',
    "images": ["images/fvqa_train/fvqa_train_12.png"],
    "meta": {"category": "search_required"},
}


def sample() -> Trajectory:
    picture = Picture(path="tool_images/ab.png", sha256="ab", width=4, height=3)
    calls = (
        ToolCall(id="call_0_0", name="search", arguments='{"query":"x"}'),
        ToolCall(id="call_0_1", name="python", arguments='{"code":"show()"}', recovered=True),
    )
    results = (
        ToolResult(call_id="call_0_0", name="search", status="ok", content="1. T", meta={"billed": 1}),
        ToolResult(
            call_id="call_0_1", name="python", status="ok", content="", images=(picture,), notice="[notice] stop"
        ),
    )
    return Trajectory(
        question=Question.from_dict(ROW),
        sample_index=1,
        fingerprint="f",
        seed=5,
        teacher="t",
        protocol="native",
        system="S",
        tools=({"type": "function"},),
        turns=(
            Turn(index=0, thinking="hm", content="", calls=calls, results=results, usage=Usage(prompt_tokens=3)),
            Turn(index=1, thinking="so", content="<answer>Mumbai</answer>", forced=True),
        ),
        stop="answer",
        answer="Mumbai",
        verdict=Verdict(correct=True, path="exact", reference="Mumbai"),
        accepted=True,
        tokens=TokenCounts(assistant=9, sequence=99, exact=True),
        notes=("recovered a call",),
    )


def test_question_line_keeps_the_key_order_of_the_hand_over() -> None:
    assert list(Question.from_dict(ROW).to_dict()) == list(ROW)
    assert Question.from_dict(ROW).to_dict() == ROW
    assert Question.from_dict(ROW).references == ("Mumbai", "Bombay")


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"answer": None}, "answer"),
        ({"task_type": "video"}, "task_type"),
        ({"candidate_answers": ["a"]}, "candidate_answers"),
        ({"candidate_answers": "[1]"}, "candidate_answers"),
        ({"candidate_answers": "['a'"}, "candidate_answers"),
        ({"images": "a.png"}, "images"),
    ],
)
def test_a_bad_question_names_id_and_field(change: dict[str, object], word: str) -> None:
    with pytest.raises(BadRow, match=rf"fvqa_train_12.*{word}"):
        Question.from_dict({**ROW, **change})


def test_trajectory_survives_a_round_trip_through_json() -> None:
    trajectory = sample()
    row = orjson.loads(orjson.dumps(trajectory.to_dict()))
    assert Trajectory.from_dict(row) == trajectory
    assert row["id"] == "fvqa_train_12"
    assert row["correct"] is True
    assert row["judge_model"] == "rule"


def test_conversation_is_what_the_teacher_had() -> None:
    messages = conversation(sample())
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "tool", "tool", "assistant"]
    assert messages[1]["content"] == [
        {"type": "image", "image": "images/fvqa_train/fvqa_train_12.png"},
        {"type": "text", "text": "Which city?"},
    ]
    assert messages[2]["content"] == "<think>\nhm\n</think>\n\n"
    assert [call["function"]["name"] for call in messages[2]["tool_calls"]] == ["search", "python"]
    assert messages[3] == {"role": "tool", "tool_call_id": "call_0_0", "content": "1. T"}
    assert messages[4]["content"] == [
        {"type": "text", "text": "[notice] stop\n"},
        {"type": "image", "image": "tool_images/ab.png"},
    ]
    assert messages[5] == {"role": "assistant", "content": "<think>\nso\n</think>\n\n<answer>Mumbai</answer>"}

"""Loss masks in the two forms that the trainer honours."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from export_helpers import row
from tir_distill.export import Tokens, loss_spans, mask_tokens, mask_turns, row_messages
from tir_distill.records import BadRow


@pytest.fixture(scope="module")
def tokens() -> Tokens:
    return Tokens.of_folder(None)


def test_turns_are_masked_in_a_copy(tmp_path: Path) -> None:
    made = row(tmp_path, 1, turns=2)
    masked = mask_turns(made, {0, 2})
    replies = [message for message in masked["messages"] if message["role"] == "assistant"]
    assert [message.get("loss") for message in replies] == [False, None, False]
    assert not any("loss" in message for message in made["messages"])
    with pytest.raises(BadRow, match="no_such_turn"):
        mask_turns(made, {3})


def test_token_masks_hold_the_official_text_of_the_turn(tmp_path: Path, tokens: Tokens) -> None:
    made = row(tmp_path, 1, turns=2)
    tools = orjson.loads(made["tools"])
    masked = mask_tokens(
        made,
        tools,
        lambda position, _text: position >= 3,
        renderer=tokens.renderer,
        vocabulary=tokens.vocabulary,
        turns={0},
    )
    reply = next(message for message in masked["messages"] if message["role"] == "assistant")
    assert "tool_calls" not in reply
    ids, scale = reply["content"]["token_ids"], reply["content"]["loss_scale"]
    text = tokens.renderer.render(row_messages(made["messages"]), tools)
    start, end = loss_spans(text)[0]
    assert tokens.vocabulary.encoding.decode(ids) == text[start:end].removesuffix("<|im_end|>\n")
    assert len(ids) == len(scale)
    assert scale[:3] == [0.0, 0.0, 0.0]
    assert set(scale[3:]) == {1.0}


def test_learned_spans_are_the_turns_and_nothing_else() -> None:
    text = (
        "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nQ<|im_end|>\n<|im_start|>assistant\n<think>\na\n</think>\n\n"
        "b<|im_end|>\n<|im_start|>user\nT<|im_end|>\n<|im_start|>assistant\nc<|im_end|>"
    )
    assert [text[a:b] for a, b in loss_spans(text)] == ["<think>\na\n</think>\n\nb<|im_end|>\n", "c<|im_end|>"]

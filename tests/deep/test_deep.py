"""Rows through ms-swift itself, in the environment of README.md. TIR_DEEP_MODEL names the tiny checkpoint."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import orjson
import pytest
from PIL import Image

from audit_helpers import clean_rows
from export_random import CASES, conversation
from tir_distill.audit.deep import UNLEARNED, DeepCheck
from tir_distill.export import Tokens, mask_tokens, mask_turns

THOUGHT = "<think>\nI know this.\n</think>\n\n"
MODEL = Path(os.environ.get("TIR_DEEP_MODEL", ""))


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("rows")


@pytest.fixture(scope="module")
def deep(root: Path) -> DeepCheck:
    return DeepCheck.open(Tokens.of_folder(MODEL), model_dir=MODEL, img_root=root, max_length=100_000)


def as_row(case: dict[str, Any], root: Path) -> dict[str, Any]:
    """Pictures of the case's sizes, shrunk so that preprocessing 600 rows stays short."""
    images = []
    for width, height in case["sizes"]:
        size = (max(8, width // 8), max(8, height // 8))
        name = f"{size[0]}x{size[1]}.png"
        if not (root / name).exists():
            Image.new("RGB", size, "red").save(root / name)
        images.append(name)
    return {"messages": case["messages"], "images": images, "tools": orjson.dumps(case["tools"]).decode()}


def test_600_conversations_have_the_trainer_s_text_ids_and_learned_tokens(deep: DeepCheck, root: Path) -> None:
    wrong = {}
    for seed in range(CASES):
        found = [(item.reason, item.detail, item.excerpt[:80]) for item in deep(as_row(conversation(seed), root))]
        if found:
            wrong[seed] = found
    assert not wrong


def test_exported_rows_pass(deep: DeepCheck, root: Path) -> None:
    for row in clean_rows(root):
        assert list(deep(row)) == []


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda row: row["messages"].insert(8, {"role": "user", "content": "Answer now."}), "refused"),
        (lambda row: row["messages"][2]["tool_calls"][0]["function"].__setitem__("arguments", "{"), "bad_arguments"),
        (lambda row: row["messages"][3].__setitem__("content", "a <image> tag"), "text"),
        (lambda row: row["messages"][8].__setitem__("content", f"{THOUGHT}so </think> <answer>A</answer>"), "text"),
        (lambda row: row["images"].__setitem__(0, "none.png"), "refused"),
    ],
)
def test_what_the_trainer_would_learn_otherwise_is_found(deep: DeepCheck, root: Path, damage: Any, reason: str) -> None:
    row = clean_rows(root)[0]
    damage(row)
    assert reason in {item.reason for item in deep(row)}


def learned(deep: DeepCheck, row: dict[str, Any]) -> list[int]:
    """Ids that the trainer learns."""
    return [label for label in deep._encode(row)["labels"] if label != UNLEARNED]


def test_masked_turns_are_not_learned(deep: DeepCheck, root: Path) -> None:
    row = clean_rows(root)[0]
    whole = deep.tokens.vocabulary.encoding.decode(learned(deep, row))
    rest = deep.tokens.vocabulary.encoding.decode(learned(deep, mask_turns(row, {0, 1})))
    assert whole.count("<think>") == 3
    assert rest.count("<think>") == 1
    assert whole.endswith(rest)


def test_masked_tokens_are_not_learned(deep: DeepCheck, root: Path) -> None:
    row = clean_rows(root)[0]
    tools = orjson.loads(row["tools"])
    masked = mask_tokens(
        row,
        tools,
        lambda position, _text: position % 2 == 0,
        renderer=deep.tokens.renderer,
        vocabulary=deep.tokens.vocabulary,
        turns={0},
    )
    content = masked["messages"][2]["content"]
    plain, changed = deep._encode(row), deep._encode(masked)
    assert list(plain["input_ids"]) == list(changed["input_ids"])
    unlearned = sum(a != UNLEARNED and b == UNLEARNED for a, b in zip(plain["labels"], changed["labels"], strict=True))
    assert unlearned == content["loss_scale"].count(0.0)

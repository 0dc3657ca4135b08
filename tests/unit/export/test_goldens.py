"""Our rendering and our token ids against transformers, by committed hashes (made by make_goldens.py)."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from export_random import CASES, conversation
from tir_distill.export import Tokens, loss_spans, row_messages

GOLDENS = json.loads((Path(__file__).parent / "goldens.json").read_text())


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.fixture(scope="module")
def tokens() -> Tokens:
    return Tokens.of_folder(None)


def test_goldens_were_made_with_the_pinned_template(tokens: Tokens) -> None:
    assert GOLDENS["template_sha256"] == tokens.renderer.source.sha256
    assert len(GOLDENS["cases"]) == CASES == 600


def test_text_ids_and_learned_tokens_equal_transformers(tokens: Tokens) -> None:
    wrong = []
    for seed, (text_hash, ids_hash, count, learned) in enumerate(GOLDENS["cases"]):
        case = conversation(seed)
        text = tokens.renderer.render(row_messages(case["messages"]), case["tools"])
        ids = tokens.vocabulary.encode(text)
        spans = loss_spans(text)
        # the training template marks each turn from <think> through <|im_end|> and the newline, as ms-swift learns
        ours = sum(len(tokens.vocabulary.encode(text[start:end])) for start, end in spans)
        if (sha256(text), sha256(json.dumps(ids, separators=(",", ":"))), len(ids), ours) != (
            text_hash,
            ids_hash,
            count,
            learned,
        ):
            wrong.append((seed, len(ids), count, ours, learned))
    assert not wrong


def test_counts_add_up_over_blocks(tokens: Tokens) -> None:
    for seed in range(0, CASES, 10):
        case = conversation(seed)
        text = tokens.renderer.render(row_messages(case["messages"]), case["tools"])
        counted = tokens.count_rendered(text, [(64, 64)] * len(case["sizes"]))
        assert counted.sequence == GOLDENS["cases"][seed][2] + 63 * len(case["sizes"])
        # what the model writes of a turn: the learned span without <|im_end|> and the newline
        assert counted.assistant == sum(len(tokens.vocabulary.encode(text[a:b])) - 2 for a, b in loss_spans(text))
        assert counted.exact

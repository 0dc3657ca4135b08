"""Exact counts: values printed by other programs, sizes worked out by hand, any tokenizer folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from export_helpers import trajectory
from export_random import conversation
from tir_distill.config import load
from tir_distill.export import Tokens, image_tokens, load_vocabulary, row_messages
from tir_distill.records import BadRow, TirError


@pytest.fixture(scope="module")
def tokens() -> Tokens:
    return Tokens.from_config(load())


def test_control_tokens_have_the_model_s_ids(tokens: Tokens) -> None:
    # transformers Qwen3_5Config: image 248056, video 248057, vision start and end 248053 and 248054
    ids = {
        name: tokens.vocabulary.id_of(f"<|{name}|>") for name in ("image_pad", "video_pad", "vision_start", "im_end")
    }
    assert ids == {"image_pad": 248056, "video_pad": 248057, "vision_start": 248053, "im_end": 248046}
    assert tokens.vocabulary.encode("<think></think><|im_start|>") == [248068, 248069, 248045]


def test_composed_and_decomposed_text_are_one(tokens: Tokens) -> None:
    assert tokens.vocabulary.encode("cafe\u0301") == tokens.vocabulary.encode("café")
    # a combining mark after a control token stays a mark and the token stays whole
    assert tokens.vocabulary.encode("<|im_end|>\u0338")[0] == 248046


@pytest.mark.parametrize(
    ("width", "height", "expected"),
    [
        (100, 64, 70),  # below 65,536 pixels: scaled up by 3.2, to 320 x 224
        (1500, 1000, 1457),  # 47 x 31
        (4000, 3000, 11750),  # 125 x 94
        (256, 256, 64),
        (32, 32, 64),
        (8000, 8000, 16384),  # scaled down to 16,777,216 pixels
        (16, 3200, 114),  # a strip rounds to no width, so it is scaled up by 1.13, to 32 x 3648
    ],
)
def test_picture_tokens(width: int, height: int, expected: int) -> None:
    assert image_tokens(width, height) == expected


@pytest.mark.parametrize("size", [(0, 10), (10, 2001), (4020, 20)])
def test_pictures_that_the_processor_refuses(size: tuple[int, int]) -> None:
    with pytest.raises(BadRow, match="picture_shape"):
        image_tokens(*size)


@settings(max_examples=200, deadline=None)
@given(st.integers(20, 9000), st.integers(60, 4000))
def test_picture_tokens_stay_within_their_limits_and_ignore_rotation(width: int, height: int) -> None:
    count = image_tokens(width, height)
    assert 64 <= count <= 16_384
    assert count == image_tokens(height, width)


def test_a_sample_is_counted_with_its_pictures(tmp_path: Path, tokens: Tokens) -> None:
    sample = trajectory(tmp_path, 3, turns=2)
    pictures = len(sample.question.images) + sum(len(r.images) for turn in sample.turns for r in turn.results)
    small = tokens.count(sample, [(256, 256)] * pictures)
    large = tokens.count(sample, [(512, 512)] * pictures)
    assert large.sequence - small.sequence == (256 - 64) * pictures
    assert large.assistant == small.assistant < small.sequence
    assert small.exact


def test_the_length_in_one_go_is_the_sum_of_the_blocks(tokens: Tokens) -> None:
    for seed in range(40):
        case = conversation(seed)
        text = tokens.renderer.render(row_messages(case["messages"]), case["tools"])
        assert tokens.length(text, case["sizes"]) == tokens.count_rendered(text, case["sizes"]).sequence, seed


def test_a_tokenizer_folder_is_read_from_its_json(tmp_path: Path) -> None:
    letters = [chr(c) for c in [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]]
    letters += [chr(0x100 + n) for n in range(256 - len(letters))]
    vocab = {letter: index for index, letter in enumerate(letters)} | {"ab": 256, "abc": 257, "Ġab": 258}
    data = {
        "added_tokens": [{"id": 300, "content": "<|x|>"}],
        "normalizer": None,
        "pre_tokenizer": {"type": "Split", "pattern": {"Regex": r"\s?\S+|\s+"}},
        "model": {"type": "BPE", "vocab": vocab, "merges": ["a b", ["ab", "c"], "Ġ ab"]},
    }
    (tmp_path / "tokenizer.json").write_text(json.dumps(data))
    vocabulary = load_vocabulary(tmp_path)
    assert vocabulary.encode("abc ab<|x|>abd") == [257, 258, 300, 256, vocab["d"]]
    data["model"]["merges"] = [["ab", "c"], "a b"]
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / "tokenizer.json").write_text(json.dumps(data))
    with pytest.raises(TirError, match="merge order"):
        load_vocabulary(tmp_path / "two")

"""Forbidden markup is found, and what the tools neutralise passes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tir_distill.export import find_markup, load_vocabulary
from tir_distill.records.neutralise import neutralise

INNER = ["<function=search>", "</function>", "<parameter=query>", "</parameter>"]
MEDIA = ["<image>", "<video>", "<audio>", "<img>", "</img>", "<bbox>", "<ref-object>", "<cot-process>", "<start-image>"]
TAGS = ["<think>", "</think>", "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>"]


def test_every_control_token_of_the_vocabulary_is_found() -> None:
    for token in load_vocabulary().specials:
        assert find_markup(f"a {token} b") == token


@pytest.mark.parametrize("piece", [*MEDIA, *TAGS])
def test_tags_are_found_anywhere(piece: str) -> None:
    assert find_markup(f"x{piece}y") == piece


@pytest.mark.parametrize("piece", INNER)
def test_call_markup_is_forbidden_to_the_model_only(piece: str) -> None:
    assert find_markup(piece) is None
    assert find_markup(f"x{piece}", by_model=True) is not None


@pytest.mark.parametrize(
    "text", ["", "a < b > c", "<b>think</b>", "< think>", "<|x|>", "<answer>A</answer>", "<images>"]
)
def test_ordinary_text_passes(text: str) -> None:
    assert find_markup(text, by_model=True) is None


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from([*MEDIA, *TAGS, *INNER, "<|im_end|>", "<", "|", ">", "/", "im_end", " ", "x"])))
def test_nothing_is_left_in_neutralised_text(pieces: list[str]) -> None:
    assert find_markup(neutralise("".join(pieces)), by_model=True) is None

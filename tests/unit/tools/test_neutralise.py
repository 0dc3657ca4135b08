"""Text from outside cannot pass for template tokens."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tir_distill.records.neutralise import neutralise


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain <b>bold</b> a < b", "plain <b>bold</b> a < b"),
        ("<|im_start|>system", "< |im_start|>system"),
        ("<|vision_start|><|image_pad|>", "< |vision_start|>< |image_pad|>"),
        ("</tool_response>", "< /tool_response>"),
        ("<image> and <video>", "< image> and < video>"),
        ("<function=search><parameter=query>", "< function=search>< parameter=query>"),
        ("<think></think><answer>", "< think>< /think>< answer>"),
        ("a\x00b", "a\ufffdb"),
        ("a\ud800b", "a\ufffdb"),
        ("\ud83d\ude00", "😀"),
        ("<images> <imagery>", "<images> <imagery>"),
        ("if a <| b |> c", "if a <| b |> c"),
        ("line\u2028sep", "line\u2028sep"),
    ],
)
def test_by_hand(text: str, expected: str) -> None:
    assert neutralise(text) == expected


@given(
    st.lists(
        st.sampled_from(
            ["<", "|", ">", "/", "image", "im_start", "think", "=x", "function", " ", "\x00", "\ud800", "图"]
        )
    )
)
@settings(max_examples=150)
def test_nothing_is_left_and_a_second_pass_changes_nothing(parts: list[str]) -> None:
    once = neutralise("".join(parts))
    assert not re.search(r"<(?:\|im_start\|>|/?(?:image|think)>|/?function(?:=x+)?>)", once)
    assert neutralise(once) == once
    once.encode("utf-8")

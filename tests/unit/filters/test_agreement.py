"""What filters accept, the audit must not refuse: shared notions are the same on both sides of the wall."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tir_distill.export import is_image_code
from tir_distill.export import is_letter as is_letter_in_a_row
from tir_distill.filters import has_image_code, is_letter

CODE = [
    "PIL",
    "cv2",
    ".rotate",
    "(",
    " ",
    ".crop",
    "imshow",
    "image_1",
    "input_image",
    ".jpg",
    "IMAGE_PATH",
    "Image",
    ".",
]
CODE += ["open", "new", "imread", "skimage", "imageio", "x", "_", "1", "\n", "'", "LOW"]
LABELS = [
    "the",
    "final",
    "answer",
    "is",
    "option",
    "choice",
    " ",
    ":",
    "：",
    "选项",
    "答案",
    "是",
    "(",
    ")",
    ".",
    "*",
    "**",
]
LABELS += ["B", "b", "Ｂ", "BC", "5", "李", "\\boxed{", "\\text{", "}", "。", "_", "`", '"']


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(CODE), max_size=8).map("".join))
def test_image_code(code: str) -> None:
    assert has_image_code(code) == is_image_code(code)


@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from(LABELS), max_size=8).map("".join))
def test_a_letter_for_the_audit_is_one_for_f6(answer: str) -> None:
    assert not is_letter_in_a_row(answer) or is_letter(answer)

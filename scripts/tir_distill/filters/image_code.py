"""Does a piece of code handle pictures? One definition for F4, F5, the statistics and the evaluation."""

from __future__ import annotations

import re

_IMAGE_CODE = re.compile(
    r"\bPIL\b|\bcv2\b|\.rotate\s*\(|\.crop\s*\(|\bimshow\b"  # the list of seed section 5, F4
    # the same work under other names: pictures are preloaded as image_1, image_2, ... (seed section 10.1)
    r"|\bImage\s*\.\s*(?:open|new|fromarray)\s*\(|\bimread\b|\bskimage\b|\bimageio\b"
    r"|\b(?:image_\d+|input_image)\s*\.\s*\w+|\bIMAGE_PATH\b|['\"](?:[^'\"]*/)?(?:input_image\.jpg|image_\d+\.png)['\"]"
)


def has_image_code(code: str) -> bool:
    """Whether Python code opens, cuts, turns or shows pictures."""
    return bool(_IMAGE_CODE.search(code))

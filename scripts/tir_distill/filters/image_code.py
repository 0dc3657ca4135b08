"""Does a piece of code handle pictures? One definition for F4, F5, the statistics and the evaluation.

The rows and the audit, which may not enter this room, use the same one (``export.is_image_code``); a test holds them
together.
"""

from __future__ import annotations

import re

_IMAGE_CODE = re.compile(
    r"\bPIL\b|\bcv2\b|\.rotate\s*\(|\.crop\s*\(|\bimshow\b"  # the list of seed section 5, F4
    # the same work on the pictures that every cell finds preloaded (seed section 10.1), or by other libraries
    r"|\bimage_\d+\b|\binput_image\b|\bIMAGE_PATH\b|\bImage\s*\.\s*(?:open|new|fromarray)\s*\(|\bimread\b"
    r"|\bskimage\b|\bimageio\b"
)


def has_image_code(code: str) -> bool:
    """Whether Python code opens, cuts, turns or shows pictures."""
    return bool(_IMAGE_CODE.search(code))

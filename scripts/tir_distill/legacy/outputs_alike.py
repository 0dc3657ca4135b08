"""Whether a recorded tool output and a new one say the same: labels and white space apart, numbers as numbers."""

from __future__ import annotations

import math
import re
from itertools import zip_longest

from ..export import IMAGE_TAG

RELATIVE = 1e-6
"""Numbers may differ by this share: libraries of another version round the last digits differently."""

_LABEL = re.compile(r"^\s*(?:Output|Stdout|Text Result|Code output|Execution result)s?:[ \t]*", re.I | re.M)
_PICTURE_LABEL = re.compile(r"^\s*(?:Output image|Image Result)s?:[ \t]*", re.I | re.M)
_STDERR = re.compile(
    r"^(?:Stderr(?: output)?:|\[stderr\]).*?(?=^\s*(?:Output image|Image Result)s?:|\Z)", re.I | re.M | re.S
)
_CUT = re.compile(r"(?:\.\.\.|…|\[tool output truncated\])\s*\Z")
_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w])")
_ERROR = re.compile(r"\b([A-Z]\w*(?:Error|Exception|Interrupt|Warning|Exit|Iteration))\b")
_NOTHING = {"", "none", "(no output)", "[no output]", "no output"}


def plain(text: str) -> str:
    """The printed text alone: no labels, no picture tags, no warnings, white space collapsed."""
    text = _STDERR.sub("", text)
    text = _PICTURE_LABEL.sub("", _LABEL.sub("", text)).replace(IMAGE_TAG, " ")
    words = " ".join(text.split())
    return "" if words.lower() in _NOTHING else words


def error_name(text: str) -> str | None:
    """The exception that an output names, or None."""
    found = [name for name in _ERROR.findall(text) if not name.endswith("Warning")]
    return found[-1] if found else None


def alike(recorded: str, real: str) -> bool:
    """Equal words, numbers within ``RELATIVE``. A recorded text that was cut need only begin the real one."""
    old, new = plain(recorded), plain(real)
    if cut := _CUT.search(old):
        old = old[: cut.start()].rstrip()
        new = new[: len(old)]
    if old == new:
        return True
    if _NUMBER.sub("#", old) != _NUMBER.sub("#", new):
        return False
    pairs = zip_longest(_NUMBER.findall(old), _NUMBER.findall(new))
    return all(left and right and math.isclose(float(left), float(right), rel_tol=RELATIVE) for left, right in pairs)

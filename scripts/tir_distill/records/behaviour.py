"""What calls and answers say about how the model worked: one definition for filters, rows, audit and evaluation."""

from __future__ import annotations

import re
from collections.abc import Iterable

SEARCH_TOOLS = frozenset({"search", "open"})
CODE_TOOLS = frozenset({"python"})

_IMAGE_CODE = re.compile(
    r"\bPIL\b|\bcv2\b|\.rotate\s*\(|\.crop\s*\(|\bimshow\b"  # the list of seed section 5, F4
    # the same work on the pictures that every cell finds preloaded (seed section 10.1), or by other libraries
    r"|\bimage_\d+\b|\binput_image\b|\bIMAGE_PATH\b|\bImage\s*\.\s*(?:open|new|fromarray)\s*\(|\bimread\b"
    r"|\bskimage\b|\bimageio\b"
)
_FENCE = re.compile(r"```(?:python|py)?[ \t]*\n(.*?)(?:```|\Z)", re.DOTALL | re.IGNORECASE)
_CALL_TEXT = re.compile(
    r"<\s*/?\s*[|｜]?\s*(?:tool|function)[\s_▁]*calls?\b|<\s*function\s*=|<invoke\b|\[TOOL_CALLS?\]|<code>|<tool_response>"
    r'|\{\s*"(?:action|name|tool)"\s*:\s*"(?:search|open|python|code)"',
    re.IGNORECASE,
)
"""The ways in which models of several makers write a call, our own text protocol among them (seed section 4)."""

_ANSWER = re.compile(r"<answer>(.*?)</answer>", re.DOTALL)


def has_search(names: Iterable[str]) -> bool:
    """At least one call looked something up (F3 counts search and open alike)."""
    return any(name in SEARCH_TOOLS for name in names)


def has_image_code(code: str) -> bool:
    """Whether Python code opens, cuts, turns or shows pictures."""
    return _IMAGE_CODE.search(code) is not None


def fenced_code(text: str) -> list[str]:
    """Code blocks written out in visible text or thinking."""
    return _FENCE.findall(text) if "```" in text else []


def find_call_text(content: str) -> str | None:
    """The first piece of a call written as text, or None: a row with it would teach calls that no server reads."""
    found = _CALL_TEXT.search(content)
    return found.group() if found else None


def find_answer(content: str) -> str | None:
    """Text inside the last ``<answer>…</answer>``, stripped; None when there is none or it is empty.

    Prose without the tags is no answer (RULINGS 3), nor is an answer that stands only in the thinking: a row must show
    it where a student is to write it.
    """
    found = _ANSWER.findall(content)
    return (found[-1].strip() or None) if found else None

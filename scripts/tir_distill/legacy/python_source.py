"""Whether a cell is Python, and what can be done where it is not: indentation, fences that were left in, magics.

A model may have run wrong code and been told so; such a turn stays as it is. Code that cannot be read and whose
result speaks of no such error was damaged on its way here, and its row is dropped.
"""

from __future__ import annotations

import re
import symtable
import textwrap
import warnings
from collections.abc import Iterator

from ..records import BadRow

_TOLD_SO = re.compile(r"\b(?:SyntaxError|IndentationError|TabError)\b")
_FENCE = re.compile(r"[ \t]*(?:`{3,}|~{3,})([\w+-]*)[ \t\r]*")
_TAG = re.compile(r"</?(?:think|code|answer|tool_call|tool_response|sandbox_output|interpreter|output)>")
_LIKE_CODE = re.compile(r"[=(\[]|^\s*(?:#|import |from |del |pass$|else:|try:)")
_MAGIC = re.compile(r"^([ \t]*)(?:[%!][\w!./].*|\?{1,2}[\w.]+|[\w.]+\?{1,2})[ \t\r]*$", re.M)
_MAGIC_VALUE = re.compile(r"^([ \t]*[\w, ]+=)[ \t]*[%!]\w.*$", re.M)
_CELL_MAGIC = re.compile(r"\s*%%(?:time|timeit|capture)\b[^\n]*(?=\n|\Z)")


def sound(code: str, result: str, name: str) -> str:
    """The cell as Python can read it. Raises BadRow ``nul_in_code`` or ``code_does_not_parse``."""
    error = error_in(code)
    if error is None:
        return code
    if "\0" in code:
        raise BadRow("nul_in_code", f"{name}: a cell holds a NUL character")
    if _TOLD_SO.search(result) or (len(error.msg) > 8 and error.msg in result):
        return code
    for candidate in _mended(code):
        if error_in(candidate) is None:
            return candidate
    if _is_magic(code):
        return code
    raise BadRow("code_does_not_parse", f"{name}: {type(error).__name__} in a cell, of which its result says nothing")


def error_in(code: str) -> SyntaxError | None:
    """What keeps Python from reading the code, or None."""
    try:
        if "\\" not in code:
            symtable.symtable(code, "cell", "exec")  # parses as ``ast`` does, at two thirds of its price
        else:
            with warnings.catch_warnings():  # of escapes that mean nothing
                warnings.simplefilter("ignore")
                symtable.symtable(code, "cell", "exec")
    except SyntaxError as error:
        return error
    except (ValueError, RecursionError, MemoryError) as error:
        return SyntaxError(str(error))
    return None


def _mended(code: str) -> Iterator[str]:
    """The code without common indentation, then what its fences hold, with and without the code between them."""
    plain = code.lstrip("\ufeff")
    yield textwrap.dedent(plain)
    lines = plain.splitlines()
    first = next(filter(None, map(_FENCE.fullmatch, lines)), None)
    if first is not None and not _TAG.search(plain):  # a tag in it: the code was cut in the wrong place
        begins_inside = not first.group(1)  # a fence with a language opens, so another may close what was open
        for inside in (begins_inside, not begins_inside):
            for keeps_code in (True, False):
                yield _fenced(lines, inside, keeps_code)


def _fenced(lines: list[str], inside: bool, keeps_code: bool) -> str:
    """The lines inside fences; ``inside``: the first is. ``keeps_code``: also lines outside that look like code."""
    parts: list[list[str]] = [[]]
    kept: list[bool] = [inside]
    for line in lines:
        fence = _FENCE.fullmatch(line)
        if fence is None:
            if inside or (keeps_code and _LIKE_CODE.search(line)):
                parts[-1].append(line)
            continue
        inside = not inside or bool(fence.group(1))  # a fence with a language always opens
        parts.append([])
        kept.append(inside)
    out = ""
    for part, fenced in zip(parts, kept, strict=True):
        text = textwrap.dedent("\n".join(part)).strip("\r\n")
        if text:
            out += f"{text}\n\n" if fenced else f"{text}\n"
    return out.strip("\n")


def _is_magic(code: str) -> bool:
    """A cell of IPython: Python but for lines that begin with ``%`` or ``!``, or a cell in another language."""
    if code.lstrip().startswith("%%") and not _CELL_MAGIC.match(code):
        return True
    plain = _MAGIC_VALUE.sub(r"\1 0", _MAGIC.sub(r"\1pass", _CELL_MAGIC.sub("", code, count=1)))
    return plain != code and error_in(plain) is None

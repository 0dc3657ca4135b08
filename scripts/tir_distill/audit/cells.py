"""Calls of python hold Python: a cell that never ran teaches to write what does not run.

A cell that fails is sound where the result says so, for the student sees the mistake and its repair.
"""

from __future__ import annotations

import re
import symtable
import warnings
from collections.abc import Iterator

from ..records.behaviour import CODE_TOOLS
from .findings import Finding
from .shape import CHECK
from .view import View

SAID = re.compile(
    r"error|exception|traceback|invalid|fail|not run|not execut|could not|cannot|tim(?:ed?[ -]?out|e limit)|killed"
    r"|limit|refused|unexpected|unable|错误|异常|失败|超时",
    re.IGNORECASE,
)
"""How a result says that the cell did not run, whoever wrote it."""
NOTEBOOK = re.compile(r"^\s*[%!]|\?\s*$", re.MULTILINE)
"""Commands of a notebook, which only a notebook reads."""


def check_cells(view: View) -> Iterator[Finding]:
    """One finding for each cell that does not parse although its result shows nothing of it."""
    results: dict[object, str] | None = None
    for reply, call in view.calls:
        if call.name not in CODE_TOOLS or call.arguments is None:
            continue
        code = call.arguments.get("code")
        if not isinstance(code, str) or not (wrong := _wrong(code)):
            continue
        if results is None:
            results = {m.get("tool_call_id"): m["content"] for m in view.messages if m["role"] == "tool"}
        result = results.get(call.id)
        if result is not None and not SAID.search(result):
            yield Finding(check=CHECK, reason="not_python", message=reply.message, detail=wrong, excerpt=code)


def _wrong(code: str) -> str:
    """What the compiler has against a cell; empty for Python, later f-strings and a notebook's commands too."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            symtable.symtable(code, "<cell>", "exec")  # parses, and makes no tree of objects
    except SyntaxError as error:
        return "" if error.msg.startswith("f-string") or NOTEBOOK.search(code) else f"{error.msg}, line {error.lineno}"
    except (ValueError, RecursionError, MemoryError):  # NUL, which is said elsewhere, or nested without end
        return ""
    return ""

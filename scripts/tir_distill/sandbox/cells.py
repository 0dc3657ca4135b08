"""Runs cells inside a locked worker: one namespace for the session, the last expression printed, own tracebacks.

Everything here shares its process with the cell, which may reach and break it. That harms only the cell's own result;
the controller trusts none of it.
"""

from __future__ import annotations

import ast
import contextlib
import errno
import importlib
import io
import linecache
import os
import signal
import sys
import traceback
import types
import warnings
from dataclasses import dataclass, field
from typing import Any

from . import capture

ERROR_CHARS = 16_000
_DISK_ERRORS = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
_compile, _exec, _eval, _print, _repr = compile, exec, eval, print, repr  # a cell may replace the builtins
_handle: Any = importlib.import_module("_signal").signal
"""``signal.signal`` without its wrapper, which formats the old handler to find that it is no constant: 45 microseconds
of a 150 microsecond cell, and it would run the ``__repr__`` of a handler that a cell has set, before the timer is on.
"""


class CellTimeout(BaseException):
    """Raised in the running cell by its timer. Not an Exception, so that ``except Exception`` lets it through."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a cell ended."""

    status: str
    """``ok``, ``error``, ``timeout``, ``memory`` or ``disk``."""
    error: str = ""


@dataclass(slots=True, eq=False, repr=False)
class Notebook:
    """The state of a session. Without a ``repr``: it would run that of every object that the cells made."""

    folder: str
    images: int
    """Question pictures: ``image_1.png`` ... in the folder."""
    shown: capture.Shown
    namespace: dict[str, Any] = field(default_factory=dict)
    _armed: bool = False
    _backup: tuple[int, int] = (-1, -1)

    def open(self) -> None:
        """Before the first cell: the namespace becomes the real ``__main__``, so that its classes can be pickled."""
        main = types.ModuleType("__main__")
        sys.modules["__main__"] = main
        self.namespace = main.__dict__
        self.namespace["__builtins__"] = __builtins__
        self.namespace["display"] = self.display
        capture.install(self.shown)
        warnings.formatwarning = _format_warning
        # Kept open from the start: a cell may use up all descriptors, or close 1 and 2.
        self._backup = (os.dup(1), os.dup(2))

    def run(self, number: int, code: str, *, cpu_seconds: float, wall_seconds: float) -> Outcome:
        """Run one cell. Never raises for anything the cell does."""
        name = f"<cell {number}>"
        outcome = Outcome("timeout")
        try:
            self._reset()
            linecache.cache[name] = (len(code), None, _lines(code), name)
            try:
                self._arm(cpu_seconds, wall_seconds)
                outcome = self._guarded(code, name)
            finally:
                self._disarm()
        except CellTimeout:
            outcome = Outcome("timeout")
        except MemoryError:
            outcome = Outcome("memory", "MemoryError")
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):  # the cell may have closed them; what it lost is its own output
                stream.flush()
        return outcome

    def display(self, *values: Any) -> None:
        """What notebooks call ``display``."""
        for value in values:
            self._show_value(value)

    def _reset(self) -> None:
        """What every cell finds anew: its folder, its streams, the question pictures."""
        os.chdir(self.folder)
        for backup, descriptor in zip(self._backup, (1, 2), strict=True):
            os.dup2(backup, descriptor)
        sys.stdin = io.TextIOWrapper(io.FileIO(0, closefd=False), encoding="utf-8")
        for name, descriptor in (("stdout", 1), ("stderr", 2)):
            raw = io.FileIO(descriptor, "w", closefd=False)
            text = io.TextIOWrapper(io.BufferedWriter(raw), encoding="utf-8", errors="backslashreplace")
            setattr(sys, name, text)
            setattr(sys, f"__{name}__", text)
        self.shown.clear()
        if self.images:
            import PIL.Image

            self.namespace["IMAGE_PATH"] = "input_image.jpg"
            for index in range(1, self.images + 1):
                try:  # reads the header only: decoding a photo for each cell would cost more than all else
                    self.namespace[f"image_{index}"] = PIL.Image.open(f"image_{index}.png")
                except Exception:
                    self.namespace.pop(f"image_{index}", None)  # the cell removed or overwrote the file

    def _guarded(self, code: str, name: str) -> Outcome:
        try:
            self._execute(code, name)
            self.shown.open_figures()
        except CellTimeout:
            raise
        except SystemExit as stop:
            if stop.code in (None, 0):
                return Outcome("ok")
            return Outcome("error", f"SystemExit: {stop.code}")
        except BaseException as error:
            status = "error"
            if _is_memory(error):
                status = "memory"
            elif isinstance(error, OSError) and error.errno in _DISK_ERRORS:
                status = "disk"
            # Formatting runs the cell's own __str__, hence inside the time limit.
            text = _format(error)
            self._close_figures()
            return Outcome(status, text)
        return Outcome("ok")

    def _execute(self, code: str, name: str) -> None:
        tree: Any = _compile(code, name, "exec", ast.PyCF_ONLY_AST)
        final = tree.body[-1] if tree.body else None
        last = final if isinstance(final, ast.Expr) else None
        if last is not None:
            tree.body.pop()
        if tree.body:
            _exec(_compile(tree, name, "exec"), self.namespace)
        if last is not None:
            value = _eval(_compile(ast.Expression(last.value), name, "eval"), self.namespace)
            if not _silenced(code, last):
                self._show_value(value)

    def _show_value(self, value: Any) -> None:
        """Like a notebook: pictures as pictures, None not at all; matplotlib's handles are no results."""
        if value is None:
            return
        image = sys.modules.get("PIL.Image")
        if image is not None and isinstance(value, image.Image):
            self.shown.image(value)
            return
        first = value[0] if isinstance(value, list | tuple) and value else value
        module = type(first).__module__
        if module.startswith("matplotlib."):
            if type(value).__name__ == "Figure":
                self.shown.figure(value)
                sys.modules["matplotlib.pyplot"].close(value)
            return
        _print(_repr(value))

    def _close_figures(self) -> None:
        pyplot = sys.modules.get("matplotlib.pyplot")
        if pyplot is not None:
            pyplot.close("all")

    def _arm(self, cpu_seconds: float, wall_seconds: float) -> None:
        self._armed = True
        for which in (signal.SIGPROF, signal.SIGALRM):
            _handle(which, self._on_timer)
        # Repeated, for cells that swallow the first one; the controller kills soon after.
        signal.setitimer(signal.ITIMER_PROF, cpu_seconds, 0.5)
        signal.setitimer(signal.ITIMER_REAL, wall_seconds, 0.5)

    def _disarm(self) -> None:
        self._armed = False
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)

    def _on_timer(self, _number: int, _frame: types.FrameType | None) -> None:
        if self._armed:
            raise CellTimeout


def _lines(code: str) -> list[str]:
    """Lines as the compiler counts them. Each ends with a line feed, or tracebacks put their carets one off."""
    return [line + "\n" for line in code.replace("\r\n", "\n").replace("\r", "\n").split("\n")]


def _silenced(code: str, last: ast.Expr) -> bool:
    """A semicolon after the last expression: its value is not wanted, as in a notebook."""
    rest = code.encode("utf-8", "replace").split(b"\n")[(last.end_lineno or 1) - 1 :]
    return b"\n".join([rest[0][last.end_col_offset or 0 :], *rest[1:]]).strip().startswith(b";")


_OWN_FOLDER = os.path.dirname(__file__)  # noqa: PTH120
_library_format = warnings.formatwarning


def _format_warning(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, line: str | None = None
) -> str:
    """As Python does, but for libraries that take our picture hooks for the cell: the model reads no path of ours."""
    if filename.startswith(_OWN_FOLDER):
        return f"{category.__name__}: {message}\n"
    return _library_format(message, category, filename, lineno, line)


def _is_memory(error: BaseException) -> bool:
    """MemoryError, also as OpenCV and ``mmap`` say it."""
    if isinstance(error, OSError):
        return error.errno == errno.ENOMEM
    return isinstance(error, MemoryError) or (type(error).__module__ == "cv2" and "Insufficient memory" in str(error))


def _only_cell(report: traceback.TracebackException) -> None:
    """Drop the frames of harness and libraries, in the whole chain of causes."""
    seen: set[int] = set()
    todo = [report]
    while todo:
        item = todo.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        kept = [frame for frame in item.stack if frame.filename.startswith("<cell ")]
        item.stack = traceback.StackSummary.from_list(kept)
        todo += [other for other in (item.__cause__, item.__context__, *(item.exceptions or ())) if other]


def _format(error: BaseException) -> str:
    """The traceback as Python prints it, of the cell's own lines, and not longer than ERROR_CHARS."""
    try:
        report = traceback.TracebackException.from_exception(error, limit=-50)
        _only_cell(report)
        text = "".join(report.format()).rstrip()
    except CellTimeout:
        raise
    except BaseException:
        text = f"{type(error).__name__} (its text could not be made)"
    if len(text) > ERROR_CHARS:
        text = text[: ERROR_CHARS // 2] + "\n[...]\n" + text[-ERROR_CHARS // 2 :]
    return text

"""Runs the normal cells without any sandbox, each in a fork and a folder of its own, and prints what each printed.

``python tests/run_outside.py`` -> JSON list of texts. Independent of the harness: the last expression is shown through
``compile(..., "single")`` as the interactive interpreter does.
"""

from __future__ import annotations

import ast
import json
import os
import sys
import tempfile
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))


def run(code: str) -> str:
    """Output of one cell in a child process; a traceback makes the comparison fail by itself."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as output:
        child = os.fork()
        if child == 0:
            os.chdir(folder)
            os.environ["TMPDIR"] = os.environ["HOME"] = folder
            tempfile.tempdir = None
            os.dup2(output.fileno(), 1)
            sys.stdout = open(1, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
            main = type(sys)("__main__")
            sys.modules["__main__"] = main
            try:
                for node in ast.parse(code).body:
                    exec(
                        compile(ast.Interactive([node]), "<cell>", "single") if is_last(node, code) else block(node),
                        main.__dict__,
                    )
            except BaseException:
                traceback.print_exc(file=sys.stdout)
            sys.stdout.flush()
            os._exit(0)
        os.waitpid(child, 0)
        return os.pread(output.fileno(), 1 << 20, 0).decode("utf-8", "replace")


def is_last(node: ast.stmt, code: str) -> bool:
    last = ast.parse(code).body[-1]
    return isinstance(node, ast.Expr) and node.lineno == last.lineno and node.end_lineno == last.end_lineno


def block(node: ast.stmt) -> object:
    return compile(ast.Module([node], []), "<cell>", "exec")


if __name__ == "__main__":
    import cv2
    import matplotlib.pyplot
    import numpy  # noqa: F401
    import pandas  # noqa: F401
    import PIL.Image

    from normal_cells import CELLS

    cv2.setNumThreads(1)
    PIL.Image.init()
    matplotlib.pyplot.close("all")
    json.dump([run(cell) for cell in CELLS], sys.stdout)

"""Which files a call in a cell reads or writes, as far as its code says."""

from __future__ import annotations

import ast
import re


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


FILE = re.compile(
    r"^[\w./ -]{1,100}\.(?:png|jpe?g|webp|bmp|gif|tiff?|csv|tsv|txt|json|npy|npz|pkl|parquet)$", re.IGNORECASE
)
GIVEN_FILE = re.compile(r"^(?:.*/)?(?:input_image\.jpg|image_\d+\.png)$")
GIVEN = "the question's pictures"
"""Stands for all of them among file names."""

_READS = _words(
    """
    imread read_csv read_json read_excel read_parquet read_pickle read_text read_bytes loadtxt genfromtxt listdir
    glob iglob rglob walk scandir exists isfile isdir getsize stat iterdir truetype
    """
)
_WRITES = _words(
    """
    save savefig imwrite imsave savetxt savez savez_compressed to_csv to_json to_excel to_parquet to_pickle tofile
    write_text write_bytes makedirs mkdir remove unlink rename replace rmdir symlink truncate touch system popen
    """
)
_OPEN_AND_LOAD = frozenset({"PIL.Image.open", "numpy.load", "io.open", "numpy.fromfile"})
_OUTSIDE = ("shutil", "subprocess", "zipfile", "tarfile", "pickle", "sqlite3", "tempfile")
_SEVERAL = frozenset({"os.rename", "os.replace", "os.symlink", "os.system", "os.popen"})
"""Calls that touch another file than the one named first."""
_OS_ONLY = frozenset({"replace", "rename", "remove", "system", "popen", "truncate", "stat", "walk", "glob"})
"""Names that are files' business only as a module's function: strings and lists have methods of this name."""


def file_call(node: ast.Call, path: str) -> str:
    """``read``, ``write``, or empty. ``path``: dotted name of a module's function, else empty."""
    func = node.func
    name = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
    if path.split(".")[0] in _OUTSIDE:
        return "write"
    if path in _OPEN_AND_LOAD:
        return "read"
    if name == "open" and (not path or path == "io.open"):
        return "write" if _may_write(node) else "read"
    if name in _OS_ONLY and not path:
        return ""
    if name in _WRITES:
        return "write"
    return "read" if name in _READS else ""


def _may_write(node: ast.Call) -> bool:
    mode = next((word.value for word in node.keywords if word.arg == "mode"), None)
    if mode is None and len(node.args) > 1:
        mode = node.args[1]
    if mode is None:
        return False
    return not isinstance(mode, ast.Constant) or not set(str(mode.value)) <= set("rbtU")


def place_of(node: ast.Call, path: str) -> ast.expr | None:
    """The expression that names the file: the first argument, or the object itself (``Path('a').read_text()``).

    None when there is none, or more than one.
    """
    func = node.func
    if path.split(".")[0] in _OUTSIDE or path in _SEVERAL:
        return None
    on_itself = isinstance(func, ast.Attribute) and not path and func.attr in {
        "read_text", "read_bytes", "write_text", "write_bytes", "mkdir", "unlink", "exists", "iterdir", "touch", "rmdir"
    }  # fmt: skip
    if on_itself and isinstance(func, ast.Attribute):
        return func.value
    return node.args[0] if node.args else None


def file_name(node: ast.expr | None, strings: dict[str, str]) -> str | None:
    """Last part of the name that an expression gives for sure, ``GIVEN`` for our pictures, None when it is open."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return known_as(node.value)
    if isinstance(node, ast.Name):
        if node.id == "IMAGE_PATH":
            return GIVEN
        return known_as(strings[node.id]) if node.id in strings else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        return file_name(node.right, strings)
    if isinstance(node, ast.Call) and node.args:
        func = node.func
        name = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
        if name in {"Path", "str", "join"} and not (name == "join" and len(node.args) < 2):
            return file_name(node.args[-1], strings)
    return None


def known_as(name: str) -> str | None:
    """One spelling for a file, wherever it is looked at from. None for a pattern, which may be any file."""
    if GIVEN_FILE.match(name):
        return GIVEN
    if any(sign in name for sign in "*?["):
        return None
    return name.rstrip("/").rpartition("/")[2] or None

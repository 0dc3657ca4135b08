r"""JSON Lines, streaming. A line ends at ``\n`` and nowhere else: U+2028, U+0085 and the like are text."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

import orjson

from .errors import TirError


def dumps(value: Any) -> bytes:
    """One JSON value as UTF-8 bytes without a line end. Raises TirError for text that UTF-8 cannot hold."""
    try:
        return orjson.dumps(value)
    except TypeError as error:  # lone surrogates reach us from damaged model output
        raise TirError(f"value cannot be written as JSON: {error}") from error


def read_jsonl(path: Path) -> Iterator[dict[str, Any]]:
    """Yield each line's object. Raises TirError naming file and line number when a line is no JSON object."""
    with path.open("rb") as handle:
        for number, line in enumerate(handle, start=1):
            if not line.strip():
                continue
            try:
                value = orjson.loads(line)
            except orjson.JSONDecodeError as error:
                raise TirError(f"{path}:{number}: not JSON ({error}); expected one object per line") from error
            if not isinstance(value, dict):
                raise TirError(f"{path}:{number}: expected a JSON object, found {type(value).__name__}")
            yield value


@contextlib.contextmanager
def atomic_writer(path: Path) -> Iterator[IO[bytes]]:
    """A binary file that takes its place at ``path`` only when the block ends without an exception."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as handle:
            yield handle
            handle.flush()
            os.fsync(handle.fileno())
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_jsonl(path: Path, rows: Iterable[Any]) -> int:
    """Write rows whole or not at all; returns how many."""
    count = 0
    with atomic_writer(path) as handle:
        for row in rows:
            handle.write(dumps(row) + b"\n")
            count += 1
    return count


def write_json(path: Path, value: Any) -> None:
    """Write one JSON document, indented, keys in the order given, whole or not at all."""
    with atomic_writer(path) as handle:
        handle.write(orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


def read_json(path: Path) -> Any:
    """Read one JSON document. Raises TirError naming the file."""
    try:
        return orjson.loads(path.read_bytes())
    except FileNotFoundError:
        raise TirError(f"{path}: no such file") from None
    except orjson.JSONDecodeError as error:
        raise TirError(f"{path}: not JSON ({error})") from error

"""What all commands share: arguments, .env, logs without keys, exit codes, progress."""

from __future__ import annotations

import argparse
import base64
import errno
import functools
import json
import logging
import os
import re
import signal
import sys
import time
import urllib.parse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from .records.errors import ExitCode, TirError

log = logging.getLogger("tir_distill")

SECRET_WORDS = ("KEY", "TOKEN", "SECRET", "PASSWORD")
SHORTEST_SECRET = 6
"""Environment values below this length are not treated as keys: redacting them would garble ordinary text."""

OPERATORS_TO_MEND = frozenset(
    {errno.ENOENT, errno.EACCES, errno.EPERM, errno.EISDIR, errno.ENOTDIR, errno.ENOSPC, errno.EDQUOT, errno.EROFS}
)
"""Failures of a path or a disk: a sentence is enough, since no traceback would help."""


class Parser(argparse.ArgumentParser):
    """An argument parser with an example in its help, and exit code 64 for bad usage."""

    def __init__(self, *args: Any, example: str = "", **kwargs: Any) -> None:
        kwargs.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        if example:
            kwargs["epilog"] = f"example:\n  {example}"
        super().__init__(*args, **kwargs)

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(ExitCode.USAGE, f"{self.prog}: error: {message}\n")


def secret_values() -> list[str]:
    """Values of environment variables whose names say that they are secret, longest first."""
    values = {
        value
        for name, value in os.environ.items()
        if any(word in name.upper() for word in SECRET_WORDS) and len(value) >= SHORTEST_SECRET
    }
    return sorted(values, key=len, reverse=True)


def redact(text: str) -> str:
    """The text with every secret value of this process's environment replaced, in whatever spelling it stands there."""
    for value in secret_values():
        for form in spellings(value):
            text = text.replace(form, "[redacted]")
    return text


@functools.lru_cache(maxsize=64)
def spellings(secret: str) -> tuple[str, ...]:
    """A secret plain, escaped in JSON, percent-encoded, as hexadecimal digits and in base64, longest first."""
    data = secret.encode("utf-8", "surrogatepass")
    plain = {secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]}
    plain |= {json.dumps(form)[1:-1] for form in plain} | {form.replace("/", "\\/") for form in plain}
    quoted = {urllib.parse.quote(data, safe=safe) for safe in ("", "/")} | {urllib.parse.quote_plus(data)}
    quoted |= {re.sub("%..", lambda escape: escape.group().lower(), form) for form in quoted}
    coded = {data.hex(), data.hex().upper()}
    for offset in range(3):  # base64 depends on the place modulo three; its last character also holds what follows
        core = base64.b64encode(b"\0" * offset + data).decode().rstrip("=")[(0, 2, 3)[offset] : -1]
        coded |= {core, core.replace("+", "-").replace("/", "_")}
    return tuple(sorted(plain | quoted | {form for form in coded if len(form) >= 8}, key=len, reverse=True))


class RedactingFormatter(logging.Formatter):
    """Formats a record, traceback included, then takes the keys out."""

    def format(self, record: logging.LogRecord) -> str:
        return redact(super().format(record))


def setup_logging(level: int = logging.INFO) -> None:
    """Plain lines on standard error: time, level, text."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(RedactingFormatter("%(asctime)s %(levelname)s %(message)s", "%H:%M:%S"))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    for name in ("httpx", "httpcore", "httpx2", "openai", "urllib3", "filelock"):
        logging.getLogger(name).setLevel(logging.WARNING)


def load_env(start: Path | None = None) -> None:
    """Read ``.env`` from the working folder; what the environment already holds wins (seed section 10.1)."""
    from dotenv import load_dotenv

    load_dotenv((start or Path.cwd()) / ".env", override=False)


def run(
    main: Callable[[argparse.Namespace], ExitCode | None], parser: Parser, argv: Sequence[str] | None = None
) -> NoReturn:
    """Parse, run, and leave with the right exit code. Expected errors are one line; others keep their traceback."""
    args = parser.parse_args(argv)
    load_env()
    setup_logging()
    try:
        code = main(args) or ExitCode.DONE
    except TirError as error:
        print(redact(f"{parser.prog}: error: {error}"), file=sys.stderr)
        code = error.exit_code
    except KeyboardInterrupt:
        print(f"{parser.prog}: interrupted; the same command goes on from here", file=sys.stderr)
        code = ExitCode.RESUMABLE
    except BrokenPipeError:  # the reader of our output has gone, e.g. `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = ExitCode(ExitCode.FAILED)
    except OSError as error:
        if error.errno not in OPERATORS_TO_MEND:
            log.exception("unexpected error; this is a bug in tir-distill")
        else:
            place = f"{error.filename}: " if error.filename is not None else ""
            print(redact(f"{parser.prog}: error: {place}{error.strerror}; mend it and start again"), file=sys.stderr)
        code = ExitCode.FAILED
    except Exception:
        log.exception("unexpected error; this is a bug in tir-distill")
        code = ExitCode.FAILED
    sys.exit(int(code))


class ProgressLine:
    """Counts, rate and time left: one live line on a terminal, a plain log line now and then otherwise."""

    def __init__(self, label: str, total: int | None = None, *, every_s: float = 10.0) -> None:
        self.label = label
        self.total = total
        self._every = 0.1 if sys.stderr.isatty() else every_s
        self._live = sys.stderr.isatty()
        self._start = time.monotonic()
        self._last = self._start
        self._counts: dict[str, int | float] = {}

    def update(self, **counts: int | float) -> None:
        """New totals by name; ``done`` drives the rate and the time left."""
        self._counts.update(counts)
        now = time.monotonic()
        if now - self._last >= self._every:
            self._last = now
            self._write(end="\r" if self._live else "\n")

    def close(self) -> None:
        """The last state, on a line of its own."""
        self._write(end="\n")

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _write(self, end: str) -> None:
        text = self.text()
        if self._live:
            sys.stderr.write(f"\x1b[2K{text}{end}")
            sys.stderr.flush()
        else:
            log.info("%s", text)

    def text(self) -> str:
        """The line itself."""
        elapsed = max(time.monotonic() - self._start, 1e-9)
        done = self._counts.get("done", 0)
        parts = [f"{self.label}: {done:g}" + (f"/{self.total}" if self.total is not None else "")]
        parts += [f"{name} {value:g}" for name, value in self._counts.items() if name != "done"]
        parts.append(f"{done / elapsed:.1f}/s")
        if self.total and 0 < done < self.total:
            parts.append(f"{(self.total - done) * elapsed / done:.0f} s left")
        return ", ".join(parts)


def terminate_as_interrupt() -> None:
    """Let SIGTERM end a command the way Ctrl-C does, so that ``finally`` blocks run."""

    def handler(_signal: int, _frame: object) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, handler)


def load_config(*paths: Path) -> dict[str, Any]:
    """The checked configuration: defaults, then the files in order. Raises UsageError with the key's path."""
    from .config import load

    return load(*paths)

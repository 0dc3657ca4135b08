"""Exit codes and the exceptions that carry them (README, 'Exit codes')."""

from __future__ import annotations

import enum


class ExitCode(enum.IntEnum):
    """What every command of this project answers to the shell."""

    DONE = 0
    FAILED = 1
    RESUMABLE = 2
    """Stopped before the end for a reason outside the data (credits, saturation, operator): run it again."""
    AUDIT_FAILED = 3
    USAGE = 64


class TirError(Exception):
    """Base of all errors that a user is meant to read: one plain sentence, no traceback.

    Say the file, the row id and the field, what was expected, and what to do.
    """

    exit_code: ExitCode = ExitCode.FAILED


class UsageError(TirError):
    """The command line or the configuration is wrong."""

    exit_code = ExitCode.USAGE


class Stopped(TirError):
    """Work ended early and can be resumed by the same command."""

    exit_code = ExitCode.RESUMABLE

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason
        self.detail = detail


class AuditFailed(TirError):
    """At least one row or threshold failed the audit."""

    exit_code = ExitCode.AUDIT_FAILED


class BadRow(Exception):
    """One row cannot be used. It is counted under ``reason`` and set aside; it never stops the others.

    ``reason`` is a short snake_case key used in counts; ``detail`` says what was found.
    """

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason
        self.detail = detail

"""The system call filter of a worker: an allow-list as a classic BPF program, assembled here.

Unknown calls get an errno, never the kill action: a sandbox that kills on an unforeseen call produces sporadic deaths
that look like the model's mistakes. The own process id is a constant of the filter, so it is built after the fork.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
from collections.abc import Sequence
from dataclasses import dataclass

from . import libc, syscalls

ALLOW = 0x7FFF0000
ERRNO = 0x00050000
_LOAD, _AND, _JUMP_IF_EQUAL, _JUMP_IF_ABOVE, _RETURN = 0x20, 0x54, 0x15, 0x25, 0x06
_ANY = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class Check:
    """True when ``argument & mask == value``. ``wide``: the upper 32 bits must also be 0."""

    argument: int
    value: int
    mask: int = _ANY
    wide: bool = False


@dataclass(frozen=True, slots=True)
class Rule:
    """The first clause whose checks all hold decides ``hit``; none: ``miss``."""

    clauses: tuple[tuple[Check, ...], ...]
    hit: int = ALLOW
    miss: int = ERRNO | errno.EPERM


def _one_of(argument: int, *values: int) -> tuple[tuple[Check, ...], ...]:
    return tuple((Check(argument, value),) for value in values)


def checked_rules(pid: int) -> dict[str, Rule]:
    """Calls that depend on their arguments, for the process ``pid``."""
    clone_thread = 0x00010000
    namespaces = 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000
    no_address = ((Check(4, 0, wide=True),),)
    truncating_read = os.O_TRUNC | os.O_ACCMODE  # read-only with O_TRUNC writes, and Landlock sees it from ABI 3 only
    return {
        # MADV_HWPOISON, MADV_SOFT_OFFLINE: take pages from the machine, should the capabilities be left on
        "madvise": Rule(_one_of(2, 100, 101), hit=ERRNO | errno.EPERM, miss=ALLOW),
        "open": Rule(((Check(1, os.O_TRUNC, truncating_read),),), hit=ERRNO | errno.EPERM, miss=ALLOW),
        "openat": Rule(((Check(2, os.O_TRUNC, truncating_read),),), hit=ERRNO | errno.EPERM, miss=ALLOW),
        # TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIOCLEX, FIONCLEX
        "ioctl": Rule(_one_of(1, 0x5401, 0x5413, 0x541B, 0x5421, 0x5451, 0x5450), miss=ERRNO | errno.ENOTTY),
        # duplicate, flags, record locks, F_DUPFD_CLOEXEC, F_GETPIPE_SZ; not F_SETOWN, which signals others
        "fcntl": Rule(_one_of(1, 0, 1, 2, 3, 4, 5, 6, 7, 36, 37, 38, 1030, 1032)),
        # PR_SET_NAME, PR_GET_NAME, PR_GET_DUMPABLE, PR_CAPBSET_READ
        "prctl": Rule(_one_of(0, 15, 16, 3, 23)),
        "clone": Rule(((Check(0, clone_thread, clone_thread | namespaces),),)),
        "kill": Rule(_one_of(0, pid)),
        "tgkill": Rule(_one_of(0, pid)),
        "prlimit64": Rule(((Check(0, 0), Check(2, 0, wide=True)), (Check(0, pid), Check(2, 0, wide=True)))),
        # AF_UNIX stream pairs only: asyncio wakes its loop through one, and nobody else holds the other end
        "socketpair": Rule(((Check(0, 1), Check(1, 1, 0xF), Check(2, 0)),)),
        "sendto": Rule(no_address),
        "recvfrom": Rule(no_address),
    }


def _statement(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)


def _clause(checks: Sequence[Check], verdict: int) -> list[bytes]:
    """All checks, then the verdict; a failed check jumps behind it."""
    steps: list[tuple[int, int]] = []
    for check in checks:
        low = 16 + 8 * check.argument  # offset of the argument in seccomp_data, little-endian
        steps += [(_LOAD, low)]
        if check.mask != _ANY:
            steps += [(_AND, check.mask)]
        steps += [(_JUMP_IF_EQUAL, check.value)]
        if check.wide:
            steps += [(_LOAD, low + 4), (_JUMP_IF_EQUAL, 0)]
    last = len(steps)
    body = [
        _statement(code, value, 0, last - at if code == _JUMP_IF_EQUAL else 0) for at, (code, value) in enumerate(steps)
    ]
    return [*body, _statement(_RETURN, verdict)]


def program(machine: str, pid: int) -> bytes:
    """The whole filter. Raises KeyError for a machine without a table."""
    number = syscalls.numbers(machine)
    code = [
        _statement(_LOAD, 4),
        _statement(_JUMP_IF_EQUAL, syscalls.AUDIT_ARCH[machine], 1, 0),
        _statement(_RETURN, ERRNO | errno.ENOSYS),  # another ABI of the same kernel (32-bit calls)
        _statement(_LOAD, 0),
        _statement(_JUMP_IF_ABOVE, syscalls.HIGHEST_KNOWN, 0, 1),  # also the x32 bit
        _statement(_RETURN, ERRNO | errno.ENOSYS),
    ]
    plain = " ".join(
        [syscalls.READ_WRITE, syscalls.FILES, syscalls.MEMORY, syscalls.THREADS_AND_TIME, syscalls.SELF]
    ).split()
    verdicts = dict.fromkeys(plain, ALLOW)
    verdicts |= dict.fromkeys(syscalls.PRETENDED.split(), ERRNO | 0)
    verdicts |= dict.fromkeys(syscalls.UNSUPPORTED.split(), ERRNO | errno.ENOTSUP)
    verdicts |= dict.fromkeys(syscalls.MISSING.split(), ERRNO | errno.ENOSYS)
    for name, verdict in verdicts.items():
        if name in number:
            code += [_statement(_JUMP_IF_EQUAL, number[name], 0, 1), _statement(_RETURN, verdict)]
    for name, rule in checked_rules(pid).items():
        if name in number:
            body = [step for clause in rule.clauses for step in _clause(clause, rule.hit)]
            body.append(_statement(_RETURN, rule.miss))
            code += [_statement(_JUMP_IF_EQUAL, number[name], 0, len(body)), *body]
    code.append(_statement(_RETURN, ERRNO | errno.EPERM))
    return b"".join(code)


def load() -> None:
    """Put the filter on this thread and all that it starts, for good. No other thread may exist yet.

    Needs no_new_privs. Raises OSError when the kernel has no seccomp filters or the machine no table.
    """
    machine = platform.machine()
    if machine not in syscalls.AUDIT_ARCH:
        raise OSError(errno.ENOSYS, f"no system call table for {machine}")
    code = program(machine, os.getpid())
    buffer = ctypes.create_string_buffer(code, len(code))
    head = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(buffer)))
    libc.prctl(22, 2, ctypes.addressof(head))  # PR_SET_SECCOMP, SECCOMP_MODE_FILTER

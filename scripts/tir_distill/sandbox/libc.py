"""The few Linux calls that Python does not wrap, through ctypes. Errors are OSError, as everywhere."""

from __future__ import annotations

import ctypes
import os
from functools import cache

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_CAPBSET_DROP = 24
PR_SET_NO_NEW_PRIVS = 38
PR_CAP_AMBIENT = 47


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def call(number: int, *arguments: int | ctypes.c_void_p | bytes | None) -> int:
    """``syscall(2)``. Integers are passed as longs. Raises OSError."""
    function = _libc().syscall
    function.restype = ctypes.c_long
    converted = [ctypes.c_long(item) if isinstance(item, int) else item for item in arguments]
    result = int(function(ctypes.c_long(number), *converted))
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return result


def prctl(option: int, *arguments: int) -> int:
    """``prctl(2)``, missing arguments 0. Raises OSError."""
    padded = [*arguments, 0, 0, 0, 0][:4]
    result = int(_libc().prctl(option, *(ctypes.c_ulong(item) for item in padded)))
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return result


def mount(source: str | None, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    """``mount(2)``. Raises OSError naming the target."""

    def text(item: str | None) -> bytes | None:
        return item.encode() if item is not None else None

    if _libc().mount(text(source), text(target), text(kind), ctypes.c_ulong(flags), text(data)) < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error), target)


def unmount_lazily(target: str) -> None:
    """``umount2(2)`` with MNT_DETACH. Raises OSError."""
    if _libc().umount2(target.encode(), 2) < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error), target)


def unshare(flags: int) -> None:
    """``unshare(2)``; Python has it from 3.12. Raises OSError."""
    if _libc().unshare(ctypes.c_int(flags)) < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))


def drop_capabilities() -> None:
    """Give up every capability for good, also those that a later exec or uid change could bring back.

    Works for uid 0, which then owns root's files but has none of root's powers. Raises OSError.
    """
    for capability in range(64):
        try:
            prctl(PR_CAPBSET_DROP, capability)
        except OSError:  # EINVAL: beyond the last one the kernel knows; EPERM: an ordinary user has none to drop
            break
    try:
        prctl(PR_CAP_AMBIENT, 4)  # PR_CAP_AMBIENT_CLEAR_ALL
    except OSError as error:
        if error.errno != 22:  # EINVAL: a kernel without ambient capabilities
            raise
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    if _libc().capset(header, (ctypes.c_uint32 * 6)()) < 0:
        error_number = ctypes.get_errno()
        raise OSError(error_number, os.strerror(error_number), "capset")

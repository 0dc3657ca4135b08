"""Landlock: a process gives up all file access but a list, without any privilege (Linux 5.13 and later)."""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Sequence

from . import libc

_CREATE, _ADD, _RESTRICT = 444, 445, 446  # the same numbers on every architecture
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_REMOVE_DIR, _REMOVE_FILE, _MAKE_DIR, _MAKE_REG = 1 << 4, 1 << 5, 1 << 7, 1 << 8
_REFER, _TRUNCATE = 1 << 13, 1 << 14
_FILE_ONLY = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE
READ = _READ_FILE | _READ_DIR
WRITE = READ | _WRITE_FILE | _REMOVE_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_REG | _REFER | _TRUNCATE
"""No links, FIFOs, sockets or devices; no execution."""
DEVICE = _READ_FILE | _WRITE_FILE


def abi() -> int:
    """The kernel's Landlock version; 0 when there is none or it is switched off."""
    try:
        return libc.call(_CREATE, None, 0, 1)
    except OSError:
        return 0


def _handled(version: int) -> tuple[int, int, int]:
    """File, network and scope rights to take away: all that the version knows."""
    files = (1 << 13) - 1
    for since, bit in ((2, _REFER), (3, _TRUNCATE), (5, 1 << 15)):
        if version >= since:
            files |= bit
    return files, 0b11 if version >= 4 else 0, 0b11 if version >= 6 else 0


def restrict(readable: Sequence[str], writable: Sequence[str], devices: Sequence[str], *, version: int) -> None:
    """Confine this thread and its children for good; paths that do not exist are left out.

    ``version``: the ABI to use, at most ``abi()``. Needs no_new_privs. Raises OSError.
    """
    files, network, scope = _handled(version)
    attributes = ctypes.create_string_buffer(struct.pack("=QQQ", files, network, scope), 24)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = libc.call(_CREATE, ctypes.cast(attributes, ctypes.c_void_p), size, 0)
    try:
        for paths, rights in ((readable, READ), (writable, WRITE), (devices, DEVICE)):
            for path in paths:
                _grant(ruleset, path, rights & files)
        libc.call(_RESTRICT, ruleset, 0)
    finally:
        os.close(ruleset)


def _grant(ruleset: int, path: str, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        if not os.path.isdir(path):  # noqa: PTH112 - pathlib would import nothing else here
            rights &= _FILE_ONLY
        rule = ctypes.create_string_buffer(struct.pack("=Qi", rights, descriptor), 12)
        libc.call(_ADD, ruleset, 1, ctypes.cast(rule, ctypes.c_void_p), 0)
    finally:
        os.close(descriptor)

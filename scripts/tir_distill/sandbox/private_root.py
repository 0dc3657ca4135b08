"""A root folder of its own: the worker sees the interpreter, system libraries and its work folder, and nothing else.

Made from mount namespaces, inside a user namespace for ordinary users. Many containers and some distributions refuse
this; then Landlock alone confines files. Together they also hide that outside files exist.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from collections.abc import Sequence

from . import libc

NEW_MOUNTS, NEW_IPC, NEW_USER, NEW_NET = 0x00020000, 0x08000000, 0x10000000, 0x40000000
_RDONLY, _NOSUID, _NODEV, _REMOUNT, _BIND, _RECURSIVE, _PRIVATE = 1, 2, 4, 32, 4096, 16384, 1 << 18
_MOUNT_SETATTR = 442
_AT_RECURSIVE = 0x8000
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random")


def enter_namespaces() -> None:
    """Own mounts, network and IPC; through a user namespace where the powers for that are missing. Raises OSError."""
    wanted = NEW_MOUNTS | NEW_NET | NEW_IPC
    user, group = os.geteuid(), os.getegid()
    try:
        libc.unshare(wanted)
    except PermissionError:
        libc.unshare(wanted | NEW_USER)
        for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
            with open(f"/proc/self/{name}", "w") as handle:  # noqa: PTH123 - pathlib is not loaded after the fork
                handle.write(text)


def build(anchor: str, readable: Sequence[str], folder: str | None, inside: str) -> None:
    """Move this process into a new root mounted over ``anchor`` (an existing empty folder).

    ``folder`` appears read-write as ``inside``; ``readable`` paths appear read-only where they are outside.
    Call after ``enter_namespaces``. Raises OSError.
    """
    libc.mount(None, "/", None, _PRIVATE | _RECURSIVE)
    libc.mount("tmpfs", anchor, "tmpfs", _NOSUID | _NODEV, "mode=0755,size=1m")
    for path in readable:
        _bind(path, anchor + path, flags=_RDONLY | _NOSUID | _NODEV)
    for path in DEVICES:
        _bind(path, anchor + path, flags=_NOSUID)
    if folder is not None:
        _bind(folder, anchor + inside, flags=_NOSUID | _NODEV)
    os.chdir(anchor)
    libc.call(_PIVOT_ROOT[os.uname().machine], b".", b".")
    libc.unmount_lazily(".")  # the old root, stacked under the new one
    os.chdir("/")
    _set_flags("/", _RDONLY | _NOSUID | _NODEV, recursive=False)


def _bind(source: str, target: str, *, flags: int) -> None:
    """Bind what exists; follow links at the place they point to, so that ``/lib`` works where it is a link."""
    if os.path.islink(source):  # noqa: PTH114
        os.makedirs(os.path.dirname(target), mode=0o755, exist_ok=True)  # noqa: PTH103, PTH120
        if not os.path.lexists(target):
            os.symlink(os.readlink(source), target)  # noqa: PTH115, PTH211
        return
    if os.path.isdir(source):  # noqa: PTH112
        os.makedirs(target, mode=0o755, exist_ok=True)  # noqa: PTH103
    elif os.path.exists(source):  # noqa: PTH110
        os.makedirs(os.path.dirname(target), mode=0o755, exist_ok=True)  # noqa: PTH103, PTH120
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o644))
    else:
        return
    libc.mount(source, target, None, _BIND | _RECURSIVE)
    _set_flags(target, flags, recursive=True)


def _set_flags(target: str, flags: int, *, recursive: bool) -> None:
    """Flags of a mount: mount_setattr (Linux 5.12), else a remount, which user namespaces may refuse."""
    attributes = ctypes.create_string_buffer(struct.pack("=QQQQ", flags, 0, 0, 0), 32)
    try:
        libc.call(
            _MOUNT_SETATTR,
            -100,  # AT_FDCWD
            target.encode(),
            _AT_RECURSIVE if recursive else 0,
            ctypes.cast(attributes, ctypes.c_void_p),
            32,
        )
    except OSError as error:
        if error.errno != errno.ENOSYS:
            raise
        libc.mount(None, target, None, _REMOUNT | _BIND | flags)

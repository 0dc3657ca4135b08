"""Run a Python program as an ordinary user when the tests themselves run as root.

``python tests/ordinary_user.py 12345 program.py arguments``. The interpreter may lie below root's closed home: then the
way to it is opened in a mount namespace of this process alone. Exit code 77: not possible here.
"""

from __future__ import annotations

import ctypes
import os
import sys
import tempfile
from pathlib import Path

NOT_POSSIBLE = 77
_BIND, _RECURSIVE, _PRIVATE, _NEW_MOUNTS = 4096, 16384, 1 << 18, 0x00020000


def _mount(source: str | None, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    encoded = [item.encode() if item is not None else None for item in (source, target, kind)]
    if libc.mount(*encoded, ctypes.c_ulong(flags), data.encode() if data else None) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), target)


def open_the_way(path: Path) -> None:
    """Make ``path`` reachable for everybody: closed folders above it are covered by open ones in this namespace."""
    closed = [parent for parent in reversed(path.parents) if not parent.stat().st_mode & 0o001]
    if not closed:
        return
    if ctypes.CDLL(None, use_errno=True).unshare(_NEW_MOUNTS) < 0:
        raise OSError(ctypes.get_errno(), "unshare")
    _mount(None, "/", None, _PRIVATE | _RECURSIVE)
    keep = tempfile.mkdtemp()
    _mount(str(path), keep, None, _BIND | _RECURSIVE)
    _mount("tmpfs", str(closed[0]), "tmpfs", 0, "mode=0755")
    path.mkdir(parents=True, mode=0o755)
    _mount(keep, str(path), None, _BIND | _RECURSIVE)


def main() -> None:
    user, program = int(sys.argv[1]), str(Path(sys.argv[2]).resolve())
    try:
        open_the_way(Path(sys.base_prefix).resolve())
    except OSError as error:
        print(f"cannot open the way to the interpreter: {error}", file=sys.stderr)
        raise SystemExit(NOT_POSSIBLE) from None
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    home = tempfile.mkdtemp()
    os.chdir("/")
    os.execve(
        sys.executable, [sys.executable, program, *sys.argv[3:]], {**os.environ, "HOME": home, "USER": "ordinary"}
    )


if __name__ == "__main__":
    main()

"""The isolated Python process in which cells written by a model run.

Design: a fork server, executed clean, imports the libraries once; every trajectory gets a fork of it that locks itself
(seccomp, Landlock, private root, resource limits) before it reads anything, keeps its variables between cells, and is
never used again. A session starts in about 11 ms and costs 10 MB, so nothing is pooled.

Decisions that could have gone otherwise:

- Threads of control stay outside: time, disk and output are judged by the controller, which believes nothing a cell's
  process says but its own result. That result can be forged by the cell, which harms only itself.
- Landlock + seccomp + limits are the portable core, since default container profiles refuse namespaces; a private root
  comes on top where it works. What is on was proved at start-up by trying to escape, and stands in the manifest.
- ``image_1`` ... are set anew before each cell (seed section 10.1), also when an earlier cell had changed them.
- CPU time limits a cell, wall time only backs it up: on a busy machine honest cells would else time out.
- Workers stay readable for their own user (dumpable), so that the controller sees files deleted while open. Other cells
  cannot use that: they have no /proc and no ptrace.
- A process pauses between cells, so that nothing runs unwatched. After a short cell the pause comes 5 ms after the
  answer: stopping costs more than such a cell, and is nothing that the model should wait for.
- The disk wall is a look at the folder, at a cell's end and while it runs: the next look comes before the room that is
  left could be filled at 4 GB/s, 3 to 30 ms later, and workers run at a lower priority than the one that looks. A
  folder overshoots its quota by what is written meanwhile: measured 11 to 83 MB on two processors with a load of 20,
  where four loops wrote at once, and once 160 MB. A size-limited tmpfs would be exact, but takes memory for every
  folder; per-file limits alone do not bound many files. Files that are deleted and only mapped are looked for four
  times a second; the limit on memory bounds them at once.
- No user id per worker when run as root: capabilities are dropped instead. Seccomp and Landlock already keep workers
  from each other; a foreign uid could not read an interpreter below root's closed home; and under a container's default
  capabilities (no CAP_SYS_PTRACE) the controller would lose sight of files deleted while open, which is a hole in the
  disk wall bought for a third wall around siblings.
- Libraries without byte code beside them (some installers leave it out) are compiled once into the host folder: four of
  five seconds of a start would go into that.
- Accepted: under Landlock without a private root a cell can learn that an outside file exists (stat).
"""

from .controller import Sandbox, TaskFailed
from .result import CellImage, CellResult, CellStatus
from .session import Session
from .settings import OPTIONAL_LAYERS, SandboxFault, SandboxRefused, SandboxSettings

__all__ = [
    "OPTIONAL_LAYERS",
    "CellImage",
    "CellResult",
    "CellStatus",
    "Sandbox",
    "SandboxFault",
    "SandboxRefused",
    "SandboxSettings",
    "Session",
    "TaskFailed",
]

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
- Accepted: under Landlock without a private root a cell can learn that an outside file exists (stat), and a folder
  overshoots its quota by what is written within 30 ms.
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

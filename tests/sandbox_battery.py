"""Runs the attack battery and judges it from outside: in the sandbox, or without it as a positive control.

A program of its own, so that it can run as another user and with layers switched off::

    python tests/sandbox_battery.py --without private_root --families files,network
    python tests/sandbox_battery.py --controls
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import io
import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[1] / "scripts")]

from sandbox_attacks import ATTACKS, Attack  # noqa: E402
from sandbox_world import World, leaked, world  # noqa: E402
from tir_distill.sandbox import CellResult, Sandbox, SandboxSettings, Session  # noqa: E402
from tir_distill.sandbox import folder as folders  # noqa: E402

LIMITS = {
    "cell_seconds": 0.3,
    "wall_seconds": 3,
    "memory_mb": 256,
    "disk_mb": 32,
    "entries": 300,
    "grace_seconds": 0.3,
}
OVERSHOOT_MB = 256
"""Above the disk quota. Measured: 11 to 83 MB on two busy processors for 32 MB and two cells at once, once 160 MB.
That the wall stands at all is shown by the status of a cell that meets it (tests/unit/sandbox); this bounds how far it
gives."""
SHARED_MB = 260
"""What a worker shares with the fork server and has before its first cell."""


def cell_of(attack: Attack, place: World, marker: str) -> str:
    """The cell with the names that an attacker would know."""
    names = {**place.names, "MARKER": marker}
    return "".join(f"{name} = {value!r}\n" for name, value in names.items()) + attack.code


def pixels(result: CellResult) -> list[bytes]:
    """Raw pixels of the pictures that came back: a secret may be painted."""
    import PIL.Image

    return [PIL.Image.open(io.BytesIO(image.png)).tobytes() for image in result.images]


def happened(attack: Attack, place: World, marker: str, said: bytes, pictures: list[bytes]) -> bool:
    """Whether the attack had its effect."""
    checks = {
        "leak": lambda: leaked(place.word, said, *pictures),
        "written": place.written,
        "connected": place.connected,
        "victim": place.victim_touched,
        "spawned": lambda: place.spawned(marker),
        "said": lambda: b"ESCAPED" in said.split(b"Traceback")[0],
    }
    return checks[attack.effect]()


class Watch:
    """Highest memory of a session's worker while it runs, and what its folder holds in the end."""

    def __init__(self, session: Session) -> None:
        self.session, self.memory, self.disk, self.hidden = session, 0, 0, 0

    async def run(self) -> None:
        page = os.sysconf("SC_PAGE_SIZE")
        while True:
            channel = self.session._channel
            if channel is not None:
                with contextlib.suppress(OSError, ValueError, IndexError):
                    text = Path(f"/proc/{channel.worker.pid}/statm").read_text()
                    self.memory = max(self.memory, int(text.split()[1]) * page)
                self.hidden = max(
                    self.hidden,
                    folders.deleted_but_open(channel.worker.pid) + folders.deleted_but_mapped(channel.worker.pid),
                )
            await asyncio.sleep(0.02)

    def look(self, folder: Path) -> None:
        """What the folder holds when the worker is gone and nothing has been removed: no look in between is needed."""
        self.disk = max(self.disk, blocks(folder))


def blocks(folder: Path) -> int:
    """Bytes on disk below a folder, by another way than the sandbox's own count."""
    done = subprocess.run(["du", "-s", "-B1", "--", str(folder)], capture_output=True, text=True, check=False)
    return int(done.stdout.split()[0]) if done.stdout else 0


REMOVE = folders.remove
WATCHES: dict[Path, Watch] = {}


def measured_removal(path: Path) -> None:
    """Looks at a session's folder just before the sandbox removes it."""
    if path in WATCHES:
        WATCHES.pop(path).look(path)
    REMOVE(path)


async def attack_sandbox(attack: Attack, sandbox: Sandbox, sibling: Session) -> str:
    """Why the outcome is not safe; empty when it is."""
    marker = f"tir-{secrets.token_hex(8)}"
    session = await sandbox.session()
    watch = Watch(session)
    watching = asyncio.create_task(watch.run()) if attack.family == "resources" else None
    try:
        if attack.effect in ("resource", "protocol"):
            await session._worker()
            folder = session._folder
            assert folder is not None
            if watching is not None:
                WATCHES[folder] = watch
            started = time.monotonic()
            result = await session.run(attack.code)
            took = time.monotonic() - started
            if folder in WATCHES:
                watch.look(folder)
            return await judge_limits(attack, result, took, watch, session, sibling)
        # the sibling's folder is planted and watched by one attack at a time
        with world(sibling._folder) as place:
            result = await session.run(cell_of(attack, place, marker))
            if result.status == "infrastructure":
                return f"harness fault: {result.note}"
            said = (result.text + (result.stdout + result.stderr)).encode("utf-8", "surrogatepass")
            if happened(attack, place, marker, said, pixels(result)):
                return f"{attack.effect}: {result.text[:200]}"
            if leaked(place.word, said):
                return f"leak: {result.text[:200]}"
            return ""
    finally:
        if watching is not None:
            watching.cancel()
        await session.close()


PEAKS: dict[str, tuple[int, int, int, str]] = {}
"""Attack -> MB on disk, MB in deleted files, MB of memory, status."""


async def judge_limits(
    attack: Attack, result: CellResult, took: float, watch: Watch, session: Session, sibling: Session
) -> str:
    """Limits kept, controller alive, others unharmed, this session usable again."""
    name = attack.name
    if result.status == "infrastructure":
        return f"harness fault: {result.note}"
    if name.startswith("protocol_exit") and result.status != "killed":
        return f"an early exit was reported as {result.status}"
    if took > LIMITS["wall_seconds"] + LIMITS["grace_seconds"] + 30:  # a hang has no end; a busy machine has
        return f"took {took:.1f} s"
    if watch.memory > (LIMITS["memory_mb"] + SHARED_MB) << 20:
        return f"{watch.memory >> 20} MB of memory"
    PEAKS[name] = (watch.disk >> 20, watch.hidden >> 20, watch.memory >> 20, result.status)
    if watch.disk > (LIMITS["disk_mb"] + OVERSHOOT_MB) << 20:
        return f"{watch.disk >> 20} MB on disk"
    # deleted files that are only mapped are found four times a second; the limit on memory holds for them at once
    if watch.hidden > (LIMITS["memory_mb"] + LIMITS["disk_mb"]) << 20:
        return f"{watch.hidden >> 20} MB in deleted files"
    if len(result.images) > 8 or len(result.text) > 200_000:
        return "too much came back"
    if "\x1b" in "".join(image.name for image in result.images):
        return "control characters in a picture's name"
    other = await sibling.run("print(6 * 7)")
    if other.stdout != "42\n" or other.status != "ok":
        return f"another session was harmed: {other.text[:200]}"
    for _ in range(2):  # a session that broke its own harness must at the latest come back after a restart
        again = await session.run("print(6 * 7)")
        if session._folder in WATCHES:  # what went on after the answer
            watch.look(session._folder)
            if watch.disk > (LIMITS["disk_mb"] + OVERSHOOT_MB) << 20:
                return f"{watch.disk >> 20} MB on disk after the cell"
        if again.status == "ok" and again.stdout == "42\n":
            return ""
        if not again.restarted and attack.family == "resources":
            return f"the session is of no use afterwards: {again.text[:200]}"
    broke_itself = name in ("protocol_break_builtins", "protocol_break_streams", "protocol_swap_pipes")
    return "" if broke_itself and again.status in ("error", "killed", "ok") else f"no recovery: {again.text[:200]}"


async def run_battery(without: tuple[str, ...], families: set[str], unsafe: bool) -> dict[str, str]:
    """Name of each attack -> why it was not safe, or empty."""
    settings = SandboxSettings(**LIMITS, without=without, allow_unsafe=unsafe, max_running=4)
    folders.remove = measured_removal
    sandbox = await Sandbox.start(settings)
    verdicts: dict[str, str] = {"layers": json.dumps(sandbox.layers())}
    host = sandbox.folder.path
    try:
        sibling = await sandbox.session()
        await sibling.run("print(1)")
        gate = asyncio.Semaphore(3)
        turn = asyncio.Lock()

        async def one(attack: Attack) -> None:
            async with gate if attack.effect in ("resource", "protocol") else turn:
                verdicts[attack.name] = await attack_sandbox(attack, sandbox, sibling)

        chosen = [attack for attack in ATTACKS if attack.family in families]
        await asyncio.gather(*(one(attack) for attack in chosen))
        server = sandbox._link.process.pid if sandbox._link else 0
        await sibling.close()
        left = list(host.glob("cell-*"))
        verdicts["left_folders"] = f"{left}" if left else ""
        children = Path(f"/proc/{server}/task/{server}/children")
        left_over = children.read_text().split() if children.exists() else []
        verdicts["left_processes"] = " ".join(left_over) if len(left_over) > (sandbox._spare is not None) else ""
    finally:
        await sandbox.close()
    verdicts["left_run_folder"] = str(host) if host.exists() else ""
    return verdicts


def run_controls(families: set[str]) -> dict[str, str]:
    """Each attack without the sandbox, in a fork of this process: it must have its effect, or it proves nothing."""
    import cv2  # noqa: F401
    import matplotlib.pyplot as plt
    import pandas  # noqa: F401
    import PIL.Image  # noqa: F401

    plt.figure()
    plt.close("all")
    verdicts = {}
    for attack in ATTACKS:
        wanted = attack.control == "any" or (attack.control == "root" and os.geteuid() == 0)
        if attack.family not in families or not wanted or attack.effect in ("resource", "protocol"):
            continue
        marker = f"tir-{secrets.token_hex(8)}"
        with world() as place, tempfile.TemporaryDirectory() as cwd, tempfile.TemporaryFile() as output:
            code = cell_of(attack, place, marker)
            child = os.fork()
            if child == 0:
                os.setsid()
                os.chdir(cwd)
                os.dup2(output.fileno(), 1)
                os.dup2(output.fileno(), 2)
                try:
                    exec(compile(code, "<control>", "exec"), {"__name__": "__main__"})
                except BaseException:
                    import traceback

                    traceback.print_exc()
                finally:
                    with contextlib.suppress(BaseException):
                        sys.stdout.flush()
                    os._exit(0)
            seen, deadline = False, time.monotonic() + 6
            while not seen and time.monotonic() < deadline:
                done = os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
                said = os.pread(output.fileno(), 1 << 20, 0)
                plain = said.replace(b"Traceback (most recent call last):\n", b"")
                seen = happened(attack, place, marker, plain, [])
                if done and attack.effect != "spawned":
                    break
                time.sleep(0.01)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            verdicts[attack.name] = "" if seen else f"no effect: {said[-300:].decode(errors='replace')}"
    return verdicts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--without", default="")
    parser.add_argument("--families", default="files,network,processes,protocol,resources")
    parser.add_argument("--controls", action="store_true")
    parser.add_argument("--unsafe", action="store_true", help="run although a must-have layer is off")
    parser.add_argument("--names", default="", help="only attacks whose name holds one of these words")
    parser.add_argument("--peaks", action="store_true", help="also print what resource attacks took")
    arguments = parser.parse_args()
    if arguments.names:
        words = arguments.names.split(",")
        ATTACKS[:] = [attack for attack in ATTACKS if any(word in attack.name for word in words)]
    families = set(arguments.families.split(","))
    without = tuple(item for item in arguments.without.split(",") if item)
    if arguments.controls:
        verdicts = run_controls(families)
    else:
        verdicts = asyncio.run(run_battery(without, families, arguments.unsafe))
    if arguments.peaks:
        verdicts["peaks"] = json.dumps(PEAKS)
    json.dump(verdicts, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()

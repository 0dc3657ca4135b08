"""Many trajectories, some of them hostile: honest ones are not touched and nothing is left behind."""

from __future__ import annotations

import asyncio
import os
import random
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox_shared import SharedSandboxes
from tir_distill.sandbox import CellResult, Sandbox, Session
from tir_distill.sandbox import folder as folders

HONEST = [
    "import numpy as np\nvalue = {n}\nprint(np.arange(value).sum())",
    "import pandas as pd\nframe = pd.DataFrame({{'a': range({n} % 7 + 1)}})\nframe",
    "print(value * 2, frame.a.sum())",
    "open('note.txt', 'w').write(str(value))\nprint(open('note.txt').read())",
    "from PIL import Image\nImage.new('RGB', (8 + value % 5, 8)).save('p.png')\nvalue + 1",
    "1 / (value - value)",
]
HOSTILE = [
    "while True: pass",
    "held = []\nwhile True: held.append(bytearray(1 << 22))",
    "import os\nos._exit(0)",
    "while True: print('x' * 5000)",
    "import os\nat = 0\nwhile True:\n    os.mkdir(f'd{at}'); at += 1",
    "import os\nwhile True:\n    os.mkdir('d'); os.chdir('d')",
    "import threading\ndef f():\n    while True: pass\nfor _ in range(5): threading.Thread(target=f).start()",
]
LIMITS = {
    "cell_seconds": 0.3,
    "wall_seconds": 20,
    "grace_seconds": 0.3,
    "memory_mb": 256,
    "disk_mb": 16,
    "entries": 300,
    "flood_bytes": 4 << 20,
}


@pytest.fixture(scope="module")
def shared() -> Iterator[SharedSandboxes]:
    with SharedSandboxes() as made:
        yield made


def outputs(results: list[CellResult]) -> list[tuple[str, str, str, list[bytes]]]:
    return [(r.status, r.stdout, r.tail, [image.png for image in r.images]) for r in results]


async def trajectory(sandbox: Sandbox, number: int, hostile: bool) -> list[CellResult]:
    """Six cells; hostile ones have an attack for every second cell."""
    chance = random.Random(number)
    session = await sandbox.session(seed=number)
    try:
        results = []
        for at, cell in enumerate(HONEST):
            code = chance.choice(HOSTILE) if hostile and at % 2 == 0 else cell.format(n=number)
            results.append(await session.run(code))
        return results
    finally:
        await session.close()


def memory_kb() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4


def children(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


async def descriptors(sandbox: Sandbox) -> int:
    """Open descriptors of this process, counted once the spare worker stands: it is made in the background. Locks of
    free slots are kept open by intent, a few of them.
    """
    if sandbox._spare is not None:
        await sandbox._spare
    kept = len(sandbox.live._idle) + len(sandbox.running._idle)
    return len(os.listdir("/proc/self/fd")) - kept  # noqa: PTH208


async def run_many(
    sandbox: Sandbox, count: int, share: float, at_once: int
) -> tuple[dict[int, list[CellResult]], dict[str, int]]:
    gate = asyncio.Semaphore(at_once)
    honest: dict[int, list[CellResult]] = {}
    infrastructure = 0
    chance = random.Random(count)
    hostile = {number for number in range(count) if chance.random() < share}

    async def one(number: int) -> None:
        nonlocal infrastructure
        async with gate:
            results = await trajectory(sandbox, number, number in hostile)
            infrastructure += sum(result.status == "infrastructure" for result in results)
            if number not in hostile:
                honest[number] = results[:4] if count > 500 else results

    await one(0)
    before = {"memory": memory_kb(), "descriptors": await descriptors(sandbox)}
    started = time.monotonic()
    await asyncio.gather(*(one(number) for number in range(1, count)))
    assert sandbox._link is not None
    figures = {
        "milliseconds": int(1000 * (time.monotonic() - started)),
        "memory_growth_kb": memory_kb() - before["memory"],
        "descriptors_left": await descriptors(sandbox) - before["descriptors"],
        "processes_left": len(children(sandbox._link.process.pid)) - (sandbox._spare is not None),
        "folders_left": len(list(sandbox.folder.path.glob("cell-*"))),
        "infrastructure": infrastructure,
        "hostile": len(hostile),
    }
    return honest, figures


def check(shared: SharedSandboxes, count: int, share: float, at_once: int, growth_kb: int, alone: int) -> None:
    """``alone``: so many trajectories are run once more without hostile ones among them, and must give the same."""
    sandbox = shared.sandbox(**LIMITS)
    honest, figures = shared.do(run_many(sandbox, count, share, at_once))
    print(figures)
    assert figures["hostile"] > 0
    for name in ("descriptors_left", "processes_left", "folders_left", "infrastructure"):
        assert figures[name] == 0, figures
    assert figures["memory_growth_kb"] < growth_kb
    quiet, _ = shared.do(run_many(sandbox, alone, 0.0, at_once))
    for number, results in honest.items():
        n = number
        assert results[0].stdout == f"{n * (n - 1) // 2}\n"
        assert results[2].stdout == f"{n * 2} {sum(range(n % 7 + 1))}\n"
        assert results[3].stdout == f"{n}\n"
        if number in quiet:
            assert outputs(results) == outputs(quiet[number][: len(results)])


def test_forty_trajectories_with_hostile_ones_among_them(shared: SharedSandboxes) -> None:
    check(shared, 40, 0.12, 16, growth_kb=60_000, alone=12)


@pytest.mark.slow
def test_two_thousand_trajectories_with_hostile_ones_among_them(shared: SharedSandboxes) -> None:
    check(shared, 2000, 0.05, 32, growth_kb=60_000, alone=40)


def at_once(shared: SharedSandboxes, count: int) -> None:
    async def main() -> list[CellResult]:
        sandbox = shared.sandbox(**LIMITS)

        async def one(number: int) -> CellResult:
            session = await sandbox.session()
            try:
                return await session.run(f"print({number})")
            finally:
                await session.close()

        return await asyncio.gather(*(one(number) for number in range(count)))

    shared.sandbox(**LIMITS)
    results = shared.do(main())
    assert [(result.status, result.stdout) for result in results] == [("ok", f"{n}\n") for n in range(count)]


def test_many_sessions_at_once_all_answer(shared: SharedSandboxes) -> None:
    """More conversations than live workers, on few processors: nobody times out for want of one (cases I 85)."""
    at_once(shared, 96)


@pytest.mark.slow
def test_256_sessions_at_once_all_answer(shared: SharedSandboxes) -> None:
    at_once(shared, 256)


async def sleeping(session: Session) -> asyncio.Task[CellResult]:
    """A cell that has begun and does not end."""
    running = asyncio.create_task(session.run("open('begun', 'w')\nimport time\ntime.sleep(100)"))
    while session._folder is None or not (session._folder / "begun").exists():
        await asyncio.sleep(0.01)
    return running


def test_a_cancelled_cell_leaves_no_process(shared: SharedSandboxes) -> None:
    sandbox = shared.sandbox(**LIMITS)

    async def main() -> None:
        session = await sandbox.session()
        running = await sleeping(session)
        assert sandbox._link is not None
        assert session._channel is not None
        worker = str(session._channel.worker.pid)
        assert worker in children(sandbox._link.process.pid)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        assert worker not in children(sandbox._link.process.pid)
        assert (await session.run("print(3)")).stdout == "3\n"
        await session.close()

    shared.do(main())


def test_a_dead_fork_server_is_our_fault_and_is_replaced(shared: SharedSandboxes) -> None:
    sandbox = shared.sandbox(**LIMITS)

    async def main() -> None:
        session = await sandbox.session()
        running = await sleeping(session)
        assert sandbox._link is not None
        sandbox._link.process.kill()
        assert (await running).status == "infrastructure"
        again = await session.run("print(2)")
        assert (again.status, again.stdout) == ("ok", "2\n")
        await session.close()

    shared.do(main())


def test_workers_die_with_a_killed_controller(tmp_path: Path) -> None:
    """SIGKILL of the controller: server and workers end by themselves, and the next start sweeps the folders."""
    import signal
    import subprocess
    import sys

    scripts = Path(__file__).resolve().parents[2] / "scripts"
    program = (
        f"import sys; sys.path.insert(0, {str(scripts)!r})\n"
        "import asyncio\n"
        "from tir_distill.sandbox import Sandbox, SandboxSettings\n"
        "async def main():\n"
        "    sandbox = await Sandbox.start(SandboxSettings())\n"
        "    session = await sandbox.session()\n"
        "    await session.run('1')\n"
        "    print(sandbox._link.process.pid, session._channel.worker.pid, sandbox.folder.path, flush=True)\n"
        "    await session.run('while True: pass')\n"
        "asyncio.run(main())\n"
    )
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    server, worker, folder = process.stdout.readline().split()
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and any(alive(pid) for pid in (server, worker)):
        time.sleep(0.05)
    assert not alive(server)
    assert not alive(worker)
    assert Path(folder).exists()

    folders.RunFolder.create(folders.host_folder()).remove()  # what each start does first
    assert not Path(folder).exists()


def alive(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except FileNotFoundError:
        return False

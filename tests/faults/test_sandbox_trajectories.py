"""Many trajectories, some of them hostile: honest ones are not touched and nothing is left behind."""

from __future__ import annotations

import asyncio
import os
import random
import time
from pathlib import Path

import pytest

from tir_distill.sandbox import CellResult, Sandbox, SandboxSettings

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
SETTINGS = SandboxSettings(cell_seconds=0.5, wall_seconds=20, grace_seconds=0.5, memory_mb=256, disk_mb=16, entries=300)


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
    """Open descriptors of this process, counted once the spare worker stands: it is made in the background."""
    if sandbox._spare is not None:
        await sandbox._spare
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208


async def run_many(count: int, share: float, at_once: int) -> tuple[dict[int, list[CellResult]], dict[str, int]]:
    sandbox = await Sandbox.start(SETTINGS)
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
    path = sandbox.folder.path
    await sandbox.close()
    figures["run_folder_left"] = int(path.exists())
    return honest, figures


def check(count: int, share: float, at_once: int, growth_kb: int) -> None:
    honest, figures = asyncio.run(run_many(count, share, at_once))
    print(figures)
    assert figures["hostile"] > 0
    for name in ("descriptors_left", "processes_left", "folders_left", "infrastructure", "run_folder_left"):
        assert figures[name] == 0, figures
    assert figures["memory_growth_kb"] < growth_kb
    alone, _ = asyncio.run(run_many(min(count, 40), 0.0, at_once))
    for number, results in honest.items():
        n = number
        assert results[0].stdout == f"{n * (n - 1) // 2}\n"
        assert results[2].stdout == f"{n * 2} {sum(range(n % 7 + 1))}\n"
        assert results[3].stdout == f"{n}\n"
        if number in alone:
            assert outputs(results) == outputs(alone[number][: len(results)])


def test_sixty_trajectories_with_hostile_ones_among_them() -> None:
    check(60, 0.1, 16, growth_kb=60_000)


@pytest.mark.slow
def test_two_thousand_trajectories_with_hostile_ones_among_them() -> None:
    check(2000, 0.05, 32, growth_kb=60_000)


def test_many_sessions_at_once_all_answer() -> None:
    """256 conversations on few processors: nobody times out for want of a processor (cases I 85)."""

    async def main() -> list[CellResult]:
        sandbox = await Sandbox.start(SandboxSettings(max_workers=64))

        async def one(number: int) -> CellResult:
            session = await sandbox.session()
            try:
                return await session.run(f"print({number})")
            finally:
                await session.close()

        try:
            return await asyncio.gather(*(one(number) for number in range(256)))
        finally:
            await sandbox.close()

    results = asyncio.run(main())
    assert [(result.status, result.stdout) for result in results] == [("ok", f"{n}\n") for n in range(256)]


def test_a_dead_fork_server_is_our_fault_and_is_replaced() -> None:
    async def main() -> None:
        sandbox = await Sandbox.start(SETTINGS)
        try:
            session = await sandbox.session()
            assert (await session.run("x = 1\nprint(x)")).stdout == "1\n"
            assert sandbox._link is not None
            running = asyncio.create_task(session.run("import time\ntime.sleep(10)"))
            await asyncio.sleep(0.3)
            sandbox._link.process.kill()
            assert (await running).status == "infrastructure"
            again = await session.run("print(2)")
            assert (again.status, again.stdout) == ("ok", "2\n")
        finally:
            await sandbox.close()

    asyncio.run(main())


def test_a_cancelled_cell_leaves_no_process() -> None:
    async def main() -> None:
        sandbox = await Sandbox.start(SETTINGS)
        try:
            session = await sandbox.session()
            await session.run("1")
            running = asyncio.create_task(session.run("import time\ntime.sleep(10)"))
            await asyncio.sleep(0.2)
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
            assert sandbox._link is not None
            assert children(sandbox._link.process.pid) == []
            assert (await session.run("print(3)")).stdout == "3\n"
        finally:
            await sandbox.close()

    asyncio.run(main())


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
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and any(alive(pid) for pid in (server, worker)):
        time.sleep(0.05)
    assert not alive(server)
    assert not alive(worker)
    assert Path(folder).exists()

    async def sweep() -> None:
        await (await Sandbox.start(SETTINGS)).close()

    asyncio.run(sweep())
    assert not Path(folder).exists()


def alive(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except FileNotFoundError:
        return False

"""Latency of cells beside other ways to run them, in one run on one machine.

``python tests/bench/sandbox/bench_sandbox.py`` prints a Markdown table. ``jupyter_client`` with ``ipykernel`` and
``smolagents`` are no dependencies of this project: ``TIR_BENCH_PYTHON`` names an interpreter that has them (and NumPy,
pandas, Pillow, matplotlib); without it their rows are left out with the reason. Medians of ROUNDS rounds; the empty
cell also as its quickest tenth, which a busy machine disturbs less. Figures, not a pass or fail.
"""

from __future__ import annotations

import asyncio
import io
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "scripts"))

ROUNDS = 7
CELLS = [
    "from PIL import Image\nim = Image.open('input_image.jpg')\nim.crop((0, 0, 200, 200)).save('crop.png')",
    "import numpy as np\nprint(np.asarray(im).mean())",
    "import pandas as pd\nprint(pd.DataFrame({'a': range(5), 'b': range(5)}).describe())",
    "import matplotlib.pyplot as plt\nplt.plot([1, 2, 3])\nplt.savefig('p.png')\nplt.close('all')",
    "1",
]
Row = list[float]
"""Milliseconds: start with the first cell, second, third, plot, empty, empty in the quickest tenth; memory in MB of one
more live worker (NaN: not measured)."""


def photo() -> bytes:
    """A 1024 x 768 JPEG with detail."""
    import numpy as np
    import PIL.Image

    noise = np.random.default_rng(0).integers(0, 255, (96, 128, 3), "u1")
    buffer = io.BytesIO()
    PIL.Image.fromarray(noise).resize((1024, 768), PIL.Image.Resampling.BICUBIC).save(buffer, "JPEG", quality=90)
    return buffer.getvalue()


async def timed(run: Callable[[str], Awaitable[object]], begun: float) -> Row:
    """Each cell's time; the first counts from ``begun``."""
    row = []
    for cell in CELLS:
        await run(cell)
        row.append(1000 * (time.perf_counter() - begun))
        begun = time.perf_counter()
    empty = []
    for _ in range(200):
        begun = time.perf_counter()
        await run("1")
        empty.append(1000 * (time.perf_counter() - begun))
    return [*row[:4], statistics.median(empty), sorted(empty)[20], float("nan")]


def middle(rounds: list[Row]) -> Row:
    """Median of each column."""
    return [statistics.median(column) for column in zip(*rounds, strict=True)]


async def sandbox_rows(picture: bytes) -> dict[str, Row]:
    from tir_distill.sandbox import Sandbox, SandboxSettings

    rows = {}
    for name, without in (("sandbox, all layers", ()), ("sandbox, no private root", ("private_root",))):
        sandbox = await Sandbox.start(SandboxSettings(without=without))
        await (await sandbox.session([picture])).close()  # the picture's other form is made once per question
        rounds = []
        for _ in range(ROUNDS):
            begun = time.perf_counter()
            session = await sandbox.session([picture])
            rounds.append(await timed(session.run, begun))
            await session.close()
        rows[name] = middle(rounds)
        if not without:
            sessions = [await sandbox.session() for _ in range(50)]
            for session in sessions:
                await session.run("import numpy as np\nx = np.zeros(10)")
            pids = [session._channel.worker.pid for session in sessions if session._channel]
            rows[name][-1] = sum(map(pss, pids)) / len(pids) / 1024
            for session in sessions:
                await session.close()
            begun = time.perf_counter()

            async def trajectory(sandbox: Sandbox = sandbox) -> None:
                session = await sandbox.session([picture])
                for cell in CELLS:
                    await session.run(cell)
                await session.close()

            gate = asyncio.Semaphore(4)

            async def one(gate: asyncio.Semaphore = gate) -> None:
                async with gate:
                    await trajectory()

            await asyncio.gather(*(one() for _ in range(60)))
            print(f"whole trajectories: {60 * len(CELLS) / (time.perf_counter() - begun):.0f} cells/s")
        await sandbox.close()
    return rows


def pss(pid: int) -> int:
    """Proportional memory in kB; 0 where it cannot be read."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0
    return int(next(line for line in text.splitlines() if line.startswith("Pss:")).split()[1])


async def fresh_row(picture: bytes) -> Row:
    """A new interpreter for each cell (no state: the picture is opened again where a cell needs it)."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "input_image.jpg").write_bytes(picture)
        head = "from PIL import Image\nim = Image.open('input_image.jpg')\n"

        async def run(cell: str) -> None:
            code = cell if cell == "1" else head + cell
            await asyncio.to_thread(
                subprocess.run, [sys.executable, "-c", code], cwd=folder, capture_output=True, check=True
            )

        rounds = []
        for _ in range(2):
            begun, row = time.perf_counter(), []
            for cell in CELLS:
                await run(cell)
                row.append(1000 * (time.perf_counter() - begun))
                begun = time.perf_counter()
            rounds.append(row)
    return middle([[*row, row[-1], float("nan")] for row in rounds])


async def persistent_row(picture: bytes) -> Row:
    """One plain interpreter per trajectory that reads cells as JSON lines: no wall at all."""
    program = (
        "import sys, json, io, contextlib\nspace = {}\nfor line in sys.stdin:\n    out = io.StringIO()\n"
        "    with contextlib.redirect_stdout(out): exec(json.loads(line), space)\n"
        "    print(json.dumps(out.getvalue()), flush=True)"
    )
    rounds = []
    for _ in range(3):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "input_image.jpg").write_bytes(picture)
            begun = time.perf_counter()
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-c", program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder
            )
            assert process.stdin is not None
            assert process.stdout is not None
            stdin, stdout = process.stdin, process.stdout

            async def run(
                cell: str, stdin: asyncio.StreamWriter = stdin, stdout: asyncio.StreamReader = stdout
            ) -> None:
                stdin.write(json.dumps(cell).encode() + b"\n")
                await stdout.readline()

            rounds.append(await timed(run, begun))
            rounds[-1][-1] = pss(process.pid) / 1024
            process.kill()
            await process.wait()
    return middle(rounds)


async def jupyter_row(picture: bytes) -> Row:
    from jupyter_client.manager import start_new_async_kernel

    rounds = []
    for _ in range(3):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "input_image.jpg").write_bytes(picture)
            begun = time.perf_counter()
            manager, client = await start_new_async_kernel(cwd=folder)

            async def run(cell: str, client: object = client) -> None:
                await client.execute_interactive(cell, output_hook=lambda _: None)  # type: ignore[attr-defined]

            rounds.append(await timed(run, begun))
            rounds[-1][-1] = pss(manager.provisioner.process.pid) / 1024
            client.stop_channels()
            await manager.shutdown_kernel(now=True)
    return middle(rounds)


async def smolagents_row(picture: bytes) -> Row:
    from smolagents.local_python_executor import LocalPythonExecutor

    here = os.getcwd()  # noqa: PTH109
    rounds = []
    for _ in range(3):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "input_image.jpg").write_bytes(picture)
            os.chdir(folder)
            begun = time.perf_counter()
            executor = LocalPythonExecutor(["*"])
            executor.send_tools({})

            async def run(cell: str, executor: LocalPythonExecutor = executor) -> None:
                executor(cell)

            rounds.append(await timed(run, begun))
            os.chdir(here)
    return middle(rounds)


PEERS = {"jupyter_client + ipykernel": jupyter_row, "smolagents, in process": smolagents_row}


def peer_row(name: str, picture: bytes) -> Row | str:
    """A peer's row, measured by the interpreter that has it; or why there is none."""
    python = os.environ.get("TIR_BENCH_PYTHON")
    if not python:
        return "TIR_BENCH_PYTHON is not set"
    done = subprocess.run([python, __file__, name], input=picture, capture_output=True, check=False)
    if done.returncode:
        return done.stderr.decode(errors="replace").strip().splitlines()[-1]
    row: Row = json.loads(done.stdout.splitlines()[-1])
    return row


async def main() -> None:
    if len(sys.argv) > 1:
        print(json.dumps(await PEERS[sys.argv[1]](sys.stdin.buffer.read())))
        return
    picture = photo()
    rows = await sandbox_rows(picture)
    rows["fresh interpreter per cell"] = await fresh_row(picture)
    rows["persistent interpreter, no wall"] = await persistent_row(picture)
    for name in PEERS:
        found = await asyncio.to_thread(peer_row, name, picture)
        if isinstance(found, str):
            print(f"left out: {name} ({found})")
        else:
            rows[name] = found
    print("| way | start + open, crop, save | mean | table | plot | empty | empty, quickest tenth | memory |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name, row in rows.items():
        times = " | ".join(f"{value:.2f} ms" if value < 1 else f"{value:.1f} ms" for value in row[:-1])
        memory = "-" if row[-1] != row[-1] else f"{row[-1]:.0f} MB"
        print(f"| {name} | {times} | {memory} |")


if __name__ == "__main__":
    asyncio.run(main())

"""Run cells from files or standard input: ``python -m tir_distill.sandbox [--layers] [--image FILE] [CELL ...]``."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from pathlib import Path

from . import Sandbox, SandboxFault, SandboxRefused, SandboxSettings


def main() -> int:
    """Exit code 0: every cell ended ``ok``; 1: one did not, or the sandbox cannot run here."""
    parser = argparse.ArgumentParser(
        prog="python -m tir_distill.sandbox",
        description="Run Python cells in the sandbox, one session, and print what the model would read.",
        epilog="example: echo 'print(6 * 7)' | python -m tir_distill.sandbox",
    )
    parser.add_argument("cells", nargs="*", type=Path, help="files with one cell each; none: one cell from stdin")
    parser.add_argument("--layers", action="store_true", help="print the active layers and stop")
    parser.add_argument("--image", action="append", type=Path, default=[], help="a question picture (repeatable)")
    parser.add_argument("--pictures", type=Path, help="folder for the pictures that come back")
    parser.add_argument("--cell-seconds", type=float, default=20, help="CPU seconds of a cell (default 20)")
    arguments = parser.parse_args()
    try:
        return asyncio.run(_run(arguments))
    except (SandboxRefused, SandboxFault) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


async def _run(arguments: argparse.Namespace) -> int:
    sandbox = await Sandbox.start(SandboxSettings(cell_seconds=arguments.cell_seconds))
    try:
        if arguments.layers:
            print(json.dumps(sandbox.layers(), indent=2))
            return 0
        cells = [path.read_text(encoding="utf-8") for path in arguments.cells] or [sys.stdin.read()]
        session = await sandbox.session(arguments.image)
        worst = 0
        for number, code in enumerate(cells, 1):
            result = await session.run(code)
            print(result.text)
            for image in result.images:
                print(f"[picture {image.name}: {image.width} x {image.height}]")
                if arguments.pictures is not None:
                    arguments.pictures.mkdir(parents=True, exist_ok=True)
                    (arguments.pictures / f"{number}_{Path(image.name).stem}.png").write_bytes(image.png)
            worst |= result.status != "ok"
        return int(worst)
    finally:
        await sandbox.close()


if __name__ == "__main__":
    raise SystemExit(main())

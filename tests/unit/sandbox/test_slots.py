"""Slots: never more holders than the count, in order, and freed when a process dies."""

from __future__ import annotations

import asyncio
import multiprocessing
import time
from pathlib import Path
from typing import Any

from tir_distill.sandbox.slots import Slots


def test_never_more_than_the_count_and_first_come_first_served(tmp_path: Path) -> None:
    async def main() -> tuple[int, list[int]]:
        slots = Slots(tmp_path, "s", 3)
        holding = most = 0
        order: list[int] = []

        async def one(number: int) -> None:
            nonlocal holding, most
            slot = await slots.take()
            order.append(number)
            holding += 1
            most = max(most, holding)
            await asyncio.sleep(0.002)
            holding -= 1
            slots.give_back(slot)

        await asyncio.gather(*(one(number) for number in range(40)))
        return most, order

    most, order = asyncio.run(main())
    assert most == 3
    assert order == list(range(40))


def hold(folder: Path, ready: object) -> None:
    async def main() -> None:
        await Slots(folder, "s", 1).take()
        ready.set()  # type: ignore[attr-defined]
        await asyncio.sleep(60)

    asyncio.run(main())


def test_two_processes_share_and_death_frees(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    ready = context.Event()
    process = context.Process(target=hold, args=(tmp_path, ready))
    process.start()
    assert ready.wait(30)

    async def main() -> float:
        slots = Slots(tmp_path, "s", 1)
        waiting = asyncio.create_task(slots.take())
        await asyncio.sleep(0.2)
        assert not waiting.done()
        process.kill()
        started = time.monotonic()
        await asyncio.wait_for(waiting, 10)
        return time.monotonic() - started

    assert asyncio.run(main()) < 10
    process.join()


def greedy(folder: Path, ready: Any, stop: Any) -> None:
    """Many tasks that take the one slot again as soon as it is free."""

    async def main() -> None:
        slots = Slots(folder, "s", 1)

        async def one() -> None:
            while not stop.is_set():
                slot = await slots.take()
                ready.set()
                await asyncio.sleep(0.001)
                slots.give_back(slot)

        await asyncio.gather(*(one() for _ in range(20)))

    asyncio.run(main())


def test_a_busy_process_does_not_starve_another(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    ready, stop = context.Event(), context.Event()
    process = context.Process(target=greedy, args=(tmp_path, ready, stop))
    process.start()
    assert ready.wait(60)

    async def main() -> None:
        slots = Slots(tmp_path, "s", 1)
        for _ in range(20):
            slots.give_back(await asyncio.wait_for(slots.take(), 60))
        slots.close()

    try:
        asyncio.run(main())
    finally:
        stop.set()
        process.join(60)
        process.kill()
        process.join()


def test_files_removed_under_us_are_made_anew(tmp_path: Path) -> None:
    """A cleaner of temporary files must not make two processes count on different files."""

    async def main() -> None:
        slots, other = Slots(tmp_path, "s", 1), Slots(tmp_path, "s", 1)
        slots.give_back(await slots.take())
        for path in tmp_path.iterdir():
            path.unlink()
        held = await other.take()
        waiting = asyncio.create_task(slots.take())
        for _ in range(20):
            await asyncio.sleep(0)
        assert not waiting.done()
        other.give_back(held)
        slots.give_back(await asyncio.wait_for(waiting, 60))
        for item in (slots, other):
            item.close()

    asyncio.run(main())

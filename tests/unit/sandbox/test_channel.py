"""A worker's pipes: answers before its end are not lost, output waits until it is wanted."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import Any

from tir_distill.sandbox import frames
from tir_distill.sandbox.channel import Channel
from tir_distill.sandbox.link import Worker


class QuietWorker(Worker):
    """Not to be killed: it is the test's own process."""

    def kill(self) -> None:
        return None


class Pipes:
    """A channel whose worker is this test."""

    def __init__(self) -> None:
        commands, self.results, self.out, self.err = os.pipe(), os.pipe(), os.pipe(), os.pipe()
        self.ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        process = os.pidfd_open(os.getpid())
        worker = QuietWorker(os.getpid(), commands[1], self.results[0], self.out[0], self.err[0], process, self.ended)
        self.ours = [commands[0], self.results[1], self.out[1], self.err[1]]
        self.channel = Channel(worker, keep=10, max_blobs=2, max_bytes=1000)


def using(test: Callable[[Pipes], Any]) -> None:
    async def main() -> None:
        pipes = Pipes()
        try:
            await test(pipes)
        finally:
            if not pipes.ended.done():
                pipes.ended.set_result(0)
            await pipes.channel.close()
            for descriptor in pipes.ours:
                os.close(descriptor)

    asyncio.run(main())


def test_an_answer_written_before_the_end_counts() -> None:
    async def test(pipes: Pipes) -> None:
        waiting = asyncio.create_task(pipes.channel.wait())
        await asyncio.sleep(0)
        # the news of the end comes first, the answer lies in the pipe
        pipes.ended.set_result(0)
        frames.write(pipes.ours[1], {"status": "ok"}, [b"x" * 500])
        await waiting
        assert pipes.channel.answered
        frame = pipes.channel.take()
        assert frame is not None
        assert frame.blobs == (b"x" * 500,)

    using(test)


def test_an_end_without_an_answer_and_a_wait_that_is_over() -> None:
    async def test(pipes: Pipes) -> None:
        await pipes.channel.wait(0.001)
        assert not pipes.channel.answered
        os.write(pipes.ours[1], b"\x00\x00\x00\x09half")
        pipes.ended.set_result(-9)
        await pipes.channel.wait()
        assert not pipes.channel.answered

    using(test)


def test_what_is_no_frame_breaks_the_channel() -> None:
    async def test(pipes: Pipes) -> None:
        os.write(pipes.ours[1], b"\xff" * 100)
        await pipes.channel.wait()
        assert pipes.channel.answered
        assert pipes.channel.take() is None

    using(test)


def test_output_is_kept_up_to_the_cap_and_counted_beyond() -> None:
    async def test(pipes: Pipes) -> None:
        os.write(pipes.ours[2], b"0123456789abc")
        os.write(pipes.ours[3], b"e")
        pipes.channel.drain(1 << 20)
        assert (pipes.channel.out.text, pipes.channel.err.text, pipes.channel.printed) == ("0123456789", "e", 14)
        pipes.channel.begin()
        pipes.channel.listen()
        os.write(pipes.ours[2], b"more")
        while pipes.channel.printed < 4:
            await asyncio.sleep(0)
        assert pipes.channel.out.text == "more"

    using(test)


def test_an_answer_that_nobody_asked_for_breaks_the_next_cell() -> None:
    async def test(pipes: Pipes) -> None:
        frames.write(pipes.ours[1], {"cell": 2})
        await pipes.channel.wait()
        pipes.channel.begin()
        assert pipes.channel.broken

    using(test)

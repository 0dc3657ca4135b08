"""Sandboxes on one event loop, one for each kind of settings: starting one costs more than most tests."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from types import TracebackType
from typing import Any, TypeVar

from tir_distill.sandbox import CellResult, Sandbox, SandboxSettings

Result = TypeVar("Result")


class SharedSandboxes:
    """For a fixture of module scope: ``with SharedSandboxes() as made: yield made``."""

    def __init__(self, *, preload: tuple[str, ...] = ()) -> None:
        self._runner = asyncio.Runner()
        self._made: dict[SandboxSettings, Sandbox] = {}
        self._preload = preload

    def __enter__(self) -> SharedSandboxes:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for sandbox in self._made.values():
            self._runner.run(sandbox.close())
        self._runner.close()

    def sandbox(self, **settings: Any) -> Sandbox:
        """The one with these settings."""
        wanted = SandboxSettings(**settings)
        if wanted not in self._made:
            self._made[wanted] = self._runner.run(Sandbox.start(wanted, preload=self._preload))
        return self._made[wanted]

    def do(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Run something on the sandboxes' loop."""
        return self._runner.run(work)

    def run(self, *cells: str, images: tuple[bytes, ...] = (), **settings: Any) -> list[CellResult]:
        """Cells of one new session."""
        sandbox = self.sandbox(**settings)

        async def session() -> list[CellResult]:
            opened = await sandbox.session(images)
            try:
                return [await opened.run(cell) for cell in cells]
            finally:
                await opened.close()

        return self.do(session())

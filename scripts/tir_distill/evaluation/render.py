"""Renderings of attached files by tasks in locked workers: a parser that hangs or eats memory ends alone."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol

from .attachments import Rendering

PRELOAD = ("tir_distill.evaluation.office", "tir_distill.tools.extract")
"""Modules that the workers must know."""
SECONDS = 30.0
MAX_BYTES = 64 << 20
MAX_PDF_PAGES = 200
MAX_PDF_CHARS = 2_000_000


class RunsTasks(Protocol):
    """``sandbox.Sandbox``."""

    async def task(
        self, function: str, header: dict[str, Any], blobs: Sequence[bytes], *, seconds: float, max_bytes: int
    ) -> tuple[dict[str, Any], tuple[bytes, ...]]: ...


class Renderer:
    """``attachments.Render``."""

    def __init__(self, sandbox: Callable[[], Awaitable[RunsTasks]], failures: tuple[type[Exception], ...]) -> None:
        """``sandbox``: gives the one that was started with ``PRELOAD``. ``failures``: what its tasks raise that ended
        without a result.
        """
        self._sandbox, self._failures = sandbox, failures

    async def __call__(self, kind: str, data: bytes) -> Rendering:
        try:
            if kind == "pdf":
                header, blobs = await self._run("tir_distill.tools.extract:page", _PDF, data)
                text = b"".join(blobs)
                if not text.strip():
                    return Rendering(problem="it holds no text, pages may be pictures")
                return Rendering(((".txt", "its text", text),))
            header, blobs = await self._run("tir_distill.evaluation.office:render", {"kind": kind}, data)
        except self._failures as error:
            return Rendering(problem=str(error).strip().splitlines()[-1][:200] if str(error).strip() else "no result")
        if header.get("problem"):
            return Rendering(problem=str(header["problem"]))
        named: Sequence[Any] = header["files"]
        files = [(str(suffix), str(title), blob) for (suffix, title), blob in zip(named, blobs, strict=True)]
        return Rendering(tuple(files))

    async def _run(
        self, function: str, header: Mapping[str, Any], data: bytes
    ) -> tuple[dict[str, Any], tuple[bytes, ...]]:
        sandbox = await self._sandbox()
        return await sandbox.task(function, dict(header), [data], seconds=SECONDS, max_bytes=MAX_BYTES)


_PDF = {"kind": "pdf", "charset": "", "simple": False, "max_pages": MAX_PDF_PAGES, "max_chars": MAX_PDF_CHARS}

"""The python tool: a cell in the trajectory's sandbox session, its pictures kept in the run folder."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..records.jsonl import atomic_writer
from ..records.trajectory import Picture, ToolCall, ToolResult
from ..sandbox import CellImage, Sandbox, Session
from .calls import argument
from .text import for_model

FOLDER = "tool_images"


class PythonTool:
    """One per trajectory. The session starts with the first call, so that trajectories without code cost nothing."""

    def __init__(
        self,
        sandbox: Sandbox,
        images: Sequence[Path],
        *,
        run_dir: Path,
        max_chars: int,
        seed: int,
        files: Mapping[str, Path] | None = None,
    ) -> None:
        """``files``: further files of the work folder, by name."""
        self._sandbox, self._images, self._seed, self._files = sandbox, images, seed, files
        self._run_dir, self._max_chars = run_dir, max_chars
        self._session: Session | None = None

    async def call(self, call: ToolCall) -> ToolResult:
        """Run the cell. Raises BadCall before anything is run; TirError when a question picture cannot be read."""
        code = argument(call)
        if self._session is None:
            self._session = await self._sandbox.session(self._images, seed=self._seed, files=self._files)
        result = await self._session.run(code)
        content, cut = for_model(result.output, self._max_chars, result.tail)
        if not content and not result.images:
            content = "(no output)"
        meta = {"cell": result.status, "restarted": result.restarted, "truncated": cut or result.cut}
        if result.status == "infrastructure":
            meta["cell"] = "killed"
            return ToolResult(call_id=call.id, name=call.name, status="infrastructure", content=content, meta=meta)
        images = await asyncio.to_thread(self._keep, result.images)
        status = "ok" if result.status == "ok" else "model_error"
        return ToolResult(
            call_id=call.id,
            name=call.name,
            status="ok" if status == "ok" else "model_error",
            content=content.rstrip("\n"),
            images=images,
            meta=meta,
        )

    async def close(self) -> None:
        """End the session."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    def _keep(self, images: Sequence[CellImage]) -> tuple[Picture, ...]:
        return tuple(keep_picture(self._run_dir, image) for image in images)


def keep_picture(run_dir: Path, image: CellImage) -> Picture:
    """Store a picture under its hash, once; equal pictures of any trajectory share the file."""
    sha256 = hashlib.sha256(image.png).hexdigest()
    path = f"{FOLDER}/{sha256}.png"
    target = run_dir / path
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        with atomic_writer(target) as handle:
            handle.write(image.png)
    return Picture(path=path, sha256=sha256, width=image.width, height=image.height)

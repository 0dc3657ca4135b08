"""All tools of a process behind one door: calls are routed, answered for every kind of mistake, and made harmless."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..ledger import Ledger, Owner
from ..records.errors import TirError
from ..records.hashing import stable_int
from ..records.trajectory import ToolCall, ToolResult
from ..sandbox import Sandbox, SandboxFault, SandboxRefused, SandboxSettings
from . import schemas
from .calls import BadCall, argument, refusal
from .open_page import OpenTool
from .python_cell import PythonTool
from .search import SearchTool
from .settings import OpenSettings
from .text import for_model


class Toolbox:
    """One per process; make it with ``open``."""

    def __init__(
        self,
        *,
        search: SearchTool,
        opener: OpenTool,
        sandbox: Sandbox,
        run_dir: Path,
        image_root: Path,
        max_chars: int,
        seed: int,
    ) -> None:
        self.schemas = schemas.load()
        self.search, self.opener, self.sandbox = search, opener, sandbox
        self.run_dir, self.image_root, self.max_chars, self.seed = run_dir, image_root, max_chars, seed

    @classmethod
    async def open(cls, *, config: Mapping[str, Any], ledger: Ledger, run_dir: Path, image_root: Path) -> Toolbox:
        """Start the sandbox and the clients. ``config``: the whole resolved configuration.

        Raises TirError when the sandbox cannot run here, UsageError when the search provider's address or key is
        missing.
        """
        search = SearchTool.from_config(config, ledger)
        try:
            sandbox = await Sandbox.start(
                SandboxSettings.from_config(config), preload=["tir_distill.tools.extract:warm"]
            )
        except (SandboxRefused, SandboxFault) as error:
            await search.close()
            raise TirError(f"sandbox: {error}") from error
        max_chars = config["sampling"]["max_obs_chars"]
        opener = OpenTool(OpenSettings.from_config(config), ledger=ledger, sandbox=sandbox, max_chars=max_chars)
        return cls(
            search=search,
            opener=opener,
            sandbox=sandbox,
            run_dir=run_dir,
            image_root=image_root,
            max_chars=max_chars,
            seed=config["seed"],
        )

    async def session(
        self, owner: Owner, images: Sequence[str], files: Mapping[str, Path] | None = None
    ) -> ToolSession:
        """The tools of one trajectory. ``images``: question pictures, relative to ``image_root``. ``files``: further
        files that python cells find in their folder, by name.
        """
        seed = stable_int(self.seed, "python", owner.question_id, str(owner.sample)) >> 32
        python = PythonTool(
            self.sandbox,
            [self.image_root / path for path in images],
            run_dir=self.run_dir,
            max_chars=self.max_chars,
            seed=seed,
            files=files,
        )
        return ToolSession(self, owner, python)

    def layers(self) -> dict[str, str]:
        """The sandbox's active layers, for manifest and records."""
        return self.sandbox.layers()

    async def close(self) -> None:
        """End all sessions and connections."""
        await self.sandbox.close()
        await self.opener.close()
        await self.search.close()


class ToolSession:
    """The tools as one trajectory sees them; never shared, never reused."""

    def __init__(self, toolbox: Toolbox, owner: Owner, python: PythonTool) -> None:
        self._toolbox, self._owner, self._python = toolbox, owner, python

    async def call(self, call: ToolCall, *, made: int = 0) -> ToolResult:
        """Run one call; ``made``: searches of this conversation before it. A model's mistake is an answer with status
        ``model_error``. Raises Stopped when the run must stop, TirError when a question picture is missing.
        """
        try:
            argument(call)
        except BadCall as bad:
            return refusal(call, bad)
        if call.name == "python":
            return await self._python.call(call)
        if call.name == "open":
            return await self._toolbox.opener.call(call)
        result = await self._toolbox.search.call(self._owner, call, made=made)
        content, cut = for_model(result.content, self._toolbox.max_chars)
        return dataclasses.replace(result, content=content, meta={**result.meta, "truncated": cut})

    async def close(self) -> None:
        """End the python session. May be called again."""
        await self._python.close()

"""Where the official chat template comes from. Its text is third party (Apache-2.0), so it is pinned, not copied.

Looked for in this order: a folder given by the user; ``TIR_TEMPLATE_DIR``; a ``trl`` package that is installed;
``.cache/chat_template`` below the project, which ``scripts/fetch_template.py`` fills from the pinned wheel.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
from dataclasses import dataclass, replace
from pathlib import Path

import orjson

from ..records import TirError

ROOT = Path(__file__).resolve().parents[3]
PIN = ROOT / "resources" / "chat_template" / "qwen3_5_think.jinja.sha256"
CACHE = ROOT / ".cache" / "chat_template"
FETCH = "python scripts/fetch_template.py"


@dataclass(frozen=True, slots=True)
class TemplateSource:
    """The text of a chat template and where it was found."""

    text: str
    sha256: str
    origin: str
    trusted: bool = False
    """It is the pinned file, byte for byte: it may run outside jinja's sandbox, which halves the time."""


def pinned() -> tuple[str, str]:
    """File name and sha256 of the template that the project was checked with."""
    sha256, name = PIN.read_text(encoding="ascii").split()
    return name, sha256


def find_template(template_dir: Path | None = None) -> TemplateSource:
    """The template to render with. Raises TirError that says how to get it when there is none, or a wrong one."""
    name, sha256 = pinned()
    if template_dir is not None:
        own = _of_folder(template_dir)
        return replace(own, trusted=own.sha256 == sha256)
    wrong: list[str] = []
    for path in _candidates(name):
        if not path.is_file():
            continue
        found = _source(path.read_bytes(), str(path))
        if found.sha256 == sha256:
            return replace(found, trusted=True)
        wrong.append(f"{path} (sha256 {found.sha256})")
    if wrong:
        raise TirError(
            f"chat template differs from the pinned one (sha256 {sha256}): {', '.join(wrong)}; run `{FETCH}`"
        )
    raise TirError(f"the official chat template is not here; run `{FETCH}` once, or name a tokenizer folder")


def _candidates(name: str) -> list[Path]:
    folders = [Path(os.environ["TIR_TEMPLATE_DIR"])] if os.environ.get("TIR_TEMPLATE_DIR") else []
    spec = importlib.util.find_spec("trl")  # looks it up without importing it: trl itself would pull in torch
    if spec is not None and spec.submodule_search_locations:
        folders += [Path(place) / "chat_templates" for place in spec.submodule_search_locations]
    return [folder / name for folder in [*folders, CACHE]]


def _of_folder(folder: Path) -> TemplateSource:
    """``chat_template.jinja``, or ``chat_template`` in ``tokenizer_config.json``, of a tokenizer folder."""
    path = folder / "chat_template.jinja"
    if path.is_file():
        return _source(path.read_bytes(), str(path))
    config = folder / "tokenizer_config.json"
    if config.is_file():
        text = orjson.loads(config.read_bytes()).get("chat_template")
        if isinstance(text, str):
            return _source(text.encode(), f"{config} (chat_template)")
    raise TirError(f"{folder}: no chat_template.jinja and no chat_template in tokenizer_config.json")


def _source(data: bytes, origin: str) -> TemplateSource:
    return TemplateSource(text=data.decode("utf-8"), sha256=hashlib.sha256(data).hexdigest(), origin=origin)

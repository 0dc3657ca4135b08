"""What a teacher's site needs besides the data: commands, package, resources, lock files, configuration.

Taken from the tree that builds the hand-over, so the site runs this very revision. The configuration is the one the
hand-over was built with, less what belongs to the machine that built it (folders, mirror, runs, shards, servers).
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

from ..records.errors import TirError
from ..records.jsonl import atomic_writer

FOLDERS = ("scripts", "resources", "envs")
SKIPPED_SUFFIXES = (".pyc", ".pyo")
EXECUTABLE = 0o755
PLAIN = 0o644

IGNORED = """\
.env
.venv/
out/
results/
__pycache__/
*.pyc
"""

ENV_EXAMPLE = """\
# Copy to .env and fill in. Keys live here or in the environment, never in a script or a configuration file.
TEACHER_URL=http://127.0.0.1:8000/v1
TEACHER_MODEL=
TEACHER_API_KEY=
SERPER_API_KEY=
JUDGE_API_KEY=
"""

CONFIG_HEAD = """\
# The configuration that this hand-over was built with; every key is explained in README.md beside it.
# Endpoints and keys come from the environment or from .env in the folder above.
"""


def shipped_files(root: Path) -> Iterator[Path]:
    """Files of the tree that travel, relative to it, in order. Raises TirError when a folder is missing."""
    for folder in FOLDERS:
        if not (root / folder).is_dir():
            raise TirError(f"{root / folder}: no such folder; --scripts-root must be a checkout of this project")
        for path in sorted((root / folder).rglob("*")):
            relative = path.relative_to(root)
            hidden = any(part.startswith(".") or part == "__pycache__" for part in relative.parts)
            if path.is_file() and not hidden and path.suffix not in SKIPPED_SUFFIXES:
                yield relative


def site_config(config: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """The configuration for another machine: this one's folders, mirror, runs and servers replaced by the defaults.

    So are the numbers of shards: they say how this machine cuts its work, and a site runs unsharded.
    """
    out = deepcopy(dict(config))
    for key in ("paths", "runs", "demo"):
        out[key] = deepcopy(defaults[key])
    for name, entry in out["buckets"].items():
        entry["shards"] = defaults["buckets"].get(name, entry)["shards"]
    out["sources"]["mirror"] = None
    out["ledger"]["url"] = None
    out["tokens"]["template_dir"] = None
    out["legacy"] = {}
    return out


def ship(root: Path, config: Mapping[str, Any], out: Path) -> list[str]:
    """Copy the tree into the hand-over, whole folders replaced; returns the paths written, in order."""
    import yaml

    written = []
    for folder in (*FOLDERS, "config"):
        shutil.rmtree(out / folder, ignore_errors=True)
    for relative in shipped_files(root):
        _put(out / relative, (root / relative).read_bytes())
        written.append(relative.as_posix())
    defaults = yaml.safe_load((root / "config" / "config.yaml").read_text(encoding="utf-8"))
    text = yaml.safe_dump(site_config(config, defaults), sort_keys=False, allow_unicode=True, width=120)
    texts = {
        "config/config.yaml": (CONFIG_HEAD + text).encode(),
        "config/README.md": (root / "config" / "README.md").read_bytes(),
        ".gitignore": IGNORED.encode(),
        ".env.example": ENV_EXAMPLE.encode(),
    }
    for name, data in texts.items():
        _put(out / name, data)
    return [*written, *texts]


def _put(path: Path, data: bytes) -> None:
    """Write a file; what starts with ``#!`` is executable, whatever the source's mode or the umask."""
    with atomic_writer(path) as handle:
        handle.write(data)
    path.chmod(EXECUTABLE if data.startswith(b"#!") else PLAIN)

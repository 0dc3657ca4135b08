"""A mix made ready for the hub: rows and pictures in one folder that needs no other, checked before anything leaves.

Pictures are stored by their content and rows point to them there, so the folder holds no path of this machine. What
was written is described anew (``describe_files``): the sha256 of the rows are those of the folder.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from ...records import TirError, UsageError, atomic_writer, dumps, file_sha256, read_json, read_jsonl, write_json
from ...records.private import refuse_private
from .card import card
from .croissant import croissant
from .write import write_parquet

ROWS = ("train.jsonl", "validation.jsonl")
STAGED = ".staged"
"""Marks a folder that was written here, and that nothing else is kept in."""
TEXTS = (*ROWS, "MIX.json", "README.md", "croissant.json")


class Hub(Protocol):
    """What is used of ``huggingface_hub.HfApi``."""

    def create_repo(self, repo_id: str, *, repo_type: str, private: bool, exist_ok: bool) -> Any: ...
    def upload_folder(
        self, *, repo_id: str, repo_type: str, folder_path: str, commit_message: str, ignore_patterns: list[str]
    ) -> Any: ...


def check_mix(
    folder: Path, image_root: Path, *, leaks: Callable[[bytes], Iterable[str]], allow: Sequence[str] = ()
) -> dict[str, Any]:
    """MIX.json of a mix that may leave. ``allow``: licences that forbid, or do not grant, commercial use and may go.

    ``leaks`` says in words what of a line looks like a key. Raises TirError for such a line, for changed files and for
    anything from a folder marked private, UsageError for such a licence.
    """
    refuse_private([folder])
    document: dict[str, Any] = read_json(folder / "MIX.json")
    for name, entry in document["files"].items():
        if file_sha256(folder / name) != entry["sha256"]:
            raise TirError(f"{folder / name}: differs from what MIX.json says; build the mix again")
    closed = sorted({entry["licence"] for entry in document["licences"] if not entry["commercial_use"]})
    surprises = [licence for licence in closed if licence not in allow]
    if surprises:
        flags = " ".join(f"--allow {licence!r}" for licence in surprises)
        raise UsageError(
            f"mix {document['name']}: rows under {surprises}, which forbid, or do not grant, commercial use; leave "
            f"them out (mixes.{document['name']}.non_commercial: false), or say that they may go: {flags}"
        )
    refuse_private({(image_root / path).parent: image_root / path for path in _pictures(folder)}.values())
    for name in TEXTS:
        with (folder / name).open("rb") as handle:
            for number, line in enumerate(handle, start=1):
                for words in leaks(line):
                    raise TirError(f"{folder / name}:{number}: {words}; take the row out and build the mix again")
    return document


def _pictures(folder: Path) -> set[str]:
    return {path for name in ROWS for row in read_jsonl(folder / name) for path in row["images"]}


def stage_mix(folder: Path, image_root: Path, target: Path, context: Mapping[str, Any]) -> dict[str, Any]:
    """Write the self-contained folder and return its MIX.json. ``context``: see ``croissant``.

    A folder that was staged before is made anew; raises UsageError for a folder with anything else in it.
    """
    ours, theirs = folder.resolve(), target.resolve()
    if ours.is_relative_to(theirs) or theirs.is_relative_to(ours):
        raise UsageError(f"{target}: is the mix itself, or one lies in the other; name a new folder")
    if target.exists() and any(target.iterdir()):
        if not (target / STAGED).is_file():
            raise UsageError(f"{target}: holds other files; name a new folder")
        shutil.rmtree(target)
    target.mkdir(parents=True, exist_ok=True)
    (target / STAGED).write_text(f"Made by push_mix.py from the mix {folder.name}; it may replace this folder.\n")
    document: dict[str, Any] = read_json(folder / "MIX.json")
    known: dict[str, str] = {}

    def place(path: str) -> str:
        if path not in known:
            source = image_root / path
            data = source.read_bytes()
            sha256 = hashlib.sha256(data).hexdigest()
            known[path] = f"images/{sha256[:2]}/{sha256}{source.suffix.lower()}"
            copy = target / known[path]
            copy.parent.mkdir(parents=True, exist_ok=True)
            if not copy.exists():
                shutil.copyfile(source, copy)
        return known[path]

    for name in ROWS:
        with atomic_writer(target / name) as handle:
            for row in read_jsonl(folder / name):
                handle.write(dumps(row | {"images": [place(path) for path in row["images"]]}) + b"\n")
    write_parquet(target / "train.jsonl", target / "train.parquet")
    document["files"] = describe_files(target, document["files"])
    document.pop("dropped_examples", None)  # ids and texts of rows that were left out stay here
    write_json(target / "MIX.json", document)
    write_descriptions(document, target, context)
    return document


def describe_files(folder: Path, names: Mapping[str, Any] | Sequence[str]) -> dict[str, dict[str, Any]]:
    """Size and sha256 of each file."""
    return {n: {"bytes": (folder / n).stat().st_size, "sha256": file_sha256(folder / n)} for n in names}


def write_descriptions(document: Mapping[str, Any], folder: Path, context: Mapping[str, Any]) -> None:
    """README.md and croissant.json beside the rows."""
    (folder / "README.md").write_text(card(document), encoding="utf-8")
    write_json(folder / "croissant.json", croissant(document, context))


def push(folder: Path, repo: str, hub: Hub, *, private: bool, say: Callable[[str], None]) -> None:
    """Upload a staged folder. The repository is made private unless asked for otherwise."""
    hub.create_repo(repo, repo_type="dataset", private=private, exist_ok=True)
    digest = read_json(folder / "MIX.json")["files"]["train.jsonl"]["sha256"]
    message = f"Mix {folder.name}, train.jsonl {digest[:12]}"
    hub.upload_folder(
        repo_id=repo, repo_type="dataset", folder_path=str(folder), commit_message=message, ignore_patterns=[STAGED]
    )
    say(f"{repo}: uploaded ({'private' if private else 'public'})")

"""A short entry per row, so that a mix is decided without holding its rows: they are read again by their place."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, Protocol

import orjson

from ...records import BadRow
from ..lineage import LINEAGE_KEYS
from ..render import IMAGE_TAG
from ..rows import ROW_KEYS
from .settings import Part

ROLES = ("system", "user", "assistant", "tool")
LONGEST_PATH = 1024
"""Characters of a picture's path; a data URI is no path."""
MESSAGE_KEYS = ("role", "content", "tool_calls", "tool_call_id", "turn", "loss", "name")
TEXT_KEYS = ("id", "source", "bucket", "task_type", "teacher", "judge_model", "answer", "licence")


class TextPrintLike(Protocol):
    """What the text rules give for a question: ``sources.TextPrint``, handed in by the command."""

    @property
    def text_key(self) -> str: ...
    @property
    def shingles(self) -> tuple[int, ...]: ...


class Look(Protocol):
    """What a picture looks like, decoded once by the command."""

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels."""

    @property
    def phash(self) -> str:
        """Perceptual hash, 16 hex digits."""

    @property
    def flat(self) -> bool:
        """Whether it has no contrast, so that the hash says nothing."""

    @property
    def print(self) -> Print | None:
        """For comparing with other pictures; None for a flat one."""


@dataclass(frozen=True, slots=True)
class Print:
    """A picture for comparing: other encodings and sizes of it differ a little in both."""

    phash: int
    thumbnail: bytes
    """Grey levels in rows."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One row that may join the mix."""

    part: int
    offset: int
    length: int
    """Place of the row's line in its file, in bytes."""
    digest: str
    """Hash of the line: tells rows apart that call themselves alike."""
    id: str
    source: str
    bucket: str
    licence: str
    text_key: str
    """Hash of the normalised question: equal questions share it."""
    shingles: tuple[int, ...]
    pictures: tuple[str, ...]
    """sha256 of each picture of the user message."""
    prints: tuple[Print | None, ...]
    """Of each; None for one without contrast, of which a perceptual hash says nothing."""
    tokens: int


@dataclass
class Drops:
    """Rows that stay out, by part and reason."""

    counts: dict[str, Counter[str]] = field(default_factory=dict)
    examples: list[dict[str, str]] = field(default_factory=list)

    def add(self, part: str, row_id: str, reason: str, detail: str = "") -> None:
        self.counts.setdefault(part, Counter())[reason] += 1
        if len(self.examples) < 200:
            self.examples.append({"part": part, "id": row_id, "reason": reason, "detail": detail})

    def in_words(self, part: str) -> str:
        """``2 duplicate, 1 too_long``; ``no rows`` for a part that had none."""
        counts = self.counts.get(part, Counter())
        return ", ".join(f"{count} {reason}" for reason, count in sorted(counts.items())) or "no rows"

    def to_dict(self) -> dict[str, dict[str, int]]:
        return {part: dict(sorted(counts.items())) for part, counts in sorted(self.counts.items())}


def conform(row: Mapping[str, Any], part: str) -> dict[str, Any]:
    """A row with exactly the keys and types that every row of a mix has.

    Other ms-swift files lack some keys: those are filled. Raises BadRow when the row cannot be brought to the shape.
    """
    messages, images, tools = row.get("messages"), row.get("images") or [], row.get("tools")
    if not isinstance(messages, list) or not messages or not all(isinstance(m, dict) for m in messages):
        raise BadRow("no_messages", "messages must be a list of objects")
    if any(not isinstance(message.get("content"), str) for message in messages):
        raise BadRow("content_not_text", "every content must be text; pictures stand in images")
    if not isinstance(images, list) or not all(isinstance(path, str) for path in images):
        raise BadRow("images_not_paths", "images must be a list of paths")
    for message in messages:
        for call in message.get("tool_calls") or ():
            if not isinstance(call.get("function", {}).get("arguments"), str):
                raise BadRow("arguments_not_text", "tool call arguments must be JSON text")
    if any(message.get("role") not in ROLES for message in messages):
        raise BadRow("unknown_role", f"every role must be one of {', '.join(ROLES)}")
    if not isinstance(tools, str):
        tools = orjson.dumps(tools or []).decode()
    tools = tools.strip() or "[]"  # ms-swift takes an empty text for no tools
    values: dict[str, Any] = {
        **{key: str(row.get(key) or "") for key in TEXT_KEYS},
        "messages": [_message(message) for message in messages],
        "images": images,
        "tools": tools,
        "n_samples": _count(row.get("n_samples") or 1),
        "has_self_search": bool(row.get("has_self_search")),
        "has_image_code": bool(row.get("has_image_code")),
        "lineage": _lineage(row.get("lineage")),
    }
    values["source"] = values["source"] or part
    values["bucket"] = values["bucket"] or part
    values["licence"] = values["licence"] or "not stated"
    if not values["id"]:
        values["id"] = f"{part}_{hashlib.sha256(orjson.dumps(messages)).hexdigest()[:16]}"
    return {key: values[key] for key in ROW_KEYS} | {"part": part}


def _message(message: Mapping[str, Any]) -> dict[str, Any]:
    """A message with the keys that rows may have, each of one type: readers take a key's type from the first row."""
    kept = {key: message[key] for key in MESSAGE_KEYS if message.get(key) is not None}
    if kept.get("loss", True) not in (0, 1):
        raise BadRow("bad_loss", f"loss is {kept['loss']!r}; expected true or false")
    for key, kind in (("turn", int), ("loss", bool), ("name", str), ("tool_call_id", str)):
        if key in kept:
            kept[key] = kind(kept[key])
    return kept


def _count(value: Any) -> int:
    count = int(value)
    if not 0 < count < 1 << 31:
        raise BadRow("bad_count", f"n_samples is {value}")
    return count


def _lineage(value: Any) -> dict[str, Any]:
    """All keys, so that the column has one type; empty texts where a file of another origin says nothing."""
    given = value if isinstance(value, Mapping) else {}
    kept: dict[str, Any] = {key: str(given.get(key, "")) for key in LINEAGE_KEYS}
    kept["sample_index"] = int(given.get("sample_index") or 0)
    return kept


def question_of(row: Mapping[str, Any]) -> str:
    """The user's text without picture tags."""
    return next((str(m["content"]) for m in row["messages"] if m["role"] == "user"), "").replace(IMAGE_TAG, "")


def read_part(
    number: int,
    part: Part,
    drops: Drops,
    *,
    text_print: Callable[[str], TextPrintLike],
    count_tokens: Callable[[Mapping[str, Any], Sequence[tuple[int, int]]], int],
    look: Callable[[Path], Look],
    evaluation_match: Callable[[str, Sequence[Look]], str | None],
    check: Callable[[Mapping[str, Any]], None],
    max_length: int,
) -> Iterator[Entry]:
    """Entries of the usable rows of one file; the others are counted in ``drops``.

    ``count_tokens`` takes a row and the sizes of its pictures. ``look`` raises BadRow for a picture that cannot be
    used. ``evaluation_match`` says which evaluation item a text with these pictures is, or None. ``check`` raises
    BadRow for a row that must not be trained on.
    """
    hashes: dict[str, str] = {}
    offset = 0
    with part.path.open("rb") as handle:
        for line in handle:
            place, offset = offset, offset + len(line)
            if not line.strip():
                continue
            name = f"byte {place}"
            try:
                raw = orjson.loads(line)
                name = str(raw.get("id", name))
                row = conform(raw, part.name)
                name = row["id"]
                files = _pictures(row, part)
                looks = [look(path) for path in files]
                asked = _user_pictures(row)
                text = question_of(row)
                for later in (m["content"].replace(IMAGE_TAG, "") for m in row["messages"] if m["role"] == "user"):
                    if match := evaluation_match(later, looks[:asked]):  # files of other origin ask more than once
                        raise BadRow("evaluation_item", match)
                for shown in looks[asked:]:  # by a tool
                    if match := evaluation_match("", [shown]):
                        raise BadRow("evaluation_item", match)
                check(row)
                tokens = count_tokens(row, [seen.size for seen in looks])
                if tokens > max_length:
                    raise BadRow("too_long", f"{tokens} tokens")
            except BadRow as error:
                drops.add(part.name, name, error.reason, error.detail)
                continue
            except (orjson.JSONDecodeError, AttributeError) as error:
                drops.add(part.name, name, "bad_json", str(error))
                continue
            except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
                # a row of yet another shape must not end a mix of thousands; its words are kept
                drops.add(part.name, name, "unreadable_row", f"{type(error).__name__}: {error}")
                continue
            found = text_print(text)
            yield Entry(
                part=number,
                offset=place,
                length=len(line),
                digest=hashlib.sha256(line.strip()).hexdigest()[:16],
                id=row["id"],
                source=row["source"],
                bucket=row["bucket"],
                licence=row["licence"],
                text_key=found.text_key,
                shingles=found.shingles,
                pictures=tuple(_sha256(path, hashes) for path in files[:asked]),
                prints=tuple(seen.print for seen in looks[:asked]),
                tokens=tokens,
            )


def _user_pictures(row: Mapping[str, Any]) -> int:
    return sum(str(m["content"]).count(IMAGE_TAG) for m in row["messages"] if m["role"] == "user")


def _pictures(row: Mapping[str, Any], part: Part) -> list[Path]:
    tags = sum(message["content"].count(IMAGE_TAG) for message in row["messages"])
    if tags != len(row["images"]):
        raise BadRow("picture_count", f"{tags} <image> tags but {len(row['images'])} pictures")
    for path in row["images"]:
        place = PurePosixPath(path)
        if place.is_absolute() or ".." in place.parts or len(path) > LONGEST_PATH or "\x00" in path:
            raise BadRow("picture_path", f"{path[:80]!r}: expected a path inside the part's picture folder")
    return [part.row_root / path for path in row["images"]]


def _sha256(path: Path, known: dict[str, str]) -> str:
    key = str(path)
    if key not in known:
        with path.open("rb") as handle:
            known[key] = hashlib.file_digest(handle, "sha256").hexdigest()
    return known[key]

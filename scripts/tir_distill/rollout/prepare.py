"""Questions made ready for sampling: pictures checked and hashed, limits and fingerprint worked out."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import __version__
from ..records import BadRow, Question, TirError, digest, opening, text_digest
from ..teacher import Transcript, picture_type
from .fingerprint import fingerprint
from .loop import Setting
from .ports import ChoosesTeacher
from .prompt import system_for
from .sampler import Prepared
from .settings import Limits, PlanSettings

MAX_PIXELS = 100_000_000
"""Pictures above this are refused: no teacher takes them, and opening one may take the machine's memory."""


@dataclass(frozen=True, slots=True)
class Pictures:
    """The two places of pictures: a question's own under the hand-over, a tool's under the run."""

    image_root: Path
    run_dir: Path

    def read(self, path: str) -> bytes:
        """Bytes of a picture named in a message. Raises BadRow when it is missing or outside its folder."""
        root = self.run_dir if path.startswith("tool_images/") else self.image_root
        file = (root / path).resolve()
        if not file.is_relative_to(root.resolve()):
            raise BadRow("bad_picture", f"{path} lies outside {root}")
        try:
            return file.read_bytes()
        except OSError as error:
            raise BadRow("bad_picture", f"{file}: {error.strerror}") from None


def look_at(data: bytes, path: str) -> tuple[int, int]:
    """Width and height from a picture's header. Raises BadRow for what no teacher takes or is too large."""
    import io

    from PIL import Image, UnidentifiedImageError

    try:
        picture_type(data)
        with Image.open(io.BytesIO(data)) as picture:
            width, height = picture.size
    except (TirError, UnidentifiedImageError, OSError, Image.DecompressionBombError, ValueError) as error:
        raise BadRow("bad_picture", f"{path}: {error}"[:200]) from None
    if width * height > MAX_PIXELS:
        raise BadRow("bad_picture", f"{path}: {width}x{height} pixels, at most {MAX_PIXELS} are taken")
    return width, height


@dataclass(frozen=True, slots=True)
class Preparation:
    """Ready questions in the order given, and those that cannot be sampled at all."""

    ready: tuple[Prepared, ...]
    bad: Mapping[str, BadRow]
    """Question id -> why."""


def prepare(
    questions: Iterable[Question],
    *,
    config: Mapping[str, Any],
    pictures: Pictures,
    tools: Sequence[Mapping[str, Any]],
    teacher_for: ChoosesTeacher,
    layers: Mapping[str, str],
) -> Preparation:
    """Check and hash every question's pictures. A question with a bad one is set aside and stops nothing."""
    text_protocol = config["sampling"]["text_protocol"]
    system = system_for(tools, text_protocol=text_protocol)
    version = config["sampling"]["protocol_version"]
    versions = {
        "package": __version__,
        "prompt": text_digest(system)[:16],
        "tools": digest([dict(tool) for tool in tools])[:16],
        "protocol": str(version),
        "config": digest({key: config[key] for key in ("sampling", "plan", "search", "filters")})[:16],
        **{f"sandbox_{key}": value for key, value in layers.items()},
    }
    ready: list[Prepared] = []
    bad: dict[str, BadRow] = {}
    for question in questions:
        hashes, sizes = [], []
        try:
            for path in question.images:
                data = pictures.read(path)
                hashes.append(hashlib.sha256(data).hexdigest())
                sizes.append(look_at(data, path))
        except BadRow as error:
            bad[question.id] = error
            continue
        teacher = teacher_for(question)
        limits = Limits.from_config(config, question.task_type)
        ready.append(
            Prepared(
                question=question,
                setting=Setting(question=question, tools=tools, limits=limits, version=version),
                plan=PlanSettings.from_config(config, question.task_type),
                fingerprint=fingerprint(
                    question,
                    image_hashes=hashes,
                    system=system,
                    tools=tools,
                    teacher=teacher.model,
                    limits=limits,
                    config=config,
                ),
                system=system,
                teacher=teacher,
                opening=_opener(question, system, pictures, text_protocol),
                image_sizes=tuple(sizes),
                versions=versions,
            )
        )
    return Preparation(ready=tuple(ready), bad=bad)


def _opener(question: Question, system: str, pictures: Pictures, text_protocol: bool) -> Callable[[], Transcript]:
    def make() -> Transcript:
        messages = opening(system, question.question, question.images)
        return Transcript.of(messages, pictures.read, text_protocol=text_protocol)

    return make

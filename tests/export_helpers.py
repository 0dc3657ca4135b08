"""Samples and rows for the tests of export and audit: small, complete, and varied only by a seed."""

from __future__ import annotations

import hashlib
import io
import random
from pathlib import Path
from typing import Any

import orjson
from PIL import Image

from tir_distill.export import ExportSettings, PicturePlaces, to_row
from tir_distill.records import Picture, Question, ToolCall, ToolResult, Trajectory, Turn, Verdict

TOOLS: tuple[dict[str, Any], ...] = tuple(
    {
        "type": "function",
        "function": {
            "name": name,
            "description": text,
            "parameters": {"type": "object", "properties": {parameter: {"type": "string"}}, "required": [parameter]},
        },
    }
    for name, parameter, text in (
        ("search", "query", "Search the web."),
        ("open", "url", "Read a page."),
        ("python", "code", "Run code."),
    )
)
SYSTEM = "You answer questions with the help of tools."
SETTINGS = ExportSettings(
    licences={"fvqa_train": "Apache-2.0", "evobrowsecomp": "CC-BY-NC-SA-4.0", "chartqa_human": "GPL-3.0"},
    template_dir=None,
    config_hash="c" * 64,
)
TASKS = {"fvqa_train": "image_search", "evobrowsecomp": "text_search", "chartqa_human": "image_reasoning"}

LATIN = "the river crosses border near town where bridge was opened in 1932 by mayor and photograph shows stone arches"
OTHERS = "桥 建 于 一九三二年 城市 图片 显示 数字 answer compare sources date museum catalogue entry café naïve Ω 😀 🇮🇳"
WORDS = [*LATIN.split(), *OTHERS.split()]


def prose(rng: random.Random, words: int) -> str:
    """Seeded words with odd white space now and then."""
    parts = []
    for _ in range(words):
        parts.append(rng.choice(WORDS))
        parts.append(rng.choice([" ", " ", " ", " ", "\n", "  ", "\t", "\n\n", "\u3000", "\u2028"]))
    return "".join(parts).strip()


def picture(folder: Path, seed: int, size: tuple[int, int] = (64, 48)) -> Picture:
    """A seeded PNG stored by its hash under ``folder/tool_images``."""
    rng = random.Random(seed)
    image = Image.frombytes("RGB", (8, 6), rng.randbytes(8 * 6 * 3)).resize(size, Image.Resampling.BICUBIC)
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    data = buffer.getvalue()
    sha256 = hashlib.sha256(data).hexdigest()
    (folder / "tool_images").mkdir(parents=True, exist_ok=True)
    (folder / "tool_images" / f"{sha256}.png").write_bytes(data)
    return Picture(path=f"tool_images/{sha256}.png", sha256=sha256, width=size[0], height=size[1])


def question(root: Path, number: int, bucket: str = "fvqa_train") -> Question:
    """A question whose picture, if its task has one, is written to ``root/handover``."""
    images: tuple[str, ...] = ()
    if TASKS[bucket] != "text_search":
        stored = picture(root / "spare", 10_000 + number)
        images = (f"images/{bucket}/{bucket}_{number}.png",)
        target = root / "handover" / images[0]
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((root / "spare" / stored.path).read_bytes())
    rng = random.Random(number)
    return Question(
        id=f"{bucket}_{number}",
        source=bucket,
        bucket=bucket,
        priority="P0",
        phase="pilot",
        task_type=TASKS[bucket],
        question=f"Number {number}: {prose(rng, 12)}?",
        answer="Mumbai",
        images=images,
    )


def call(turn: int, position: int, name: str, **arguments: Any) -> ToolCall:
    return ToolCall(id=f"call_{turn}_{position}", name=name, arguments=orjson.dumps(arguments).decode())


def trajectory(root: Path, number: int, bucket: str = "fvqa_train", *, turns: int | None = None) -> Trajectory:
    """A correct sample: calls of one to three a turn (two searches at least), pictures from python, then an answer."""
    rng = random.Random(f"{bucket} {number}")
    count = rng.randint(1, 4) if turns is None else turns
    made: list[Turn] = []
    for index in range(count):
        searches = [call(index, position, "search", query=prose(rng, 4)) for position in range(1 if index else 2)]
        results = [
            ToolResult(call_id=c.id, name="search", status="ok", content=f"1. {prose(rng, 30)}") for c in searches
        ]
        if rng.random() < 0.4 and bucket != "evobrowsecomp":
            code = call(index, len(searches), "python", code=f"img = image_1.crop((0, 0, {number}, 9))\nimg")
            shown = picture(root / "run", number * 10 + index)
            searches.append(code)
            results.append(
                ToolResult(call_id=code.id, name="python", status="ok", content=prose(rng, 3), images=(shown,))
            )
        visible = prose(rng, 5) if rng.random() < 0.3 else ""
        made.append(
            Turn(index=index, thinking=prose(rng, 120), content=visible, calls=tuple(searches), results=tuple(results))
        )
    made.append(Turn(index=count, thinking=prose(rng, 60), content=f"{prose(rng, 6)}\n\n<answer>Mumbai</answer>"))
    return Trajectory(
        question=question(root, number, bucket),
        sample_index=number % 4,
        fingerprint=hashlib.sha256(f"{bucket}{number}".encode()).hexdigest(),
        seed=number,
        teacher="qwen3.5-27b",
        protocol="native",
        system=SYSTEM,
        tools=TOOLS,
        turns=tuple(made),
        stop="answer",
        answer="Mumbai",
        verdict=Verdict(correct=True, path="exact"),
        accepted=True,
        filter_hash="f" * 64,
        versions={"protocol": "1", "package": "0.1.0"},
    )


def places(root: Path) -> PicturePlaces:
    for name in ("handover", "run"):
        (root / name).mkdir(parents=True, exist_ok=True)
    return PicturePlaces(image_root=root / "handover", run_dir=root / "run", row_root=root)


def row(root: Path, number: int, bucket: str = "fvqa_train", **options: Any) -> dict[str, Any]:
    made = trajectory(root, number, bucket, **options)
    return to_row(made, places=places(root), settings=SETTINGS, n_samples=2)

"""Draw the demo's evaluation sets, some of whose items are also in the training sources."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from PIL import Image

from .ciphers import canary_cipher
from .forms import encode, flat_white, truncated
from .scenes import draw_scene
from .upstream import fvqa_schema, text_schema, write_bytes, write_lines, write_parquet

CANARY = "mmbrowsecomp:demo-7d1f6c0e"
IMAGE_URL = "https://raw.githubusercontent.com/MMBrowseComp/MM-BrowseComp/refs/heads/main/MMBC_images/"


def draw_evaluation(
    out: Path, seed: int, sets: Mapping[str, Sequence[Mapping[str, Any]]], known: Mapping[str, Image.Image]
) -> None:
    """Write SimpleVQA, FVQA test, GAIA and MMBrowseComp. ``known``: pictures of the training rows, by name."""
    _simplevqa(out, seed, sets["simplevqa"], known)
    _fvqa_test(out, seed, sets["fvqa_test"], known)
    _gaia(out, seed, sets["gaia"])
    _mmbrowsecomp(out, seed, sets["mmbrowsecomp"], known)


def _picture(item: Mapping[str, Any], seed: int, known: Mapping[str, Image.Image]) -> bytes:
    """The item's picture; one that is also in the training data is stored anew, with other bytes."""
    if item.get("picture") == "flat_white":
        return flat_white()
    if item.get("picture") == "undecodable":
        return truncated(encode(draw_scene("chapel", 999, seed), "jpeg"))
    if "picture_of" in item:
        return encode(known[item["picture_of"]], "jpeg_again")
    return encode(draw_scene(item["scene"], item["plate"], seed))


def _simplevqa(out: Path, seed: int, items: Sequence[Mapping[str, Any]], known: Mapping[str, Image.Image]) -> None:
    import pyarrow as pa

    names = ["image", "image_description", "language", "question", "answer", "original_category", "source"]
    names += ["atomic_question", "atomic_fact", "vqa_category"]
    rows = []
    for item in items:
        row: dict[str, Any] = dict.fromkeys(names, "")
        row |= {key: item[key] for key in ("language", "question", "answer")}
        row |= {"data_id": item["id"], "source": "demo", "vqa_category": "demo"}
        row["image"] = base64.b64encode(_picture(item, seed, known)).decode()
        rows.append(row)
    schema = pa.schema([("data_id", pa.int64()), *((name, pa.string()) for name in names)])
    write_parquet(out / "m-a-p" / "SimpleVQA" / "data" / "test-00000-of-00001.parquet", rows, schema)


def _fvqa_test(out: Path, seed: int, items: Sequence[Mapping[str, Any]], known: Mapping[str, Image.Image]) -> None:
    rows = [
        {
            "prompt": [{"content": item["question"], "role": "user"}],
            "images": [{"bytes": _picture(item, seed, known), "path": None}],
            "reward_model": {"candidate_answers": "[]", "ground_truth": item["answer"], "style": "rule"},
            "data_source": "mmsearch_r1/fvqa_test",
            "image_urls": None,
            "data_id": f"fvqa_test_{index}",
        }
        for index, item in enumerate(items)
    ]
    write_parquet(out / "lmms-lab" / "FVQA" / "fvqa_test.parquet", rows, fvqa_schema(with_category=False))


def _gaia(out: Path, seed: int, items: Sequence[Mapping[str, Any]]) -> None:
    import pyarrow as pa

    folder = out / "gaia-benchmark" / "GAIA" / "2023" / "validation"
    notes = ("Steps", "Number of steps", "How long did this take?", "Tools", "Number of tools")
    rows = []
    for item in items:
        name = ""
        if "file" in item:
            name = f"{item['id']}.png"
            write_bytes(folder / name, encode(draw_scene(item["file"]["scene"], item["file"]["plate"], seed)))
        rows.append(
            {
                "task_id": item["id"],
                "Question": item["question"],
                "Level": item["level"],
                "Final answer": item["answer"],
                "file_name": name,
                "file_path": f"2023/validation/{name}" if name else "",
                "Annotator Metadata": dict.fromkeys(notes, "1"),
            }
        )
    plain = text_schema("task_id", "Question", "Level", "Final answer", "file_name", "file_path")
    schema = plain.append(pa.field("Annotator Metadata", pa.struct([(name, pa.string()) for name in notes])))
    write_parquet(folder / "metadata.parquet", rows, schema)


def _mmbrowsecomp(out: Path, seed: int, items: Sequence[Mapping[str, Any]], known: Mapping[str, Image.Image]) -> None:
    folder = out / "mmbrowsecomp" / "MMBrowseComp"
    rows = []
    for item in items:
        images = []
        if "scene" in item or "picture_of" in item:
            kind = "jpg" if "picture_of" in item else "png"
            images = [f"{IMAGE_URL}{item['id']}.{kind}"]
            write_bytes(folder / "MMBC_images" / f"{item['id']}.{kind}", _picture(item, seed, known))
        rows.append(
            {
                "id": item["id"],
                "images": images,
                "question": canary_cipher(item["question"], CANARY),
                "answer": canary_cipher(item["answer"], CANARY),
                "checklist": [canary_cipher("Find the page.", CANARY), canary_cipher("Read the line.", CANARY)],
                "checklist_property": "1,0",
                "source": ["https://atlas.example/"],
                "category": "Demo",
                "subtask": "Demo",
                "level": item["level"],
                "canary": CANARY,
            }
        )
    write_lines(folder / "data" / "MMBrowseComp.jsonl", rows)

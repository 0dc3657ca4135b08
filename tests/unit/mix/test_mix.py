from __future__ import annotations

import itertools
import json
import random
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageDraw

from legacy_helpers import png
from tir_distill.config import load
from tir_distill.export.mix import (
    Drops,
    MixSettings,
    Part,
    choose,
    conform,
    read_part,
    sft_arguments,
    starts_complete,
    write_launch_files,
    write_mix,
)
from tir_distill.mixing import NearJoins, Pictures
from tir_distill.records import BadRow, read_jsonl, write_jsonl
from tir_distill.sources import TextPrint

LONG = "Which harbour town on the northern coast built the first iron lighthouse after the great storm of that century"


def row(number: int, question: str, images: list[str] | None = None, **changes: Any) -> dict[str, Any]:
    images = images or []
    return {
        "id": f"r{number}",
        "messages": [
            {"role": "system", "content": "S"},
            {"role": "user", "content": "<image>" * len(images) + question},
            {"role": "assistant", "content": f"<think>\nt{number}\n</think>\n\n<answer>a</answer>"},
        ],
        "images": images,
        "tools": "[]",
        "source": "src",
        "bucket": "b",
        "licence": "Apache-2.0",
        **changes,
    }


def settings(tmp_path: Path, parts: Mapping[str, float], /, **changes: Any) -> MixSettings:
    values: dict[str, Any] = {
        "name": "m",
        "parts": tuple(Part(name, tmp_path / f"{name}.jsonl", tmp_path, weight) for name, weight in parts.items()),
        "seed": 1,
        "validation_share": 0.0,
        "cap_per_source": None,
        "cap_per_bucket": None,
        "non_commercial": True,
        "near_duplicate_jaccard": 0.8,
        "near_duplicate_min_units": 12,
        "near_duplicate_bits": 6,
        "max_length": 1000,
    }
    return MixSettings(**{**values, **changes})


def mixed(
    tmp_path: Path,
    parts: Mapping[str, list[dict[str, Any]]],
    weights: Mapping[str, float] | None = None,
    /,
    **changes: Any,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], dict[str, Any]]:
    """Train rows, validation rows and the document of a mix of these parts. Evaluation items say 'forbidden'."""
    for name, rows in parts.items():
        write_jsonl(tmp_path / f"{name}.jsonl", rows)
    chosen = settings(tmp_path, weights or dict.fromkeys(parts, 1.0), **changes)
    drops, pictures = Drops(), Pictures(flat_max_std=2.0)
    entries = [
        entry
        for number, part in enumerate(chosen.parts)
        for entry in read_part(
            number,
            part,
            drops,
            text_print=TextPrint.of,
            count_tokens=lambda row, _: len(row["messages"][-1]["content"]),
            evaluation_match=lambda text, _: "gaia g0" if "forbidden" in text else None,
            look=pictures.look,
            check=lambda row: None,
            max_length=chosen.max_length,
        )
    ]
    lines = choose(entries, chosen, NearJoins(0.8, 12), drops)
    document = write_mix(lines, chosen, drops, tmp_path / "out")
    train, held = (list(read_jsonl(tmp_path / "out" / f"{name}.jsonl")) for name in ("train", "validation"))
    return train, held, document


def test_order_of_rows_changes_nothing(tmp_path: Path) -> None:
    rows = [row(n, f"question {n}") for n in range(60)]
    first = mixed(tmp_path, {"a": rows}, validation_share=0.2)
    shuffled = list(rows)
    random.Random(3).shuffle(shuffled)
    second = mixed(tmp_path, {"a": shuffled}, validation_share=0.2)
    assert first[:2] == second[:2]
    assert first[2]["files"] == second[2]["files"]
    assert [line["id"] for line in first[0]] != sorted(line["id"] for line in first[0])


@pytest.mark.parametrize(("weight", "wanted"), [(0.0, 0), (0.25, 10), (1.0, 40), (1.5, 60), (3.0, 120)])
def test_weights_are_met_within_one_row(tmp_path: Path, weight: float, wanted: int) -> None:
    rows = [row(n, f"question {n}") for n in range(40)]
    train, _, document = mixed(tmp_path, {"a": rows, "z": [row(99, "other")]}, {"a": weight, "z": 1.0})
    mine = [line for line in train if line["part"] == "a"]
    assert len(mine) == wanted == document["parts"]["a"]["lines"]
    assert len({line["id"] for line in train}) == len(train)


def test_duplicates_stay_in_the_first_part(tmp_path: Path) -> None:
    (tmp_path / "p.png").write_bytes(png())
    (tmp_path / "q.png").write_bytes(png((1, 2, 3)))
    first = [row(1, "What is this?", ["p.png"]), row(2, LONG), row(7, "What is this?", ["p.png"])]
    second = [
        row(3, "what IS this", ["p.png"]),  # the same question about the same picture
        row(4, "What is this?", ["q.png"]),  # the same words about another picture: another question
        row(5, LONG.replace("iron", "stone")),  # one word of nineteen differs
        row(6, "A short one"),
    ]
    train, _, document = mixed(tmp_path, {"a": first, "b": second})
    assert {line["id"] for line in train} == {"r1", "r2", "r7", "r4", "r6"}
    assert document["parts"]["b"]["dropped"] == {"duplicate": 1, "near_duplicate": 1}


def test_no_group_stands_on_both_sides(tmp_path: Path) -> None:
    for name in range(10):
        (tmp_path / f"{name}.png").write_bytes(png((name, 0, 0)))
    rows = [row(n, f"question {n % 40}", [f"{n % 10}.png"] if n % 3 else []) for n in range(200)]
    train, held, _ = mixed(tmp_path, {"a": rows}, validation_share=0.3)
    assert held
    assert train
    texts = [{line["messages"][1]["content"].replace("<image>", "") for line in side} for side in (train, held)]
    pictures = [{path for line in side for path in line["images"]} for side in (train, held)]
    assert not texts[0] & texts[1]
    assert not pictures[0] & pictures[1]


def drawn(seed: int, size: int = 256) -> Image.Image:
    """A picture of coloured boxes, unlike that of any other seed."""
    rng = random.Random(seed)
    image = Image.new("RGB", (size, size), "white")
    for _ in range(12):
        x, y = rng.randrange(size), rng.randrange(size)
        box = (x, y, x + rng.randrange(20, size // 2), y + rng.randrange(20, size // 2))
        ImageDraw.Draw(image).rectangle(box, fill=tuple(rng.randrange(256) for _ in range(3)))
    return image


def test_a_picture_in_another_file_is_the_same_picture(tmp_path: Path) -> None:
    drawn(1).save(tmp_path / "p.png")
    drawn(1).save(tmp_path / "p.jpg", quality=70)
    drawn(1).resize((128, 128)).save(tmp_path / "small.jpg")
    drawn(2).save(tmp_path / "q.png")
    first = [row(1, "What is this?", ["p.png"]), row(2, LONG, ["p.png"]), row(7, "What is this?", ["small.jpg"])]
    second = [
        row(3, "what IS this", ["p.jpg"]),
        row(4, "What is this?", ["q.png"]),
        row(5, LONG.replace("iron", "stone"), ["small.jpg"]),
        row(6, "What is this?", ["p.png", "q.png"]),
        row(8, LONG.replace("iron", "stone"), ["q.png"]),
    ]
    train, _, document = mixed(tmp_path, {"a": first, "b": second})
    assert {line["id"] for line in train} == {"r1", "r2", "r7", "r4", "r6", "r8"}
    assert document["parts"]["b"]["dropped"] == {"duplicate": 1, "near_duplicate": 1}


def table(seed: int) -> Image.Image:
    """Five words and five numbers on white: to a perceptual hash alone many of these are the same."""
    rng, image = random.Random(seed), Image.new("RGB", (300, 200), "white")
    draw = ImageDraw.Draw(image)
    for line in range(6):
        draw.line((10, 20 + line * 28, 290, 20 + line * 28), fill="black")
        draw.text((20, 26 + line * 28), rng.choice(["apples", "pears", "plums", "figs", "nuts"]), fill="black")
        draw.text((200, 26 + line * 28), str(rng.randrange(1000)), fill="black")
    return image


def test_tables_of_one_form_are_different_pictures(tmp_path: Path) -> None:
    for number in range(60):
        table(number).save(tmp_path / f"{number}.png")
        table(number).save(tmp_path / f"{number}.jpg", quality=75)
    ask = "How many are there?"
    first = [row(n, ask, [f"{n}.png"]) for n in range(30)]
    second = [row(100 + n, ask, [f"{n}.png" if n >= 30 else f"{n}.jpg"]) for n in range(60)]
    _, _, document = mixed(tmp_path, {"a": first, "b": second})
    dropped = document["parts"]["b"]["dropped"]["duplicate"]
    assert 30 <= dropped <= 32, "the thirty that part a has; of the others hardly one"


def test_a_group_larger_than_the_validation_side_is_trained_on(tmp_path: Path) -> None:
    rows = [row(n, "What is shown?" if n < 30 else f"question {n}") for n in range(100)]
    for seed in range(12):
        train, held, _ = mixed(tmp_path, {"a": rows}, validation_share=0.2, seed=seed)
        assert 3 <= len(held) <= 27, "of seventy rows a fifth, give or take"
        assert sum(line["messages"][1]["content"] == "What is shown?" for line in train) == 30


def test_a_picture_in_another_file_stays_on_its_side(tmp_path: Path) -> None:
    for number in range(30):
        drawn(number).save(tmp_path / f"{number}.png")
        drawn(number).resize((200, 200)).save(tmp_path / f"{number}.jpg", quality=80)
    rows = [row(n, f"question {n}", [f"{n % 30}.{'png' if n < 30 else 'jpg'}"]) for n in range(60)]
    train, held, _ = mixed(tmp_path, {"a": rows}, validation_share=0.4)
    sides = [{Path(path).stem for line in side for path in line["images"]} for side in (train, held)]
    assert 6 <= len(sides[1]) <= 18, "a share of the thirty pictures, not all or none"
    assert not sides[0] & sides[1]


def test_what_stays_out_is_counted_once(tmp_path: Path) -> None:
    long_reply = {"role": "assistant", "content": "x" * 2000}
    rows = [
        row(1, "good"),
        row(2, "a forbidden one"),
        row(3, "too long") | {"messages": [*row(3, "q")["messages"][:2], long_reply]},
        row(4, "lost picture", ["nowhere.png"]),
        row(5, "no commerce", licence="CC-BY-NC-4.0"),
        row(6, "tags") | {"images": ["p.png"]},
        {"id": "r7", "text": "not a row"},
    ]
    (tmp_path / "p.png").write_bytes(png())
    train, _, document = mixed(tmp_path, {"a": rows}, non_commercial=False)
    assert [line["id"] for line in train] == ["r1"]
    assert document["parts"]["a"]["dropped"] == {
        "evaluation_item": 1,
        "no_messages": 1,
        "non_commercial": 1,
        "picture_count": 1,
        "picture_missing": 1,
        "too_long": 1,
    }
    assert document["licences"] == [{"part": "a", "licence": "Apache-2.0", "rows": 1, "commercial_use": True}]


def test_caps_hold(tmp_path: Path) -> None:
    rows = [row(n, f"question {n}", bucket="big" if n < 30 else "small") for n in range(40)]
    train, _, document = mixed(tmp_path, {"a": rows}, cap_per_bucket=12)
    assert document["per_bucket"] == {"big": 12, "small": 10}
    assert document["parts"]["a"]["dropped"] == {"cap_per_bucket": 18}
    assert len(train) == 22


def test_rows_of_other_origin_get_the_same_keys(tmp_path: Path) -> None:
    bare = {"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "x", "tool_calls": None}]}
    other = conform({**bare, "tools": [{"type": "function"}]}, "extra")
    assert list(other) == list(conform(row(1, "q"), "a"))
    assert other["tools"] == '[{"type":"function"}]'
    assert other["messages"][1] == {"role": "assistant", "content": "x"}
    assert other["id"].startswith("extra_")
    with pytest.raises(BadRow, match="arguments"):
        conform({"messages": [{"content": "", "tool_calls": [{"function": {"arguments": {}}}]}]}, "a")
    with pytest.raises(BadRow, match="text"):
        conform({"messages": [{"role": "user", "content": [{"type": "text"}]}]}, "a")


def test_any_order_of_shards_loads(tmp_path: Path) -> None:
    """The whole file, and its thirds in any order as one data set: every third has a complete row in front."""
    import datasets
    import pyarrow.parquet as pq

    (tmp_path / "p.png").write_bytes(png())
    calls = [{"id": "c", "type": "function", "function": {"name": "python", "arguments": "{}"}}]
    called = [row(n, "see", ["p.png"]) for n in (0, 31, 32)]
    for one in called:
        one["messages"][2]["tool_calls"] = calls
    train, _, _ = mixed(tmp_path, {"a": [row(n, f"question {n}") for n in range(1, 30)] + called})
    assert train[0]["images"] == ["p.png"]
    assert starts_complete(tmp_path / "out" / "train.jsonl")
    assert not starts_complete(tmp_path / "out" / "validation.jsonl")  # an empty file
    table = pq.read_table(tmp_path / "out" / "train.parquet")
    assert table.num_rows == 32
    assert [json.loads(text) for text in table["messages"].to_pylist()] == [line["messages"] for line in train]

    def load(*files: str) -> Any:
        paths = [str(tmp_path / "out" / name) for name in files]
        return datasets.load_dataset("json", data_files=paths, split="train", cache_dir=str(tmp_path / "cache"))

    whole = load("train.jsonl")
    assert whole.num_rows == 32
    assert whole[0]["messages"][2]["tool_calls"][0]["function"]["name"] == "python"
    shuffled = list(train)
    random.Random(7).shuffle(shuffled)
    complete = [line for line in shuffled if line["images"]]
    others = [line for line in shuffled if not line["images"]]
    names = ["one.jsonl", "two.jsonl", "three.jsonl"]
    for number, name in enumerate(names):
        write_jsonl(tmp_path / "out" / name, [complete[number], *others[number::3]])
    for order in itertools.permutations(names):
        loaded = load(*order)
        assert loaded.num_rows == 32
        assert loaded.features == whole.features


def test_launch_arguments_follow_the_one_length(tmp_path: Path) -> None:
    arguments = sft_arguments(settings(tmp_path, {"a": 1.0}, max_length=24000), tmp_path)
    assert arguments["max_length"] == 24000
    assert arguments["truncation_strategy"] == "delete"
    assert arguments["strict"]
    assert arguments["template"] == "qwen3_5"


def test_names_and_values_are_those_of_the_pinned_ms_swift(tmp_path: Path) -> None:
    """swift_arguments.json: the argument names of `swift sft` 4.5.3 and the values where only some are accepted."""
    known = json.loads((Path(__file__).parent / "swift_arguments.json").read_text())
    chosen = settings(tmp_path, {"a": 1.0})
    for name, value in sft_arguments(chosen, tmp_path).items():
        assert name in known["names"] or name in known["transformers"], name
        accepted = known["names"].get(name)
        assert accepted is None or value in accepted, f"{name} {value}"
    write_launch_files(chosen, tmp_path)
    flags = re.findall(r"--([a-z_]+) ", (tmp_path / "sft.sh").read_text())
    assert set(flags) == set(json.loads((tmp_path / "sft_args.json").read_text()))
    assert subprocess.run(["bash", "-n", tmp_path / "sft.sh", tmp_path / "serve.sh"], check=False).returncode == 0
    write_launch_files(chosen, tmp_path, held_out=False)
    assert "val_dataset" not in (tmp_path / "sft.sh").read_text()


def test_parts_with_other_picture_folders_share_one_root(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "p.png").write_bytes(png((len(name), ord(name), 0)))
    parts = tuple(Part(name, tmp_path / f"{name}.jsonl", tmp_path / name, 1.0) for name in ("a", "b"))
    rows = {"a": [row(1, "one", ["p.png"])], "b": [row(2, "two", ["p.png"])]}
    train, _, _ = mixed(tmp_path, rows, parts=parts)
    assert {line["id"]: line["images"] for line in train} == {"r1": ["p.png"], "r2": ["../b/p.png"]}


def test_parts_come_from_the_configuration() -> None:
    found = MixSettings.from_config(load(), "pilot")
    assert [(part.name, part.path.as_posix()) for part in found.parts] == [("pilot", "results/pilot/accepted.jsonl")]

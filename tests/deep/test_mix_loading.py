"""A whole mix through ``datasets`` and through ms-swift's own loader, and its launch file through ms-swift's arguments.

In the environment of README.md; needs no checkpoint. ``--streaming true`` is not tried: ms-swift 4.5.3 guesses column
types from the first rows there and fails on any file in which some messages are calls.
"""

from __future__ import annotations

import itertools
import json
import random
import subprocess
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from tir_distill.export.mix import Drops, MixSettings, Part, choose, read_part, sft_arguments, write_launch_files
from tir_distill.export.mix.write import write_mix
from tir_distill.mixing import NearJoins, Pictures
from tir_distill.records import read_jsonl, write_jsonl
from tir_distill.sources import TextPrint

TOOLS = json.dumps(
    [
        {
            "type": "function",
            "function": {
                "name": "python",
                "description": "Run a cell.",
                "parameters": {"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]},
            },
        }
    ]
)
AWKWARD = 'print("it\'s \\\\ </code> \\u2028 图")\n\tx = {"a": None, \'b\': True}  # `\u2028` \x0c'
"""Quotes of both kinds, back slashes, separators that other readers take for line ends, Python's own constants."""


def row(number: int, *, pictures: int = 0, called: bool = False, **changes: Any) -> dict[str, Any]:
    """A row of the exporter's shape about question ``number``."""
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "S"},
        {"role": "user", "content": "<image>" * pictures + f"Question {number}?"},
    ]
    if called:
        function = {"name": "python", "arguments": json.dumps({"code": f"{AWKWARD} # {number}"}, ensure_ascii=False)}
        call = {"id": "call_0_0", "type": "function", "function": function}
        messages += [
            {"role": "assistant", "content": "<think>\nt\n</think>\n\n", "turn": 0, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "call_0_0", "content": AWKWARD},
        ]
    messages.append({"role": "assistant", "content": f"<think>\nt\n</think>\n\n<answer>{number}</answer>", "turn": 1})
    return {
        "id": f"r{number}",
        "messages": messages,
        "images": ["p.png"] * pictures,
        "tools": TOOLS,
        "source": "src",
        "bucket": "b",
        "licence": "Apache-2.0",
        "lineage": {"sample": f"r/{number}#0"},
        **changes,
    }


def parts() -> dict[str, list[dict[str, Any]]]:
    """Text alone, rows with calls and pictures, and two files of other origin that lack keys or have further ones."""
    return {
        "text": [row(n) for n in range(20)],
        "full": [row(n, pictures=n % 3, called=n % 2 == 0) for n in range(20, 60)],
        "bare": [
            {"messages": [{"role": "user", "content": f"Bare {n}?"}, {"role": "assistant", "content": "x"}]}
            for n in range(10)
        ],
        "other": [
            row(n, called=True, tools=None, images=None, label=3, solution={"a": n}) for n in range(100, 105)
        ],
    }  # fmt: skip


@pytest.fixture(scope="module")
def mix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a mix with 75 lines to train on."""
    folder = tmp_path_factory.mktemp("mix")
    Image.new("RGB", (64, 48), "red").save(folder / "p.png")
    given = parts()
    for name, rows in given.items():
        write_jsonl(folder / f"{name}.jsonl", rows)
    settings = chosen(folder, tuple(given))
    drops = Drops()
    entries = [
        entry
        for number, part in enumerate(settings.parts)
        for entry in read_part(
            number,
            part,
            drops,
            text_print=TextPrint.of,
            count_tokens=lambda row, _: len(row["messages"]),
            evaluation_match=lambda text, pictures: None,
            look=Pictures(4.0).look,
            check=lambda row: None,
            max_length=settings.max_length,
        )
    ]
    document = write_mix(choose(entries, settings, NearJoins(0.8, 12), drops), settings, drops, folder / "out")
    assert drops.counts == {}
    assert document["rows"] == {"train": 75, "validation": 0}
    return folder / "out"


def chosen(folder: Path, names: tuple[str, ...]) -> MixSettings:
    return MixSettings(
        name="m",
        parts=tuple(Part(name, folder / f"{name}.jsonl", folder, 1.0) for name in names),
        seed=1,
        validation_share=0.0,
        cap_per_source=None,
        cap_per_bucket=None,
        non_commercial=True,
        near_duplicate_jaccard=0.8,
        near_duplicate_min_units=12,
        near_duplicate_bits=6,
        max_length=1000,
    )


def by_question(rows: Any) -> dict[str, tuple[Any, ...]]:
    """What a trainer takes of each row, by its question: every message and call in order, pictures, tools.

    ms-swift makes a message of role ``tool_call`` of each call, as this does.
    """
    found = {}
    for line in rows:
        said: list[tuple[str, Any]] = []
        for message in line["messages"]:
            content = message["content"]
            if message["role"] == "tool_call":
                content = json.loads(content) if isinstance(content, str) else content
                said.append(("tool_call", (content["name"], content["arguments"])))
                continue
            said.append((message["role"], content))
            for call in message.get("tool_calls") or ():
                function = call["function"]
                said.append(("tool_call", (function["name"], json.loads(function["arguments"]))))
        pictures = [item["path"] if isinstance(item, dict) else item for item in line.get("images") or ()]
        question = next(content for role, content in said if role == "user")
        found[question] = (said, pictures, json.loads(line["tools"] or "[]"))
    return found


def shards(mix: Path, folder: Path, seed: int) -> list[str]:
    """The rows shuffled into three files, each with a complete row in front, as the mix itself has it."""
    lines = list(read_jsonl(mix / "train.jsonl"))
    random.Random(seed).shuffle(lines)
    complete = [line for line in lines if line["images"] and len(line["messages"]) > 3]
    others = [line for line in lines if line not in complete[:3]]
    for number in range(3):
        write_jsonl(folder / f"{number}.jsonl", [complete[number], *others[number::3]])
    return [str(folder / f"{number}.jsonl") for number in range(3)]


def in_datasets(kind: str, files: list[str], cache: Path) -> Any:
    import datasets

    return datasets.load_dataset(kind, data_files=files, split="train", cache_dir=str(cache))


def in_swift(files: list[str]) -> Any:
    from swift.dataset import load_dataset

    train, held = load_dataset(files, strict=True, load_from_cache_file=False)
    assert held is None
    return train


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ms-swift must not find what an earlier test has loaded."""
    monkeypatch.setenv("MODELSCOPE_CACHE", str(tmp_path / "modelscope"))


def test_datasets_loads_the_file_as_it_stands(mix: Path, tmp_path: Path) -> None:
    wanted = by_question(read_jsonl(mix / "train.jsonl"))
    assert len(wanted) == 75
    whole = in_datasets("json", [str(mix / "train.jsonl")], tmp_path / "cache")
    assert by_question(whole) == wanted
    table = in_datasets("parquet", [str(mix / "train.parquet")], tmp_path / "cache")
    assert by_question([{**line, "messages": json.loads(line["messages"])} for line in table]) == wanted


@pytest.mark.parametrize("seed", [1, 2])
def test_datasets_loads_shards_in_any_order(mix: Path, tmp_path: Path, seed: int) -> None:
    wanted = by_question(read_jsonl(mix / "train.jsonl"))
    for order in itertools.permutations(shards(mix, tmp_path, seed)):
        assert by_question(in_datasets("json", list(order), tmp_path / "cache")) == wanted


@pytest.mark.parametrize("name", ["train.jsonl", "train.parquet"])
def test_ms_swift_loads_the_file_as_it_stands(mix: Path, name: str) -> None:
    wanted = by_question(read_jsonl(mix / "train.jsonl"))
    assert by_question(in_swift([str(mix / name)])) == wanted


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0)])
def test_ms_swift_loads_shards_in_any_order(mix: Path, tmp_path: Path, order: tuple[int, ...]) -> None:
    wanted = by_question(read_jsonl(mix / "train.jsonl"))
    files = shards(mix, tmp_path, 1)
    assert by_question(in_swift([files[number] for number in order])) == wanted


def test_every_argument_of_the_launch_file_is_one_of_the_trainer_s(mix: Path, tmp_path: Path) -> None:
    """Names against the argument classes; the shell file as a command line against the trainer's own parser."""
    from swift.arguments import SftArguments
    from transformers import HfArgumentParser

    settings = chosen(mix.parent, ("text",))
    known = {field.name for field in fields(SftArguments)}
    assert [name for name in sft_arguments(settings, mix) if name not in known] == []

    write_launch_files(settings, tmp_path)
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    said = bin_folder / "swift"  # in the trainer's place: writes its arguments down
    said.write_text('#!/bin/sh\nprintf "%s\\0" "$@"\n')
    said.chmod(0o755)
    done = subprocess.run(
        ["bash", tmp_path / "sft.sh", "--max_steps", "1"], env={"PATH": f"{bin_folder}:/usr/bin:/bin"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    command, *words = done.stdout.split("\0")[:-1]
    assert command == "sft"
    parser = HfArgumentParser([SftArguments])
    parsed, unknown = parser.parse_known_args(words)
    assert unknown == []
    for name, value in sft_arguments(settings, tmp_path).items():
        assert getattr(parsed, name) == value, name
    assert parsed.max_steps == 1

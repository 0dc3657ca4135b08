from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tir_distill.config import DEFAULTS, ROOT, load, merge
from tir_distill.records import UsageError


def overlay(tmp_path: Path, value: Any) -> Path:
    path = tmp_path / "over.yaml"
    path.write_text(yaml.safe_dump(value))
    return path


@pytest.mark.parametrize("name", sorted(path.name for path in (ROOT / "config").glob("*.yaml")))
def test_every_shipped_configuration_is_valid(name: str) -> None:
    path = ROOT / "config" / name
    config = load() if path == DEFAULTS else load(path)
    assert config["max_length"] > 0


@pytest.mark.parametrize(
    "value",
    [
        {"teacher": {"key_env": "sk-4711"}},
        {"teacher": {"key_env": {"value": "sk-4711"}}},
        {"teacher": {"api_key": "sk-4711"}},
        {"teacher": [{"api_key": "sk-4711"}]},
        {"sk": {"token": "sk-4711"}},
    ],
)
def test_a_key_written_into_a_file_is_not_repeated(tmp_path: Path, value: Any) -> None:
    with pytest.raises(UsageError) as caught:
        load(overlay(tmp_path, value))
    assert "4711" not in str(caught.value)


def test_what_is_no_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Is a directory"):
        load(tmp_path)
    with pytest.raises(UsageError, match="no such configuration file"):
        load(tmp_path / "none.yaml")


PLAIN = {"name": "mine", "file": "a.jsonl", "weight": 1}


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"samplin": {}}, "samplin"),
        ({"sampling": {"temprature": 1}}, "sampling.*temprature"),
        ({"sampling": {"temperature": "hot"}}, r"sampling\.temperature: 'hot' is not of type 'number'"),
        ({"buckets": {"fvqa_train": {"count": -1}}}, r"buckets\.fvqa_train\.count"),
        ({"buckets": {"fvqa_train": {"source": "nowhere"}}}, r"buckets\.fvqa_train\.source is 'nowhere'"),
        ({"runs": {"full": {"adopt": ["pilto"]}}}, "pilto"),
        ({"teacher": {"key_env": "sk-secret"}}, r"teacher\.key_env"),
        ({"selection": {"fill": "fvqa"}}, "selection.fill"),
        ({"gate": {"override": "  "}}, r"gate\.override"),
        ({"mixes": {"full": {"parts": [PLAIN, {**PLAIN, "file": "b.jsonl"}]}}}, r"mixes\.full\.parts.*name 'mine'"),
        ({"mixes": {"full": {"parts": [{**PLAIN, "name": "../mine"}]}}}, r"mixes\.full"),
    ],
)
def test_a_wrong_key_is_named_by_its_path(tmp_path: Path, value: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words) as caught:
        load(overlay(tmp_path, value))
    assert caught.value.exit_code == 64


def test_merge_joins_mappings_and_replaces_the_rest() -> None:
    assert merge({"a": {"b": 1, "c": [1]}, "d": 1}, {"a": {"c": [2]}, "d": {"e": 1}}) == {
        "a": {"b": 1, "c": [2]},
        "d": {"e": 1},
    }


def keys_of(value: dict[str, Any], prefix: str = "") -> list[str]:
    """Every dotted key of the defaults; entries of open mappings (buckets, sets, runs) stand for their kind."""
    out: list[str] = []
    for key, item in value.items():
        out.append(f"{prefix}{key}")
        if isinstance(item, dict) and f"{prefix}{key}" not in OPEN:
            out += keys_of(item, f"{prefix}{key}.")
    return out


OPEN = {
    "sources.sets",
    "evaluation",
    "buckets",
    "runs",
    "sampling.chat_template_kwargs",
    "legacy",
    "search.region",
    "mixes",
}


def test_the_readme_explains_every_key() -> None:
    text = (ROOT / "config" / "README.md").read_text(encoding="utf-8")
    explained = set(re.findall(r"`([a-z0-9_.<>]+)`", text))
    assert not [key for key in keys_of(yaml.safe_load(DEFAULTS.read_text())) if key not in explained]

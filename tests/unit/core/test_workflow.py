from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tir_distill import workflow
from tir_distill.config import ROOT, load
from tir_distill.records import ExitCode, TirError, write_json

CODE = '''"""Doc."""
import os

def f(x):
    """Says."""
    # why
    return x + 1
'''


def test_comments_docstrings_and_space_do_not_change_a_digest() -> None:
    changed = "import os\n\n\n\ndef f(x):   # other\n    return x + 1\n"
    assert workflow.meaning_of(CODE) == workflow.meaning_of(changed)


def test_a_changed_expression_changes_a_digest() -> None:
    assert workflow.meaning_of(CODE) != workflow.meaning_of(CODE.replace("x + 1", "x + 2"))


def test_a_text_that_is_used_counts() -> None:
    assert workflow.meaning_of('a = "x"') != workflow.meaning_of('a = "y"')


def test_shards_of_the_real_configuration() -> None:
    config = load()
    full = workflow.shard_names(config, "full")
    assert len(full) == 64 + 16 + 48 + 16
    assert full[0] == "fvqa_train/0000-of-0064"
    assert {name.split("/")[0] for name in workflow.shard_names(config, "pilot")} == {"fvqa_train", "livevqa_news_l2"}


def test_temperature_changes_the_protocol_and_filters_do_not() -> None:
    config = load()
    base = workflow.protocol_fingerprint(config)
    hot = {**config, "sampling": {**config["sampling"], "temperature": 0.7}}
    strict = {**config, "filters": {**config["filters"], "min_think_chars": 99}}
    assert workflow.protocol_fingerprint(hot) != base
    assert workflow.protocol_fingerprint(strict) == base


def test_exit_codes_after_a_failure(tmp_path: Path) -> None:
    run = tmp_path / "full"
    assert workflow.exit_code_after_failure([run])[0] == ExitCode.FAILED
    write_json(workflow.Marks(run).audit, {"passed": False})
    assert workflow.exit_code_after_failure([run])[0] == ExitCode.AUDIT_FAILED
    write_json(workflow.Marks(run).stop, {"reason": "credits_exhausted", "detail": "12 questions left"})
    code, words = workflow.exit_code_after_failure([run])
    assert code == ExitCode.RESUMABLE
    assert "credits_exhausted" in words
    assert "12 questions left" in words
    workflow.Marks(run).clear()
    assert workflow.exit_code_after_failure([run])[0] == ExitCode.FAILED


def test_sources_of_a_run_are_listed_once() -> None:
    assert workflow.sources_of(load()) == [
        "fvqa", "evobrowsecomp", "livevqa", "chartqa", "simplevqa", "fvqa_test", "gaia", "mmbrowsecomp",
    ]  # fmt: skip


def test_a_digest_of_nothing_is_an_error() -> None:
    with pytest.raises(TirError, match="nowhere"):
        workflow.code_digest("nowhere")
    assert workflow.code_digest("pipeline.py") != workflow.code_digest("mixing.py")


def test_a_wrong_key_ends_with_64_and_its_path(capsys: pytest.CaptureFixture[str]) -> None:
    config = load()
    with pytest.raises(SystemExit) as caught:
        workflow.check_configuration({**config, "filters": {**config["filters"], "min_think_charz": 3}})
    assert caught.value.code == 64
    assert "filters.min_think_charz:" in capsys.readouterr().err


def with_parts(tmp_path: Path, *parts: dict[str, Any]) -> dict[str, Any]:
    """The configuration with one mix of these parts and one legacy file, everything below ``tmp_path``."""
    config = load()
    mix = {**config["mixes"]["full"], "parts": list(parts)}
    return {
        **config,
        "paths": {**config["paths"], "results": str(tmp_path)},
        "legacy": {"old": {"input": "old.jsonl", "images": None, "licence": "MIT", "no_thinking": "drop"}},
        "mixes": {"pilot": None, "wide": mix},
    }


def test_files_of_a_mixs_parts(tmp_path: Path) -> None:
    config = with_parts(
        tmp_path,
        {"run": "full", "weight": 1},
        {"legacy": "old", "weight": 1},
        {"name": "mine", "file": "mine.jsonl", "weight": 1},
    )
    assert workflow.mix_inputs(config, "wide") == [
        f"{tmp_path}/full/accepted.jsonl",
        f"{tmp_path}/full/audit.json",
        f"{tmp_path}/legacy/old_clean.jsonl",
        "mine.jsonl",
    ]


def test_variables_that_sampling_will_miss(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("TEACHER_URL", "TEACHER_MODEL", "SERPER_API_KEY", "JUDGE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TEACHER_MODEL", "m")
    (tmp_path / ".env").write_text("TEACHER_URL=http://127.0.0.1:1/v1\n")
    config = load()
    assert workflow.unset_variables(config) == ["SERPER_API_KEY", "JUDGE_API_KEY"]
    free = {
        **config,
        "search": {**config["search"], "backend": "corpus"},
        "judge": {**config["judge"], "enabled": False},
    }
    assert workflow.unset_variables(free) == ["SEARCH_CORPUS"]
    assert workflow.unset_variables(load(ROOT / "config" / "demo.yaml")) == []

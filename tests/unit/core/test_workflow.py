from __future__ import annotations

from pathlib import Path

import pytest

from tir_distill import workflow
from tir_distill.config import load
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

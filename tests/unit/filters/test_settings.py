"""Settings and their hash."""

from __future__ import annotations

import pytest

from filters_helpers import default_settings
from tir_distill.config import DEFAULTS, read
from tir_distill.filters import FilterSettings
from tir_distill.records import UsageError


def test_defaults_are_the_seeds() -> None:
    settings = default_settings()
    assert settings.min_assistant_tokens == 200
    assert settings.min_assistant_tokens_reasoning == 100
    assert settings.max_assistant_tokens == 6000
    assert settings.min_think_chars == 20
    assert settings.max_length == 24_000
    assert settings.blocked_urls == (
        r"huggingface\.co/datasets",
        r"github\.com/.*\.jsonl",
        "GAIA_web",
        "Who_and_When",
        r"openreview\.net/attachment",
        r"scribd\.com",
    )


CHANGES = [
    {"min_assistant_tokens": 201},
    {"min_assistant_tokens_reasoning": 101},
    {"max_assistant_tokens": 5999},
    {"min_think_chars": 21},
    {"max_length": 23_999},
    {"blocked_urls": []},
    {"self_search_task_types": ["text_search"]},
    {"extra": ["empty_search"]},
]


def test_every_threshold_changes_the_hash() -> None:
    hashes = {default_settings(**change).hash for change in CHANGES} | {default_settings().hash}
    assert len(hashes) == len(CHANGES) + 1


def test_order_of_sets_does_not_change_the_hash() -> None:
    one = default_settings(self_search_task_types=["image_search", "text_search"])
    other = default_settings(self_search_task_types=["text_search", "image_search"])
    assert one.hash == other.hash


def test_bad_pattern_is_named() -> None:
    config = read(DEFAULTS)
    config["filters"]["blocked_urls"] = ["("]
    with pytest.raises(UsageError, match=r"filters\.blocked_urls: '\('"):
        FilterSettings.from_config(config)

"""Rules that are off by default."""

from __future__ import annotations

import pytest

from filters_helpers import Script, default_settings, good, make_question
from tir_distill.config import DEFAULTS, read
from tir_distill.filters import EXTRA_RULES, FilterSettings, evaluate
from tir_distill.records import Trajectory


def failed(trajectory: Trajectory, *extra: str, **changes: object) -> list[str]:
    return [f.rule for f in evaluate(trajectory, default_settings(extra=list(extra), **changes)).fails]


def test_all_are_off_by_default() -> None:
    assert default_settings().extra == frozenset()


@pytest.mark.parametrize("rule", EXTRA_RULES)
def test_a_good_sample_passes_each(rule: str) -> None:
    assert failed(good(), rule) == []


def test_unsupported_answer() -> None:
    sample = Script().search().answer("Chennai").done(question=make_question(answer="Chennai"))
    assert failed(sample, "unsupported_answer") == ["unsupported_answer"]
    assert failed(sample) == []
    assert failed(Script().search().answer("mum-bai.").done(), "unsupported_answer") == []
    assert failed(Script().answer("Chennai").done("image_reasoning"), "unsupported_answer") == []


def test_empty_search() -> None:
    nothing = Script()
    nothing.turn(nothing.a_search(results="No results."))
    nothing.turn(nothing.a_search("again", results="No results."))
    assert failed(nothing.answer().done(), "empty_search") == ["empty_search"]
    some = Script()
    some.turn(some.a_search(results="No results."))
    some.search()
    assert failed(some.answer().done(), "empty_search") == []
    assert failed(Script().answer().done("image_reasoning"), "empty_search") == []


def test_mixed_language() -> None:
    half = "我们 need 搜索 this 城市 because 图片 shows 海港 and 门 " * 5
    assert failed(Script().search(thinking=half).answer().done(), "mixed_language") == ["mixed_language"]
    names = "这座城市的标志性建筑是 Gateway of India，它位于孟买的海边，所以答案应该是孟买这座城市。" * 3
    assert failed(Script().search(thinking=names).answer().done(), "mixed_language") == []
    short = "我们 need 搜索 this 城市 because it"
    assert failed(Script().search(thinking=short).answer().done(), "mixed_language") == []


def test_repeated_ngrams() -> None:
    circle = "wait let me look at the picture once more and count again " * 12
    assert failed(Script().search(thinking=circle).answer().done(), "repeated_ngrams") == ["repeated_ngrams"]
    plain = " ".join(f"word{n} other{n}" for n in range(60))
    assert failed(Script().search(thinking=plain).answer().done(), "repeated_ngrams") == []
    chinese = "让我再看一遍这张图片然后再数一次" * 12
    assert failed(Script().search(thinking=chinese).answer().done(), "repeated_ngrams") == ["repeated_ngrams"]


class Fingerprints:
    digest = "abc"

    def find(self, text: str) -> str | None:
        return "gaia:7" if "secret question" in text else None


def test_evaluation_text() -> None:
    script = Script().search()
    script.turn(script.an_open(text="# Forum\n\nthe secret question was"))
    sample = script.answer().done()
    assert failed(sample, "evaluation_text", evaluation=Fingerprints()) == ["evaluation_text"]
    assert failed(good(), "evaluation_text", evaluation=Fingerprints()) == []


def test_thresholds_come_from_the_configuration() -> None:
    config = read(DEFAULTS)
    config["filters"] = {**config["filters"], "extra": ["repeated_ngrams"], "thresholds": {"repeated_min": 10_000}}
    circle = "wait let me look at the picture once more and count again " * 12
    sample = Script().search(thinking=circle).answer().done()
    assert evaluate(sample, FilterSettings.from_config(config)).accepted

"""Each rule by hand: passes, fails, just below and just at its boundary."""

from __future__ import annotations

import dataclasses

import pytest

from filters_helpers import THINK, Script, default_settings, good, make_question
from tir_distill.filters import evaluate
from tir_distill.records import TokenCounts, Trajectory, Verdict

SETTINGS = default_settings()


def rules_failed(trajectory: Trajectory, **changes: object) -> list[str]:
    return [fail.rule for fail in evaluate(trajectory, default_settings(**changes) if changes else SETTINGS).fails]


def reason_of(trajectory: Trajectory, rule: str) -> str | None:
    return next((f.reason for f in evaluate(trajectory, SETTINGS).fails if f.rule == rule), None)


# F1


def test_f1_right_answer_passes() -> None:
    assert rules_failed(good()) == []


@pytest.mark.parametrize("path", ["judge", "scorer", "typed", "unsafe"])
def test_f1_wrong_answer_fails(path: str) -> None:
    sample = good(verdict=Verdict(correct=False, path=path))
    assert rules_failed(sample) == ["F1"]
    assert reason_of(sample, "F1") == "wrong_answer"


def test_f1_no_answer_says_so() -> None:
    sample = Script().search().turn(content="It is probably Mumbai.").done()
    assert reason_of(sample, "F1") == "no_answer"


@pytest.mark.parametrize(
    "verdict", [None, Verdict(correct=None, path="judge_failed"), Verdict(correct=None, path="unsafe")]
)
def test_f1_undecided_is_never_wrong(verdict: Verdict | None) -> None:
    assert rules_failed(good(verdict=verdict)) == ["judge_failed"]


# F2


@pytest.mark.parametrize(
    "url",
    [
        "https://huggingface.co/datasets/gaia-benchmark/GAIA",
        "https://HuggingFace.co/Datasets/x",
        "huggingface.co/datasets/x",
        "https://huggingface.co%2Fdatasets%2Fx",
        "https://hf.co/datasets/x",
        "https://hf-mirror.com/datasets/x",
        "https://github.com/a/b/blob/main/test.jsonl",
        "https://raw.githubusercontent.com/a/b/main/test.jsonl",
        "https://example.org/GAIA_web/1",
        "https://example.org/Who_and_When",
        "https://openreview.net/attachment?id=1",
        "https://www.scribd.com/document/1",
    ],
)
def test_f2_blocked_address_opened(url: str) -> None:
    script = Script().search()
    script.turn(script.an_open(url))
    assert rules_failed(script.answer().done()) == ["F2"]


@pytest.mark.parametrize(
    "url",
    [
        "https://huggingface.co/models",
        "https://huggingface.co/blog/datasets",
        "https://github.com/a/b/blob/main/test.json",
        "https://openreview.net/forum?id=1",
        "https://example.org/scribd",
    ],
)
def test_f2_neighbouring_addresses_pass(url: str) -> None:
    script = Script().search()
    script.turn(script.an_open(url))
    assert rules_failed(script.answer().done()) == []


def test_f2_behind_a_redirect() -> None:
    for meta in (
        {"final_url": "https://huggingface.co/datasets/x"},
        {"hops": ["https://t.example/1", "https://huggingface.co/datasets/x", "https://example.org/"]},
    ):
        script = Script().search()
        script.turn(script.an_open("https://t.example/1", meta=meta))
        sample = script.answer().done()
        assert rules_failed(sample) == ["F2"]
        assert reason_of(sample, "F2") == "opened"


def test_f2_in_python_code_and_queries() -> None:
    script = Script().search()
    script.turn(script.a_cell('url = "https://huggingface.co/datasets/x"\nprint(url)', "no network"))
    assert reason_of(script.answer().done(), "F2") == "call_python"
    assert reason_of(Script().search("site:huggingface.co/datasets GAIA").answer().done(), "F2") == "call_search"


def test_f2_escaped_slashes_in_arguments_hide_nothing() -> None:
    script = Script().search()
    script.turn(script._pair("open", r'{"url": "https:\/\/huggingface.co\/datasets\/x"}', "# x"))
    assert rules_failed(script.answer().done()) == ["F2"]


def test_f2_cited_in_thinking_text_or_answer() -> None:
    for turn in (
        {"thinking": THINK + " As huggingface.co/datasets/gaia says."},
        {"content": "Source: https://scribd.com/doc/1 <answer>Mumbai</answer>"},
    ):
        script = Script().search()
        script.turn(**turn)
        sample = dataclasses.replace(script.done(), answer="Mumbai", verdict=Verdict(correct=True, path="exact"))
        assert reason_of(sample, "F2") == "cited"


SHOWN = (
    "1. Mumbai\nURL: https://example.org/mumbai\nA city.\n\n"
    "2. GAIA questions with answers\nURL: https://huggingface.co/datasets/x\nAll answers."
)


@pytest.mark.parametrize(
    ("words", "rules"),
    [
        ("Nothing of that is needed, the first page will do nicely.", []),
        ("Result 2 gives the answer to this very question.", ["F2"]),
        ("As [2] says, this is Mumbai and nothing else.", ["F2"]),
        ("结果 2 给出了答案，所以这个城市就是孟买没有其他可能。", ["F2"]),
        ("The page GAIA Questions with Answers says it is Mumbai.", ["F2"]),
        ("The page GAIA  Questions\nwith Answers says it is Mumbai.", ["F2"]),
        ("The second result says that it is Mumbai and nothing else.", ["F2"]),
        ("第二条结果给出了答案，所以这个城市就是孟买没有其他可能。", ["F2"]),
        ("Source 2 says that it is Mumbai and nothing else at all.", ["F2"]),
        ("Results 2 and 1 agree that it is Mumbai, so I answer it.", ["F2"]),
        ("(2) says that it is Mumbai, and nothing else does at all.", ["F2"]),
        ("Result 20 would be too far down the list to matter.", []),
    ],
)
def test_f2_shown_result_counts_when_cited(words: str, rules: list[str]) -> None:
    script = Script()
    meta = {"urls": ["https://example.org/mumbai", "https://huggingface.co/datasets/x"]}
    script.turn(script.a_search(results=SHOWN, meta=meta))
    assert rules_failed(script.answer(thinking=words).done()) == rules


def test_f2_pattern_does_not_span_words() -> None:
    words = "I saw github.com/a/b earlier. Another tool writes its records to out.jsonl on disk."
    assert rules_failed(Script().search().answer(thinking=words).done()) == []


def test_f2_page_text_alone_is_no_citation() -> None:
    script = Script().search()
    script.turn(script.an_open(text="See https://huggingface.co/datasets/x for more."))
    assert rules_failed(script.answer().done()) == []


def test_f2_empty_list_blocks_nothing() -> None:
    script = Script().search()
    script.turn(script.an_open("https://huggingface.co/datasets/x"))
    assert rules_failed(script.answer().done(), blocked_urls=[]) == []


# F3


@pytest.mark.parametrize("task_type", ["text_search", "image_search"])
def test_f3_needs_one_search_or_open(task_type: str) -> None:
    opened = Script()
    opened.turn(opened.an_open())
    assert rules_failed(opened.answer().done(task_type)) == []
    assert rules_failed(Script().search().answer().done(task_type)) == []
    assert rules_failed(Script().answer().done(task_type)) == ["F3"]


def test_f3_not_for_reasoning() -> None:
    assert rules_failed(Script().answer().done("image_reasoning")) == []


def test_f3_capped_or_malformed_call_is_no_search() -> None:
    capped = Script()
    capped.turn(capped.a_search(results="Search budget used up: this search was not run.", meta={"cap": "trajectory"}))
    assert rules_failed(capped.answer().done()) == ["F3"]
    malformed = Script()
    malformed.turn(malformed.a_search(malformed="bad_json", status="model_error"))
    assert rules_failed(malformed.answer().done()) == ["F3", "malformed_call"]


@pytest.mark.parametrize("meta", [{}, {"urls": [], "billed": 0}, {"malformed": "missing_parameter"}])
def test_f3_search_that_never_ran_is_none(meta: dict[str, object]) -> None:
    script = Script()
    script.turn(script.a_search("", results="This search call could not be run.", status="model_error", meta=meta))
    assert rules_failed(script.answer().done()) == ["F3"]


@pytest.mark.parametrize(
    ("url", "asked"),
    [
        ("https://example.org/a", True),
        ("example.org/a", True),
        ("<https://example.org>", True),
        ("HTTP://example.org", True),
        ("not a url", False),
        ("", False),
        ("mumbai", False),
        ("https://", False),
        ("http://[bad", False),
        ("ftp://example.org/a", False),
        ("https://me:secret@example.org/a", False),
    ],
)
def test_f3_address_that_could_not_be_asked_for_is_none(url: str, asked: bool) -> None:
    script = Script()
    script.turn(script.an_open(url, text=f"Could not open {url}: it failed.", status="model_error"))
    assert rules_failed(script.answer().done()) == ([] if asked else ["F3"])


def test_f3_refused_address_is_none() -> None:
    script = Script()
    script.turn(script.an_open(text="Could not open it.", status="model_error", meta={"blocked": True}))
    assert rules_failed(script.answer().done()) == ["F3"]


def test_f3_unreachable_page_was_still_asked_for() -> None:
    script = Script()
    script.turn(script.an_open(text="Could not open https://x.org: no such host", status="model_error"))
    assert rules_failed(script.answer().done()) == []


# F4


@pytest.mark.parametrize(
    ("code", "fails"),
    [
        ("from PIL import Image", True),
        ("import cv2", True),
        ("x = im.rotate(90)", True),
        ("x = im.crop((0, 0, 5, 5))", True),
        ("plt.imshow(a)", True),
        ("image_1.size", True),
        ("print(1 + 1)", False),
        ("PILLAR = 3", False),
        ("crop = 3  # yield per acre", False),
        ("rotate = 90", False),
        ("import pandas as pd", False),
    ],
)
def test_f4_image_code_in_a_text_question(code: str, fails: bool) -> None:
    script = Script().search()
    script.turn(script.a_cell(code, "1"))
    sample = script.answer().done()
    assert rules_failed(sample) == (["F4"] if fails else [])


def test_f4_written_but_not_run() -> None:
    sample = Script().search().turn(content="```python\nimport cv2\n```").answer().done()
    assert reason_of(sample, "F4") == "image_code_written"


def test_f4_comments_and_thinking_count_as_written() -> None:
    commented = Script().search()
    commented.turn(commented.a_cell("# no PIL needed\nprint(1)", "1"))
    assert rules_failed(commented.answer().done()) == ["F4"]
    thought = Script().search(thinking=THINK + "\n```python\nimport cv2\n```").answer().done()
    assert reason_of(thought, "F4") == "image_code_written"


def test_f4_prose_is_no_code_and_pictures_are_allowed_elsewhere() -> None:
    assert rules_failed(Script().search().answer(thinking="PIL here means public interest litigation.").done()) == []
    script = Script().search()
    script.turn(script.a_cell("image_1.crop((0, 0, 9, 9)).size", "(9, 9)"))
    sample = script.answer(thinking="The crop is (9, 9) pixels, as it should be.").done("image_search")
    assert "F4" not in rules_failed(sample)


# F6


LETTERS = [
    *(
        "B",
        "b",
        "(B)",
        "B.",
        "B)",
        "a)",
        "**B**",
        "Ｂ",
        "Option B",
        "选项B",
        r"\boxed{B}",
        r"\boxed{\text{A}}",
        "答案：B",
        "I",
    ),
    *(
        "X",
        "O",
        "Ⓐ",
        "🅰",
        "𝐀",
        "A\u200b",
        "A、",
        "【A】",
        "选A",
        "我选 A。",
        "B项",
        "B选项",
        "答案是A",
        "<b>A</b>",
        "$A$",
    ),
    *(
        "Answer: C",
        "The answer is D",
        "So the answer is B.",
        "it is B",
        "B is correct",
        "Correct answer: B",
        "choose B",
    ),
    *("letter B", "option-B", "-B", "/B", "B?", "→ B", "choice (b)", r"\textbf{A}", "ANSWER: (B)"),
]
NO_LETTERS = [
    *(
        "BC",
        "B2",
        "5",
        "５",
        "李",
        "甲",
        "Plan B here",
        "C++",
        "C#",
        "A+",
        "A-",
        "A. Mumbai",
        "Ω",
        "é",
        "Я",
        "Vitamin C",
    ),
    *("B: Mumbai", "A or B", "A, B", "X-ray", "°C", "A1", "1A", "选项 B：孟买", "It", "Right", "T-shirt", "The A"),
]


def test_f6_single_letter_in_any_form_fails() -> None:
    passed = [answer for answer in LETTERS if rules_failed(Script().search().answer(answer).done()) != ["F6"]]
    assert passed == []


def test_f6_anything_else_passes() -> None:
    """``The A`` is a letter too: articles are no part of an answer."""
    failed = [answer for answer in NO_LETTERS if rules_failed(Script().search().answer(answer).done())]
    assert failed == ["The A"]


# F7


def test_f7_same_visible_text_twice_in_a_row() -> None:
    script = Script().search(content="Let me search.")
    script.turn(script.an_open(), content="Let me  search.\n")
    assert rules_failed(script.answer().done()) == ["F7"]


def test_f7_not_in_a_row_passes() -> None:
    script = Script().search(content="Let me search.")
    script.turn(script.an_open(), content="Now the page.")
    script.turn(script.a_search("other"), content="Let me search.")
    assert rules_failed(script.answer().done()) == []


def test_f7_without_visible_text_thinking_decides() -> None:
    script = Script().search(thinking=THINK)
    script.turn(script.an_open(), thinking=THINK)
    assert rules_failed(script.answer().done()) == ["F7"]
    other = Script().search(thinking=THINK)
    other.turn(other.an_open(), thinking=THINK + "!")
    assert rules_failed(other.answer().done()) == []


def test_f7_two_empty_turns_are_no_repetition() -> None:
    script = Script().search(thinking="")
    script.turn(script.an_open(), thinking="")
    assert rules_failed(script.answer().done()) == ["F10"]


# F8


def test_f8_cut_reply() -> None:
    assert reason_of(Script().search(finish_reason="length").answer().done(), "F8") == "length"
    assert rules_failed(good(stop="truncated")) == ["F8"]


def test_f8_marker_is_legal_in_tool_messages_only() -> None:
    script = Script().search()
    script.turn(script.an_open(text="# Mumbai\n\n...\n[tool output truncated]", meta={"truncated": True}))
    assert rules_failed(script.answer().done()) == []
    said = Script().search().answer(thinking=THINK + "\n[tool output truncated]").done()
    assert reason_of(said, "F8") == "marker_in_text"


@pytest.mark.parametrize("content", ["<answer>Mumbai", "Mumbai</answer>", "<think>hm <answer>Mumbai</answer>"])
def test_f8_unclosed_markup(content: str) -> None:
    script = Script().search()
    script.turn(content=content)
    sample = dataclasses.replace(
        script.done(), stop="answer", answer="Mumbai", verdict=Verdict(correct=True, path="exact")
    )
    assert reason_of(sample, "F8") == "unclosed_markup"


def test_f8_closed_markup_and_other_reasons_pass() -> None:
    assert rules_failed(Script().search(finish_reason="tool_calls").answer().done()) == []


# F9


@pytest.mark.parametrize(
    ("task_type", "tokens", "fails"),
    [
        ("text_search", 199, True),
        ("text_search", 200, False),
        ("image_search", 199, True),
        ("image_search", 200, False),
        ("image_reasoning", 99, True),
        ("image_reasoning", 100, False),
        ("image_reasoning", 6000, False),
        ("image_reasoning", 6001, True),
        ("text_search", 6000, False),
        ("text_search", 6001, True),
    ],
)
def test_f9_bounds_are_inclusive(task_type: str, tokens: int, fails: bool) -> None:
    sample = good(task_type, tokens=TokenCounts(assistant=tokens, sequence=9000, exact=True))
    assert rules_failed(sample) == (["F9"] if fails else [])


def test_f9_reads_the_configuration() -> None:
    sample = good(tokens=TokenCounts(assistant=250, sequence=9000))
    assert rules_failed(sample, min_assistant_tokens=251) == ["F9"]
    assert rules_failed(sample, min_assistant_tokens=250) == []
    assert rules_failed(sample, max_assistant_tokens=249) == ["F9"]


# F10


@pytest.mark.parametrize(
    ("thinking", "fails"),
    [
        ("x" * 19, True),
        ("x" * 20, False),
        ("  " + "x" * 19 + "  \n", True),
        ("想" * 20, False),
        ("想" * 19, True),
        ("", True),
    ],
)
def test_f10_twenty_characters_in_every_turn(thinking: str, fails: bool) -> None:
    assert rules_failed(Script().search(thinking=thinking).answer().done()) == (["F10"] if fails else [])
    assert rules_failed(Script().search().answer(thinking=thinking).done()) == (["F10"] if fails else [])


# F11


@pytest.mark.parametrize(("sequence", "fails"), [(23_999, False), (24_000, False), (24_001, True), (100_000, True)])
def test_f11_whole_sequence(sequence: int, fails: bool) -> None:
    sample = good(tokens=TokenCounts(assistant=400, sequence=sequence))
    assert rules_failed(sample) == (["F11"] if fails else [])


def test_f11_reads_max_length() -> None:
    sample = good(tokens=TokenCounts(assistant=400, sequence=30_000))
    assert rules_failed(sample, max_length=30_000) == []
    assert rules_failed(sample, max_length=29_999) == ["F11"]


# malformed_call


def test_malformed_call_is_always_on() -> None:
    script = Script().search()
    script.turn(script._pair("search", '{"query": "a', "not JSON", malformed="bad_json", status="model_error"))
    assert rules_failed(script.answer().done()) == ["malformed_call"]


@pytest.mark.parametrize("text", ["<tool_call>{}</tool_call>", "<function=search>", "<code>print(1)</code>"])
def test_call_left_in_text(text: str) -> None:
    script = Script().search().turn(content=text)
    assert reason_of(script.answer().done(), "malformed_call") == "call_in_text"


def test_sample_that_ends_with_a_call() -> None:
    script = Script().search()
    script.turn(script.an_open(), content="<answer>Mumbai</answer>")
    assert reason_of(script.done(), "malformed_call") == "ends_with_call"


def test_recovered_call_is_fine() -> None:
    sample = good()
    turn = sample.turns[0]
    turns = (dataclasses.replace(turn, calls=(dataclasses.replace(turn.calls[0], recovered=True),)), *sample.turns[1:])
    assert rules_failed(dataclasses.replace(sample, turns=turns)) == []


# all together


def test_every_rule_is_evaluated_and_the_first_is_the_reason() -> None:
    sample = (
        Script()
        .answer("B", thinking="short")
        .done(verdict=Verdict(correct=False, path="judge"), tokens=TokenCounts(assistant=10, sequence=99_999))
    )
    report = evaluate(sample, SETTINGS)
    assert [fail.rule for fail in report.fails] == ["F1", "F3", "F6", "F9", "F10", "F11"]
    assert report.first == "F1"
    assert report.trajectory.filter_fails == ("F1", "F3", "F6", "F9", "F10", "F11")
    assert not report.trajectory.accepted
    assert report.trajectory.filter_hash == SETTINGS.hash


def test_accepted_sample_is_marked_with_the_settings() -> None:
    report = evaluate(good(accepted=False, filter_fails=("F9",)), SETTINGS)
    assert report.accepted
    assert report.trajectory.accepted
    assert report.trajectory.filter_fails == ()


def test_question_without_candidates_or_meta() -> None:
    assert evaluate(good(question=make_question(candidate_answers="[]", meta={})), SETTINGS).accepted


def test_a_cut_sample_without_an_answer_counts_under_f8() -> None:
    assert rules_failed(good(stop="truncated", answer=None, verdict=Verdict(correct=False, path="no_answer"))) == ["F8"]

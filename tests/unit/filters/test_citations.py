"""Which search results a text leans on."""

from __future__ import annotations

import pytest

from tir_distill.filters.citations import listed, numbers_cited, plain, site_cited, title_cited


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("According to result 1 it is Mumbai.", {1}),
        ("result #3 says so", {3}),
        ("results 2 and 1 agree", {1, 2}),
        ("Results 1, 2, and 4", {1, 2, 4}),
        ("results 2-4 agree", {2, 3, 4}),
        ("source 1 says", {1}),
        ("sources (2) and more", {2}),
        ("[1] says Mumbai", {1}),
        ("(1) says so", {1}),
        ("as [1, 3] have it", {1, 3}),
        ("the first result", {1}),
        ("the second search result", {2}),
        ("the 3rd hit", {3}),
        ("the top result", {1}),
        ("the first two results", {1, 2}),
        ("the top three search results", {1, 2, 3}),
        ("the last result", {5}),
        ("both results agree", {1, 2, 3, 4, 5}),
        ("第一条结果说是孟买", {1}),
        ("第2条说是孟买", {2}),
        ("第三个搜索结果", {3}),
        ("结果1说是孟买", {1}),
        ("来源一写道", {1}),
        ("前两条都说是孟买", {1, 2}),
        ("首条结果", {1}),
        ("最后一条写着", {5}),
        ("所有搜索结果都", {1, 2, 3, 4, 5}),
        ("结果一致", set()),
        ("第一个问题", set()),
        ("result 12 of the match", {12}),
        ("results from 1924", set()),
        ("at first I looked at other things", set()),
        ("version 1.2", set()),
        ("the search found it", set()),
    ],
)
def test_numbers(text: str, numbers: set[int]) -> None:
    assert numbers_cited(plain(text), 5) == numbers


def test_titles_and_sites() -> None:
    said = plain("Some Long  title\nof the page says Mumbai, and so does the Hugging Face card.")
    assert title_cited(said, "some long title of  the page")
    assert not title_cited(said, "Mumbai")
    assert site_cited(said, "https://www.huggingface.co/x", [])
    assert not site_cited(said, "https://www.huggingface.co/x", ["https://huggingface.co/docs"])
    assert not site_cited(said, "https://hf.co/x", [])
    assert not site_cited(said, "http://[bad", [])


def test_list() -> None:
    assert listed("1. A title\nURL: https://a.org\nText\n\n2. \nURL: b.org\n") == [
        (1, "A title", "https://a.org"),
        (2, "", "b.org"),
    ]

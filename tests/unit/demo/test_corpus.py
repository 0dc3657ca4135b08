"""The embedded search engine and judge."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest

from demo_helpers import RESOURCES
from tir_distill.demo.corpus import SNIPPET_CHARS, Corpus, Page, read_pages, snippet, words
from tir_distill.demo.judge import Case, is_right, read_case, verdict
from tir_distill.demo.question_file import QuestionFile


def test_words_are_latin_runs_and_pairs_of_chinese_characters() -> None:
    assert list(words("Pier K, 1874: 石虹桥 ok 桥")) == ["pier", "k", "1874", "石虹", "虹桥", "ok", "桥"]


def test_the_page_that_holds_the_words_comes_first() -> None:
    corpus = Corpus(read_pages(RESOURCES / "corpus.jsonl"))
    for query, title in {
        "observatory dome plate 110": "Hylte Observatory",
        "Henrik Moldau born": "Henrik Moldau",
        "青岩渡 取代渡口的桥": "青岩渡与石虹桥",
        "松烟墨园 传承人": "松烟墨园",
    }.items():
        found = corpus.search(query, 5)
        assert found[0][0].title == title
        assert all(len(text) <= SNIPPET_CHARS for _, text in found)


def test_search_is_the_same_each_time_and_takes_any_text() -> None:
    corpus = Corpus(read_pages(RESOURCES / "corpus.jsonl"))
    again = Corpus(read_pages(RESOURCES / "corpus.jsonl"))
    for query in ("bridge designer", 'a "quoted" AND (odd) query* NEAR', "x" * 3000, "的"):
        assert corpus.search(query) == again.search(query)
    assert corpus.search("") == []
    assert corpus.search("?!") == []
    assert corpus.search("the of and") == []


def test_a_snippet_is_the_sentence_with_most_of_the_words() -> None:
    body = "It is old. The tower has a bell. Bell founder: Hallgrim\nBells: 3"
    assert snippet(body, ["bell", "founder"]) == "Bell founder: Hallgrim Bells: 3"
    assert snippet("", ["bell"]) == ""
    assert len(snippet("word " * 500, ["word"])) == SNIPPET_CHARS


def test_pages_of_questions_appear_when_the_file_does(tmp_path: Path) -> None:
    path = tmp_path / "phase_10k.jsonl"
    corpus = Corpus([Page("https://a.example", "Nothing", "", "else")], QuestionFile(path))
    assert corpus.search("keeper of the lamp") == []
    picture = tmp_path / "images" / "x.png"
    picture.parent.mkdir()
    picture.write_bytes(b"picture")
    row = {"id": "q1", "task_type": "image_search", "question": "Who was keeper of the lamp?", "answer": "Ada"}
    path.write_text(json.dumps({**row, "images": ["images/x.png"]}) + "\n")
    (page, _), *_ = corpus.search("keeper of the lamp")
    mark = hashlib.sha256(b"picture").hexdigest()[:12]
    assert page.url == "https://records.example/q1"
    assert page.body.split("\n")[:3] == [
        "On record: Who was keeper of the lamp?",
        f"Picture mark: {mark}",
        "Answer: Ada",
    ]
    path.write_text(json.dumps({**row, "answer": "Eva", "images": []}) + "\n")
    os.utime(path, ns=(1, 1))
    assert corpus.page("https://records.example/q1") == Page(
        page.url,
        "Record q1",
        "",
        "On record: Who was keeper of the lamp?\nAnswer: Eva\nThe entry was checked twice and is filed under q1.",
    )


def test_equal_questions_are_told_apart_by_their_pictures(tmp_path: Path) -> None:
    rows = []
    for name in ("a", "b"):
        (tmp_path / f"{name}.png").write_bytes(name.encode())
        rows.append(
            {"id": name, "task_type": "image_search", "question": "Who?", "answer": name, "images": [f"{name}.png"]}
        )
    path = tmp_path / "q.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    file = QuestionFile(path)
    found = file.find("Who?", hashlib.sha256(b"b").hexdigest()[:12])
    assert found is not None
    assert found.id == "b"
    assert file.find("Where?") is None


@pytest.mark.parametrize(
    ("references", "response", "right"),
    [
        (("Anu",), "the river spirit Anu", True),
        (("Hallgrim & Daughters",), "Hallgrim & Daughters of Brennick", True),
        (("Dagny Rohl",), "Harbour master Dagny Rohl", True),
        (("the water-driven metronome",), "Water-driven metronome.", True),
        (("Malmö",), "Malmo", True),
        (("松陵镇",), "出生地是松陵镇。", True),
        (("Tamsel", "village of Tamsel"), "Tamsel", True),
        (("Anu",), "Anubis", False),
        (("Varnow",), "", False),
        (("梅怀远",), "梅怀", False),
        (("1562",), "1538", False),
        (("",), "anything", False),
    ],
)
def test_the_judge_compares_whole_words(references: tuple[str, ...], response: str, right: bool) -> None:
    assert is_right(Case(references, response)) is right
    case = {"reference_answer": references[0], "other_accepted_answers": list(references[1:]), "response": response}
    reply = verdict("Case to judge:\n" + json.dumps({"question": "{?}", **case}))
    assert reply.startswith("<judge>Yes</judge>" if right else "<judge>No</judge>")


def test_a_request_without_a_case_gets_no_verdict() -> None:
    assert read_case("Is {this} right?") is None
    assert "<judge>" not in verdict("Is this right?")

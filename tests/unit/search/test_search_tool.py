"""The search tool, its backends, and the text that the model reads."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest
from pytest_httpserver import HTTPServer

from ledger_helpers import WIDE, mock_serper, open_ledger, owner, serper_tool, sqlite_url
from tir_distill.ledger import Caps, Door, Fetched
from tir_distill.records import Stopped, ToolCall, ToolResult, UsageError
from tir_distill.tools.backends import ProviderStop, QueryRefused, TryAgain, backend_from_env
from tir_distill.tools.backends.corpus import CorpusBackend, Document, around, build_corpus, terms
from tir_distill.tools.backends.http import retry_after_s
from tir_distill.tools.backends.searxng import SearxngBackend
from tir_distill.tools.backends.serper import SerperBackend
from tir_distill.tools.search import SearchTool, read_query
from tir_distill.tools.search_results import SearchResult, distinct, render
from tir_distill.tools.search_settings import SearchSettings

BLOCKED = (r"huggingface\.co/datasets", r"github\.com/.*\.jsonl")


def call(arguments: str, call_id: str = "call_0_0", malformed: str | None = None) -> ToolCall:
    return ToolCall(id=call_id, name="search", arguments=arguments, malformed=malformed)


class Fixed:
    """A backend with one answer."""

    name = "fixed"
    paid = True

    def __init__(self, *results: SearchResult, error: Exception | None = None) -> None:
        self.results, self.error = results, error
        self.asked: list[str] = []

    def params(self) -> Mapping[str, Any]:
        return {}

    async def ask(self, query: str, door: Door) -> Fetched:
        await door()
        self.asked.append(query)
        if self.error:
            raise self.error
        return Fetched(payload={"results": [item.to_dict() for item in self.results]})

    async def close(self) -> None:
        pass


def run(tmp_path: Path, backend: Any, *calls: ToolCall, caps: Caps = WIDE, **options: Any) -> list[ToolResult]:
    async def main() -> list[ToolResult]:
        ledger = open_ledger(sqlite_url(tmp_path))
        settings = SearchSettings(caps={"image_search": caps, "text_search": caps}, first_wait_s=0.01, **options)
        tool = SearchTool(ledger, settings, backend)
        found = [await tool.call(owner(), item, made=made) for made, item in enumerate(calls)]
        await tool.close()
        ledger.close()
        return found

    return asyncio.run(main())


def test_the_text_of_results() -> None:
    results = [
        SearchResult("Mumbai", "https://a.org", "A city.", "2024-01-02"),
        SearchResult("Delhi", "https://b.org", "Another."),
        SearchResult("Pune", "https://c.org", ""),
    ]
    assert render(results) == (
        "1. Mumbai\nURL: https://a.org\nDate: 2024-01-02\nA city.\n\n"
        "2. Delhi\nURL: https://b.org\nAnother.\n\n"
        "3. Pune\nURL: https://c.org"
    )
    assert render([]) == "No results."


def test_results_are_single_lines_with_distinct_urls() -> None:
    found = [
        SearchResult.of(" A\nb ", "https://a ", "x\u2028y", None),
        SearchResult.of(None, "https://t", 3),
        SearchResult.of("no url", "", ""),
        SearchResult.of("again", "https://a", ""),
    ]
    assert distinct(found, 9) == [SearchResult("A b", "https://a", "x y"), SearchResult("https://t", "https://t", "")]
    assert len(distinct(found, 1)) == 1


@pytest.mark.parametrize(
    "arguments", ['{}""', '""', "null", "[]", '{"query": "a', "{}", '{"query": ""}', '{"query": 3}', '{"query": " "}']
)
def test_wrong_arguments_are_told_and_cost_nothing(tmp_path: Path, arguments: str) -> None:
    backend = Fixed()
    (result,) = run(tmp_path, backend, call(arguments))
    assert result.status == "model_error"
    assert '"query"' in result.content
    assert backend.asked == []


def test_a_malformed_call_is_told_why() -> None:
    assert read_query(call("x", malformed="bad_json"))[0] is None
    assert "bad_json" in read_query(call("x", malformed="bad_json"))[1]
    assert read_query(call('{"query": " A "}')) == (" A ", "")


def test_meta_and_the_query_as_written(tmp_path: Path) -> None:
    backend = Fixed(SearchResult("T", "https://a.org", "s"))
    first, second = run(tmp_path, backend, call('{"query": " Foo  BAR"}'), call('{"query": "foo bar"}', "call_1_0"))
    assert first.meta == {"query": " Foo  BAR", "billed": 1, "cached": False, "urls": ["https://a.org"], "blocked": 0}
    assert second.meta == {"query": "foo bar", "billed": 0, "cached": True, "urls": ["https://a.org"], "blocked": 0}
    assert backend.asked == [" Foo  BAR"]


def test_blocked_sources_are_taken_out_and_counted(tmp_path: Path) -> None:
    backend = Fixed(
        SearchResult("leak", "https://huggingface.co/datasets/x", "s"),
        SearchResult("leak", "https://github.com/a/b%2Ejsonl", "s"),
        SearchResult("good", "https://huggingface.co/blog", "s"),
    )
    (hidden,) = run(tmp_path, backend, call('{"query": "q"}'), blocked_urls=BLOCKED)
    assert hidden.content == "1. good\nURL: https://huggingface.co/blog\ns"
    assert (hidden.meta["blocked"], hidden.meta["urls"]) == (2, ["https://huggingface.co/blog"])
    (shown,) = run(tmp_path, backend, call('{"query": "q"}', "call_1_0"), blocked_urls=BLOCKED, show_blocked=True)
    assert (shown.meta["blocked"], len(shown.meta["urls"])) == (0, 3)
    assert shown.meta["cached"], "a changed list needs no new search"


def test_only_blocked_results_are_no_results(tmp_path: Path) -> None:
    backend = Fixed(SearchResult("leak", "https://huggingface.co/datasets/x", "s"))
    (result,) = run(tmp_path, backend, call('{"query": "q"}'), blocked_urls=BLOCKED)
    assert result.content == "No results."


def test_a_cap_is_told_plainly(tmp_path: Path) -> None:
    caps = Caps(per_trajectory=1, per_question=9, total=None)
    _, result = run(tmp_path, Fixed(), call('{"query": "a"}'), call('{"query": "b"}', "call_1_0"), caps=caps)
    assert result.status == "ok"
    assert result.content == "Search budget used up: this search was not run."
    assert result.meta["cap"] == "trajectory"


def test_a_refused_query_is_the_models_mistake(tmp_path: Path) -> None:
    (result,) = run(tmp_path, Fixed(error=QueryRefused("pattern not allowed")), call('{"query": "a"}'))
    assert result.status == "model_error"


def test_serper_is_asked_as_it_wants(tmp_path: Path) -> None:
    with mock_serper() as serper:

        async def main() -> None:
            ledger = open_ledger(sqlite_url(tmp_path))
            tool = serper_tool(ledger, serper.url, key="k-000001", results=5, region={"gl": "cn", "hl": "zh"})
            await tool.call(owner(), call('{"query": "北京"}'), made=0)
            await tool.close()
            ledger.close()

        asyncio.run(main())
        assert serper.bodies == [{"q": "北京", "num": 5, "gl": "cn", "hl": "zh"}]
        assert serper.keys == {"k-000001"}


async def open_door() -> None:
    """Lets everyone through."""


def ask(backend: Any, query: str = "q") -> Fetched:
    async def main() -> Fetched:
        try:
            found: Fetched = await backend.ask(query, open_door)
            return found
        finally:
            await backend.close()

    return asyncio.run(main())


def test_serper_results_are_normalised(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/search").respond_with_json(
        {
            "answerBox": {"title": "Capital", "link": "https://w.org", "answer": "Paris"},
            "organic": [
                {"title": "A", "link": "https://a.org", "snippet": "one\n two", "date": "3 days ago", "position": 1},
                {"title": "no link"},
                "nonsense",
                {"title": "A again", "link": "https://a.org"},
            ],
            "credits": 2,
        }
    )
    found = ask(SerperBackend(SearchSettings(), url=httpserver.url_for("/search"), key="k"))
    assert found.payload == {
        "results": [
            {"title": "Capital", "url": "https://w.org", "snippet": "Paris"},
            {"title": "A", "url": "https://a.org", "snippet": "one two", "date": "3 days ago"},
        ]
    }
    assert (found.credits, found.doubtful) == (2.0, False)


def answered(status: int, body: bytes, query: str = "q") -> Fetched:
    """What the Serper backend makes of one answer."""
    with mock_serper(faults=[(status, "application/json", body, {})]) as serper:
        return ask(SerperBackend(SearchSettings(), url=serper.url, key="k"), query)


@pytest.mark.parametrize(
    ("body", "rows"),
    [
        (b'{"credits": 1, "answerBox": {"title": "T", "link": "https://a.org", "answer": "42"}}', ["T", "42"]),
        (b'{"credits": 1, "answerBox": {"answer": "42"}}', None),
        (
            b'{"credits": 1, "knowledgeGraph": {"title": "T", "website": "https://a.org", "description": "d"}}',
            ["T", "d"],
        ),
        (b'{"searchParameters": {"q": "q"}, "knowledgeGraph": {"title": "T"}}', None),
        (b'{"searchParameters": {"q": "q"}}', None),
        (b'{"credits": 1, "organic": null}', None),
        (b'{"organic": [{"title": "T", "link": "https://a.org", "snippet": "cut \\ud83d"}]}', ["T", "cut ?"]),
        (b'{"organic": [{"title": "T \\ud83d\\ude00 \\ud83d", "link": "https://a.org"}]}', ["T \U0001f600 ?", ""]),
        (b'{"organic": [{"title": "caf\xe9", "link": "https://a.org", "snippet": "s"}]}', ["caf\ufffd", "s"]),
        (b'\xef\xbb\xbf{"organic": [{"title": "T", "link": "https://a.org", "snippet": "s"}]}', ["T", "s"]),
    ],
)
def test_what_was_billed_is_an_answer(body: bytes, rows: list[str] | None) -> None:
    """However unusual it looks: asking again would be paid again."""
    found = answered(200, body)
    expected = [] if rows is None else [{"title": rows[0], "url": "https://a.org", "snippet": rows[1]}]
    assert found.payload == {"results": expected}
    assert (found.doubtful, found.credits) == (rows is None, 1.0)
    orjson.dumps(found.payload)


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b'{"organic": [', b"{}", b'{"credits": 1, "message": "slow"}'])
def test_what_was_not_billed_is_asked_again(body: bytes) -> None:
    with pytest.raises(TryAgain, match="garbled"):
        answered(200, body)


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "Not enough credits"),
        (400, "Not enough credit"),
        (400, "You have no credits left"),
        (400, "You have run out of credits"),
        (400, "Credit limit exceeded. Please upgrade"),
        (402, "Payment required"),
        (403, "Credits: 0"),
        (429, "Not enough credits"),
        (200, "Not enough credits"),
    ],
)
def test_an_empty_account_in_many_words(status: int, message: str) -> None:
    with pytest.raises(ProviderStop, match="credits_exhausted"):
        answered(status, json.dumps({"message": message}).encode())


@pytest.mark.parametrize(
    ("status", "message", "query", "error"),
    [
        (400, "Query pattern not allowed", "q", QueryRefused),
        (400, "Query 'best credit card' is not allowed", "best credit card", QueryRefused),
        (400, "Query 'out of credits' is not allowed", "Out of  credits", QueryRefused),
        (400, "Not enough credits", "c", ProviderStop),
        (400, "Not enough credits", "credit card", ProviderStop),
        (429, "At most 10 credits a second", "q", TryAgain),
        (500, "credits service is down", "q", TryAgain),
    ],
)
def test_credits_are_also_spoken_of_otherwise(status: int, message: str, query: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        answered(status, json.dumps({"message": message}).encode(), query)


def test_one_failed_query_is_one_fault_however_many_wait_for_it(tmp_path: Path) -> None:
    """Ten conversations ask one query, which fails twice (5 requests each time): two faults in a row, not twenty. The
    third is the limit; an answer from the cache in between says nothing about the provider."""
    broken = (500, "text/html", b"x", {})
    with mock_serper(latency_s=0.02) as serper:

        async def main() -> None:
            ledger = open_ledger(sqlite_url(tmp_path))
            tool = serper_tool(ledger, serper.url, faults_to_stop=3)
            assert (await tool.call(owner("q0"), call('{"query": "kept"}'), made=0)).status == "ok"
            serper.faults = [broken] * 15
            for asked in (6, 11):
                found = await asyncio.gather(
                    *(tool.call(owner(f"q{n}"), call('{"query": "a"}'), made=0) for n in range(10))
                )
                assert {result.status for result in found} == {"infrastructure"}
                assert len(serper.asked) == asked
                assert ledger.stopped() is None
                assert (await tool.call(owner("q9"), call('{"query": "kept"}'), made=0)).meta["cached"]
            with pytest.raises(Stopped, match="endpoint_saturated: 3 searches in a row"):
                await tool.call(owner(), call('{"query": "b"}'), made=0)
            await tool.close()
            ledger.close()

        asyncio.run(main())


def test_searxng(httpserver: HTTPServer) -> None:
    httpserver.expect_request(
        "/search", query_string={"q": "q", "format": "json", "language": "zh", "categories": "news"}
    ).respond_with_json(
        {"results": [{"title": "A", "url": "https://a.org", "content": "text", "publishedDate": "2024-05-01"}]}
    )
    settings = SearchSettings(region={"hl": "zh", "categories": "news"})
    found = ask(SearxngBackend(settings, url=httpserver.url_for("/")))
    assert found.payload["results"] == [{"title": "A", "url": "https://a.org", "snippet": "text", "date": "2024-05-01"}]
    assert not SearxngBackend.paid


def test_an_unreachable_provider_may_be_tried_again() -> None:
    with pytest.raises(TryAgain, match="connection"):
        ask(SerperBackend(SearchSettings(timeout_s=2.0), url="http://127.0.0.1:9/search", key="k"))


def test_retry_after_in_both_forms() -> None:
    now = datetime(2026, 10, 14, 12, 0, 0, tzinfo=UTC)
    assert retry_after_s("3", now) == 3.0
    assert retry_after_s("0.3", now) == 0.3
    assert retry_after_s("Wed, 14 Oct 2026 12:00:07 GMT", now) == 7.0
    assert retry_after_s("Wed, 14 Oct 2026 11:00:00 GMT", now) == 0.0
    assert retry_after_s("soon", now) is None
    assert retry_after_s(None) is None


# ---- the local corpus -----------------------------------------------------------------------------------------------

DOCS = [
    Document("https://x.org/1", "Taj Mahal", "A white marble tomb in Agra, built by Shah Jahan.", "2020-01-01"),
    Document("https://x.org/2", "Gateway of India", "An arch in Mumbai, seen from the Taj Mahal Palace hotel.", None),
    Document("https://x.org/3", "长城", "长城位于中国北部,绵延万里。", None),
    Document("https://x.org/4", "C", "Go is a board game.", None),
]


def corpus(tmp_path: Path, **options: Any) -> CorpusBackend:
    path = tmp_path / "corpus.sqlite"
    assert build_corpus(path, DOCS) == 4
    return CorpusBackend(SearchSettings(**options), path=path)


@pytest.mark.parametrize(
    ("query", "urls"),
    [
        ("taj mahal", ["https://x.org/1", "https://x.org/2"]),
        ("MUMBAI arch", ["https://x.org/2"]),
        ("长城位于哪里", ["https://x.org/3"]),
        ("Go", ["https://x.org/4"]),
        ('quo"te OR NEAR(', []),
        ("!!!", []),
        ("zebra", []),
    ],
)
def test_the_corpus_finds(tmp_path: Path, query: str, urls: list[str]) -> None:
    found = ask(corpus(tmp_path), query)
    assert [row["url"] for row in found.payload["results"]] == urls


def test_a_query_of_very_many_words_is_searched_by_its_first(tmp_path: Path) -> None:
    """SQLite takes a thousand alternatives in one condition; the first 200 different words are looked for."""
    two = ["".join(pair) for pair in itertools.product("абвгдежзийклмнопрстуфхцчшщъыьэюя", repeat=2)]
    assert len(two) == 1024
    first = ask(corpus(tmp_path), " ".join(["Go", *two]))
    assert [row["url"] for row in first.payload["results"]] == ["https://x.org/4"]
    assert ask(corpus(tmp_path), " ".join([*two, "Go"])).payload["results"] == []


@pytest.mark.parametrize("damage", [lambda path: path.unlink(), lambda path: path.write_bytes(b"garbage" * 1000)])
def test_a_corpus_that_went_bad_stops_the_run_in_words(tmp_path: Path, damage: Callable[[Path], Any]) -> None:
    backend = corpus(tmp_path)
    damage(tmp_path / "corpus.sqlite")
    for number in range(2):  # the second time by the flag in the ledger, or by the file again
        with pytest.raises(Stopped, match=r"corpus_unusable: .*corpus\.sqlite \(SEARCH_CORPUS\) cannot be searched: "):
            run(tmp_path, backend, call('{"query": "taj mahal"}', f"call_{number}_0"))


def test_the_corpus_file_is_part_of_the_key(tmp_path: Path) -> None:
    backend = corpus(tmp_path)
    before = backend.params()
    build_corpus(tmp_path / "corpus.sqlite", [*DOCS, Document("u", "t", "b" * 9000)])
    assert backend.params() != before
    assert not CorpusBackend.paid


def test_terms_and_snippets() -> None:
    assert terms("Who built 长城位于? Who") == ["Who", "built", "长城位", "城位于"]
    body = "x " * 200 + "needle " + "y " * 200
    assert "needle" in around(body, ["NEEDLE"])
    assert around("short", ["q"]) == "short"
    assert around(None, ["q"]) == ""


def test_backends_come_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SERPER_API_KEY", "SERPER_URL", "SEARXNG_URL", "SEARCH_CORPUS"):
        monkeypatch.delenv(name, raising=False)
    for backend, variable in (("serper", "SERPER_API_KEY"), ("searxng", "SEARXNG_URL"), ("corpus", "SEARCH_CORPUS")):
        with pytest.raises(UsageError, match=variable):
            backend_from_env(SearchSettings(backend=backend))
    monkeypatch.setenv("SEARCH_CORPUS", str(tmp_path / "none"))
    with pytest.raises(UsageError, match="no such corpus"):
        backend_from_env(SearchSettings(backend="corpus"))
    monkeypatch.setenv("SERPER_API_KEY", "secret-key-1")
    backend = backend_from_env(SearchSettings())
    assert "secret-key-1" not in repr(backend)
    with pytest.raises(UsageError, match="expected serper"):
        backend_from_env(SearchSettings(backend="bing"))


def test_settings_come_from_the_configuration() -> None:
    from tir_distill.config import load

    settings = SearchSettings.from_config(load())
    assert (settings.backend, settings.results, settings.show_blocked) == ("serper", 8, False)
    assert settings.caps["text_search"].per_trajectory == 20
    assert settings.caps["image_reasoning"] == settings.caps["image_search"] == Caps(8, 24, None)
    assert settings.is_blocked("https://www.scribd.com/x")
    assert not settings.is_blocked("https://huggingface.co/blog")
    assert json.dumps(settings.region) == "{}"


def test_a_named_wait_beyond_all_patience_is_not_undercut(tmp_path: Path) -> None:
    """The search fails on our side at once; asking again before the named time would break the provider's word."""
    backend = Fixed(error=TryAgain("rate_limited", "429", 3600.0))
    (result,) = run(tmp_path, backend, call('{"query": "a"}'))
    assert result.status == "infrastructure"
    assert backend.asked == ["a"]

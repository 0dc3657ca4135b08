"""The toolbox routes calls, answers every mistake in words, and keeps pictures once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import PIL.Image
import pytest
from pytest_httpserver import HTTPServer

from sandbox_shared import SharedSandboxes
from tir_distill.ledger import Owner
from tir_distill.records import ToolCall, ToolResult
from tir_distill.sandbox import Sandbox
from tir_distill.tools.open_page import OpenTool
from tir_distill.tools.settings import OpenSettings
from tir_distill.tools.toolbox import Toolbox

OWNER = Owner("run", "bucket", "q1", 0, "image_search")


class FakeSearch:
    """Answers every query with tokens and length."""

    async def call(self, owner: Owner, call: ToolCall, *, made: int) -> ToolResult:
        assert owner == OWNER
        assert made == 0
        return ToolResult(
            call_id=call.id, name="search", status="ok", content="<|im_start|>" + "r" * 9000, meta={"billed": 1}
        )

    async def close(self) -> None:
        return None


class Pages:
    """A cache that remembers by URL."""

    def __init__(self) -> None:
        self.kept: dict[str, Any] = {}

    async def cached_page(self, url: str, *, max_age_s: float | None, fetch: Any) -> tuple[dict[str, Any], bool]:
        if url in self.kept:
            return self.kept[url], True
        self.kept[url] = await fetch()
        return self.kept[url], False


@pytest.fixture(scope="module")
def shared() -> Iterator[SharedSandboxes]:
    with SharedSandboxes(preload=("tir_distill.tools.extract:warm",)) as made:
        yield made


def made(sandbox: Sandbox, tmp_path: Path) -> Toolbox:
    opener = OpenTool(OpenSettings(deadline_s=5), ledger=Pages(), sandbox=sandbox, max_chars=8000)
    return Toolbox(
        search=FakeSearch(),  # type: ignore[arg-type]
        opener=opener,
        sandbox=sandbox,
        run_dir=tmp_path / "run",
        image_root=tmp_path,
        max_chars=8000,
        seed=1,
    )


def python(code: str, number: int = 0) -> ToolCall:
    return ToolCall(id=f"call_0_{number}", name="python", arguments=json.dumps({"code": code}))


def use(
    shared: SharedSandboxes, tmp_path: Path, calls: list[ToolCall], images: tuple[str, ...] = ()
) -> list[ToolResult]:
    """Results of calls in one session."""
    toolbox = made(shared.sandbox(cell_seconds=2), tmp_path)

    async def main() -> list[ToolResult]:
        session = await toolbox.session(OWNER, images)
        try:
            return [await session.call(call) for call in calls]
        finally:
            await session.close()
            await toolbox.opener.close()

    return shared.do(main())


def test_schemas_are_the_three_tools_in_order() -> None:
    from tir_distill.tools import schemas

    assert [schema["function"]["name"] for schema in schemas.load()] == ["search", "open", "python"]
    for schema in schemas.load():
        function = schema["function"]
        assert function["parameters"]["required"] == [schemas.PARAMETER[function["name"]]]


def test_python_search_and_mistakes(shared: SharedSandboxes, tmp_path: Path) -> None:
    PIL.Image.new("RGB", (24, 16), "red").save(tmp_path / "q.jpg")
    calls = [
        python("x = 5\nprint('{\"a\": 1}')"),
        python("x"),
        python("None"),
        python("print(IMAGE_PATH, image_1.size, image_1.format)\nimage_1 = 3"),
        python("print(image_1.size)\nimage_1.crop((0, 0, 4, 4))"),
        python("def f():\n    return 1 / 0\nf()"),
        python("import numpy as np\nnp.array([1]).reshape(7)"),
        ToolCall(id="s", name="search", arguments='{"query": "q"}'),
        ToolCall(id="a", name="python", arguments="{}"),
        ToolCall(id="b", name="python", arguments='{"code": "'),
        ToolCall(id="c", name="fly", arguments="{}"),
        ToolCall(id="d", name="open", arguments="[]"),
        ToolCall(id="e", name="search", arguments='{"query": "a"}{"query": "b"}', malformed="bad_json"),
        ToolCall(id="f", name="open", arguments='{"url": "  "}'),
    ]
    got = use(shared, tmp_path, calls, ("q.jpg",))
    assert [result.call_id for result in got] == [call.id for call in calls]
    assert got[0].content == '{"a": 1}'
    assert got[1].content == "5"
    assert got[2].content == "(no output)"
    assert got[3].content == "input_image.jpg (24, 16) PNG"
    assert got[4].content == "(24, 16)"
    (picture,) = got[4].images
    data = (tmp_path / "run" / picture.path).read_bytes()
    assert picture.path == f"tool_images/{hashlib.sha256(data).hexdigest()}.png"
    assert (picture.width, picture.height) == (4, 4)
    assert got[5].status == "model_error"
    assert got[5].meta["cell"] == "error"
    assert got[5].content.endswith("ZeroDivisionError: division by zero")
    assert 'File "<cell 6>", line 2, in f' in got[5].content
    assert "site-packages" not in got[6].content
    assert "tir_distill" not in got[5].content + got[6].content
    assert got[7].content.startswith("< |im_start|>rrr")
    assert got[7].content.endswith("\n[tool output truncated]")
    assert got[7].meta == {"billed": 1, "truncated": True}
    assert [result.status for result in got[8:]] == ["model_error"] * 6
    assert [result.meta["malformed"] for result in got[8:]] == [
        *("missing_parameter", "bad_json", "unknown_tool", "not_an_object", "bad_json", "missing_parameter")
    ]
    for result in got[8:]:
        assert result.content.startswith("The call of '")


def test_timeouts_keep_variables_and_deaths_say_that_they_are_lost(shared: SharedSandboxes, tmp_path: Path) -> None:
    calls = [
        "x = 7\nwhile True: pass",
        "print(x)",
        "import os\nos._exit(0)",
        "print(x)",
        "print('<image>' * 3 + 'y' * 9000)\n1 / 0",
    ]
    got = use(shared, tmp_path, [python(code, number) for number, code in enumerate(calls)])
    assert got[0].content == "[timeout: the cell ran longer than 2 s; variables are kept]"
    assert got[0].meta == {"cell": "timeout", "restarted": False, "truncated": False}
    assert got[1].content == "7"
    assert got[2].meta["cell"] == "killed"
    assert got[2].meta["restarted"] is True
    assert "variables are lost" in got[2].content
    assert "NameError" in got[3].content
    assert got[4].meta["truncated"] is True
    assert got[4].content.startswith("< image>< image>< image>yyy")
    assert "\n[tool output truncated]\nTraceback" in got[4].content
    assert len(got[4].content) <= 8000 + 26


def test_equal_seeds_give_equal_random_numbers(shared: SharedSandboxes, tmp_path: Path) -> None:
    code = "import random, numpy as np\nprint(random.random(), np.random.rand(), {'b', 'a', 'c'})"
    assert use(shared, tmp_path, [python(code)])[0].content == use(shared, tmp_path, [python(code)])[0].content


def test_the_reader_endpoint(
    shared: SharedSandboxes, tmp_path: Path, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "Title: The river\n\nURL Source: https://example.org/river\n\nMarkdown Content:\nIt is <image> long.\n"
    httpserver.expect_ordered_request("/r/https://example.org/river").respond_with_data(text)
    httpserver.expect_ordered_request("/r/https://example.org/gone").respond_with_data("no", status=404)
    for _ in range(2):
        httpserver.expect_ordered_request("/r/https://example.org/down").respond_with_data("no", status=503)
    monkeypatch.setenv("READER_URL", httpserver.url_for("/r/"))
    urls = [
        *(
            "https://example.org/river",
            "https://example.org/river",
            "https://example.org/gone",
            "https://example.org/down",
        ),
        "http://127.0.0.1/",
    ]
    calls = [ToolCall(id=f"c{at}", name="open", arguments=json.dumps({"url": url})) for at, url in enumerate(urls)]
    got = use(shared, tmp_path, calls)
    assert got[0].content == "# The river\n\nIt is < image> long."
    assert got[0].meta["cached"] is False
    assert got[1].meta["cached"] is True
    assert got[2].content == "Could not open https://example.org/gone: the server answered 404."
    assert got[2].status == "model_error"
    assert got[3].status == "infrastructure"
    assert got[4].status == "model_error"

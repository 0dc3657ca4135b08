"""The template is the pinned one, a user's own, or a clear error: never a silent other."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

import fetch_template
from tir_distill.export import Renderer, find_template, row_messages, template_source
from tir_distill.records import BadRow, TirError

SAID = [{"role": "user", "content": "Hi"}]


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No template in any of the usual places."""
    monkeypatch.setattr(template_source, "CACHE", tmp_path / "cache")
    monkeypatch.delenv("TIR_TEMPLATE_DIR", raising=False)
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    return tmp_path


def test_the_pinned_template_is_found_and_trusted() -> None:
    source = find_template()
    name, sha256 = template_source.pinned()
    assert (name, sha256) == ("qwen3_5_think.jinja", source.sha256)
    assert source.trusted
    text = Renderer(source).render(SAID, [], add_generation_prompt=True)
    assert text == "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n<think>\n"
    off = Renderer(source).render(SAID, [], add_generation_prompt=True, enable_thinking=False)
    assert off.endswith("<think>\n\n</think>\n\n")


def test_without_one_the_error_says_how_to_get_it(nowhere: Path) -> None:
    with pytest.raises(TirError, match=r"fetch_template\.py"):
        find_template()


def test_another_file_of_that_name_is_refused(nowhere: Path) -> None:
    (nowhere / "cache").mkdir()
    (nowhere / "cache" / "qwen3_5_think.jinja").write_text("{{ messages }}")
    with pytest.raises(TirError, match="differs from the pinned one"):
        find_template()


def test_a_folder_named_by_the_environment(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    text = find_template().text
    monkeypatch.setattr(template_source, "CACHE", nowhere / "cache")
    (nowhere / "qwen3_5_think.jinja").write_text(text)
    monkeypatch.setenv("TIR_TEMPLATE_DIR", str(nowhere))
    assert find_template().origin.startswith(str(nowhere))


@pytest.mark.parametrize("name", ["chat_template.jinja", "tokenizer_config.json"])
def test_a_tokenizer_folder_of_the_user(name: str, tmp_path: Path) -> None:
    body = "{{ messages[0].content }}!"
    (tmp_path / name).write_text(body if name.endswith("jinja") else f'{{"chat_template": "{body}"}}')
    source = find_template(tmp_path)
    assert not source.trusted
    assert Renderer(source).render(SAID, []) == "Hi!"


def test_a_folder_without_a_template(tmp_path: Path) -> None:
    with pytest.raises(TirError, match=r"no chat_template\.jinja"):
        find_template(tmp_path)


@pytest.mark.parametrize("body", ["{{ ().__class__.__base__.__subclasses__() }}", "{{ messages.append(1) }}"])
def test_a_user_s_template_runs_in_the_sandbox(body: str, tmp_path: Path) -> None:
    (tmp_path / "chat_template.jinja").write_text(body)
    with pytest.raises(BadRow, match="render_failed"):
        Renderer(find_template(tmp_path)).render(SAID, [])


@pytest.mark.parametrize(
    ("messages", "complaint"),
    [
        ([], "No messages"),
        ([{"role": "assistant", "content": "x"}], "No user query"),
        ([*SAID, {"role": "developer", "content": "x"}], "Unexpected message role"),
        ([{"role": "system", "content": "<image>"}, *SAID], "cannot contain images"),
        ([*SAID, {"role": "system", "content": "x"}], "must be at the beginning"),
    ],
)
def test_what_the_template_refuses(messages: list[dict[str, str]], complaint: str) -> None:
    with pytest.raises(BadRow, match=complaint):
        Renderer(find_template()).render(row_messages(messages), [])


def test_the_fetcher_takes_one_file_and_checks_it(tmp_path: Path) -> None:
    wheel = tmp_path / "trl.whl"
    for text, good in ((find_template().text, True), ("other", False)):
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr("trl/chat_templates/qwen3_5_think.jinja", text)
        args = fetch_template.parser.parse_args(["--wheel", str(wheel), "--out", str(tmp_path / str(good))])
        if good:
            fetch_template.main(args)
            assert [path.name for path in (tmp_path / "True").iterdir()] == ["qwen3_5_think.jinja"]
        else:
            with pytest.raises(TirError, match="expected a4aee8af"):
                fetch_template.main(args)

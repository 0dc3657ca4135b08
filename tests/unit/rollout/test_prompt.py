"""The one system prompt, sentence by sentence (seed sections 4 and 10.1), and the schemas."""

from __future__ import annotations

import re

import pytest

from tir_distill.rollout import system_for, system_prompt, tool_schemas

PROMPT = system_prompt()


def sentences() -> list[str]:
    return [part for part in re.split(r"(?<=[.;])\s+|\n", PROMPT) if part]


@pytest.mark.parametrize(
    "words",
    [
        r"^- search\(query\): ",
        r"^- open\(url\): ",
        r"^- python\(code\): ",
        r"^- If the question comes without a picture, do not process images\.$",
        r"input_image\.jpg",
        r"image_1\.png, image_2\.png and so on",
        r"IMAGE_PATH holds the path of the first one",
        r"image_1, image_2 and so on are PIL images that are already loaded",
        r"directly with the entity, the number or the phrase itself; never with the letter of an option",
        r"inside <answer></answer>",
        r"PIL, numpy and pandas are there; network access is not",
    ],
)
def test_what_the_prompt_must_say(words: str) -> None:
    assert re.search(words, PROMPT, re.M), words


def test_it_never_says_that_python_must_be_used_on_pictures() -> None:
    for sentence in sentences():
        if re.search(r"python|image|picture", sentence, re.I):
            assert not re.search(r"\b(must|always|have to|need to|required|should)\b", sentence, re.I), sentence


def test_it_promises_no_search_before_the_first_turn() -> None:
    assert "search result" not in PROMPT.lower()
    assert "Write your own queries" in PROMPT


def test_schemas_have_one_required_string_each() -> None:
    shapes = {tool["function"]["name"]: (tool["type"], tool["function"]["parameters"]) for tool in tool_schemas()}
    assert list(shapes) == ["search", "open", "python"]
    for name, parameter in (("search", "query"), ("open", "url"), ("python", "code")):
        kind, schema = shapes[name]
        assert kind == "function"
        assert schema["type"] == "object"
        assert schema["required"] == [parameter]
        assert [(key, value["type"]) for key, value in schema["properties"].items()] == [(parameter, "string")]


def test_text_mode_adds_how_to_write_a_call_and_nothing_else() -> None:
    assert system_for(tool_schemas(), text_protocol=False) == PROMPT
    text = system_for(tool_schemas(), text_protocol=True)
    assert text.startswith(PROMPT)
    assert text.count("<tool_call>") == 3

"""Planted defects, one per copy of a clean file: each is found by the check named beforehand, at the message named
beforehand. The table of all of them is ``mutations.md`` beside this file (``python test_mutations.py`` writes it)."""

from __future__ import annotations

import copy
import io
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
import pytest
from PIL import Image

from audit_helpers import EVALUATION_QUESTION, EVALUATION_TEXT, Index, Row, audit, clean_rows, four_columns, python_only
from tir_distill.audit.loader import check_loader
from tir_distill.audit.pictures import Pictures
from tir_distill.records import AuditFailed, ExitCode

SECRET = "tvly-Q7x9Zk2LmN4pR8sT"  # stands for a key in the environment
TABLE = Path(__file__).with_name("mutations.md")


@dataclass(frozen=True)
class Planted:
    """A defect and what must be said about it."""

    name: str
    check: str
    reason: str
    message: int | None
    plant: Callable[[list[Any], Path], None]
    """Changes the rows (row 1 as a rule: image_search; row 3 has no picture), or files below the folder."""
    options: dict[str, Any] = field(default_factory=dict)
    also: frozenset[str] = frozenset()
    """Other checks that see the same defect from their side."""


def at(index: int, old: str, new: str, row: int = 1) -> Callable[[list[Any], Path], None]:
    """Replace the first ``old`` in a message's content, which must be there."""

    def plant(rows: list[Any], _root: Path) -> None:
        message = rows[row]["messages"][index]
        assert old in message["content"]
        message["content"] = message["content"].replace(old, new, 1)

    return plant


def add(index: int, text: str, row: int = 1) -> Callable[[list[Any], Path], None]:
    """Put text in the middle of a message's words."""

    def plant(rows: list[Any], _root: Path) -> None:
        message = rows[row]["messages"][index]
        words = message["content"].split(" ")
        words.insert(len(words) // 2, text)
        message["content"] = " ".join(words)

    return plant


def think(index: int, text: str | None, row: int = 1) -> Callable[[list[Any], Path], None]:
    """Replace the thinking of a reply; None takes the tags away with it."""

    def plant(rows: list[Any], _root: Path) -> None:
        message = rows[row]["messages"][index]
        visible = message["content"].split("</think>\n\n", 1)[1]
        message["content"] = visible if text is None else f"<think>\n{text}\n</think>\n\n{visible}"

    return plant


def arguments(value: Any, position: int = 0, row: int = 1) -> Callable[[list[Any], Path], None]:
    """Give a call of message 2 other arguments (a string is taken as the JSON text itself)."""

    def plant(rows: list[Any], _root: Path) -> None:
        function = rows[row]["messages"][2]["tool_calls"][position]["function"]
        function["arguments"] = value

    return plant


def argument(name: str, value: Any, position: int = 0) -> Callable[[list[Any], Path], None]:
    return arguments(orjson.dumps({name: value}).decode(), position)


def change(function: Callable[[Row], object], row: int = 1) -> Callable[[list[Any], Path], None]:
    def plant(rows: list[Any], _root: Path) -> None:
        function(rows[row])

    return plant


def every(function: Callable[[Row], object]) -> Callable[[list[Any], Path], None]:
    def plant(rows: list[Any], _root: Path) -> None:
        for row in rows:
            function(row)

    return plant


def put(key: str, value: Any, row: int = 1) -> Callable[[list[Any], Path], None]:
    return change(lambda item: item.__setitem__(key, value), row)


def message(index: int, key: str, value: Any) -> Callable[[list[Any], Path], None]:
    return change(lambda row: row["messages"][index].__setitem__(key, value))


def insert(index: int, role: str, content: str) -> Callable[[list[Any], Path], None]:
    return change(lambda row: row["messages"].insert(index, {"role": role, "content": content}))


def line(data: bytes) -> Callable[[list[Any], Path], None]:
    return lambda rows, _root: rows.__setitem__(1, data)


def lineage(key: str, value: Any) -> Callable[[list[Any], Path], None]:
    return change(lambda row: row["lineage"].__setitem__(key, value))


def file(data: Callable[[bytes], bytes]) -> Callable[[list[Any], Path], None]:
    """Rewrite the question's picture of row 1."""

    def plant(rows: list[Any], root: Path) -> None:
        path = root / rows[1]["images"][0]
        path.write_bytes(data(path.read_bytes()))

    return plant


def saved(image: Image.Image, kind: str, **options: Any) -> Callable[[bytes], bytes]:
    def data(_old: bytes) -> bytes:
        buffer = io.BytesIO()
        image.save(buffer, kind, **options)
        return buffer.getvalue()

    return data


def header_only(width: int, height: int) -> bytes:
    """A PNG that says how large it is and holds next to nothing."""
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)

    def chunk(name: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0")) + chunk(b"IEND", b"")


def picture_path(path: str) -> Callable[[list[Any], Path], None]:
    return change(lambda row: row["images"].__setitem__(0, path))


def link_out(rows: list[Any], root: Path) -> None:
    outside = root.parent / f"{root.name}_outside.png"
    picture = root / rows[1]["images"][0]
    picture.rename(outside)
    picture.symlink_to(outside)


def swap_results(row: Row) -> None:
    row["messages"][3], row["messages"][4] = row["messages"][4], row["messages"][3]


def reuse_id(row: Row) -> None:
    first = row["messages"][2]["tool_calls"][0]["id"]
    row["messages"][6]["tool_calls"][0]["id"] = row["messages"][7]["tool_call_id"] = first


def same_ids(row: Row) -> None:
    for call in row["messages"][2]["tool_calls"]:
        call["id"] = "call_0_0"
    for index in (3, 4, 5):
        row["messages"][index]["tool_call_id"] = "call_0_0"


def unsearched(row: Row) -> None:
    """Only python is called."""
    code = row["messages"][2]["tool_calls"][2]
    row["messages"][2]["tool_calls"] = [code]
    row["messages"] = [*row["messages"][:3], row["messages"][5], row["messages"][8]]
    row["has_self_search"] = False


def image_code(row: Row) -> None:
    call = row["messages"][2]["tool_calls"][0]["function"]
    call["name"], call["arguments"] = "python", orjson.dumps({"code": "import cv2"}).decode()
    row["has_image_code"] = True


def brief(row: Row) -> None:
    for index in (2, 6, 8):
        visible = row["messages"][index]["content"].split("</think>\n\n", 1)[1]
        row["messages"][index]["content"] = f"<think>\nI look this up first, then say.\n</think>\n\n{visible}"


HEX = "0123456789abcdef0123456789abcdef01234567"
# keys are put together here so that no tool takes this file for a leak
LOWER_KEY = "sk-" + "a1b2c3d4e5f6a7b8" * 2
HUB_KEY = "hf_" + "aBcDeFgHiJ" * 3 + "kLmN"
OTHER_HUB_KEY = "ms-" + "01234567-89ab-cdef-0123-456789abcdef"
CLOUD_KEY = "AK" + "IA" + "ABCDEFGH12345678"
WEB_TOKEN = ".".join(("eyJ" + "hbGciOiJIUzI1NiJ9", "eyJ" + "zdWIiOiIxMjM0NTY3ODkwIn0", "SflKxwRJSMeKKF2QT4fwpMeJf36"))
ADDRESS_KEY = "https://reader:" + "S3cr3tPass99" + "@example.org/a"
CODE_KEY = "gh" + "p_" + "aB3" * 12
CHAT_KEY = "xo" + "xb-" + "123456789012-abcdefABCDEF"
NESTED = "[" * 900 + "]" * 900


def raw_line(old: bytes, new: bytes) -> Callable[[list[Any], Path], None]:
    """Change the bytes of row 1 themselves."""

    def plant(rows: list[Any], _root: Path) -> None:
        data = orjson.dumps(rows[1])
        assert old in data
        rows[1] = data.replace(old, new, 1)

    return plant


def other_case(row: Row) -> None:
    folder, name = row["images"][0].rsplit("/", 1)
    row["images"][0] = f"{folder}/{name.upper()}"


def other_tools(row: Row) -> None:
    row["tools"] = row["tools"].replace("Search the web.", "Search the Web.")


def fingerprint_of_another(rows: list[Any], _root: Path) -> None:
    rows[2]["lineage"]["fingerprint"] = rows[1]["lineage"]["fingerprint"]


def reordered(row: Row) -> None:
    for key in sorted(row):
        row[key] = row.pop(key)


def answer_in_thought(row: Row) -> None:
    row["messages"][8]["content"] = "<think>\nIt is clear: <answer>Mumbai</answer>\n</think>\n\nMumbai"


def question_of(text: str) -> Callable[[list[Any], Path], None]:
    return change(lambda row: row["messages"][1].__setitem__("content", f"<image>{text}"))


def same_question(rows: list[Any], _root: Path) -> None:
    rows[4]["messages"][1]["content"] = rows[3]["messages"][1]["content"].upper()


def same_id(rows: list[Any], _root: Path) -> None:
    rows[2]["id"] = rows[1]["id"]
    rows[2]["lineage"]["sample"] = rows[1]["lineage"]["sample"]


def evaluation_picture(position: int) -> Callable[[list[Any], Path], None]:
    """Nothing is changed: the index is made to hold a picture of the row."""

    def plant(rows: list[Any], root: Path) -> None:
        seen = Pictures(root, hashes=True, flat_max_std=4.0).look(rows[1]["images"][position])
        INDEX_PICTURE.phash = seen.phash

    return plant


def legacy(function: Callable[[Row], object]) -> Callable[[list[Any], Path], None]:
    """Rows of another maker: three columns only, then the defect."""

    def plant(rows: list[Any], _root: Path) -> None:
        rows[:] = four_columns(rows)
        for row in rows:
            function(row)

    return plant


def only_python(row: Row) -> None:
    tools = [tool for tool in orjson.loads(row["tools"]) if tool["function"]["name"] == "python"]
    row["tools"] = orjson.dumps(tools).decode()


def legacy_python(index: int, old: str, new: str) -> Callable[[list[Any], Path], None]:
    """Converted rows (system, user, call, result, answer), then the defect in row 1."""

    def plant(rows: list[Any], root: Path) -> None:
        rows[:] = python_only(rows)
        at(index, old, new)(rows, root)

    return plant


def others(plant: Callable[[list[Any], Path], None]) -> Callable[[list[Any], Path], None]:
    """The same defect in rows of another maker."""

    def plant_there(rows: list[Any], root: Path) -> None:
        rows[:] = four_columns(rows)
        plant(rows, root)

    return plant_there


def tool(part: str, value: Any, *names: str) -> Callable[[list[Any], Path], None]:
    """Give the first tool of row 1 another ``parameters``, or another value below it."""

    def function(row: Row) -> None:
        tools = orjson.loads(row["tools"])
        place = tools[0]["function"]
        for name in names:
            place = place[name]
        place[part] = value
        row["tools"] = orjson.dumps(tools).decode()

    return change(function)


def link_in_a_circle(rows: list[Any], root: Path) -> None:
    picture = root / rows[1]["images"][0]
    picture.unlink()
    picture.symlink_to(picture)


def number_ids(rows: list[Any], _root: Path) -> None:
    rows[:] = four_columns(rows)
    for number, row in enumerate(rows):
        row["id"] = max(number, 2)


def unlearned(row: Row) -> None:
    for item in row["messages"]:
        if item["role"] == "assistant":
            item["loss"] = False


def said_again(rows: list[Any], _root: Path) -> None:
    rows[:] = four_columns(rows)
    rows.append({**copy.deepcopy(rows[1]), "id": "again"})


def evaluation_palette(rows: list[Any], root: Path) -> None:
    """The index holds the picture of row 1, which is then stored with a palette."""
    evaluation_picture(0)(rows, root)
    rows[:] = four_columns(rows)
    file(lambda data: saved(Image.open(io.BytesIO(data)).convert("P"), "PNG")(data))(rows, root)


ANOTHER_CALL = [{"id": "call_9_9", "type": "function", "function": {"name": "search", "arguments": '{"query":"a"}'}}]
INDEX_PICTURE = Index()
OPEN_CALL = "<tool_call>\n<function=search>\n<parameter=query>\nx\n</parameter>\n</function>"
T, S, C, B, E, R = "1_thinking", "2_shape", "3_truncation", "4_behaviour", "5_overlap", "6_rendering"
OTHER_TEMPLATE = (
    "{%- for m in messages %}<|im_start|>{{ m.role }}\n{% if m.content is string %}"
    "{{ m.content.split('</think>')[-1] }}{% endif %}<|im_end|>\n{% endfor %}"
)


def other_tokens(root: Path) -> Any:
    from tir_distill.export import Tokens

    folder = root / "tokenizer"
    folder.mkdir(exist_ok=True)
    (folder / "chat_template.jinja").write_text(OTHER_TEMPLATE)
    return Tokens.of_folder(folder)


def nothing(_rows: list[Any], _root: Path) -> None:
    """The defect is in what the audit is given."""


def cases() -> list[Planted]:
    return [
        # 1: thinking
        Planted("no thinking in the first turn", T, "missing_think", 2, think(2, None), also=frozenset({R})),
        Planted("no thinking in a middle turn", T, "missing_think", 6, think(6, None), also=frozenset({R})),
        Planted("no thinking in the last turn", T, "missing_think", 8, think(8, None), also=frozenset({R})),
        Planted("empty thinking", T, "empty_think", 6, think(6, "")),
        Planted("thinking of 11 characters", T, "short_think", 6, think(6, "Look it up.")),
        Planted("two think blocks", T, "two_thinks", 8, add(8, "<think>more</think>"), also=frozenset({R})),
        Planted(
            "text before the thinking",
            T,
            "text_before_think",
            6,
            at(6, "<think>", "Well. <think>"),
            also=frozenset({R}),
        ),
        Planted(
            "second </think> in the text",
            T,
            "stray_think_end",
            8,
            at(8, "\n\n<answer>", "</think> <answer>"),
            also=frozenset({R}),
        ),
        Planted("no <answer>", T, "no_answer", 8, at(8, "<answer>Mumbai</answer>", "Mumbai")),
        Planted("empty <answer>", T, "no_answer", 8, at(8, "Mumbai</answer>", " </answer>")),
        Planted("<answer> only in the thinking", T, "no_answer", 8, change(answer_in_thought)),
        Planted("thinking of white space", T, "empty_think", 2, think(2, " \n\t\u3000 ")),
        Planted(
            "a think block inside another, both closed",
            T,
            "two_thinks",
            6,
            at(6, "<think>\n", "<think>\n<think>Hm.</think> "),
            also=frozenset({R}),
        ),
        Planted("two answers", T, "two_answers", 8, at(8, "</answer>", "</answer> or perhaps <answer>Bombay</answer>")),
        Planted("the answer twice", T, "two_answers", 8, at(8, "<answer>", "<answer>Mumbai</answer>\n<answer>")),
        Planted(
            "answer in a turn that still calls",
            T,
            "early_answer",
            6,
            at(6, "</think>\n\n", "</think>\n\n<answer>A b</answer>\n"),
        ),
        Planted(
            "answer before the first result",
            T,
            "early_answer",
            2,
            at(2, "</think>\n\n", "</think>\n\n<answer>Pune</answer>"),
        ),
        Planted(
            "ends in a call",
            T,
            "ends_with_call",
            2,
            change(lambda row: row.__setitem__("messages", row["messages"][:3])),
            also=frozenset({S, R}),
        ),
        Planted(
            "two answers in a converted row",
            T,
            "two_answers",
            4,
            legacy_python(4, "</answer>", "</answer> or <answer>Bombay</answer>"),
            {"profile": "legacy_python"},
        ),
        Planted(
            "early answer in a converted row",
            T,
            "early_answer",
            2,
            legacy_python(2, "</think>\n\n", "</think>\n\n<answer>Pune</answer>"),
            {"profile": "legacy_python"},
        ),
        Planted("answer of zero-width characters", T, "no_answer", 8, at(8, "Mumbai", "\u200b\u2060\ufeff")),
        Planted("thinking of full stops", T, "no_thought", 6, think(6, "." * 40)),
        Planted("thinking of one character, spaced", T, "no_thought", 2, think(2, "- - -\n- - - - -\t- - - -")),
        Planted("thinking of zero-width characters", T, "empty_think", 6, think(6, "\u200b" * 40)),
        Planted("ends in a tool result", T, "ends_with_tool", 7, change(lambda row: row["messages"].pop())),
        # 2: shape
        Planted("call without result", S, "call_without_result", 2, change(lambda row: row["messages"].pop(3))),
        Planted(
            "call without result, last of three",
            S,
            "call_without_result",
            2,
            change(lambda row: row["messages"].pop(4)),
        ),
        Planted(
            "result without call",
            S,
            "result_without_call",
            3,
            change(lambda row: row["messages"][2]["tool_calls"].pop(0)),
        ),
        Planted(
            "a result twice",
            S,
            "result_without_call",
            6,
            change(lambda row: row["messages"].insert(5, row["messages"][5])),
            also=frozenset({R}),
        ),
        Planted("results in another order", S, "result_order", 3, change(swap_results)),
        Planted("one id for all calls", S, "repeated_call_id", 2, change(same_ids)),
        Planted("an id used again in a later turn", S, "repeated_call_id", 6, change(reuse_id)),
        Planted("arguments cut", S, "bad_arguments", 2, arguments('{"query": "a'), also=frozenset({R})),
        Planted("arguments empty", S, "bad_arguments", 2, arguments(""), also=frozenset({R})),
        Planted("arguments a list", S, "bad_arguments", 2, arguments('["a"]'), also=frozenset({R})),
        Planted("arguments null", S, "bad_arguments", 2, arguments("null"), also=frozenset({R})),
        Planted(
            "two objects fused", S, "bad_arguments", 2, arguments('{"query":"a"}{"query":"b"}'), also=frozenset({R})
        ),
        Planted("arguments a number", S, "bad_arguments", 2, arguments("7"), also=frozenset({R})),
        Planted("a key twice in the arguments", S, "repeated_key", 2, arguments('{"query": "a", "query": "b"}')),
        Planted("a key twice in the row", S, "repeated_key", None, raw_line(b'"bucket":', b'"bucket":"","bucket":')),
        Planted("a key twice in a message", S, "repeated_key", None, raw_line(b'"role":', b'"role":"user","role":')),
        Planted("list for a string", S, "argument_type", 2, argument("query", ["a"])),
        Planted(
            "arguments nested 900 deep", S, "argument_type", 2, arguments(f'{{"query": {NESTED}}}'), also=frozenset({R})
        ),
        Planted("result of no call's id", S, "result_without_call", 3, message(3, "tool_call_id", "call_9_9")),
        Planted(
            "result without an id",
            S,
            "result_without_call",
            4,
            change(lambda row: row["messages"][4].pop("tool_call_id")),
        ),
        Planted(
            "tool name in another case",
            S,
            "undeclared_tool",
            2,
            change(lambda row: row["messages"][2]["tool_calls"][0]["function"].__setitem__("name", "Search")),
        ),
        Planted("pictures in another order", S, "image_order", 1, change(lambda row: row["images"].reverse())),
        Planted(
            "a tool's picture in the question",
            S,
            "image_order",
            1,
            change(lambda row: row["images"].__setitem__(0, row["images"][1])),
        ),
        Planted("newline after a tool's picture", S, "image_tag_place", 5, at(5, "<image>", "<image>\n")),
        Planted("system text with another letter", S, "other_system", 0, at(0, "help", "Help")),
        Planted("system text with a blank more", S, "other_system", 0, at(0, "help", " help", row=4)),
        Planted("tools of another version", S, "tools_differ", None, change(other_tools)),
        Planted("fewer tools than other rows", S, "tools_differ", None, change(only_python), also=frozenset({S})),
        Planted("no system text", S, "no_system", 0, change(lambda row: row["messages"].pop(0))),
        Planted(
            "two system texts in front", S, "system_not_first", 1, insert(1, "system", "Be brief."), also=frozenset({R})
        ),
        Planted("a picture and no question", S, "empty_question", 1, question_of("")),
        Planted(
            "a blank question",
            S,
            "empty_question",
            1,
            change(lambda row: row["messages"][1].__setitem__("content", " \n"), row=3),
        ),
        Planted("NUL in a page", S, "markup_in_text", 3, add(3, "\x00")),
        Planted("NUL in thinking", S, "markup_in_text", 6, add(6, "\x00")),
        Planted("NUL in code", S, "markup_in_arguments", 2, argument("code", "import PIL\x00", 2)),
        Planted("<|vision_start|> in a page", S, "markup_in_text", 3, add(3, "<|vision_start|>")),
        Planted("</tool_call> in thinking", S, "call_as_text", 6, add(6, "</tool_call>")),
        Planted("<tool_response> in thinking", S, "markup_in_text", 6, add(6, "<tool_response>")),
        Planted("arguments as an object", S, "arguments_not_text", 2, arguments({"query": "a"})),
        Planted(
            "tool that is not declared",
            S,
            "undeclared_tool",
            2,
            change(lambda row: row["messages"][2]["tool_calls"][0]["function"].__setitem__("name", "searchopen")),
        ),
        Planted("required argument missing", S, "missing_argument", 2, arguments("{}")),
        Planted("argument that no schema has", S, "unknown_argument", 2, arguments('{"query": "a", "n": "3"}')),
        Planted("null argument", S, "argument_type", 2, argument("query", None)),
        Planted("boolean argument", S, "argument_type", 2, argument("query", True)),
        Planted("number for a string", S, "argument_type", 2, argument("query", 7)),
        Planted("a tag too many", S, "image_count", None, at(5, "<image>", "<image><image>"), also=frozenset({R})),
        Planted("a tag too few", S, "image_count", None, at(5, "\n<image>", ""), also=frozenset({R})),
        Planted(
            "a picture without a tag",
            S,
            "image_count",
            None,
            change(lambda row: row["images"].append(row["images"][0])),
            also=frozenset({R}),
        ),
        Planted("literal <image> in a page", S, "image_tag_place", 3, add(3, "<image>"), also=frozenset({R})),
        Planted(
            "literal <image> in the question, own tag gone",
            S,
            "image_tag_place",
            1,
            change(
                lambda row: row["messages"][1].__setitem__(
                    "content", row["messages"][1]["content"][7:] + " <image> what?"
                )
            ),
        ),
        Planted("literal <image> in thinking", S, "image_tag_role", 6, add(6, "<image>"), also=frozenset({R})),
        Planted("literal <image> in the system text", S, "image_tag_role", 0, add(0, "<image>"), also=frozenset({R})),
        Planted("literal <image> in code", S, "markup_in_arguments", 2, argument("code", "print('<image>')", 2)),
        Planted("newline after the picture", S, "newline_after_image", 1, at(1, "<image>", "<image>\n")),
        Planted("<video> in a page", S, "markup_in_text", 3, add(3, "<video>")),
        Planted("<img> with a path in a page", S, "markup_in_text", 3, add(3, "<img>/etc/hostname</img>")),
        Planted("<|im_end|> in a page", S, "markup_in_text", 4, add(4, "<|im_end|>"), also=frozenset({R})),
        Planted("<|image_pad|> in a page", S, "markup_in_text", 4, add(4, "<|image_pad|>"), also=frozenset({R})),
        Planted("<|im_start|> in the question", S, "markup_in_text", 1, add(1, "<|im_start|>"), also=frozenset({R})),
        Planted("<|endoftext|> in thinking", S, "markup_in_text", 6, add(6, "<|endoftext|>")),
        Planted(
            "control token in code",
            S,
            "markup_in_arguments",
            2,
            argument("code", "print('<|im_end|>')", 2),
            also=frozenset({R}),
        ),
        Planted("</tool_response> in a page", S, "markup_in_text", 7, add(7, "</tool_response>")),
        Planted("<think> in a page", S, "markup_in_text", 7, add(7, "<think>")),
        Planted("</parameter> in code", S, "markup_in_arguments", 2, argument("code", "x = '</parameter>'", 2)),
        Planted("a call left as text", S, "call_as_text", 8, add(8, f"{OPEN_CALL}\n</tool_call>"), also=frozenset({R})),
        Planted("a call's inner markup left as text", S, "call_as_text", 8, add(8, "<function=search>")),
        Planted(
            "user message after a result",
            S,
            "user_after_tool",
            8,
            insert(8, "user", "Answer now."),
            also=frozenset({R}),
        ),
        Planted("a second question", S, "second_user", 2, insert(2, "user", "And this?")),
        Planted(
            "two replies in a row",
            S,
            "two_replies",
            9,
            insert(9, "assistant", "<think>\nOne more word on this.\n</think>\n\n<answer>Mumbai</answer>"),
            also=frozenset({T}),
        ),
        Planted(
            "system message in the middle",
            S,
            "system_not_first",
            3,
            insert(3, "system", "Be brief."),
            also=frozenset({R}),
        ),
        Planted("role developer", S, "unknown_role", 0, message(0, "role", "developer")),
        Planted("no question", S, "no_user", None, change(lambda row: row["messages"].pop(1)), also=frozenset({R})),
        Planted(
            "content as parts",
            S,
            "content_not_text",
            5,
            message(5, "content", [{"type": "text", "text": "x"}, {"type": "image", "image": "a.png"}]),
        ),
        Planted("content null", S, "content_not_text", 3, message(3, "content", None)),
        Planted(
            "thinking in a field of its own", S, "reasoning_field", 6, message(6, "reasoning_content", "I thought.")
        ),
        Planted("empty tool_calls", S, "wrong_type", 8, message(8, "tool_calls", [])),
        Planted(
            "call without type", S, "bad_call", 2, change(lambda row: row["messages"][2]["tool_calls"][0].pop("type"))
        ),
        Planted("tools null", S, "tools_null", None, put("tools", None)),
        Planted("tools as a list", S, "tools_not_text", None, put("tools", [])),
        Planted("tools not JSON", S, "bad_tools", None, put("tools", "search, open")),
        Planted(
            "tools without a wrapper", S, "bad_tools", None, put("tools", '[{"name": "search"}]'), also=frozenset({S})
        ),
        Planted("a key missing", S, "missing_key", None, change(lambda row: row.pop("judge_model"))),
        Planted("a key too many", S, "unexpected_key", None, put("score", 1.0)),
        Planted("a name the trainer reads otherwise", S, "special_name", None, put("label", 1)),
        Planted("a number as text", S, "wrong_type", None, put("n_samples", "2")),
        Planted("images null", S, "wrong_type", None, put("images", None, row=3)),
        Planted("has_self_search says the contrary", S, "column_differs", None, put("has_self_search", False)),
        Planted("has_image_code says the contrary", S, "column_differs", None, put("has_image_code", False)),
        Planted("keys in another order", S, "key_order", None, change(reordered)),
        Planted("a number for text", S, "wrong_type", None, put("answer", 1932)),
        Planted("text for true", S, "wrong_type", None, put("has_image_code", "true")),
        Planted("tools of two types", S, "tools_not_text", None, put("tools", [], row=3), also=frozenset({S})),
        Planted("byte order mark", S, "byte_order_mark", None, raw_line(b'{"id"', b'\xef\xbb\xbf{"id"')),
        Planted("half a surrogate pair", S, "bad_json", None, line(b'{"id": "\\ud83d"}')),
        Planted("not a number", S, "bad_json", None, line(b'{"id": NaN}')),
        Planted("a torn line", S, "bad_json", None, line(b'{"id": "q7", "messages": [{"ro')),
        Planted("half a character at the end", S, "bad_json", None, line('{"id": "图'.encode()[:-1])),
        Planted("a list for a row", S, "not_an_object", None, line(b"[1]")),
        Planted(
            "legacy rows that declare search",
            S,
            "other_tools",
            None,
            legacy(lambda row: None),
            {"profile": "legacy_python"},
        ),
        Planted("a tool's parameters no object", S, "bad_tools", None, tool("parameters", "none")),
        Planted("a tool's properties a list", S, "bad_tools", None, tool("properties", ["query"], "parameters")),
        Planted("a tool's property null", S, "bad_tools", None, tool("query", None, "parameters", "properties")),
        Planted("a type that is no name", S, "bad_tools", None, tool("type", 7, "parameters", "properties", "query")),
        Planted("a number for what is required", S, "bad_tools", None, tool("required", 5, "parameters")),
        Planted("half a loss", S, "bad_loss", 2, message(2, "loss", 0.5)),
        Planted("an object for a loss", S, "bad_loss", 6, message(6, "loss", {})),
        Planted("loss as text", S, "bad_loss", 8, message(8, "loss", "false")),
        Planted("a reply that is not learned", S, "not_learned", 6, message(6, "loss", False)),
        Planted("loss 0", S, "not_learned", 8, message(8, "loss", 0)),
        Planted("a call of the user", S, "call_by_other_role", 1, message(1, "tool_calls", ANOTHER_CALL)),
        Planted("a call in a result", S, "call_by_other_role", 3, message(3, "tool_calls", ANOTHER_CALL)),
        Planted("a number for a name", S, "wrong_type", 3, message(3, "name", 5)),
        Planted(
            "a system text of white space",
            S,
            "empty_system",
            0,
            every(lambda row: row["messages"][0].__setitem__("content", " \n")),
        ),
        Planted("a task that is none", S, "unknown_task", None, put("task_type", "imagesearch")),
        Planted("a list for a task", S, "wrong_type", None, put("task_type", ["image_search"])),
        Planted("no samples", S, "bad_count", None, put("n_samples", 0)),
        Planted("code that does not parse", S, "not_python", 2, argument("code", "image_1.crop((0, 0, 9, 9)", 2)),
        Planted(
            "code in a fence", S, "not_python", 2, argument("code", "```python\nimage_1.crop((0, 0, 9, 9))\n```", 2)
        ),
        Planted("another maker's call in thinking", S, "call_as_text", 6, add(6, "<｜tool▁calls▁begin｜>")),
        Planted("a third maker's call in thinking", S, "call_as_text", 6, add(6, "<|tool_call_begin|>")),
        Planted("a third maker's call in the answer", S, "call_as_text", 8, add(8, "<|tool_calls_section_begin|>")),
        Planted("a fourth maker's call in thinking", S, "call_as_text", 2, add(2, "[TOOL_CALLS]")),
        # 3: truncation
        Planted("truncation marker in a reply", C, "marker", 8, add(8, "[tool output truncated]")),
        Planted("truncation marker in thinking", C, "marker", 6, add(6, "[truncated]")),
        Planted("thinking never closed", C, "unclosed_think", 6, at(6, "</think>", ""), also=frozenset({R})),
        Planted(
            "a think block inside another, one closed",
            C,
            "unclosed_think",
            6,
            at(6, "<think>\n", "<think>\n<think>Hm. "),
            also=frozenset({R}),
        ),
        Planted("answer cut", C, "unclosed_answer", 8, at(8, "bai</answer>", "")),
        Planted("call text cut", C, "unclosed_tool_call", 8, add(8, "<tool_call>\n{")),
        Planted("sequence over max_length", C, "too_long", None, add(3, "longer " * 25_000)),
        Planted(
            "too long by its pictures alone",
            C,
            "too_long",
            None,
            file(saved(Image.new("RGB", (3200, 3200), "red"), "PNG")),
            {"settings": {"max_length": 8000}},
        ),
        Planted("no template to count with", C, "not_counted", None, nothing, {"tokens": None}, also=frozenset({R})),
        # 4: behaviour
        Planted("letter for an answer", B, "letter_answer", 8, at(8, "Mumbai", "B")),
        Planted("bracketed letter for an answer", B, "letter_answer", 8, at(8, "Mumbai", "(b)")),
        Planted("letter with a full stop", B, "letter_answer", 8, at(8, "Mumbai", "A.")),
        Planted("full-width letter", B, "letter_answer", 8, at(8, "Mumbai", "Ａ")),
        Planted("letter named an option", B, "letter_answer", 8, at(8, "Mumbai", "选项 B")),
        Planted("no search of its own", B, "no_self_search", None, change(unsearched), also=frozenset()),
        Planted("picture code without a picture", B, "image_code_without_picture", 2, change(image_code, row=3)),
        Planted("thinking short in all rows", B, "threshold_median_think_chars", None, every(brief)),
        Planted(
            "long answers",
            B,
            "threshold_short_answer_rate",
            None,
            at(8, "Mumbai", "It is, all things considered, " * 3),
        ),
        Planted(
            "hardly any search", B, "threshold_mean_searches", None, nothing, {"settings": {"min_mean_searches": 9.0}}
        ),
        Planted("nothing learned in the whole file", B, "nothing_learned", None, legacy(unlearned), {"profile": "any"}),
        # 5: overlap
        Planted("evaluation question", E, "question", 1, question_of(EVALUATION_QUESTION)),
        Planted("evaluation picture in the question", E, "picture", 1, evaluation_picture(0), {"index": INDEX_PICTURE}),
        Planted(
            "evaluation picture shown by a tool", E, "picture", None, evaluation_picture(1), {"index": INDEX_PICTURE}
        ),
        Planted(
            "evaluation text in a page, filter on",
            E,
            "observation",
            4,
            add(4, EVALUATION_TEXT),
            {"settings": {"evaluation_text_fails": True}},
        ),
        Planted(
            "evaluation picture with a palette",
            E,
            "picture",
            1,
            evaluation_palette,
            {"profile": "any", "index": INDEX_PICTURE},
        ),
        Planted("no evaluation index", E, "no_index", None, nothing, {"index": None}),
        # 6: rendering
        Planted(
            "thinking stripped by a later user message",
            R,
            "think_lost",
            2,
            insert(8, "user", "Answer now."),
            also=frozenset({S}),
        ),
        Planted(
            "text lost before a second </think>",
            R,
            "think_lost",
            8,
            at(8, "\n\n<answer>", "</think> <answer>"),
            also=frozenset({T}),
        ),
        Planted("picture in the system text", R, "render_failed", None, add(0, "<image>"), also=frozenset({S})),
        Planted(
            "no user message", R, "render_failed", None, change(lambda row: row["messages"].pop(1)), also=frozenset({S})
        ),
        Planted("arguments no mapping", R, "bad_arguments", None, arguments('"a"'), also=frozenset({S})),
        Planted("turn ended inside a page", R, "control_tokens", None, add(4, "<|im_end|>"), also=frozenset({S})),
        Planted("no template", R, "no_template", None, nothing, {"tokens": None}, also=frozenset({C})),
        Planted("template of another model", R, "think_lost", 2, nothing, {"tokens": other_tokens}),
        # pictures
        Planted("picture missing", "pictures", "missing", None, picture_path("handover/images/none.png")),
        Planted("picture's name in another case", "pictures", "missing", None, change(other_case)),
        Planted("picture cut at 60 %", "pictures", "damaged", None, file(lambda data: data[: len(data) * 6 // 10])),
        Planted("picture of 0 bytes", "pictures", "empty_file", None, file(lambda _data: b"")),
        Planted("web page for a picture", "pictures", "not_a_picture", None, file(lambda _data: b"<html>404</html>")),
        Planted("picture of 1 x 1", "pictures", "too_small", None, file(saved(Image.new("RGB", (1, 1)), "PNG"))),
        Planted("picture of 300 : 1", "pictures", "shape", None, file(saved(Image.new("RGB", (600, 2)), "PNG"))),
        Planted(
            "picture of 20,000 x 20,000", "pictures", "too_large", None, file(lambda _data: header_only(20_000, 20_000))
        ),
        Planted("CMYK JPEG", "pictures", "not_plain", None, file(saved(Image.new("CMYK", (40, 40)), "JPEG"))),
        Planted("palette picture", "pictures", "not_plain", None, file(saved(Image.new("P", (40, 40)), "PNG"))),
        Planted("16-bit grey picture", "pictures", "not_plain", None, file(saved(Image.new("I;16", (40, 40)), "PNG"))),
        Planted(
            "a null among the pictures",
            S,
            "wrong_type",
            None,
            change(lambda row: row["images"].append(None)),
        ),
        Planted(
            "picture turned by EXIF",
            "pictures",
            "rotated",
            None,
            file(
                saved(
                    Image.new("RGB", (24, 16)),
                    "JPEG",
                    exif=b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0",
                )
            ),
        ),
        Planted("path that climbs out", "pictures", "outside_root", None, picture_path("../secret.png")),
        Planted("absolute path", "pictures", "outside_root", None, picture_path("/etc/hostname")),
        Planted("link that leaves the root", "pictures", "outside_root", None, link_out),
        Planted("link in a circle", "pictures", "missing", None, link_in_a_circle),
        Planted("path of 5,000 characters", "pictures", "missing", None, picture_path("a" * 5000)),
        Planted(
            "a picture inside the row",
            "pictures",
            "not_a_file",
            None,
            picture_path("data:image/png;base64," + "iVBO" * 99),
        ),
        Planted(
            "another maker's picture of 300 : 1",
            "pictures",
            "shape",
            None,
            others(file(saved(Image.new("RGB", (600, 2)), "PNG"))),
            {"profile": "any"},
        ),
        Planted(
            "16-bit picture that would turn white",
            "pictures",
            "too_deep",
            None,
            others(file(saved(Image.new("I;16", (40, 40), 40_000), "PNG"))),
            {"profile": "any"},
        ),
        # loader
        Planted(
            "column that changes its type",
            "loader",
            "pyarrow",
            None,
            legacy(lambda row: row.__setitem__("meta", {"a": 1} if row["id"].endswith("_1") else "x")),
            {"profile": "any", "loading": True},
            also=frozenset({S}),
        ),
        Planted(
            "column that looks like dates",
            "loader",
            "column_as_time",
            None,
            every(lambda row: row.__setitem__("answer", "2024-05-01")),
            {"loading": True},
        ),
        Planted(
            "empty file",
            "loader",
            "empty_file",
            None,
            lambda rows, _root: rows.clear(),
            {"loading": True},
            also=frozenset({S}),
        ),
        Planted("no rows", S, "no_rows", None, lambda rows, _root: rows.clear()),
        # duplicates
        Planted("id twice", "duplicates", "id", None, same_id),
        Planted("question twice", "duplicates", "question", None, same_question),
        Planted("fingerprint of another row", "duplicates", "fingerprint", None, fingerprint_of_another),
        Planted("number for an id twice", "duplicates", "id", None, number_ids, {"profile": "any"}),
        Planted("another maker's row twice", "duplicates", "row", None, said_again, {"profile": "any"}),
        Planted("row twice", "duplicates", "question", None, lambda rows, _root: rows.append(rows[1])),
        # secrets
        Planted(
            "key of the environment", "secrets", "environment_key", None, add(3, SECRET), {"secret_values": (SECRET,)}
        ),
        Planted(
            "key of the environment in base64",
            "secrets",
            "environment_key",
            None,
            add(3, "eHR2bHktUTd4OVprMkxtTjRwUjhzVA=="),
            {"secret_values": (SECRET,)},
        ),
        Planted(
            "provider's key in code",
            "secrets",
            "api_key",
            None,
            argument("code", "import PIL; key = 'sk-proj-abcDEF123456789012345678'", 2),
        ),
        Planted(
            "bearer token in a page",
            "secrets",
            "bearer_token",
            None,
            add(3, "Authorization: Bearer abcdef0123456789abcdef0123456789"),
        ),
        Planted("key of lower-case letters in thinking", "secrets", "api_key", None, add(6, f"I use {LOWER_KEY} here")),
        Planted("hub token in a page", "secrets", "hub_token", None, add(3, HUB_KEY)),
        Planted("other hub's token in a page", "secrets", "hub_token", None, add(4, f"token={OTHER_HUB_KEY}")),
        Planted("cloud key in code", "secrets", "aws_key", None, argument("code", f"import PIL; k = '{CLOUD_KEY}'", 2)),
        Planted(
            "code host's token in a page", "secrets", "github_token", None, add(3, f"https://{CODE_KEY}@example.org")
        ),
        Planted(
            "chat token in an address", "secrets", "slack_token", None, add(7, f"https://example.org/?t={CHAT_KEY}")
        ),
        Planted(
            "search key in code",
            "secrets",
            "named_key",
            None,
            argument("code", f'import PIL; headers = {{"X-API-KEY": "{HEX}"}}', 2),
        ),
        Planted("search key in settings", "secrets", "named_key", None, add(3, f"SERPER_API_KEY={HEX}")),
        Planted(
            "key in an address",
            "secrets",
            "named_key",
            None,
            add(3, "https://example.org/?api_key=x7k2m9q4w8e1r5t3y6u0"),
        ),
        Planted(
            "key of the environment inside arguments",
            "secrets",
            "environment_key",
            None,
            argument("code", 'import PIL; k = "a\\"b7Q9z4"', 2),
            {"secret_values": ('a\\"b7Q9z4',)},
        ),
        Planted("web token in a page", "secrets", "web_token", None, add(3, WEB_TOKEN)),
        Planted("password in an address", "secrets", "password_in_address", None, add(7, ADDRESS_KEY)),
        Planted("private key in a page", "secrets", "private_key", None, add(3, "-----BEGIN RSA PRIVATE KEY-----")),
        # licence and lineage
        Planted("blank licence", "licence", "missing", None, put("licence", " ")),
        Planted("no licence", "licence", "missing", None, change(lambda row: row.pop("licence")), also=frozenset({S})),
        Planted(
            "lineage without a fingerprint",
            "lineage",
            "incomplete",
            None,
            change(lambda row: row["lineage"].pop("fingerprint")),
        ),
        Planted("fingerprint that is no hash", "lineage", "not_a_hash", None, lineage("fingerprint", "abc")),
        Planted("lineage of another row", "lineage", "other_sample", None, lineage("sample", "fvqa_train_7#1")),
        Planted("lineage of another sample", "lineage", "other_sample", None, lineage("sample_index", 5)),
        Planted("sample index as text", "lineage", "incomplete", None, lineage("sample_index", "1")),
        Planted("versions not JSON", "lineage", "not_json", None, lineage("versions", "v1")),
        Planted("no lineage", "lineage", "missing", None, put("lineage", None), also=frozenset({S})),
    ]


CASES = cases()


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
    return clean_rows(tmp_path_factory.mktemp("clean"))


@pytest.mark.parametrize("case", CASES, ids=[case.name.replace(" ", "_") for case in CASES])
def test_is_found_by_the_check_named_beforehand(case: Planted, tmp_path: Path) -> None:
    rows: list[Any] = copy.deepcopy(clean_rows(tmp_path))
    case.plant(rows, tmp_path)
    options = dict(case.options)
    if callable(options.get("tokens")):
        options["tokens"] = options["tokens"](tmp_path)
    loading = options.pop("loading", False)
    report = audit(tmp_path, rows, **options)
    found = {(item["check"], item["reason"], item["message"]) for item in report.failures}
    if loading:  # in this process: starting another for each case would take most of the time
        found |= {(item.check, item.reason, None) for item in check_loader(tmp_path / "rows.jsonl")}
    assert found
    assert (case.check, case.reason, case.message) in found, sorted(map(str, found))
    others = {check for check, _, _ in found} - {case.check}
    assert others <= set(case.also), f"also found by {others}: {sorted(map(str, found))}"


def test_failure_means_exit_code_3() -> None:
    assert AuditFailed("x").exit_code == ExitCode.AUDIT_FAILED == 3


def test_there_are_enough_kinds_and_every_check_has_more_than_one() -> None:
    assert len(CASES) >= 60
    assert len({case.name for case in CASES}) == len(CASES)
    kinds = [case.check for case in CASES]
    assert all(kinds.count(check) > 1 for check in set(kinds))


def table() -> str:
    """The published table."""
    lines = [
        f"# Planted defects: {len(CASES)}",
        "",
        "One per copy of a clean file; each is found by the check in its line, at that message (test_mutations.py).",
        "",
        "| # | planted | found by | reason | message | also seen by |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for number, case in enumerate(CASES, start=1):
        where = "row" if case.message is None else str(case.message)
        name = case.name.replace("|", "\\|").replace("<", "&lt;")
        lines.append(f"| {number} | {name} | {case.check} | {case.reason} | {where} | {', '.join(sorted(case.also))} |")
    return "\n".join(lines) + "\n"


def test_published_table_is_current() -> None:
    assert TABLE.read_text(encoding="utf-8") == table()


if __name__ == "__main__":
    TABLE.write_text(table(), encoding="utf-8")

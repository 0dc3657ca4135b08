"""The text protocol of earlier TIR data, read piece by piece.

Public sets write the same three things in different clothes (CodeDance, Thyme, PyVision, DeepEyesV2, our own
harness): code between ``<code>`` tags, fenced or not, closed or not; calls as JSON between ``<tool_call>`` tags;
results between ``<tool_response>``, ``<sandbox_output>``, ``<interpreter>`` or ``<output>`` tags, in a message of their
own or in the middle of the model's text. ``pieces`` cuts one text into those parts and keeps all else as it stands.
"""

from __future__ import annotations

import json
import re
from typing import Literal, NamedTuple

import orjson

PieceKind = Literal["text", "think", "code", "call", "result"]

RESULT_TAGS = ("tool_response", "sandbox_output", "interpreter", "output")
_RESULTS = tuple(f"<{tag}>" for tag in RESULT_TAGS)
_OPENING = re.compile(r"<(think|code(?!>`[^`])|tool_call|" + "|".join(RESULT_TAGS) + r")>|</think>")
"""``<code>`` with a single back tick behind it is a word of a sentence."""
_NEXT_THINK = re.compile(r"</?think>|<answer>")
_FENCE_HEAD = re.compile(r"(```|~~~)[\w+-]*[ \t\r]*\n?")
_FENCED_BLOCK = re.compile(r"\s*```(?:python|py)?[ \t\r]*\n(.*?)(?:\n[ \t]*```|\Z)", re.S)
_FENCE_OPENS = re.compile(r"\s*(?:```|~~~)[\w+-]*[ \t\r]*\n")
_FENCE_ENDS = re.compile(r"\n[ \t]*(?:```|~~~)\s*(?:</code>|\Z|(?=<(?:think|answer|" + "|".join(RESULT_TAGS) + r")>))")
_STOPS_CODE = re.compile(r"</code>|<(?:think|answer|" + "|".join(RESULT_TAGS) + r")>")
_STOPS_CALL = re.compile(r"</tool_call>|<(?:code|answer|" + "|".join(RESULT_TAGS) + r")>")


_USUAL = re.compile(
    r"\s*+(?:<think>([^<]*+)</think>)?+([^<]*+(?:<answer>[^<]*+</answer>[^<]*+)?+)"
    r"(?:<code>\s*+```python\n([^<`]*+)(?<=\n)```\s*+</code>\s*+)?+"
)
_USUAL_RESULT = re.compile(r"\s*+<tool_response>([^<]*+)</tool_response>\s*+")


class Piece(NamedTuple):
    """One part of a text. ``code`` is source without fence; ``call`` is the JSON text between the tags."""

    kind: PieceKind
    text: str


def pieces(text: str, *, thinking: bool = False) -> tuple[list[Piece], bool]:
    """Cut a model text into pieces, in order; also say whether thinking is still open at its end.

    ``thinking``: the text goes on inside an open ``<think>`` (Thyme keeps one open across code and results). Text
    inside thinking comes out as ``think`` pieces; code and results inside it keep their own kinds. A thought may stand
    inside another, and may lack its opening tag, which many templates write themselves.
    """
    out: list[Piece] = []
    at = since = 0
    depth, seen = int(thinking), thinking
    while match := _OPENING.search(text, at):
        if match.start() > at:
            out.append(Piece("think" if depth else "text", text[at : match.start()]))
        tag = match.group(1)
        at = match.end()
        if tag == "think":
            depth += 1
            seen = True
            continue
        if tag is None:
            if depth:
                following = _NEXT_THINK.search(text, at) if depth > 1 else None
                depth = depth - 1 if following and following.group() == "</think>" else 0
            else:
                _as_thoughts(out, since if seen else 0, text[at:])
            seen, since = True, len(out)
            continue
        if tag == "code":
            source, at = _source(text, at)
            out.append(Piece("code", unfenced(source)))
        elif tag == "tool_call":
            source, at = _until(text, at, _STOPS_CALL, "</tool_call>")
            call, rest = _json_head(source)
            fenced = _FENCED_BLOCK.match(rest) if _names_code(call) else None
            if fenced is None and _names_code(call) and not rest.strip():
                # seed section 9: {"action": "code"} may be followed by the source in a fence after the closing tag
                fenced = _FENCED_BLOCK.match(text, at)
                at = fenced.end() if fenced else at
            out.append(Piece("code", fenced.group(1)) if fenced else Piece("call", call))
        else:
            end = text.find(f"</{tag}>", at)
            body = text[at:] if end < 0 else text[at:end]
            at = len(text) if end < 0 else end + len(tag) + 3
            out.append(Piece("result", body.strip("\r\n")))
    if at < len(text):
        out.append(Piece("think" if depth else "text", text[at:]))
    return out, depth > 0


def _as_thoughts(out: list[Piece], since: int, rest: str) -> None:
    """What stands before a closing tag without its opening one was thought, unless the only answer is in it."""
    if any("<answer>" in piece.text for piece in out[since:]) and (since or "<answer>" not in rest):
        return
    out[since:] = [Piece("think", text) if kind == "text" else Piece(kind, text) for kind, text in out[since:]]


def usual(text: str) -> tuple[str, str, str | None] | None:
    """Thinking, visible text and code of a text with one of each at most, in that order, none with a ``<`` in it.

    What ``pieces`` says of such a text, in one look: nearly all texts are of this kind. None for any other.
    """
    match = _USUAL.fullmatch(text)
    if match is None:
        return None
    thinking, visible, code = match.groups()
    return thinking or "", visible, None if code is None else code.strip("\r\n")


def usual_result(text: str) -> str | None:
    """The result in a message that is one ``<tool_response>`` without a ``<`` in it; None for any other."""
    match = _USUAL_RESULT.fullmatch(text)
    return match.group(1).strip("\r\n") if match else None


def holds_result(text: str) -> bool:
    """Whether a message begins with a tagged result."""
    return text.lstrip().startswith(_RESULTS)


def one_result(text: str) -> str | None:
    """The result in a message that is one tag from end to end, whatever was printed inside; None for any other."""
    body = text.strip()
    tag = body[1 : body.index(">")]
    if body.count(f"<{tag}>") != 1 or not body.endswith(f"</{tag}>"):
        return None
    return body[len(tag) + 2 : -len(tag) - 3].strip("\r\n")


def _source(text: str, start: int) -> tuple[str, int]:
    """Code with its fence: a fence that closes well is believed before tags, which code may hold in its own strings."""
    opened = _FENCE_OPENS.match(text, start)
    closed = _FENCE_ENDS.search(text, opened.end() - 1) if opened else None
    if closed is None:
        return _until(text, start, _STOPS_CODE, "</code>")
    return text[start : closed.end()].removesuffix("</code>"), closed.end()


def unfenced(source: str) -> str:
    """Source without its Markdown fence, when it has one, and without blank lines around it."""
    body = source.strip()
    head = _FENCE_HEAD.match(body)
    if head is None:
        return source.strip("\r\n")
    body = body[head.end() :]
    return (body[:-3].rstrip(" \t") if body.endswith(head.group(1)) else body).strip("\r\n")


def _until(text: str, start: int, stop: re.Pattern[str], closing: str) -> tuple[str, int]:
    """Text up to the closing tag, or, where that is missing, up to what must come after it."""
    match = stop.search(text, start)
    if match is None:
        return text[start:], len(text)
    end = match.end() if match.group(0) == closing else match.start()
    return text[start : match.start()], end


def _json_head(source: str) -> tuple[str, str]:
    """The first JSON object of a text and what follows it; the whole text when there is none."""
    body = source.strip()
    try:
        _, end = json.JSONDecoder().raw_decode(body)
    except json.JSONDecodeError:
        return body, ""
    return body[:end], body[end:]


def _names_code(call: str) -> bool:
    try:
        value = orjson.loads(call)
    except orjson.JSONDecodeError:
        return False
    return isinstance(value, dict) and value.get("action") == "code" and "code" not in value

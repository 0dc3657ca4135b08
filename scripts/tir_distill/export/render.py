"""A conversation as the model's own text, through the official template and jinja2 alone.

The environment is the one in which transformers runs chat templates (transformers, ``utils/chat_template_utils.py``):
immutable sandbox, ``trim_blocks``, ``lstrip_blocks``, loop controls, ``tojson`` without HTML escapes. Equal output is
shown on seeded conversations whose hashes are committed (tests/unit/export/goldens.json). The pinned template, known
to the byte, runs without the sandbox; a user's own never does.
"""

from __future__ import annotations

import functools
import json
import marshal
from collections.abc import Mapping, Sequence
from typing import Any

import jinja2
import jinja2.ext
import orjson
from jinja2.sandbox import ImmutableSandboxedEnvironment

from ..records import BadRow
from ..records.conversation import Message
from .template_source import TemplateSource

IMAGE_TAG = "<image>"
"""What stands for a picture in a row's text; ms-swift reads it in every message."""


_DICT_NAMES = frozenset(dir(dict))


class _QuickEnvironment(jinja2.Environment):
    """Looks names of messages up as keys at once. Jinja's own way tries an attribute first, and an exception for each
    name of each message is a third of the time; for a name that no dictionary has as an attribute both find the same.
    """

    def getattr(self, obj: Any, attribute: str) -> Any:
        if type(obj) is dict and attribute not in _DICT_NAMES:
            try:
                return obj[attribute]
            except KeyError:
                return self.undefined(obj=obj, name=attribute)
        return super().getattr(obj, attribute)


class Renderer:
    """Renders messages with one template. Make one and keep it: compiling costs more than rendering."""

    def __init__(self, source: TemplateSource) -> None:
        self.source = source
        kind = _QuickEnvironment if source.trusted else ImmutableSandboxedEnvironment
        environment = kind(trim_blocks=True, lstrip_blocks=True, extensions=[jinja2.ext.loopcontrols])
        environment.filters["tojson"] = _tojson
        environment.globals["raise_exception"] = _raise
        try:
            self._template = environment.from_string(source.text)
        except jinja2.TemplateSyntaxError as error:
            raise BadRow("bad_template", f"{source.origin}: {error}") from error

    def render(
        self,
        messages: Sequence[Message],
        tools: Sequence[Mapping[str, Any]],
        *,
        add_generation_prompt: bool = False,
        **variables: Any,
    ) -> str:
        """The text of the conversation. Raises BadRow ``render_failed`` with the template's own complaint.

        ``messages`` are in the template's form: pictures as parts, arguments as mappings (``native_messages`` or
        ``row_messages``). ``variables`` go to the template as they are (``enable_thinking=False``).
        """
        try:
            return self._template.render(
                messages=messages,
                tools=list(tools) or None,
                documents=None,
                add_generation_prompt=add_generation_prompt,
                **variables,
            )
        except (jinja2.TemplateError, TypeError, ValueError) as error:
            raise BadRow("render_failed", str(error)) from error


def native_messages(messages: Sequence[Message]) -> list[Message]:
    """Messages of ``records.conversation`` in the template's form: arguments parsed. Raises BadRow."""
    return [_with_parsed_calls(message) for message in messages]


def row_messages(messages: Sequence[Message]) -> list[Message]:
    """Messages of a row in the template's form: ``<image>`` tags become parts, arguments are parsed.

    As in ms-swift, every ``<image>`` in any message counts as a picture. Raises BadRow.
    """
    return [_with_parsed_calls({**message, "content": _parts(message.get("content"))}) for message in messages]


def _parts(content: Any) -> Any:
    if not isinstance(content, str) or IMAGE_TAG not in content:
        return content
    parts: list[Message] = []
    for index, text in enumerate(content.split(IMAGE_TAG)):
        if index:
            parts.append({"type": "image"})
        if text:
            parts.append({"type": "text", "text": text})
    return parts


def _with_parsed_calls(message: Message) -> Message:
    if not message.get("tool_calls"):
        return message
    calls = [
        {"function": {"name": call["function"]["name"], "arguments": parse_arguments(call["function"]["arguments"])}}
        for call in message["tool_calls"]
    ]
    return {**message, "tool_calls": calls}


def parse_arguments(arguments: Any) -> dict[str, Any]:
    """A JSON object from a call's arguments. Raises BadRow ``bad_arguments`` for anything else."""
    if isinstance(arguments, str):
        try:
            arguments = orjson.loads(arguments)
        except orjson.JSONDecodeError as error:
            raise BadRow("bad_arguments", f"not JSON: {error}") from error
    if not isinstance(arguments, dict):
        raise BadRow("bad_arguments", f"a JSON object was expected, found {type(arguments).__name__}")
    return arguments


def _tojson(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    if indent is None and separators is None and not ensure_ascii and not sort_keys:
        try:
            return _plain_json(marshal.dumps(value, 2))  # tools, the same in every row
        except ValueError:  # holds what marshal does not know
            pass
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


@functools.lru_cache(maxsize=128)
def _plain_json(data: bytes) -> str:
    """JSON of a value given in marshal's form, which tells apart whatever JSON might (1, 1.0 and True)."""
    return json.dumps(marshal.loads(data), ensure_ascii=False)


def _raise(message: str) -> None:
    raise jinja2.TemplateError(message)

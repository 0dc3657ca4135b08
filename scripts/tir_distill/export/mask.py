"""Which of a row's turns or tokens are learned, in the two forms that ms-swift 4.5 and 4.6 honour.

Whole turns: ``"loss": false`` on an assistant message masks it, its calls and its end token (of the last message the
end token stays in the loss). Exact tokens: the content ``{"token_ids": [...], "loss_scale": [...]}`` says for each
token whether it counts. ``"loss_scale": 0.5`` on a message is silently ignored by the trainer: no form here uses it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from ..records import BadRow
from .render import Renderer, row_messages
from .tokens import ASSISTANT, BLOCK
from .vocabulary import Vocabulary

END = "<|im_end|>"


def mask_turns(row: Mapping[str, Any], turns: Collection[int]) -> dict[str, Any]:
    """A copy of the row in which these assistant messages (0 is the first) are not learned.

    Raises BadRow ``no_such_turn``.
    """
    messages = [dict(message) for message in row["messages"]]
    replies = [message for message in messages if message["role"] == "assistant"]
    for turn in turns:
        if not 0 <= turn < len(replies):
            raise BadRow("no_such_turn", f"turn {turn} of {len(replies)}")
        replies[turn]["loss"] = False
    return {**row, "messages": messages}


def mask_tokens(
    row: Mapping[str, Any],
    tools: list[Mapping[str, Any]],
    keep: Callable[[int, str], bool],
    *,
    renderer: Renderer,
    vocabulary: Vocabulary,
    turns: Collection[int],
) -> dict[str, Any]:
    """A copy of the row in which the named assistant messages are token ids with one 0 or 1 each.

    ``keep(position, text)`` decides for each token of a turn: its position in the turn and its text. The ids are the
    official rendering of the turn, from ``<think>`` to the last ``</tool_call>`` or the end of the text, so the calls
    are in them and the message's ``tool_calls`` go. Raises BadRow ``no_such_turn``.
    """
    text = renderer.render(row_messages(row["messages"]), tools)
    spans = [
        block.removeprefix("assistant\n").split(END)[0]
        for block in text.split(BLOCK)
        if block.startswith("assistant\n")
    ]
    messages = [dict(message) for message in row["messages"]]
    replies = [message for message in messages if message["role"] == "assistant"]
    for turn in turns:
        if not 0 <= turn < len(replies):
            raise BadRow("no_such_turn", f"turn {turn} of {len(replies)}")
        ids = vocabulary.encode(spans[turn])
        pieces = [vocabulary.encoding.decode([token]) for token in ids]
        scale = [1.0 if keep(position, piece) else 0.0 for position, piece in enumerate(pieces)]
        replies[turn].pop("tool_calls", None)
        replies[turn]["content"] = {"token_ids": ids, "loss_scale": scale}
    return {**row, "messages": messages}


def loss_spans(text: str) -> list[tuple[int, int]]:
    """Character spans of a rendered conversation that are learned by default: each assistant turn from ``<think>``
    through its ``<|im_end|>`` and the newline after it; nothing of system, user, tools and pictures."""
    spans: list[tuple[int, int]] = []
    start = text.find(ASSISTANT)
    while start >= 0:
        start += len(ASSISTANT)
        end = text.index(END, start) + len(END)
        end += text.startswith("\n", end)
        spans.append((start, end))
        start = text.find(ASSISTANT, end)
    return spans

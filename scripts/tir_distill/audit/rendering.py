"""Check 6: the official template renders the row, and what it wrote is what the row says.

Thinking that the template drops (a later user message strips it), text that it loses between tags, control tokens that
came in with the text: each shows in the rendered conversation, so that is where they are looked for.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..export import IMAGE_TAG, Renderer, row_messages
from ..records import BadRow
from .findings import Finding, unreadable
from .view import View

CHECK = "6_rendering"
START, END, PAD = "<|im_start|>", "<|im_end|>", "<|image_pad|>"
ANSWERING = f"{START}assistant\n"


def render(view: View, renderer: Renderer) -> tuple[str | None, list[Finding]]:
    """The rendered conversation and what is wrong with it; None when the template refuses the row."""
    try:
        text = renderer.render(row_messages(view.messages), view.tools)
    except BadRow as error:
        return None, [Finding(check=CHECK, reason=error.reason, detail=error.detail)]
    except (RecursionError, MemoryError):
        raise
    except Exception as error:
        return None, [unreadable(error)]
    return text, [*_turns(view, text), *_tokens(view, text)]


def _turns(view: View, text: str) -> Iterator[Finding]:
    """Every assistant turn stands in the text whole: thinking, visible text, calls, in order."""
    place = 0
    for reply in view.replies:
        start = text.find(ANSWERING, place)
        end = text.find(END, start)
        block = text[start + len(ANSWERING) : end] if start >= 0 else ""
        place = max(end, place)
        thinking, visible = (reply.thinking or ""), reply.visible.strip()
        if not block.startswith(f"<think>\n{thinking}\n</think>\n\n"):
            yield Finding(check=CHECK, reason="think_lost", message=reply.message, excerpt=block[:160])
        elif visible.replace(IMAGE_TAG, "") and visible not in block and IMAGE_TAG not in visible:
            yield Finding(check=CHECK, reason="text_lost", message=reply.message, excerpt=visible)
        if block.count("<tool_call>\n<function=") != len(reply.calls):
            yield Finding(check=CHECK, reason="call_lost", message=reply.message, excerpt=block[-160:])


def _tokens(view: View, text: str) -> Iterator[Finding]:
    """As many control tokens as the conversation has turns and pictures."""
    roles = [message["role"] for message in view.messages]
    results = sum(role == "tool" and roles[i - 1] != "tool" for i, role in enumerate(roles))
    system = bool(view.tools) or roles[:1] == ["system"]
    turns = system + roles.count("user") + roles.count("assistant") + results
    for token, expected in ((START, turns), (END, turns), (PAD, len(view.images))):
        found = text.count(token)
        if found != expected:
            yield Finding(check=CHECK, reason="control_tokens", detail=f"{found} times {token}, expected {expected}")

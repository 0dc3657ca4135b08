"""Exact token counts of a sample, made once when it is written (F9, F11) and again by the audit."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..records import TokenCounts, Trajectory, conversation
from .image_tokens import image_tokens
from .render import Renderer, native_messages
from .template_source import find_template
from .vocabulary import Vocabulary, load_vocabulary

BLOCK = "<|im_start|>"
ASSISTANT = f"{BLOCK}assistant\n"


@dataclass(frozen=True)
class Tokens:
    """Implements ``records.TokenCounter`` with the model's template and vocabulary.

    A rendered conversation is cut at ``<|im_start|>``, a control token that nothing merges across, so the counts of
    its blocks add up. The first block (system text and tools, the same in every sample) is counted once.
    """

    renderer: Renderer
    vocabulary: Vocabulary
    _cached: Any = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_cached", functools.lru_cache(maxsize=32)(self.vocabulary.count))

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Tokens:
        """Settings key ``tokens.template_dir``. Raises TirError that says how to get a template when there is none."""
        folder = config["tokens"]["template_dir"]
        return cls.of_folder(Path(folder) if folder else None)

    @classmethod
    def of_folder(cls, folder: Path | None) -> Tokens:
        """Template and vocabulary of a tokenizer folder; None: the pinned template and the packaged vocabulary."""
        return cls(Renderer(find_template(folder)), load_vocabulary(folder))

    def count(self, trajectory: Trajectory, image_sizes: Sequence[tuple[int, int]]) -> TokenCounts:
        """``image_sizes``: width and height in pixels of every picture, in the order of their places. Raises BadRow
        for a conversation that the template refuses or a picture that the processor refuses."""
        text = self.renderer.render(native_messages(conversation(trajectory)), trajectory.tools)
        return self.count_rendered(text, image_sizes)

    def length(self, text: str, image_sizes: Sequence[tuple[int, int]]) -> int:
        """``count_rendered(…).sequence`` alone, in one go: a second thread then waits once for the interpreter."""
        start = text.find(BLOCK, len(BLOCK))
        head, rest = (text, "") if start < 0 else (text[:start], text[start:])
        tokens: int = self._cached(head) + self.vocabulary.count(rest)
        return tokens + sum(image_tokens(*size) - 1 for size in image_sizes)

    def count_rendered(self, text: str, image_sizes: Sequence[tuple[int, int]]) -> TokenCounts:
        """Counts of a rendered conversation: each picture stands for one token in the text and for its patches here.

        ``assistant`` counts what the model wrote (thinking, visible text, calls), without the turn's header and end.
        """
        first, *blocks = [f"{BLOCK}{part}" for part in text.split(BLOCK)[1:]]
        sequence, assistant = self._cached(first), 0
        for block in blocks:
            tokens = self.vocabulary.count(block)
            sequence += tokens
            if block.startswith(ASSISTANT):
                # header: <|im_start|>, "assistant", newline; end: <|im_end|>, newline
                assistant += tokens - 5
        sequence += sum(image_tokens(*size) - 1 for size in image_sizes)
        return TokenCounts(assistant=assistant, sequence=sequence, exact=True)

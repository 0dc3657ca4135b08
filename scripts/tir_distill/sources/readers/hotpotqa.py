"""HotpotQA distractor, in the hub's layout (structs of lists) and in the original one (lists of pairs).

Supporting facts that point to a paragraph or a sentence that is not there make the row unusable for recipes that build
contexts from them, and are counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..candidate import Candidate
from ..fields import Row, optional_text, text, writable
from .base import BadRow, QuestionReader


def pairs(value: Any, left: str, right: str, what: str) -> list[tuple[Any, Any]]:
    """``{left: [...], right: [...]}`` or ``[[l, r], ...]`` as pairs. Raises BadRow ``bad_<what>``."""
    if isinstance(value, Mapping):
        lefts, rights = value.get(left), value.get(right)
        if isinstance(lefts, list) and isinstance(rights, list) and len(lefts) == len(rights):
            return list(zip(lefts, rights, strict=True))
    elif isinstance(value, list) and all(isinstance(item, list | tuple) and len(item) == 2 for item in value):
        return [(item[0], item[1]) for item in value]
    raise BadRow(f"bad_{what}", f"field '{what}' is neither a struct of equal lists nor a list of pairs")


class HotpotQa(QuestionReader):
    """Questions with their ten paragraphs; ``meta.context`` and ``meta.supporting_facts`` in one layout."""

    source = "hotpotqa"
    columns = ("id", "_id", "question", "answer", "type", "level", "supporting_facts", "context")
    required = ("question", "answer", "supporting_facts", "context")

    def row_id(self, row: Row, index: int) -> str:
        name = optional_text({key: row.get(key) for key in ("id", "_id") if isinstance(row.get(key), str)}, "id", "_id")
        return f"hotpotqa_{name}" if name else f"hotpotqa#{index}"

    def parse(self, row: Row, index: int) -> Candidate:
        context: dict[str, list[str]] = {}
        for title, sentences in pairs(row.get("context"), "title", "sentences", "context"):
            if not isinstance(title, str) or not isinstance(sentences, list):
                raise BadRow("bad_context", "a paragraph must be a title and a list of sentences")
            if not all(isinstance(sentence, str) for sentence in sentences):
                raise BadRow("bad_context", f"a sentence of {title!r} is not text")
            context[writable(title, "context")] = [writable(sentence, "context") for sentence in sentences]
        facts = []
        for title, sentence in pairs(row.get("supporting_facts"), "title", "sent_id", "supporting_facts"):
            if not isinstance(title, str) or title not in context:
                raise BadRow("missing_supporting_fact", f"no paragraph {title!r}")
            if not isinstance(sentence, int) or not 0 <= sentence < len(context[title]):
                raise BadRow("missing_supporting_fact", f"paragraph {title!r} has no sentence {sentence!r}")
            facts.append([title, sentence])
        return Candidate(
            id=self.row_id(row, index),
            question=text(row, "question"),
            answer=text(row, "answer"),
            meta={
                "type": optional_text(row, "type"),
                "level": optional_text(row, "level"),
                "supporting_facts": facts,
                "context": [[title, sentences] for title, sentences in context.items()],
            },
        )

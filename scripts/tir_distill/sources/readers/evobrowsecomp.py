"""EvoBrowseComp: English and Chinese questions, each field encrypted under a keystream of its own.

The set has no id and no language column: Chinese rows are told by their script, and n in ``evobc_EN_n`` /
``evobc_ZH_n`` counts within the language in the table's order. Where a row has a canary instead of keys, the canary
scheme is used; a field that does not decrypt is an error and never passes as plain text.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from ..candidate import Candidate
from ..fields import Row, decrypted, text
from ..keystream import decrypt_canary, decrypt_keystream
from .base import BadRow, QuestionReader

_CJK_OR_KANA = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")


def decrypt_field(row: Row, name: str) -> str:
    """Plain text of one field. Raises BadRow."""
    cipher = text(row, name)
    if isinstance(row.get(f"{name}_key"), str):
        plain = decrypt_keystream(cipher, text(row, f"{name}_key"), name)
    elif isinstance(row.get("canary"), str):
        plain = decrypt_canary(cipher, text(row, "canary"), name)
    else:
        raise BadRow("undecryptable", f"field '{name}' has neither a key of its own nor a canary")
    return decrypted(plain, name)


class EvoBrowseComp(QuestionReader):
    """Bucket evobrowsecomp."""

    source = "evobrowsecomp"
    columns = ("question", "question_key", "answer", "answer_key", "canary")
    required = ("question", "answer")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._count: Counter[str] = Counter()

    def row_id(self, row: Row, index: int) -> str:
        return f"evobc#{index}"

    def parse(self, row: Row, index: int) -> Candidate:
        question = decrypt_field(row, "question")
        language = "ZH" if _CJK_OR_KANA.search(question) else "EN"
        number = self._count[language]
        self._count[language] += 1  # before the answer is looked at: a bad answer must not shift the ids after it
        return Candidate(
            id=f"evobc_{language}_{number}",
            question=question,
            answer=decrypt_field(row, "answer"),
            meta={"language": language, "row": index},
        )

"""What the audit says of single rows: picture code that is only written out, keys by the row that holds them."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest

from audit_helpers import audit, clean_rows


@pytest.mark.parametrize(
    ("code", "found"), [("from PIL import Image\nImage.open('a').crop((0, 0, 1, 1))", True), ("print(3 * 4)", False)]
)
def test_code_in_a_block_of_the_thinking(tmp_path: Path, code: str, found: bool) -> None:
    rows = copy.deepcopy(clean_rows(tmp_path))
    row = next(row for row in rows if not row["images"])
    place, message = next((n, m) for n, m in enumerate(row["messages"]) if m["role"] == "assistant")
    message["content"] = message["content"].replace("</think>", f"\n```python\n{code}\n```\n</think>", 1)
    report = audit(tmp_path, rows)
    failures = [item for item in report.failures if item["reason"] == "image_code_without_picture"]
    assert [(item["id"], item["message"]) for item in failures] == ([(row["id"], place)] if found else [])


def test_a_key_is_reported_by_the_row_that_holds_it(tmp_path: Path) -> None:
    rows = copy.deepcopy(clean_rows(tmp_path))
    rows[2]["messages"][-1]["content"] += " hf_" + "aB3" * 12
    leaks = [item for item in audit(tmp_path, rows).failures if item["check"] == "secrets"]
    assert [(item["id"], item["line"]) for item in leaks] == [(rows[2]["id"], 3)]

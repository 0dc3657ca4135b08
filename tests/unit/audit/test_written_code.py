"""Picture code that a row without pictures only writes out is found as F4 finds it."""

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

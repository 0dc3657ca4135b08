"""Whatever a row holds, it is converted or dropped with a reason, and what cleaning drops is counted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tir_distill.legacy import LegacySettings, clean_file, convert_file
from tir_distill.records import read_jsonl, write_jsonl

PIECES = st.sampled_from(
    ["<think>", "</think>", "<code>", "</code>", "```python\n", "\n```", "<tool_response>", "</tool_response>",
     "<output>", "<tool_call>", "</tool_call>", '{"action":"code"}',
     '{"name":"python","arguments":{"code":"x"}}', "<answer>",
     "</answer>", "\\boxed{", "}", "<image>", "<image_clue_0>", "</image_clue_0>", "x = 1", "A. red\nB. blue", "B", " "]
)  # fmt: skip
TEXT = st.lists(PIECES, max_size=8).map("".join)
SCALAR = st.one_of(st.none(), st.booleans(), st.integers(-9, 9), TEXT)
PART = st.one_of(SCALAR, st.fixed_dictionaries({"type": st.sampled_from(["text", "image"]), "text": SCALAR}))
ROLE = st.sampled_from(
    ["user", "assistant", "gpt", "human", "tool", "function_call", "observation", "system", "x", None]
)
TURN = st.one_of(
    SCALAR,
    st.fixed_dictionaries({"role": ROLE, "content": st.one_of(TEXT, SCALAR, st.lists(PART, max_size=3))}),
    st.fixed_dictionaries(
        {"from": ROLE, "value": TEXT, "tool_calls": st.one_of(st.none(), st.just([{"function": {}}]))}
    ),
)
ROW = st.one_of(
    st.dictionaries(st.sampled_from(["messages", "conversations", "question", "response", "id", "images"]), SCALAR),
    st.fixed_dictionaries(
        {"question": TEXT, "response": TEXT, "image": st.one_of(SCALAR, st.lists(SCALAR, max_size=2))}
    ),
    st.fixed_dictionaries({"messages": st.lists(TURN, max_size=6), "images": st.lists(SCALAR, max_size=2)}),
)


@given(rows=st.lists(ROW, min_size=1, max_size=6))
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_row_ends_a_conversion(tmp_path: Path, rows: list[Any]) -> None:
    write_jsonl(tmp_path / "in.jsonl", rows)
    chosen = LegacySettings(
        name="old",
        system="S",
        tools=[{"type": "function", "function": {"name": "python"}}],
        pictures=tmp_path,
        row_root=tmp_path,
    )
    out, bad = tmp_path / "out.jsonl", tmp_path / "bad.jsonl"
    report = convert_file(tmp_path / "in.jsonl", out, bad, settings=chosen, images_out=tmp_path / "images")
    assert report.rows_read == len(rows) == report.rows_written + sum(report.dropped.values())
    assert len(list(read_jsonl(bad))) == sum(report.dropped.values())
    clean = clean_file(out, tmp_path / "clean.jsonl", tmp_path / "queue.jsonl", no_thinking="queue", letters=True)
    assert clean.rows_read == clean.rows_written + clean.queued + sum(clean.dropped.values())
    for row in read_jsonl(tmp_path / "clean.jsonl"):
        assert "<answer>" in row["messages"][-1]["content"]
        tags = sum(message["content"].count("<image>") for message in row["messages"])
        assert tags == len(row["images"])

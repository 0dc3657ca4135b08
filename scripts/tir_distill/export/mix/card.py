"""``README.md`` of a mix: the dataset card, from the numbers of MIX.json and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

LIMITS = (
    "## Limits\n\nThinking and answers were written by models; verdicts come from rules and a judge model. Questions of"
    " the evaluation sets were taken out by text and by picture, within the thresholds of the configuration."
)


def card(document: Mapping[str, Any]) -> str:
    """The whole card."""
    rows = document["rows"]
    sections = [
        _front_matter(document),
        f"# Training mix {document['name']}\n\n{description(document)}",
        _record(),
        "## Parts\n\n" + _parts(document),
        "## Buckets and sources\n\n"
        + _table(("bucket", "lines"), list(document["per_bucket"].items()))
        + "\n\n"
        + _table(("source", "lines"), list(document["per_source"].items())),
        "## Length\n\n"
        f"Tokens of whole sequences, pictures included: {document['tokens']['total']:,} in all, the longest "
        f"{document['tokens']['longest']:,}, limit {document['max_length']:,}.\n\n"
        + _table(("tokens", "lines"), list(document["tokens"]["histogram"].items())),
        "## Licences\n\n" + _licences(document["licences"]),
        "## Files\n\n"
        + _table(("file", "bytes", "sha256"), [(n, f["bytes"], f["sha256"]) for n, f in document["files"].items()]),
        _use(rows),
        LIMITS,
    ]
    return "\n\n".join(section for section in sections if section) + "\n"


def description(document: Mapping[str, Any]) -> str:
    """One paragraph, for the card and the metadata."""
    parts = ", ".join(document["parts"])
    closed = [entry for entry in document["licences"] if not entry["commercial_use"]]
    warning = f" {sum(e['rows'] for e in closed):,} rows may not be used commercially." if closed else ""
    return (
        f"Conversations with native tool calls for supervised fine-tuning, {sum(document['rows'].values()):,} lines"
        f" from these parts: {parts}. Every row keeps the licence of its source.{warning}"
    )


def _use(rows: Mapping[str, int]) -> str:
    return (
        f"## Use\n\n{rows['train']:,} lines to train on, {rows['validation']:,} held out: no question and no picture"
        " stands on both sides. `sft.sh` trains, `serve.sh` serves; picture paths are relative to `ROOT_IMAGE_DIR`."
    )


def _front_matter(document: Mapping[str, Any]) -> str:
    files = [("train", "train.jsonl")] + [("validation", "validation.jsonl")] * bool(document["rows"]["validation"])
    lines = ["---", "license: other", "task_categories:", "- image-text-to-text", "- text-generation", "configs:"]
    lines += ["- config_name: default", "  data_files:"]
    for split, path in files:
        lines += [f"  - split: {split}", f"    path: {path}"]
    return "\n".join([*lines, "---"])


def _record() -> str:
    return (
        "## A row\n\n`messages` (system, user, assistant with `<think>…</think>` and `tool_calls`, tool), `images` (a"
        " path for every `<image>` tag, in order), `tools` (schemas as JSON text), and where the row is from: `id`,"
        " `part`, `source`, `bucket`, `task_type`, `teacher`, `n_samples`, `judge_model`, `has_self_search`,"
        " `has_image_code`, `answer`, `licence`, `lineage`. All rows have the same keys. In `train.parquet`, `messages`"
        " and `lineage` are JSON text."
    )


def _parts(document: Mapping[str, Any]) -> str:
    lines = [
        (name, part["weight"], part["rows"], part["lines"], _reasons(part["dropped"]))
        for name, part in document["parts"].items()
    ]
    return _table(("part", "weight", "rows", "lines", "left out"), lines)


def _reasons(dropped: Mapping[str, int]) -> str:
    return ", ".join(f"{reason} {count:,}" for reason, count in dropped.items()) or "none"


def _licences(entries: Sequence[Mapping[str, Any]]) -> str:
    lines = [
        (entry["part"], entry["licence"], entry["rows"], "yes" if entry["commercial_use"] else "**no, or not granted**")
        for entry in entries
    ]
    return _table(("part", "licence", "rows", "commercial use"), lines)


def _table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)

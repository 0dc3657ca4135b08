"""``README.md`` of the hand-over: the dataset card, from the same counts as the manifest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .funnel import BucketFunnel
from .licences import SourceTerms
from .phase_file import PhaseCounts
from .settings import DecontaminationSettings, SelectionSettings


def description(counts: PhaseCounts, sources: Sequence[SourceTerms]) -> str:
    """One paragraph, for the card and the metadata."""
    repos = ", ".join(f"{terms.repo} ({terms.licence})" for terms in sources if terms.use == "questions")
    return (
        f"{counts.total:,} questions selected for teacher-trajectory distillation of tool-using multimodal models, "
        f"{counts.by(3)['pilot']:,} of them a pilot, with the distillation commands. Sources: {repos}. "
        "Each source keeps its own licence; check them before any redistribution or commercial use."
    )


def table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)


def card(
    counts: PhaseCounts,
    funnel: Mapping[str, BucketFunnel],
    sources: Sequence[SourceTerms],
    evaluation: Mapping[str, Mapping[str, Any]],
    rules: DecontaminationSettings,
    selection: SelectionSettings,
) -> str:
    """The whole card."""
    return (
        "\n\n".join(
            [
                _front_matter(counts, sources),
                f"# TIR distillation questions\n\n{description(counts, sources)}",
                _files(counts),
                _composition(counts),
                _record(),
                _origin(funnel, selection),
                _decontamination(funnel, evaluation, rules),
                _licences(sources),
                _use(),
                _limits(),
            ]
        )
        + "\n"
    )


def _front_matter(counts: PhaseCounts, sources: Sequence[SourceTerms]) -> str:
    size = "1K<n<10K" if counts.total < 10_000 else "10K<n<100K"
    size = "n<1K" if counts.total < 1_000 else size
    lines = [
        "---",
        "license: other",
        "license_name: per-source",
        "language: [en, zh]",
        "task_categories: [visual-question-answering, question-answering]",
        f"size_categories: ['{size}']",
        f"source_datasets: [{', '.join(sorted({t.repo for t in sources if t.use == 'questions'}))}]",
        "configs:",
        "- config_name: default",
        "  data_files:",
        "  - {split: full, path: phase_10k.jsonl}",
        "  - {split: pilot, path: phase_10k_pilot.jsonl}",
        "---",
    ]
    return "\n".join(lines)


def _files(counts: PhaseCounts) -> str:
    rows = [
        ["phase_10k.jsonl", f"{counts.total:,} questions, all that are to be distilled"],
        ["phase_10k_pilot.jsonl", f"{counts.by(3)['pilot']:,} questions, a subset: run these first"],
        [
            "images.tar",
            f"{counts.pictures:,} pictures; `tar -xf images.tar` gives the `images/` that the questions name",
        ],
        ["eval_text_index.json", "hashes of the evaluation sets, for the audit; holds no readable text"],
        [
            "scripts/, resources/, config/, envs/",
            "what a teacher's site needs to run the distillation, with its lock files",
        ],
        ["MANIFEST.json", "counts, seed, rules with thresholds, drops, revisions, licences, sha256 of every file"],
        ["croissant.json", "the same for machines (Croissant 1.0)"],
    ]
    return "## Files\n\n" + table(["file", "holds"], rows)


def _composition(counts: PhaseCounts) -> str:
    rows = [
        [entry["priority"], name, f"{entry['count']:,}", f"{entry['pilot']:,}", entry["task_type"]]
        for name, entry in counts.buckets().items()
    ]
    rows.append(["", "all", f"{counts.total:,}", f"{counts.by(3)['pilot']:,}", ""])
    return "## Composition\n\n" + table(["priority", "bucket", "questions", "pilot", "task type"], rows)


def _record() -> str:
    return (
        "## Record\n\nOne JSON object a line: `id`, `source`, `bucket`, `priority`, `phase` (pilot or full), "
        "`task_type`, `question`, `answer`, `candidate_answers` (a JSON list *in a string*: other accepted answers), "
        "`images` (paths relative to this folder), `meta` (what the source says besides). "
        "Lines stand by priority, bucket, id.\n\n"
        "Pictures are what every tool and model sees: upright, first frame, 8-bit, without transparency. A file "
        "that was so already is kept byte for byte."
    )


def _origin(funnel: Mapping[str, BucketFunnel], selection: SelectionSettings) -> str:
    rows = []
    for name, row in funnel.items():
        dropped = sum(number for sets in row.dropped.values() for number in sets.values())
        numbers = [row.read, sum(row.rejected.values()), dropped, row.over_article_cap, row.not_drawn, row.selected]
        rows.append([name, *(f"{number:,}" for number in numbers)])
    head = ["bucket", "rows read", "unusable", "evaluation overlap", "over cap per article", "not drawn", "selected"]
    return (
        "## Where the questions come from\n\n"
        + table(head, rows)
        + f"\n\nQuestions are drawn by a hash of the seed ({selection.seed}) and their id: no order, shard or other "
        "bucket changes who is in, and the pilot is the beginning of the same order."
    )


def _decontamination(
    funnel: Mapping[str, BucketFunnel], evaluation: Mapping[str, Mapping[str, Any]], rules: DecontaminationSettings
) -> str:
    sets = list(evaluation)
    totals: dict[tuple[str, str], int] = {}
    for row in funnel.values():
        for rule, numbers in row.dropped.items():
            for name, number in numbers.items():
                totals[rule, name] = totals.get((rule, name), 0) + number
    names = {
        "phash": f"pictures within {rules.phash_max_distance} bits of 64 (pHash), flat pictures aside",
        "jaccard": f"texts of {rules.long_text_min_units} units or more with Jaccard from {rules.jaccard_min:g}",
        "same_picture_text": "shorter texts with the same words and the same picture",
    }
    rows = [[text, *(totals.get((rule, name), 0) for name in sets)] for rule, text in names.items()]
    sizes = ", ".join(f"{name} {numbers['kept']:,}" for name, numbers in evaluation.items())
    return (
        f"## Decontamination\n\nAgainst {sizes} items. Units are distinct words, and character bigrams in scripts "
        "written without spaces. A question that meets several rules is counted under the first.\n\n"
        + table(["dropped for", *sets], rows)
        + "\n\nThese sets are for evaluation; they must not be trained on in any form."
    )


def _licences(sources: Sequence[SourceTerms]) -> str:
    rows = [
        [t.repo, t.use, t.revision[:12], t.licence, "no" if t.non_commercial else "see licence", t.notes]
        for t in sources
    ]
    return "## Sources and licences\n\n" + table(
        ["data set", "used for", "revision", "licence", "commercial use", "notes"], rows
    )


def _use() -> str:
    return (
        "## Use\n\n```sh\ntar -xf images.tar\n"
        "python3 -m venv .venv && .venv/bin/python -m pip install --require-hashes -r envs/requirements.txt\n"
        ".venv/bin/python scripts/fetch_template.py   # the chat template, once\n"
        "cp .env.example .env        # teacher, search and judge: fill in\n"
        "bash scripts/run_distill_10k.sh pilot\nbash scripts/run_distill_10k.sh full\n```\n\n"
        "Outputs go to `out/pilot` and `out/full`; the same command resumes. Run P0 before P1 before P2 when there is "
        "not enough compute for all."
    )


def _limits() -> str:
    return (
        "## Limits\n\n"
        "- EvoBrowseComp is published as an evaluation set: training on it spends it as a benchmark. LiveVQA's "
        "benchmark questions are of the same kind as its training questions.\n"
        "- Decontamination finds near copies, not paraphrases, translations or other photos of the same thing.\n"
        "- News photos and charts belong to their publishers; the licences above cover the data sets, not each picture."
    )

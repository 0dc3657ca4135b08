"""The gate's decision on a student's run, and the paper by which a run of questions starts: passed gate or override."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..records import AuditFailed, TirError, UsageError, file_sha256, read_json, write_json
from .gate import FIGURES, Behaviour, decide
from .observed import first_samples, read_observed, read_total
from .student import RunFolder


def judge_run(folder: RunFolder, config: Mapping[str, Any]) -> dict[str, Any]:
    """The document of the gate. Raises TirError for a run that does not cover the whole set.

    The thresholds are counts out of 165, so a part of the set can neither pass nor fail. A question that has no sample
    counts against both figures.
    """
    limits, expected = config["gate"], config["student"]["questions"]
    about = _about(folder)
    rows = first_samples(read_observed(folder.trajectories))
    asked = {row["id"] for row in read_total(folder.questions)}
    if foreign := sorted(rows.keys() - asked):
        raise TirError(
            f"{folder.trajectories}: {len(foreign)} samples of questions that {folder.questions.name} does not name "
            f"(first: {foreign[0]}); run the student's evaluation again"
        )
    total = about["questions"]
    if total < len(asked):
        raise TirError(
            f"{folder.metrics}: speaks of {total} questions, {folder.questions.name} of {len(asked)}; "
            "run the student's evaluation again"
        )
    if total != expected:
        raise TirError(
            f"{folder.out}: {total} questions, but the gate's thresholds are counts out of student.questions ="
            f" {expected}; run the student on the whole set"
        )
    behaviours = [row.behaviour for row in rows.values()]
    behaviours += map(Behaviour.unknown, asked - rows.keys())
    behaviours += [Behaviour.unknown(f"row {n + 1} that could not be asked") for n in range(total - len(asked))]
    figures = decide(behaviours, min_self_search=limits["min_self_search"], max_image_code=limits["max_image_code"])
    return {
        "passed": all(figure.passed for figure in figures),
        "model": about["model"],
        "questions": total,
        "with_sample": len(rows),
        "figures": [figure.to_dict() for figure in figures],
        "trajectories_sha256": file_sha256(folder.trajectories),
    }


def _about(folder: RunFolder) -> Mapping[str, Any]:
    """``metrics.json``, of which model and number of questions are needed. Raises TirError."""
    about = read_json(folder.metrics)
    if isinstance(about, dict) and isinstance(about.get("model"), str):
        number = about.get("questions")
        if isinstance(number, int) and not isinstance(number, bool) and number >= 0:
            return about
    raise TirError(
        f"{folder.metrics}: expected 'model' and 'questions' as infer_gaia_agent.py writes them; "
        "run the student's evaluation again"
    )


def write_gate(document: Mapping[str, Any], out: Path) -> None:
    """Write ``out`` when the gate was passed. Raises AuditFailed (exit 3) with the failing figures when it was not;
    the document is then kept as ``state/gate_failed.json`` beside ``out``.
    """
    failed = out.parent / "state" / "gate_failed.json"
    if document["passed"]:
        failed.unlink(missing_ok=True)
        write_json(out, document)
        return
    out.unlink(missing_ok=True)
    write_json(failed, document)
    lines = [
        f"{figure['name']} is {figure['count']} of {document['questions']}, wanted {figure['wanted']}"
        f"{_unknown(figure)}; for example {', '.join(figure['examples'])}"
        for figure in document["figures"]
        if not figure["passed"]
    ]
    raise AuditFailed(f"the pilot gate is not passed: {'; '.join(lines)}")


def _unknown(figure: Mapping[str, Any]) -> str:
    if not figure["without_sample"]:
        return ""
    return (
        f" ({figure['without_sample']} of them have no sample and count against it: run the student's evaluation"
        " again, or in a new folder when it gave them up)"
    )


def open_gate(run: str, gate_run: str, gate_file: Path | None, override: str | None) -> dict[str, Any]:
    """By what right a run starts, for its manifest (RULINGS 22). Raises AuditFailed when there is none, and
    UsageError for an override without a reason.
    """
    if override is not None:
        if not override.strip():
            raise UsageError("gate.override is empty: give the reason in words, or null to wait for the gate")
        return {"run": run, "gate": gate_run, "by": "override", "reason": override}
    if gate_file is None or not gate_file.is_file():
        raise AuditFailed(_refusal(run, gate_run, f"{gate_file or 'pilot_gate.json'} is missing"))
    document = read_json(gate_file)
    if why := _not_passed(document):
        raise AuditFailed(_refusal(run, gate_run, f"{gate_file} {why}"))
    return {
        "run": run,
        "gate": gate_run,
        "by": "passed",
        "pilot_gate_sha256": file_sha256(gate_file),
        "model": document["model"],
        "figures": document["figures"],
    }


def _not_passed(document: Any) -> str:
    """Why a gate's document opens nothing; empty when it opens."""
    if not isinstance(document, dict) or not isinstance(document.get("figures"), list):
        return "is not a document that `pilot_gate.py judge` wrote"
    if document.get("passed") is not True:
        return "says that it was not passed"
    figures = {str(figure.get("name")): figure for figure in document["figures"] if isinstance(figure, dict)}
    whole = len(figures) == len(document["figures"]) and figures.keys() == FIGURES
    if not whole or not isinstance(document.get("model"), str):
        return f"must name a model and the figures {' and '.join(sorted(FIGURES))}"
    failed = [name for name, figure in figures.items() if figure.get("passed") is not True]
    return f"says that it was passed, but {', '.join(failed)} was not" if failed else ""


def _refusal(run: str, gate_run: str, why: str) -> str:
    return (
        f"run '{run}' is refused: the gate of run '{gate_run}' is not passed ({why}). Make it with"
        " `snakemake pilot_gate`, or give a reason in the configuration under gate.override; it is then"
        " written into the run's gate.json"
    )

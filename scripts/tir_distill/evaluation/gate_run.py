"""The gate's decision on a student's run, and the paper by which a run of questions starts: passed gate or override."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..records import AuditFailed, TirError, UsageError, file_sha256, read_json, write_json
from .gate import Behaviour, decide
from .observed import first_samples, read_observed, read_total
from .student import RunFolder


def judge_run(folder: RunFolder, config: Mapping[str, Any]) -> dict[str, Any]:
    """The document of the gate. Raises TirError for a run that does not cover the whole set.

    The thresholds are counts out of 165, so a part of the set can neither pass nor fail. A question that could not be
    asked shows nothing: it counts in the total only.
    """
    limits, expected = config["gate"], config["student"]["questions"]
    about = read_json(folder.metrics)
    rows = first_samples(read_observed(folder.trajectories))
    asked = {str(row["id"]) for row in read_total(folder.questions)}
    total = max(int(about["questions"]), len(asked | rows.keys()))
    if total != expected:
        raise TirError(
            f"{folder.out}: {total} questions, but the gate's thresholds are counts out of student.questions ="
            f" {expected}; run the student on the whole set"
        )
    behaviours = [row.behaviour for row in rows.values()]
    behaviours += [Behaviour(key, False, False, False) for key in sorted(asked - rows.keys())]
    figures = decide(behaviours, min_self_search=limits["min_self_search"], max_image_code=limits["max_image_code"])
    return {
        "passed": all(figure.passed for figure in figures),
        "model": about["model"],
        "questions": total,
        "figures": [figure.to_dict() for figure in figures],
        "trajectories_sha256": file_sha256(folder.trajectories),
    }


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
        f"{figure['name']} is {figure['count']} of {document['questions']}, wanted {figure['wanted']};"
        f" for example {', '.join(figure['examples'])}"
        for figure in document["figures"]
        if not figure["passed"]
    ]
    raise AuditFailed(f"the pilot gate is not passed: {'; '.join(lines)}")


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
    if document.get("passed") is not True:
        raise AuditFailed(_refusal(run, gate_run, f"{gate_file} says that it was not passed"))
    return {
        "run": run,
        "gate": gate_run,
        "by": "passed",
        "pilot_gate_sha256": file_sha256(gate_file),
        "model": document["model"],
        "figures": document["figures"],
    }


def _refusal(run: str, gate_run: str, why: str) -> str:
    return (
        f"run '{run}' is refused: the gate of run '{gate_run}' is not passed ({why}). Make it with"
        " `snakemake pilot_gate`, or give a reason in the configuration under gate.override; it is then"
        " written into the run's gate.json"
    )

"""A student on questions: engine, tools, limits and records of the teacher, another plan and another grader."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..records import BadRow, Progress, Question, TirError, TokenCounter, UsageError, digest, read_json, write_json
from ..records.private import mark_private
from ..rollout import ShardJob, ShardReport
from ..rollout.assemble import run_shard
from .official import OfficialGrader


@dataclass(frozen=True, slots=True)
class RunFolder:
    """``<out>/metrics.json`` holds figures and ids; everything that quotes a question is below ``private/``."""

    out: Path

    @property
    def private(self) -> Path:
        return self.out / "private"

    @property
    def trajectories(self) -> Path:
        return self.private / "trajectories.jsonl"

    @property
    def questions(self) -> Path:
        """One line per question: status, samples, searches."""
        return self.private / "questions_done.jsonl"

    @property
    def metrics(self) -> Path:
        return self.out / "metrics.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class StudentSettings:
    """The section ``student``, with what the command line changes."""

    url_env: str
    model_env: str
    key_env: str
    temperature: float
    samples: int
    questions: int
    """Of the whole set: a gate over fewer is refused."""
    text_protocol: bool = False

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> StudentSettings:
        names = ("url_env", "model_env", "key_env", "temperature", "samples", "questions")
        return cls(**{name: config["student"][name] for name in names})


def student_config(config: Mapping[str, Any], settings: StudentSettings, folder: RunFolder) -> dict[str, Any]:
    """The configuration of a student's run.

    Each question gets exactly ``samples`` samples: none is added because it failed, none left out because one passed,
    and no search limit over samples cuts the later ones short. The ledger is the run's own and private, since its
    search queries quote the questions.
    """
    out = copy.deepcopy(dict(config))
    out["teacher"] = {
        "url_env": settings.url_env,
        "model_env": settings.model_env,
        "key_env": settings.key_env,
        "per_task_type": {},
        "per_bucket": {},
    }
    out["sampling"] |= {"temperature": settings.temperature, "text_protocol": settings.text_protocol}
    sampling, n = out["sampling"], settings.samples
    out["plan"] |= {"k_first": n, "k_step": 1, "k_max": n, "k_max_text": n, "no_answer_in_a_row": n + 1}
    for suffix in ("", "_text"):
        out["plan"][f"max_search_per_question{suffix}"] = (n + 1) * (sampling[f"max_search_per_traj{suffix}"] + 1) * 2
    out["ledger"]["url"] = None
    out["paths"]["state"] = str(folder.private / "state")
    out["judge"]["enabled"] = False
    return out


def files_of(root: Path, question: Question) -> dict[str, Path]:
    """Attached files by the name that the question states. Raises BadRow for a path outside ``root``."""
    out: dict[str, Path] = {}
    for item in question.meta.get("files", ()):
        path = (root / str(item["path"])).resolve()
        if not path.is_relative_to(root.resolve()):
            raise BadRow("bad_file", f"{question.id}: {item['path']} lies outside {root}")
        out[str(item["name"])] = path
    return out


def check_files(root: Path, questions: Sequence[Question]) -> None:
    """Raise TirError when an attached file is not there: found before anything is spent."""
    for question in questions:
        try:
            missing = [name for name, path in files_of(root, question).items() if not path.is_file()]
        except (BadRow, KeyError, TypeError) as error:
            raise TirError(f"{question.id}: meta.files must list name and path below {root} ({error})") from None
        if missing:
            raise TirError(f"{question.id}: the attached file {missing[0]} is not below {root}")


def hold_to_files(folder: RunFolder, questions: Sequence[Question]) -> None:
    """Attached files are no part of a sample's fingerprint, so a run keeps to those that it began with.

    Raises UsageError when a question that was seen before now has another file.
    """
    path = folder.private / "state" / "files.json"
    known: dict[str, str] = read_json(path) if path.exists() else {}
    now = {q.id: digest(q.meta["files"]) for q in questions if q.meta.get("files")}
    changed = sorted(key for key in now if known.get(key, now[key]) != now[key])
    if changed:
        raise UsageError(f"{folder.out}: attached files of {len(changed)} questions have changed since this run began "
                         f"(first: {changed[0]}); give another --out")  # fmt: skip
    write_json(path, known | now)


async def run_student(
    config: Mapping[str, Any],
    folder: RunFolder,
    questions: Sequence[Question],
    *,
    image_root: Path,
    counter: TokenCounter | None = None,
    progress: Progress | None = None,
) -> ShardReport:
    """Ask every question. ``config`` is that of ``student_config``. Raises what ``run_shard`` raises; resumable."""
    mark_private(folder.private)
    check_files(image_root, questions)
    hold_to_files(folder, questions)
    (folder.private / "state" / "stop.json").unlink(missing_ok=True)
    job = ShardJob(
        run="student",
        run_dir=folder.private,
        bucket="student",
        index=0,
        shards=1,
        questions=questions,
        image_root=image_root,
        trajectories=folder.trajectories,
        questions_out=folder.questions,
    )
    return await run_shard(
        config,
        job,
        counter=counter,
        progress=progress,
        clear_stop=True,
        grader=OfficialGrader(),
        files_of=lambda question: files_of(image_root, question),
    )

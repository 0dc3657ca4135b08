"""What the rules need to know, as plain functions: which files make a run, what decides a stage, when to stop.

The rules hold no logic of their own. Nothing here imports Snakemake, so all of it is tested without it.
"""

from __future__ import annotations

import ast
import functools
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from .config import validate
from .records.errors import ExitCode, TirError, UsageError
from .records.hashing import combine, digest, file_sha256, text_digest
from .records.jsonl import read_json, read_jsonl, write_json
from .records.question import PRIORITIES

if TYPE_CHECKING:
    from .ledger import Ledger

PACKAGE = Path(__file__).resolve().parent
RESOURCES = PACKAGE.parents[1] / "resources"

PROTOCOL_FILES = ("system_prompt.txt", "tools/search.json", "tools/open.json", "tools/python.json")
"""Files in resources/ that decide what a teacher is told: part of what a sample is."""


# ---- what decides a stage -------------------------------------------------------------------------------------------


def meaning_of(source: str) -> str:
    """A module's syntax tree without comments, docstrings, white space and line numbers."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = [item for item in node.body if not _is_bare_text(item)] or [ast.Pass()]
    return ast.dump(tree)


def _is_bare_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def code_digest(*names: str) -> str:
    """Digest of what the code of these rooms (folders) and modules (files) means; ``records`` is always in it.

    Touching, moving or commenting a file does not change it. Raises TirError for a name that does not exist: a digest
    of nothing would never change.
    """
    files: list[Path] = []
    for name in ("records", *names):
        place = PACKAGE / name
        found = sorted(place.rglob("*.py")) if place.is_dir() else [place] * place.is_file()
        if not found:
            raise TirError(f"code_digest({name!r}): no such room or module in {PACKAGE}")
        files += found
    return combine(f"{path.relative_to(PACKAGE)} {_meaning_digest(path)}" for path in files)[:16]


@functools.cache
def _meaning_digest(path: Path) -> str:
    """Once per file and process: each file belongs to the digests of several rules."""
    return text_digest(meaning_of(path.read_text(encoding="utf-8")))


def data_digest(folder: str) -> str:
    """Digest of the files of a folder in resources/, by content."""
    files = sorted(path for path in (RESOURCES / folder).rglob("*") if path.is_file())
    return combine(f"{path.relative_to(RESOURCES)} {file_sha256(path)}" for path in files)[:16]


def shipped_digest() -> str:
    """Digest of what a hand-over carries for the teacher's site: commands, package, resources, lock, bytes and all."""
    home = PACKAGE.parents[1]
    folders = ("scripts", "resources", "config", "envs")
    files = sorted(path for name in folders for path in (home / name).rglob("*") if path.is_file())
    kept = [path for path in files if path.suffix != ".pyc"]
    return combine(f"{path.relative_to(home)} {file_sha256(path)}" for path in kept)[:16]


def protocol_fingerprint(config: Mapping[str, Any]) -> str:
    """What decides the samples of a run, with the explicit protocol version in place of any code digest.

    Editing code therefore never buys a sample again; raising ``sampling.protocol_version`` always does.
    """
    resources = [file_sha256(RESOURCES / name) for name in PROTOCOL_FILES]
    return digest(
        {
            "sampling": config["sampling"],
            "teacher": {key: config["teacher"][key] for key in ("model_env", "per_task_type", "per_bucket")},
            "search": config["search"],
            "resources": resources,
        }
    )[:16]


# ---- which files make a run -----------------------------------------------------------------------------------------


def selected_buckets(config: Mapping[str, Any]) -> list[str]:
    """Buckets that give questions to the hand-over, in the order of the configuration."""
    fill = config["selection"]["fill"]
    return [name for name, entry in config["buckets"].items() if entry["count"] != 0 or name == fill]


def runs(config: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The runs that are defined; an overlay takes one out by setting it to null."""
    return {name: entry for name, entry in config["runs"].items() if entry is not None}


SMOKE = "smoke"
"""The run of the target ``smoke``: a few questions of each bucket, one sample each (seed section 9)."""


def sampled_runs(config: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """All runs that can be sampled: the configured ones and the smoke run, which belongs to no target but its own."""
    return {SMOKE: {"phase": "all", "adopt": [], "gate": None}} | runs(config)


def run_buckets(config: Mapping[str, Any], run: str) -> list[str]:
    """Buckets that a run samples: all that are selected, or those with a pilot part, of the chosen priorities."""
    entry = sampled_runs(config)[run]
    names = selected_buckets(config) if run == SMOKE else of_priority(config, selected_buckets(config))
    return names if entry["phase"] == "all" else [name for name in names if config["buckets"][name]["pilot"] != 0]


def of_priority(config: Mapping[str, Any], buckets: Sequence[str]) -> list[str]:
    """Buckets that ``--config priority=P0`` (or ``priority=P0,P1``) leaves; all when it is not given (RULINGS 16).

    Raises UsageError for a word that is no priority, and when nothing is left.
    """
    wanted = [word.strip() for word in str(config.get("priority") or "").split(",") if word.strip()]
    unknown = sorted(set(wanted) - set(PRIORITIES))
    if unknown:
        raise UsageError(f"priority: {', '.join(unknown)} is none of {', '.join(PRIORITIES)}")
    left = [name for name in buckets if not wanted or config["buckets"][name]["priority"] in wanted]
    if not left:
        raise UsageError(f"priority: no selected bucket is of {', '.join(wanted)}")
    return left


def shard_names(config: Mapping[str, Any], run: str) -> list[str]:
    """``<bucket>/<nnnn>-of-<N>`` for every shard of a run, buckets in order (RULINGS 21). A smoke run has one each."""
    return [
        f"{bucket}/{index:04d}-of-{shards:04d}"
        for bucket in run_buckets(config, run)
        for shards in [1 if run == SMOKE else config["buckets"][bucket]["shards"]]
        for index in range(shards)
    ]


def shard_flags(config: Mapping[str, Any], run: str) -> str:
    """Further arguments of ``sample_shard.py`` for a run: samples to adopt, and what makes a smoke run small."""
    results, smoke = config["paths"]["results"], config["smoke"]
    flags = [f"--adopt {shlex.quote(f'{results}/{name}')}" for name in sampled_runs(config)[run]["adopt"]]
    if run == SMOKE:
        flags.append(f"--per-bucket {smoke['per_bucket']} --samples {smoke['samples']}")
    return " ".join(flags)


def filtered_shards(config: Mapping[str, Any], run: str) -> list[str]:
    """Shards of a run that have come to their end before now: what ``top_up`` may work on."""
    folder = Path(config["paths"]["results"]) / run / "shards"
    return [name for name in shard_names(config, run) if (folder / f"{name}.filtered.jsonl").exists()]


def deferred_shards(config: Mapping[str, Any], run: str) -> list[str]:
    """Finished shards of a run with questions that were given up: what ``retry_deferred`` opens again (RULINGS 8)."""
    folder = Path(config["paths"]["results"]) / run / "shards"
    return [
        name
        for name in shard_names(config, run)
        if (path := folder / f"{name}.questions.jsonl").exists()
        and any(row["status"] == "deferred" for row in read_jsonl(path))
    ]


def forget_retries(run_dirs: Sequence[Path]) -> None:
    """Take the marks of ``retry_deferred`` away, so that it can be asked for again whatever became of this time."""
    for run_dir in run_dirs:
        shutil.rmtree(run_dir / "state" / "retry", ignore_errors=True)


def mixes(config: Mapping[str, Any]) -> list[str]:
    """Mixes whose runs exist in this configuration."""
    defined = runs(config)
    return [
        name
        for name, entry in config["mixes"].items()
        if entry is not None and all(part.get("run", next(iter(defined), None)) in defined for part in entry["parts"])
    ]


def mix_inputs(config: Mapping[str, Any], mix: str) -> list[str]:
    """Files of a mix's parts. Rows of a run come with its audit, which exists only when it passed; the rows of other
    parts are audited one by one as they join.
    """
    results = config["paths"]["results"]
    files: list[str] = []
    for part in config["mixes"][mix]["parts"]:
        if "run" in part:
            files += [f"{results}/{part['run']}/accepted.jsonl", f"{results}/{part['run']}/audit.json"]
        elif "legacy" in part:
            files.append(f"{results}/legacy/{part['legacy']}_clean.jsonl")
        else:
            files.append(part["file"])
    return files


def run_files(config: Mapping[str, Any], run: str) -> list[str]:
    """Every file of a finished run. Shards are named too: Snakemake does not miss an intermediate file by itself."""
    results = config["paths"]["results"]
    endings = ("trajectories", "questions", "filtered")
    shards = [f"{results}/{run}/shards/{name}.{e}.jsonl" for name in shard_names(config, run) for e in endings]
    return [f"{results}/{run}/audit.json", *shards]


def gate_runs(config: Mapping[str, Any]) -> list[str]:
    """Runs that another run waits for."""
    return sorted({entry["gate"] for entry in runs(config).values() if entry["gate"]})


def gate_paper(config: Mapping[str, Any], run: str) -> list[str]:
    """The file by whose right a run's shards may start; nothing for a run without a gate."""
    return [f"{config['paths']['results']}/{run}/gate.json"] if sampled_runs(config)[run]["gate"] else []


def gate_inputs(config: Mapping[str, Any], run: str) -> list[str]:
    """The passed gate that a run waits for, or nothing when the configuration overrides it with a reason."""
    gate = sampled_runs(config)[run]["gate"]
    return [f"{config['paths']['results']}/{gate}/pilot_gate.json"] if gate and not config["gate"]["override"] else []


def flag(name: str, value: str | None) -> str:
    """A flag with its quoted value for a shell line, or nothing when there is no value."""
    return f"{name} {shlex.quote(value)}" if value else ""


def shard_priority(config: Mapping[str, Any], bucket: str) -> int:
    """Snakemake's job priority: P0 before P1 before P2 (seed section 2)."""
    return {"P0": 30, "P1": 20, "P2": 10}[config["buckets"][bucket]["priority"]]


def sources_of(config: Mapping[str, Any]) -> list[str]:
    """Sources that the selected buckets and the evaluation sets read."""
    names = [config["buckets"][bucket]["source"] for bucket in selected_buckets(config)]
    names += [entry["source"] for entry in config["evaluation"].values()]
    return list(dict.fromkeys(names))


# ---- stop marks -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Marks:
    """Files beside the journals through which jobs tell the workflow how to end."""

    run_dir: Path

    @property
    def stop(self) -> Path:
        return self.run_dir / "state" / "stop.json"

    @property
    def audit(self) -> Path:
        return self.run_dir / "state" / "audit_failed.json"

    @property
    def gate(self) -> Path:
        return self.run_dir / "state" / "gate_failed.json"

    def clear(self) -> None:
        for path in (self.stop, self.audit, self.gate):
            path.unlink(missing_ok=True)


def exit_code_after_failure(run_dirs: Sequence[Path], *, terminated: str = "") -> tuple[ExitCode, str]:
    """Snakemake always ends with 1; say what really happened (stopped and resumable, audit failed, failed).

    ``terminated``: name of the signal that the workflow itself received.
    """
    for run_dir in run_dirs:
        marks = Marks(run_dir)
        if marks.stop.exists():
            mark = read_json(marks.stop)
            return ExitCode.RESUMABLE, f"{run_dir.name} stopped: {mark['reason']} ({mark.get('detail', '')}), resumable"
    if terminated:
        return ExitCode.RESUMABLE, f"stopped by {terminated}; the same command goes on from here"
    for run_dir in run_dirs:
        if Marks(run_dir).audit.exists():
            return ExitCode.AUDIT_FAILED, f"{run_dir.name}: the audit failed, see {Marks(run_dir).audit}"
    for run_dir in run_dirs:
        if (mark := Marks(run_dir).gate).exists():
            failing = [figure for figure in read_json(mark)["figures"] if not figure["passed"]]
            words = "; ".join(f"{f['name']} is {f['count']}, wanted {f['wanted']}" for f in failing)
            return ExitCode.AUDIT_FAILED, f"{run_dir.name}: the gate is not passed ({words}), see {mark}"
    return ExitCode.FAILED, "a job failed; its log is named above"


def clear_stop_flags(config: Mapping[str, Any]) -> None:
    """A new start means that the operator has mended what stopped the last one."""
    for ledger in _ledgers(config):
        ledger.clear_stop()


def _ledgers(config: Mapping[str, Any]) -> Iterator[Ledger]:
    """The ledger as each run sees it, one after the other; none before anything was sampled."""
    if config["ledger"]["url"] is None and not (Path(config["paths"]["state"]) / "ledger.sqlite").exists():
        return
    from .ledger import Ledger, LedgerSettings, ledger_url

    for run in sampled_runs(config):
        ledger = Ledger.open(ledger_url(config), run=run, settings=LedgerSettings.from_config(config))
        try:
            yield ledger
        finally:
            ledger.close()


@dataclass
class Termination:
    """What SIGTERM and SIGINT to Snakemake do: it alone would wait for the running shards to end, which may take hours.

    A signal to Snakemake need not reach its jobs (Ctrl-C does, ``kill`` does not), so shards are told by the ledger.
    """

    config: Mapping[str, Any]
    received: str = ""
    """Name of the first signal."""

    def install(self) -> None:
        """Stand before Snakemake's own handlers, which start no further job."""
        for name in (signal.SIGTERM, signal.SIGINT):
            self._install(name)

    def _install(self, name: signal.Signals) -> None:
        earlier = signal.getsignal(name)

        def handle(number: int, frame: FrameType | None) -> None:
            if not self.received:
                self.received = name.name
                for ledger in _ledgers(self.config):  # shards end within their grace period, resumable
                    ledger.stop("operator", f"{name.name} received")
            if callable(earlier):
                earlier(number, frame)

        signal.signal(name, handle)


# ---- environment -----------------------------------------------------------------------------------------------------


def template_file(config: Mapping[str, Any]) -> str:
    """Where the pinned chat template is kept, so that counting and rendering find it."""
    return str(Path(config["paths"]["state"]) / "chat_template" / "qwen3_5_think.jinja")


def template_input(config: Mapping[str, Any]) -> list[str]:
    """The template as an input of the stages that render; nothing when the user names a tokenizer folder."""
    if config["tokens"]["template_dir"]:
        return []
    os.environ["TIR_TEMPLATE_DIR"] = str(Path(template_file(config)).parent)
    return [template_file(config)]


def put_commands_on_path(scripts: Path) -> None:
    """Jobs call the commands in scripts/ by name, from any working folder, with the Python that runs Snakemake."""
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), str(scripts), os.environ.get("PATH", "")])


def check_configuration(config: Mapping[str, Any]) -> None:
    """Leave with exit code 64 and the wrong keys' paths, before Snakemake wraps them into a traceback of its own."""
    try:
        validate(config)
        of_priority(config, selected_buckets(config))
    except UsageError as error:
        print(f"tir-distill: {error}", file=sys.stderr)
        sys.exit(int(ExitCode.USAGE))


SEARCH_VARIABLES = {"serper": "SERPER_API_KEY", "searxng": "SEARXNG_URL", "corpus": "SEARCH_CORPUS"}
"""What each search backend reads from the environment."""


def unset_variables(config: Mapping[str, Any]) -> list[str]:
    """Variables that sampling will ask for and that neither the environment nor ``.env`` holds; none for a demo."""
    if config["demo"] and config["demo"]["serve"]:
        return []
    names = [config["teacher"][key] for key in ("url_env", "model_env")]
    names.append(SEARCH_VARIABLES[config["search"]["backend"]])
    names += [config["judge"]["key_env"]] * config["judge"]["enabled"]
    from dotenv import dotenv_values

    known = {**dotenv_values(".env"), **os.environ}
    return [name for name in names if not known.get(name)]


def mirror_from_environment(config: dict[str, Any]) -> None:
    """``TIR_HUB_MIRROR`` names the mirror folder where the configuration leaves it open: no path in a file."""
    mirror = os.environ.get("TIR_HUB_MIRROR")
    if mirror and not config["sources"]["mirror"]:
        config["sources"]["mirror"] = mirror


def closing_words(config: Mapping[str, Any]) -> list[str]:
    """What stands finished at the end of a workflow, a line per run, with the place of its rows."""
    results = Path(config["paths"]["results"])
    lines = [f"questions: {config['paths']['handover']}/MANIFEST.json"]
    for run in runs(config):
        folder = results / run
        if (folder / "audit.json").exists():
            stats = read_json(folder / "stats.json")
            total, billed = stats["questions"]["total"], stats["search"]["requests"]
            lines.append(
                f"{run}: {total} questions, {stats['samples']} samples, {stats['accepted']} accepted,"
                f" {billed} searches billed, audit passed: {folder}/accepted.jsonl"
            )
    return lines


# ---- start and end of a workflow ------------------------------------------------------------------------------------


def write_resolved(config: Mapping[str, Any], path: Path) -> None:
    """Keep the merged configuration for the scripts; untouched when it has not changed."""
    text = json.dumps(config, indent=1, ensure_ascii=False, default=str) + "\n"
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        write_json(path, json.loads(text))


@dataclass
class DemoServers:
    """The embedded teacher, search, judge and reader, alive for one workflow. They end with this process."""

    process: subprocess.Popen[bytes]
    env: dict[str, str]

    @classmethod
    def start(cls, config: Mapping[str, Any], state: Path, *, timeout_s: float = 30.0) -> DemoServers:
        """Start, wait for the port file, put the endpoints into this process's environment for the jobs."""
        port_file = state / "demo_servers.json"
        port_file.unlink(missing_ok=True)
        state.mkdir(parents=True, exist_ok=True)
        questions = Path(config["paths"]["handover"]) / "phase_10k.jsonl"
        command = [sys.executable, "-m", "tir_distill.demo", "serve", "--questions", str(questions)]
        command += ["--port-file", str(port_file), "--parent", str(os.getpid())]
        if config["demo"]["corpus_from_questions"]:
            command.append("--corpus-from-questions")
        if config["demo"].get("latency_ms"):
            command += ["--latency-ms", str(config["demo"]["latency_ms"])]
        env = {**os.environ, "PYTHONPATH": str(PACKAGE.parent)}
        log_path = state / "demo_servers.log"
        with log_path.open("wb") as log:
            process = subprocess.Popen(
                command, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )
        deadline = time.monotonic() + timeout_s
        while not port_file.exists():
            if process.poll() is not None or time.monotonic() > deadline:
                process.kill()
                raise TirError(f"the embedded servers did not start; see {log_path}")
            time.sleep(0.05)
        endpoints = {key: str(value) for key, value in read_json(port_file).items()}
        os.environ.update(endpoints)
        return cls(process=process, env=endpoints)

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(timeout=10)

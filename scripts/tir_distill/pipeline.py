"""From finished shards to the files of a run: filters, rows, statistics; for the rule and the one-process command.

Above the rooms: this is where filters, export and ledger are wired together.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .export import ExportSettings, PicturePlaces, Renderer, Row, export_rows, find_template, same_conversation
from .filters import FilterSettings, SearchCosts, StatsBuilder, filter_file, read_trajectories
from .ledger import Ledger, LedgerSettings, ledger_url
from .records import BadRow, Progress, TirError, Trajectory, atomic_writer, file_sha256, read_jsonl, write_json

STATED = ("sampling", "plan", "budgets", "filters", "max_length", "search", "judge")
"""Sections of the configuration that stats.json repeats, so that its figures can be read by themselves."""


class EvaluationText:
    """The hand-over's evaluation index, in the form that the filters ask for it."""

    def __init__(self, path: Path) -> None:
        from .questions import EvaluationIndex

        self._index = EvaluationIndex.load(path)
        self.digest = file_sha256(path)

    def find(self, text: str) -> str | None:
        """``<set>:<id>`` of the first item of which a run of 13 tokens stands in the text."""
        return next((f"{match.evaluation_set}:{match.evaluation_id}" for match in self._index.match_grams(text)), None)


def filter_settings(config: Mapping[str, Any], index: Path | None = None) -> FilterSettings:
    """Settings of the filters; the extra rule ``evaluation_text`` reads ``index`` (default: that of the hand-over)."""
    evaluation = None
    if "evaluation_text" in config["filters"]["extra"]:
        evaluation = EvaluationText(index or Path(config["paths"]["handover"]) / "eval_text_index.json")
    return FilterSettings.from_config(config, evaluation=evaluation)


@dataclass(frozen=True)
class ShardFiles:
    """The three files of a shard, named by one stem: ``<folder>/<nnnn>-of-<N>``."""

    stem: Path

    @classmethod
    def of_filtered(cls, path: Path) -> ShardFiles:
        """From the name of the filtered file. Raises TirError for any other name."""
        if not path.name.endswith(".filtered.jsonl"):
            raise TirError(f"{path}: expected a name that ends in .filtered.jsonl")
        return cls(path.with_name(path.name.removesuffix(".filtered.jsonl")))

    def _named(self, ending: str) -> Path:
        return self.stem.with_name(f"{self.stem.name}.{ending}")

    @property
    def trajectories(self) -> Path:
        return self._named("trajectories.jsonl")

    @property
    def questions(self) -> Path:
        return self._named("questions.jsonl")

    @property
    def filtered(self) -> Path:
        return self._named("filtered.jsonl")


@dataclass(frozen=True)
class RunPlaces:
    """Folders of a run; see ``export.PicturePlaces`` for what is relative to what."""

    run: str
    run_dir: Path
    img_root: Path
    row_root: Path

    @property
    def accepted(self) -> Path:
        return self.run_dir / "accepted.jsonl"

    @property
    def stats(self) -> Path:
        return self.run_dir / "stats.json"


def export_run(
    config: Mapping[str, Any], places: RunPlaces, shards: Sequence[ShardFiles], progress: Progress | None = None
) -> dict[str, Any]:
    """Write accepted.jsonl, rejects.jsonl, trajectories_raw.jsonl, stats.json, search_cache.jsonl; returns the stats.

    Shards are joined in the order given. Each file appears whole or not at all.
    """
    settings = ExportSettings.from_config(config)
    renderer = Renderer(find_template(settings.template_dir))

    def check(row: Row, sample: Trajectory) -> None:
        if not same_conversation(row, sample, renderer):
            raise BadRow("render_differs", "row and sample do not render to the same text")

    exported = export_rows(
        [shard.filtered for shard in shards],
        settings=settings,
        places=PicturePlaces(image_root=places.img_root, run_dir=places.run_dir, row_root=places.row_root),
        out=places.accepted,
        rejects=places.run_dir / "rejects.jsonl",
        check=check,
        progress=progress,
    )
    join((shard.trajectories for shard in shards), places.run_dir / "trajectories_raw.jsonl")

    stats, costs = StatsBuilder(), SearchCosts()
    for shard in shards:
        pairs = zip(read_trajectories(shard.trajectories), read_trajectories(shard.filtered), strict=True)
        for raw, sample in pairs:
            if raw.key != sample.key:
                raise TirError(f"{shard.filtered}: {sample.key} stands where {raw.key} was sampled; filter it again")
            stats.add(sample, raw)
            costs.add_sample(sample.question.id, answered=sample.answer is not None, accepted=sample.accepted)
        stats.add_questions(costs.add_questions(read_jsonl(shard.questions)))
    search = close_ledger(config, places)
    stated = {key: config[key] for key in STATED} | {"run": places.run}
    result = stats.result(stated, search=search) | {"search_costs": costs.result(), "export": exported.to_dict()}
    write_json(places.stats, result)
    return result


def close_ledger(config: Mapping[str, Any], places: RunPlaces) -> dict[str, int]:
    """Write the run's part of the search cache beside its rows; returns what was billed and what the cache answered."""
    ledger = Ledger.open(ledger_url(config), run=places.run, settings=LedgerSettings.from_config(config))
    try:
        ledger.export_cache(places.run_dir / "search_cache.jsonl", places.run)
        totals = ledger.run_totals(places.run)
    finally:
        ledger.close()
    return {"requests": totals.searches_billed, "cache_hits": totals.cache_hits}


def join(parts: Iterable[Path], target: Path) -> None:
    """The files one after another, copied as they are."""
    with atomic_writer(target) as out:
        for part in parts:
            with part.open("rb") as handle:
                shutil.copyfileobj(handle, out)


def finish_run(
    config: Mapping[str, Any], places: RunPlaces, shards: Sequence[ShardFiles], progress: Progress | None = None
) -> dict[str, Any]:
    """Filter finished shards, then export the run: what follows sampling when no workflow does it."""
    settings = filter_settings(config, places.img_root / "eval_text_index.json")
    for shard in shards:
        filter_file(shard.trajectories, shard.filtered, settings, progress=progress)
    return export_run(config, places, shards, progress)


def summary(stats: Mapping[str, Any]) -> str:
    """A run in three lines."""
    questions, search = stats["questions"], stats["search"]
    drops = ", ".join(f"{rule} {sum(counts.values())}" for rule, counts in stats["drops"]["first"].items()) or "none"
    return (
        f"{questions['total']} questions, {stats['samples']} samples, {stats['accepted']} accepted\n"
        f"dropped by first failing rule: {drops}\n"
        f"searches: {search['requests']} billed, {search['cache_hits']} from the cache"
    )

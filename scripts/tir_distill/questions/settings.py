"""Settings of this room, read from the resolved configuration (keys as in config/config.yaml)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from ..records.errors import UsageError

Amount = int | Literal["all"]
"""A number of questions, or all that there are."""


@dataclass(frozen=True, slots=True)
class DecontaminationSettings:
    """When a candidate counts as an evaluation item (seed section 3)."""

    phash_max_distance: int = 6
    """Bits of 64 in which two picture hashes may differ."""
    jaccard_min: float = 0.8
    """Shared units over all units of two long texts."""
    long_text_min_units: int = 12
    """Distinct units from which a text is long. A pair is compared by Jaccard when both texts are long."""
    flat_max_std: float = 4.0
    """Grey-level deviation up to which a picture is flat; applied where hashes are taken (room ``sources``)."""
    same_picture_text: bool = True
    """Also drop a short question with the text of an evaluation item and the same picture."""

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> DecontaminationSettings:
        section = config["decontamination"]
        return cls(
            phash_max_distance=section["phash_max_distance"],
            jaccard_min=float(section["jaccard_min"]),
            long_text_min_units=section["long_text_min_units"],
            flat_max_std=float(section["flat_max_std"]),
            same_picture_text=section["same_picture_text"],
        )

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class BucketPlan:
    """What a bucket gives to the hand-over."""

    name: str
    task_type: str
    priority: str
    count: Amount
    pilot: Amount
    max_per_group: int | None
    """Questions of one group (article) at most; None: no limit."""


@dataclass(frozen=True, slots=True)
class SelectionSettings:
    """Which questions are wanted. Buckets are in the order of the configuration."""

    seed: int
    total: int | None
    fill: str | None
    buckets: tuple[BucketPlan, ...]

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> SelectionSettings:
        """Takes the buckets that give something. The cap per article is for LiveVQA's buckets (seed section 3)."""
        section = config["selection"]
        plans = tuple(
            BucketPlan(
                name=name,
                task_type=entry["task_type"],
                priority=entry["priority"],
                count=entry["count"],
                pilot=entry["pilot"],
                max_per_group=section["livevqa_max_per_article"] if entry["reader"].startswith("livevqa") else None,
            )
            for name, entry in config["buckets"].items()
            if entry["count"] != 0 or name == section["fill"]
        )
        return cls(seed=config["seed"], total=section["total"], fill=section["fill"], buckets=plans)

    def plan(self, bucket: str) -> BucketPlan:
        """Raises UsageError when the bucket is not selected."""
        for plan in self.buckets:
            if plan.name == bucket:
                return plan
        raise UsageError(f"bucket '{bucket}' gives no question: buckets.{bucket}.count is 0 or there is no such bucket")

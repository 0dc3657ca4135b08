"""Small statistics for small counts: Wilson's interval for a share, McNemar's exact test for paired questions."""

from __future__ import annotations

import math
from dataclasses import dataclass

Z95 = 1.959963984540054
"""Standard normal quantile of a two-sided 95 % interval."""


@dataclass(frozen=True, slots=True)
class Share:
    """A count out of a total with its 95 % Wilson interval."""

    count: int
    total: int
    low: float
    high: float

    @property
    def value(self) -> float:
        return self.count / self.total if self.total else 0.0

    def to_dict(self) -> dict[str, float | int]:
        return {"count": self.count, "total": self.total, "share": self.value, "low": self.low, "high": self.high}


def wilson(count: int, total: int, z: float = Z95) -> Share:
    """Wilson's score interval (E. B. Wilson 1927). A total of 0 gives the whole range from 0 to 1.

    Raises ValueError when ``count`` is not within ``0 … total``.
    """
    if not 0 <= count <= total:
        raise ValueError(f"{count} of {total} is no share")
    if total == 0:
        return Share(0, 0, 0.0, 1.0)
    p, z2 = count / total, z * z
    centre = (p + z2 / (2 * total)) / (1 + z2 / total)
    half = z / (1 + z2 / total) * math.sqrt(p * (1 - p) / total + z2 / (4 * total * total))
    return Share(count, total, max(centre - half, 0.0), min(centre + half, 1.0))


def mcnemar(only_first: int, only_second: int) -> float:
    """Two-sided exact p-value that two models differ, from the questions that only one of them got.

    Under no difference each such question falls to either side with probability 1/2.
    """
    n = only_first + only_second
    if n == 0:
        return 1.0
    tail = sum(math.comb(n, k) for k in range(min(only_first, only_second) + 1))
    return min(1.0, 2 * tail / float(2**n))

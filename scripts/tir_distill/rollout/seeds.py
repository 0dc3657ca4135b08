"""The seed of every request, fixed by question, sample and turn alone (RULINGS 15)."""

from __future__ import annotations

from ..records import stable_int

SAMPLES = 16
"""A seed's remainder by this number is the sample's index, so that a test server can tell samples apart."""


def request_seed(question_id: str, sample: int, turn: int, ask: int, version: int) -> int:
    """A seed below 2^31, which every server takes. ``ask``: 1 for the one repeated asking of a turn."""
    drawn = stable_int(version, "teacher", question_id, str(sample), str(turn), str(ask))
    return (drawn % 2**27) * SAMPLES + sample % SAMPLES


def sample_seed(question_id: str, sample: int, version: int) -> int:
    """The seed that stands in the sample's record: that of its first request."""
    return request_seed(question_id, sample, 0, 0, version)

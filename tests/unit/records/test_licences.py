"""Which licences leave commercial use open."""

from __future__ import annotations

import pytest

from tir_distill.records.licences import forbids_commerce


@pytest.mark.parametrize(
    ("licence", "closed"),
    [
        ("CC-BY-NC-4.0", True), ("CC-BY-NC-SA-4.0", True), ("cc by-nc 4.0", True), ("not stated", True),
        ("CC BY NC 4.0", True), ("gated terms", True), ("Non-Commercial use only", True), ("non commercial", True),
        ("research only", True), ("unknown", True), ("", True),
        ("n/a", True), ("tbd", True), ("see upstream", True), ("custom", True), ("evaluation only", True),
        ("private", True), ("personal use", True), ("permitted", True),
        ("MIT", False), ("Apache-2.0", False), ("GPL-3.0", False), ("CC BY-SA 4.0", False), ("NCSA", False),
        ("cc-by-4.0", False), ("CC0-1.0", False), ("LGPL-2.1", False), ("GPLv3", False), ("Public Domain", False),
        ("BSD 3-Clause", False), ("ODC-By 1.0", False), ("apache_2.0", False),
    ],
)  # fmt: skip
def test_licences_that_forbid_or_do_not_grant_commerce(licence: str, closed: bool) -> None:
    assert forbids_commerce(licence) is closed

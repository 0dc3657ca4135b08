"""The three rules on hand-made pictures and texts."""

from __future__ import annotations

import pytest

from questions_helpers import evaluation_row, picture_cell
from tir_distill.questions import DecontaminationSettings, Fingerprints, Item, Match, Matcher, Subject

LONG = "In which year did the builder of the third lighthouse on the northern cape leave his last post"
SHORT = "What is the name of this building?"
HASH = 0xF0F0_F0F0_1234_5678

ITEMS = [
    evaluation_row("set", "photo", "Where was this taken?", [picture_cell(HASH)]),
    evaluation_row("set", "short", SHORT, [picture_cell(0xAAAA_0000_FFFF_1111), picture_cell(HASH ^ 0b11)]),
    evaluation_row("set", "white", SHORT, [picture_cell("8000000000000000", flat=True)]),
    evaluation_row("set", "long", LONG),
    evaluation_row("set", "text", "Who won?"),
]


def matcher(**settings: object) -> Matcher:
    return Matcher(
        Fingerprints.of([Item.from_row(row) for row in ITEMS]),
        DecontaminationSettings(**settings),  # type: ignore[arg-type]
    )


def found(text: str, *pictures: tuple[int, bool], **settings: object) -> list[tuple[str, str, float]]:
    subject = Subject(text=text, pictures=tuple((f"{phash:016x}", flat) for phash, flat in pictures))
    return [(m.rule, m.evaluation_id, m.value) for m in matcher(**settings).matches([subject])[0]]


def test_a_picture_within_the_limit_and_one_beyond() -> None:
    assert found("anything", (HASH ^ 0b1111_0000, False)) == [("phash", "photo", 4), ("phash", "short", 6)]
    assert found("anything", (HASH ^ 0xFF00, False)) == []


def test_the_closest_of_several_pictures_counts_once() -> None:
    assert found("x", (HASH, False), (HASH ^ 0b11, False))[:2] == [("phash", "photo", 0), ("phash", "short", 0)]


def test_flat_pictures_never_match_by_hash_alone() -> None:
    white = 0x8000_0000_0000_0000
    assert found("anything else", (white, True)) == []
    assert found("anything else", (white, False)) == []  # the item's own picture is flat
    assert found("anything else", (HASH, True)) == []


def test_a_flat_picture_and_the_same_short_text_match() -> None:
    assert found("what is the NAME of this building", (0x8000_0000_0000_0000, True)) == [
        ("same_picture_text", "white", 0)
    ]
    assert found(SHORT, (0x8000_0000_0000_0000, True), same_picture_text=False) == []


def test_a_short_text_alone_never_matches() -> None:
    assert found(SHORT, (0x0123_4567_89AB_CDEF, False)) == []
    assert found(SHORT) == []


def test_a_short_text_without_picture_on_both_sides_is_the_same_question() -> None:
    assert found("Who won") == [("same_picture_text", "text", 0)]
    assert found("Who won", (HASH ^ 0xFFFF, False)) == []


def test_a_long_text_matches_by_its_units() -> None:
    assert found(LONG.upper() + "!!") == [("jaccard", "long", 1.0)]
    [(rule, name, value)] = found(LONG.replace("builder", "painter"))
    assert (rule, name) == ("jaccard", "long")
    assert value == pytest.approx(15 / 17)  # 16 distinct words, one exchanged
    assert found("builder of lighthouse on the northern cape") == []


def test_order_of_matches_is_rule_then_closeness() -> None:
    both = found(LONG, (HASH ^ 0b11, False))
    assert both == [("phash", "short", 0), ("phash", "photo", 2), ("jaccard", "long", 1.0)]


def test_a_match_says_what_it_met() -> None:
    assert str(Match("jaccard", "gaia", "g0", 0.85714)) == "jaccard: gaia g0 (0.857)"
    assert str(Match("phash", "fvqa_test", "fvqa_test_0", 4)) == "phash: fvqa_test fvqa_test_0 (4 bits)"


def test_no_evaluation_items_match_nothing() -> None:
    empty = Matcher(Fingerprints.of([]), DecontaminationSettings())
    assert empty.matches([Subject(text=LONG, pictures=(("f0f0f0f012345678", False),))]) == [[]]
    assert empty.matches([]) == []

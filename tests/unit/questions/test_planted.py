"""Planted overlaps of ten kinds among unrelated questions: everything within the thresholds is found, nothing else.

"Within" is decided here by brute force and by other means than the join's: ImageHash on the decoded files, Python sets
of words or bigrams. Kinds that the thresholds cannot always catch by definition are named in ``LIMITED``.
"""

from __future__ import annotations

import io
import random
import re
from collections.abc import Callable
from itertools import pairwise

import imagehash
import pytest
from PIL import Image, ImageEnhance, ImageOps

from questions_helpers import cell, drawn, encoded, evaluation_row, question_row
from tir_distill.questions import DecontaminationSettings, Fingerprints, Item, Match, Matcher, Subject

PER_KIND = 22
UNRELATED = 5_000
RULES = DecontaminationSettings()

LIMITED = {
    "border": "a border moves everything inwards; most hashes pass 6 bits",
    "crop 2 %": "a crop moves edges; a picture with fine structure may pass 6 bits",
    "CJK one-character edit": "one character is two bigrams: below 18 bigrams Jaccard falls under 0.8",
}
"""Kinds of which some are beyond the thresholds, and why."""

NAMES = (
    "harbour bridge engine painter archive railway senator festival glacier museum village statue captain library "
    "station theatre orchard valley canal chapel tower market quarry comet island lantern mill forest garden palace"
)
HAN = "山川河海桥城塔船灯书画春夏秋冬东南西北高低长短新旧红黄蓝绿黑白大小多少先后左右前中外内上下天地人家国村镇市县"


def sentence(rng: random.Random, words: int) -> str:
    names = NAMES.split()
    return " ".join(f"{rng.choice(names)}{rng.randrange(90)}" for _ in range(words)) + "?"


def han(rng: random.Random, characters: int) -> str:
    return "".join(rng.choice(HAN) for _ in range(characters)) + "？"


def resized(image: Image.Image) -> bytes:
    return encoded(image.resize((image.width * 2 // 3, image.height * 2 // 3), Image.Resampling.BILINEAR))


def bordered(image: Image.Image) -> bytes:
    return encoded(ImageOps.expand(image, border=3, fill="black"))


def cropped(image: Image.Image) -> bytes:
    dx, dy = round(image.width * 0.02), round(image.height * 0.02)
    return encoded(image.crop((dx, dy, image.width - dx, image.height - dy)))


def brighter(image: Image.Image) -> bytes:
    return encoded(ImageEnhance.Brightness(image).enhance(1.2))


PICTURE_KINDS: dict[str, Callable[[Image.Image], bytes]] = {
    "resize": resized,
    "JPEG 60": lambda image: encoded(image, "JPEG", quality=60),
    "border": bordered,
    "crop 2 %": cropped,
    "brightness": brighter,
    "format change": lambda image: encoded(image, "WEBP", quality=80),
}


def one_word(rng: random.Random, text: str) -> str:
    words = text.rstrip("?").split()
    words[rng.randrange(len(words))] = "replaced"
    return " ".join(words) + "?"


def reordered(rng: random.Random, text: str) -> str:
    words = text.rstrip("?").split()
    rng.shuffle(words)
    return " ".join(words) + "?"


def dressed(rng: random.Random, text: str) -> str:
    """Upper case, full-width digits, other punctuation."""
    wide = text.upper().translate({ord(c): ord(c) + 0xFEE0 for c in "0123456789"})
    return "«" + wide.replace(" ", ", ").replace("?", " ！") + "»"


def one_character(rng: random.Random, text: str) -> str:
    place = rng.randrange(1, len(text) - 2)
    return text[:place] + "龘" + text[place + 1 :]


TEXT_KINDS: dict[str, Callable[[random.Random, str], str]] = {
    "1-word edit": one_word,
    "word order": reordered,
    "punctuation, case, full width": dressed,
    "CJK one-character edit": one_character,
}


def brute_units(text: str) -> set[str]:
    """Words or character bigrams, by other means than the room's."""
    plain = text.translate({ord(c) + 0xFEE0: ord(c) for c in "0123456789"}).lower()
    runs = re.findall(r"[\u4e00-\u9fff]+", plain)
    return {a + b for run in runs for a, b in pairwise(run)} or set(re.findall(r"[a-z0-9]+", plain))


def within_by_text(left: str, right: str) -> bool:
    a, b = brute_units(left), brute_units(right)
    return min(len(a), len(b)) >= RULES.long_text_min_units and len(a & b) / len(a | b) >= RULES.jaccard_min


def within_by_picture(left: bytes, right: bytes) -> bool:
    hashes = [imagehash.phash(Image.open(io.BytesIO(data))) for data in (left, right)]
    return hashes[0] - hashes[1] <= RULES.phash_max_distance


Planted = tuple[str, str, str, bool]
"""Kind, id of question and item, rule, within the thresholds."""


@pytest.fixture(scope="module")
def plants() -> tuple[list[dict[str, object]], list[dict[str, object]], list[Planted]]:
    """Question rows, evaluation rows, and what was planted."""
    rng = random.Random(20261012)
    questions, items, planted = [], [], []
    for number, (kind, change) in enumerate(PICTURE_KINDS.items()):
        for i in range(PER_KIND):
            name = f"picture {number} {i}"
            image = drawn(number * 1000 + i)
            original, copy = encoded(image), change(image)
            items.append(evaluation_row("set", name, f"item {name}", [cell(original)]))
            questions.append(question_row(name, f"question {name}", [cell(copy)]))
            planted.append((kind, name, "phash", within_by_picture(original, copy)))
    for number, (kind, edit) in enumerate(TEXT_KINDS.items()):
        for i in range(PER_KIND):
            name = f"text {number} {i}"
            size = 13 + i
            original_text = han(rng, size + 1) if kind.startswith("CJK") else sentence(rng, size)
            copy_text = edit(rng, original_text)
            items.append(evaluation_row("set", name, original_text))
            questions.append(question_row(name, copy_text))
            planted.append((kind, name, "jaccard", within_by_text(original_text, copy_text)))
    return questions, items, planted


@pytest.fixture(scope="module")
def matcher(plants: tuple[list[dict[str, object]], list[dict[str, object]], list[Planted]]) -> Matcher:
    return Matcher(Fingerprints.of([Item.from_row(row) for row in plants[1]]), RULES)


def subject(row: dict[str, object]) -> Subject:
    pictures = tuple((c["phash"], c["flat"]) for c in row["images"])  # type: ignore[attr-defined, index]
    return Subject(text=str(row["question"]), pictures=pictures)


def recall_table(planted: list[Planted], hits: dict[str, list[Match]]) -> str:
    """Planted, within the thresholds, found: by kind."""
    lines = [f"{'kind':32}{'planted':>8}{'within':>8}{'found':>8}{'recall of within':>18}  limits"]
    for kind in [*PICTURE_KINDS, *TEXT_KINDS]:
        rows = [row for row in planted if row[0] == kind]
        within = [row for row in rows if row[3]]
        found = [row for row in rows if any((m.rule, m.evaluation_id) == (row[2], row[1]) for m in hits[row[1]])]
        recall = len([row for row in found if row[3]]) / max(len(within), 1)
        limits = LIMITED.get(kind, "none")
        lines.append(f"{kind:32}{len(rows):8}{len(within):8}{len(found):8}{recall:18.0%}  {limits}")
    return "\n".join(lines)


def test_all_within_the_thresholds_are_found(
    plants: tuple[list[dict[str, object]], list[dict[str, object]], list[Planted]], matcher: Matcher
) -> None:
    questions, _, planted = plants
    found = matcher.matches([subject(row) for row in questions])
    hits = {str(row["id"]): matches for row, matches in zip(questions, found, strict=True)}
    print("\n" + recall_table(planted, hits))
    assert len(planted) >= 200
    for kind, name, rule, within in planted:
        matches = {(match.rule, match.evaluation_id) for match in hits[name]}
        assert matches == ({(rule, name)} if within else set()), (kind, name)
    beyond = {kind for kind, _, _, within in planted if not within}
    assert beyond <= set(LIMITED)


def test_no_false_pair_among_unrelated_questions(matcher: Matcher) -> None:
    rng = random.Random(7)
    subjects = []
    for i in range(UNRELATED):
        text = f"{sentence(rng, 14)}" if i % 2 else han(rng, 20)
        mark = imagehash.phash(drawn(1_000_000 + i, (32, 32))) if i % 5 == 0 else None
        pictures = ((str(mark), False),) if mark is not None else ((f"{rng.getrandbits(64):016x}", False),)
        subjects.append(Subject(text=text, pictures=pictures))
    assert [found for found in matcher.matches(subjects) if found] == []

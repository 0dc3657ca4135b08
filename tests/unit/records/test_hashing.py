from __future__ import annotations

import hashlib

from tir_distill.records import digest, shard_of, stable_unit, text_digest


def test_digest_ignores_key_order_and_is_sha256_of_sorted_json() -> None:
    expected = hashlib.sha256('{"a":1,"b":["é"]}'.encode()).hexdigest()
    assert digest({"b": ["é"], "a": 1}) == digest({"a": 1, "b": ["é"]}) == expected


def test_stable_unit_is_a_written_down_number() -> None:
    raw = hashlib.sha256(b"7\x1fpick\x1fq1").digest()[:8]
    assert stable_unit(7, "pick", "q1") == int.from_bytes(raw, "big") / 2**64


def test_parts_are_kept_apart() -> None:
    assert stable_unit(1, "ab", "c") != stable_unit(1, "a", "bc")


def test_shards_share_the_questions_evenly() -> None:
    counts = [0] * 8
    for number in range(8000):
        counts[shard_of(f"fvqa_train_{number}", 8)] += 1
    assert sum(counts) == 8000
    assert min(counts) > 850


def test_lone_surrogates_have_a_digest() -> None:
    assert text_digest("\ud800") != text_digest("\ud801")

"""Both schemes under which evaluation sets hide their text."""

from __future__ import annotations

import base64
import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tir_distill.records import BadRow
from tir_distill.sources.keystream import (
    decrypt_canary,
    decrypt_keystream,
    encrypt_canary,
    encrypt_keystream,
    xor,
)


@given(st.text(max_size=60), st.binary(min_size=1, max_size=40))
@settings(max_examples=60, deadline=None)
def test_keystream_round_trip(text: str, key: bytes) -> None:
    assert decrypt_keystream(*encrypt_keystream(text, key)) == text


@given(st.text(max_size=60), st.text(min_size=1, max_size=20))
@settings(max_examples=60, deadline=None)
def test_canary_round_trip(text: str, canary: str) -> None:
    assert decrypt_canary(encrypt_canary(text, canary), canary) == text


@given(st.binary(max_size=50), st.binary(min_size=1, max_size=7))
@settings(max_examples=60, deadline=None)
def test_xor_byte_by_byte(data: bytes, key: bytes) -> None:
    assert xor(data, key) == bytes(b ^ key[i % len(key)] for i, b in enumerate(data))


def test_by_hand() -> None:
    key = hashlib.sha256(b"abc").digest()
    assert key[:2] == b"\xba\x78"
    assert decrypt_canary(base64.b64encode(bytes([0xBA ^ 0x4F, 0x78 ^ 0x4B])).decode(), "abc") == "OK"
    assert decrypt_keystream(base64.b64encode(b"\x01\x02").decode(), base64.b64encode(b"\x60\x60").decode()) == "ab"


@pytest.mark.parametrize(
    ("cipher", "key"),
    [
        ("not base64!", "AAAA"),
        ("AAAA", "AAAAAAAA"),
        (base64.b64encode(b"\xff\xfe").decode(), base64.b64encode(b"\0\0").decode()),
    ],
)
def test_what_does_not_decrypt_is_an_error_and_never_text(cipher: str, key: str) -> None:
    with pytest.raises(BadRow) as error:
        decrypt_keystream(cipher, key, "question")
    assert error.value.reason == "undecryptable"
    assert "question" in error.value.detail

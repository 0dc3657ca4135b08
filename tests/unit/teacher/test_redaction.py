"""A key is taken out in every spelling that a server may repeat it in, and a key that no header carries is refused."""

from __future__ import annotations

import pytest

from tir_distill.records import UsageError
from tir_distill.teacher import refuse_unsendable, without

KEY = "sk/Ab+c d=12"


@pytest.mark.parametrize(
    "form",
    [
        "sk/Ab+c d=12",
        "sk\\/Ab+c d=12",  # JSON of some servers
        "sk%2FAb%2Bc%20d%3D12",
        "sk%2fAb%2bc%20d%3d12",
        "sk/Ab%2Bc%20d%3D12",
        "sk%2FAb%2Bc+d%3D12",
        "736b2f41622b6320643d3132",
    ],
)
def test_every_spelling_goes(form: str) -> None:
    assert without(KEY, f"key {form} is wrong") == "key [redacted] is wrong"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("c2svQWIrYyBkPTEy", "[redacted]y"),  # its last character also holds bits of what follows
        ("QmVhcmVyIHNrL0FiK2MgZD0xMg==", "QmVhcmVyIH[redacted]g=="),  # of "Bearer " and the key
    ],
)
def test_base64_goes_at_any_place(text: str, left: str) -> None:
    assert without(KEY, text) == left


def test_quotation_marks_are_escaped_once_and_twice() -> None:
    assert without('a"b12345', 'x a\\"b12345 y a\\\\\\"b12345 z') == "x [redacted] y [redacted] z"


def test_no_key_changes_nothing() -> None:
    assert without("", "text") == "text"


@pytest.mark.parametrize("key", ["SECRET\u2011abc", "SECRET\nabc", "SECRETabc\n", "SECRET\udce9abc", "\ufeffSECRET"])
def test_a_key_that_no_header_carries_is_refused_by_name(monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    monkeypatch.setenv("SOME_API_KEY", key)
    with pytest.raises(UsageError, match=r"^SOME_API_KEY: ") as caught:
        refuse_unsendable("SOME_API_KEY")
    assert "SECRET" not in str(caught.value)


def test_ordinary_keys_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SOME_API_KEY", raising=False)
    refuse_unsendable("SOME_API_KEY")
    monkeypatch.setenv("SOME_API_KEY", "sk-Ab_1.~+/=")
    refuse_unsendable("SOME_API_KEY")
    monkeypatch.setenv("SOME_API_KEY", "sk-Ab_1\n")
    refuse_unsendable("SOME_API_KEY", trimmed=True)

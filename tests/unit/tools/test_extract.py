"""Decoding and extraction, on pages made by hand."""

from __future__ import annotations

import pytest

from tir_distill.tools import extract
from tir_distill.tools.fetching import Body, OpenFailed
from tir_distill.tools.open_page import kind_of

CHINESE = "长江是中国最长的河流，全长六千三百公里，流经十一个省。"


@pytest.mark.parametrize(
    ("data", "declared", "expected"),
    [
        ("é".encode(), "utf-8", "é"),
        ("é".encode("latin-1"), "iso-8859-1", "é"),
        (CHINESE.encode("gbk"), "gb2312", CHINESE),
        (b'<meta charset="gbk">' + CHINESE.encode("gbk"), "", '<meta charset="gbk">' + CHINESE),
        ("\ufeffx".encode("utf-16-le"), "", "x"),
        (b"\xef\xbb\xbfx", "gbk", "x"),
        ("日本".encode("shift_jis"), "Shift_JIS", "日本"),
        (CHINESE.encode(), "gbk", CHINESE),
        (b"plain", "idna", "plain"),
        (b"plain", "no-such", "plain"),
        (b"", "", ""),
    ],
)
def test_decode(data: bytes, declared: str, expected: str) -> None:
    assert extract.decode(data, declared) == expected


@pytest.mark.parametrize(
    "name", ["idna", "zlib_codec", "unicode_escape", "punycode", "rot13", "hex", "undefined", "mbcs", ""]
)
def test_codecs_that_are_no_charsets_are_refused(name: str) -> None:
    assert extract.known_charset(name) is None


def test_html_keeps_text_and_table_and_drops_scripts() -> None:
    html = (
        "<html><head><title>Rivers &amp; lakes</title><script>var secret=1</script></head><body>"
        "<article><h1>Rivers</h1>"
        "<p>"
        + "The Yangtze is long. " * 20
        + "</p><table><tr><td>Nile</td><td>6650</td></tr></table></article></body></html>"
    )
    for simple in (False, True):
        title, text = extract.html_text(html, simple=simple)
        assert title == "Rivers & lakes"
        assert "The Yangtze is long." in text
        assert "Nile" in text
        assert "6650" in text
        assert "secret" not in text


def test_tidy_text() -> None:
    assert extract.tidy_text("a\r\nb\u2028c\x00\n\n\n\nd  \n") == "a\nb\nc\n\nd"


@pytest.mark.parametrize(
    ("declared", "data", "kind"),
    [
        ("text/html", b"<p>x", "html"),
        ("text/html", b"%PDF-1.4 ...", "pdf"),
        ("", b"<!DOCTYPE html><p>", "html"),
        ("text/plain", b"x", "text"),
        ("application/json", b"{}", "json"),
        ("application/ld+json", b"{}", "json"),
        ("image/png", b"\x89PNG", "image"),
        ("application/octet-stream", b"just words", "text"),
        ("application/rss+xml", b"<rss>", "text"),
    ],
)
def test_kinds(declared: str, data: bytes, kind: str) -> None:
    assert kind_of(Body("u", (), declared, "", data, False)) == kind


@pytest.mark.parametrize(
    ("declared", "data"),
    [("application/zip", b"PK"), ("application/octet-stream", b"\x00\x01"), ("application/pdf", b"nope")],
)
def test_kinds_that_are_refused(declared: str, data: bytes) -> None:
    with pytest.raises(OpenFailed):
        kind_of(Body("u", (), declared, "", data, False))

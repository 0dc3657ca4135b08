"""From bytes to text: decoding, HTML, PDF. Runs only inside locked workers, which are killed when a parser hangs.

Every HTML parser has inputs on which it hangs inside C code, where no timer of Python's reaches it.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import Any

_META_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_:.-]{1,40})", re.IGNORECASE)
_XML_CHARSET = re.compile(rb"<\?xml[^>]{0,100}?encoding\s*=\s*[\"']([A-Za-z0-9_:.-]{1,40})", re.IGNORECASE)
_TITLE = re.compile(r"<title[^>]{0,200}>(.{0,1000}?)</title", re.IGNORECASE | re.DOTALL)
_WIDER = {"gb2312": "gb18030", "gbk": "gb18030", "gb_2312-80": "gb18030", "iso-8859-1": "cp1252", "ascii": "cp1252"}
"""What servers declare -> what pages of that name really use."""
_ALLOWED = (
    "utf-8 utf-16 utf-16-le utf-16-be gb18030 big5 big5hkscs shift_jis cp932 euc_jp iso2022_jp euc_kr cp949 koi8-r "
    "koi8-u cp874 tis-620 cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258 iso8859-2 iso8859-5 iso8859-7 "
    "iso8859-9 iso8859-15"
)
"""May be declared. Python also knows "idna", "zlib" or "unicode_escape", which a hostile page could name."""
HTML_BYTES = 2_000_000


def page(header: dict[str, Any], blobs: Sequence[bytes]) -> tuple[dict[str, Any], list[bytes]]:
    """Task: ``kind`` (html, text, json, pdf, image), ``charset`` and ``simple`` (the second, plainer HTML parser).

    Answers ``title``, ``note`` and the text as one UTF-8 blob.
    """
    (data,) = blobs
    kind, note, title = header["kind"], "", ""
    if kind == "pdf":
        title, text, note = pdf_text(data, header["max_pages"])
    elif kind == "image":
        text = image_note(data)
    else:
        decoded = decode(data[:HTML_BYTES] if kind == "html" else data, header["charset"])
        if kind == "html":
            title, text = html_text(decoded, simple=header["simple"])
        else:
            text = decoded
    text = tidy_text(text)[: header["max_chars"]]
    return {"title": tidy_text(title)[:300].replace("\n", " "), "note": note}, [text.encode("utf-8", "replace")]


def warm() -> None:
    """Called once in the fork server: the libraries load, and build on first use what every worker would build anew."""
    import charset_normalizer
    import pypdf

    charset_normalizer.from_bytes("wärmt auf".encode("cp1252")).best()
    pypdf.PdfWriter()
    html_text("<html><body><p>" + "warm " * 60 + "</p></body></html>", simple=False)
    stripped("<html><body><p>warm</p></body></html>")


def decode(data: bytes, declared: str) -> str:
    """Byte order mark, then the declared charset, the page's own, UTF-8, a guess. Never raises."""
    for mark, name in ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")):
        if data.startswith(mark):
            return data[len(mark) :].decode(name, "replace")
    found = [declared.encode()] if declared else []
    for pattern in (_META_CHARSET, _XML_CHARSET):
        if match := pattern.search(data[:4096]):
            found.append(match.group(1))
    known = (known_charset(item.decode("ascii", "replace")) for item in found)
    names = [name for name in known if name is not None]
    if _is_utf8(data):
        return data.decode("utf-8", "replace")
    for candidate in [*names, "utf-8"]:
        text = data.decode(candidate, "replace")
        # a character cut in two at the end must not decide
        if text.count("\ufffd") <= max(2, len(text) // 200):
            return text
    from charset_normalizer import from_bytes

    best = from_bytes(data[:65536]).best()
    guess = known_charset(best.encoding) if best is not None else None
    return data.decode(guess or (names[0] if names else "utf-8"), "replace")


def _is_utf8(data: bytes) -> bool:
    """Sound UTF-8 with several characters beyond ASCII: hardly ever chance, whatever the server declares."""
    try:
        text = data[: len(data) - 4].decode("utf-8") if len(data) > 8 else ""
    except UnicodeDecodeError as error:
        if error.start < len(data) - 8:
            return False
        text = data[: error.start].decode("utf-8")
    return len(data) - len(text) - 4 >= 8


def known_charset(name: str) -> str | None:
    """Python's name of an allowed charset."""
    import codecs

    lower = name.strip().lower()
    try:
        normal = codecs.lookup(_WIDER.get(lower, lower)).name
    except (LookupError, ValueError):
        return None
    normal = _WIDER.get(normal, normal)
    allowed = {codecs.lookup(item).name for item in _ALLOWED.split()}
    return normal if normal in allowed else None


def html_text(html: str, *, simple: bool) -> tuple[str, str]:
    """Title and main text. ``simple`` strips tags only; it is also used when the better way finds next to nothing."""
    import html as entities

    match = _TITLE.search(html[:200_000])
    title = entities.unescape(re.sub(r"\s+", " ", match.group(1)).strip()) if match else ""
    text = ""
    if not simple:
        import trafilatura

        text = trafilatura.extract(html, include_comments=False, include_tables=True, favor_recall=True) or ""
    if len(text) < 200:
        plain = stripped(html)
        text = plain if len(plain) > 2 * len(text) else text
    return title, text


def stripped(html: str) -> str:
    """All visible text of the body, one block per line."""
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(html)
    tree.strip_tags(["script", "style", "noscript", "template", "svg", "iframe", "head"])
    body = tree.body
    return body.text(separator="\n", strip=True) if body is not None else ""


def pdf_text(data: bytes, max_pages: int) -> tuple[str, str, str]:
    """Title, text, and a note when pages were left out."""
    import logging

    import pypdf

    logging.disable(logging.CRITICAL)
    reader = pypdf.PdfReader(io.BytesIO(data))
    title = str(reader.metadata.title or "") if reader.metadata else ""
    parts = []
    total = len(reader.pages)
    for index in range(min(total, max_pages)):
        parts.append(reader.pages[index].extract_text())
    note = f"[{max_pages} of {total} pages]" if total > max_pages else ""
    return title, "\n\n".join(parts), note


def image_note(data: bytes) -> str:
    """Size of a picture, by its header."""
    import PIL.Image

    with PIL.Image.open(io.BytesIO(data)) as image:
        return (
            f"[A picture: {image.format}, {image.width} x {image.height} pixels, {len(data)} bytes. "
            "Pictures from the web cannot be shown.]"
        )


def tidy_text(text: str) -> str:
    """Unix line ends, no runs of blank lines or of spaces, no control characters."""
    text = re.sub(r"\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]", "\n", text)
    text = re.sub(r"[\x00-\x08\x0e-\x1b\x1f\x7f]", "", text)
    text = re.sub(r"[ \t\u00a0]+(?=\n|$)", "", text)
    return re.sub(r"\n{3,}", "\n\n", text).strip()

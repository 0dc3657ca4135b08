"""A key taken out of what a server says: servers repeat a key that they refuse, and not always letter by letter."""

from __future__ import annotations

import base64
import functools
import json
import urllib.parse

REDACTED = "[redacted]"

SHORTEST_CODED = 8
"""Characters of a key below which its base64 is not looked for: it would be found in ordinary text."""


@functools.lru_cache(maxsize=64)
def spellings(secret: str) -> tuple[str, ...]:
    """A key plain, escaped in JSON, percent-encoded, as hexadecimal digits and in base64, longest first."""
    data = secret.encode("utf-8", "surrogatepass")
    escaped = (json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1])
    quoted = (urllib.parse.quote(data, safe=""), urllib.parse.quote(data), urllib.parse.quote_plus(data))
    forms = {
        secret,
        *escaped,
        *(json.dumps(form)[1:-1] for form in escaped),  # JSON inside JSON
        *(form.replace("/", "\\/") for form in (secret, *escaped)),
        *quoted,
        *(urllib.parse.quote(data, safe=safe).replace("%20", "+") for safe in ("", "/")),
        " ".join(secret.split()),  # as in a text whose white space was folded
    }
    forms |= {_lower_escapes(form) for form in quoted}
    if len(data) >= SHORTEST_CODED:
        forms |= {data.hex(), data.hex().upper()}
        for offset in range(3):  # base64 depends on the place modulo three; its last character also holds what follows
            coded = base64.b64encode(b"\0" * offset + data).decode().rstrip("=")
            core = coded[(0, 2, 3)[offset] : -1]
            forms |= {core, core.replace("+", "-").replace("/", "_")}
    return tuple(sorted(forms - {""}, key=len, reverse=True))


def _lower_escapes(quoted: str) -> str:
    """``%2F`` as ``%2f``."""
    first, *rest = quoted.split("%")
    return "%".join([first, *(part[:2].lower() + part[2:] for part in rest)])


def without(secret: str, text: str) -> str:
    """The text with a key taken out in every spelling; an empty key changes nothing. Do it before the text is cut."""
    for form in spellings(secret) if secret else ():
        text = text.replace(form, REDACTED)
    return text

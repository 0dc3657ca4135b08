"""Keys that must not leave: those of this environment, also encoded, and anything shaped like a provider's key."""

from __future__ import annotations

import base64
import re
import urllib.parse
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import orjson

from .findings import Finding

CHECK = "secrets"

KINDS: tuple[tuple[str, tuple[bytes, ...], re.Pattern[bytes]], ...] = (
    ("api_key", (b"sk-",), re.compile(rb"(?<![\w-])sk-(?=[\w-]{0,80}\d)(?=[\w-]{0,80}[A-Z])[\w-]{20,}")),
    (
        "github_token",
        (b"ghp_", b"gho_", b"ghu_", b"ghs_", b"ghr_", b"github_pat_"),
        re.compile(rb"\bgh[pousr]_[A-Za-z0-9]{36}|\bgithub_pat_\w{22,}"),
    ),
    ("hub_token", (b"hf_",), re.compile(rb"\bhf_[A-Za-z0-9]{30,}")),
    ("aws_key", (b"AKIA",), re.compile(rb"\bAKIA[0-9A-Z]{16}\b")),
    ("google_key", (b"AIza",), re.compile(rb"\bAIza[\w-]{35}")),
    ("slack_token", (b"xox",), re.compile(rb"\bxox[abprs]-[\w-]{10,}")),
    ("private_key", (b"PRIVATE KEY-----",), re.compile(rb"-----BEGIN [A-Z ]*PRIVATE KEY-----")),
    ("bearer_token", (b"Bearer ",), re.compile(rb"Bearer (?=[\w.~+/-]*\d)[\w.~+/-]{24,}=*")),
)
"""(kind, literals of which every match holds one, pattern). Literals are looked for first: it is far cheaper."""


@dataclass(frozen=True)
class Secrets:
    """Searches the raw bytes of a line. The secret itself is never repeated in a finding."""

    values: tuple[str, ...] = ()
    """Values of secret environment variables."""
    _needles: tuple[bytes, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_needles", tuple(dict.fromkeys(_spellings(self.values))))

    def check(self, line: bytes) -> Iterator[Finding]:
        """One finding per kind."""
        if any(needle in line for needle in self._needles):
            yield Finding(check=CHECK, reason="environment_key", detail="a key of this environment, shown nowhere")
        for kind, literals, pattern in KINDS:
            if any(literal in line for literal in literals) and (match := pattern.search(line)):
                detail = f"{match.group()[:6].decode('utf-8', 'replace')}…, {len(match.group())} characters"
                yield Finding(check=CHECK, reason=kind, detail=detail)


def _spellings(values: Iterable[str]) -> Iterator[bytes]:
    """Each value as it would stand in JSON: plain, URL-quoted, hexadecimal, and base64 at any offset."""
    for value in values:
        data = value.encode()
        yield orjson.dumps(value)[1:-1]
        yield urllib.parse.quote(value, safe="").encode()
        yield data.hex().encode()
        for offset in range(3):
            # Base64 depends on the place modulo three; its outer characters also hold the neighbours' bits.
            coded = base64.b64encode(b"\x00" * offset + data).rstrip(b"=")
            core = coded[(0, 2, 3)[offset] : -1]
            if len(core) >= 8:
                yield core

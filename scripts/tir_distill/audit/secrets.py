"""Keys that must not leave: those of this environment, also encoded, and anything shaped like a provider's key.

What counts as a key, and what does not:

- Every shape needs its own beginning or its own neighbour (``sk-``, ``hf_``, ``Bearer``, ``api_key=`` …). A bare hash,
  UUID, commit id, picture in base64 or long number is never taken for one, however random it looks.
- After ``sk-`` come words as well (``sk-toggleable__label-arrow`` of a style sheet), so one of its pieces must be long
  and hold digits and letters.
- Forty hexadecimal digits are a search key only where they are given to a name that ends in ``key`` and speaks of an
  API, Serper, a secret or an access; a key fingerprint or a cache key with a SHA-1 passes.
- Text that only shows where a key goes (``sk-...``, ``YOUR_API_KEY``, ``Bearer <token>``, ``user:password@``) passes.
- An example key on a page is treated like a real one: nobody can tell them apart, and a row is cheaper than a key.
"""

from __future__ import annotations

import base64
import itertools
import re
import urllib.parse
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

import orjson

from .findings import Finding

CHECK = "secrets"


@dataclass(frozen=True, slots=True)
class Kind:
    """A shape of keys."""

    name: str
    literals: tuple[bytes, ...]
    """Every match holds one of these. They are looked for first, which is far cheaper than the pattern."""
    pattern: re.Pattern[bytes]
    judge: Callable[[bytes], bool] | None = None
    """Says whether a match is one; None: it is."""


PIECE = 12
"""Shortest unbroken run of letters and digits that a key after ``sk-`` holds."""


def _is_random(found: bytes) -> bool:
    """One of the pieces between hyphens and underscores is long and mixes letters and digits as no word does."""
    for piece in re.split(rb"[-_]", found):
        digits = sum(48 <= byte <= 57 for byte in piece)
        if len(piece) >= PIECE and digits >= 2 and len(piece) - digits >= 2 and piece[:8].strip(b"0123456789"):
            return True
    return False


PASSWORD_GOES_HERE = re.compile(rb"(?:my|your|the)?[_-]?(?:pass|passwd|password|secret)\w{0,3}", re.IGNORECASE)


def _is_password(found: bytes) -> bool:
    """Letters and digits, and not only the place where a password goes: ``{PASSWORD}``, ``$PASS1``, ``password1``."""
    if found[:1] in b"${[%*" or PASSWORD_GOES_HERE.fullmatch(found):
        return False
    return bool(re.search(rb"\d", found) and re.search(rb"[A-Za-z]", found))


KINDS = (
    Kind("api_key", (b"sk-",), re.compile(rb"(?<![\w-])sk-[\w-]{17,}"), _is_random),
    Kind(
        "github_token",
        (b"ghp_", b"gho_", b"ghu_", b"ghs_", b"ghr_", b"github_pat_"),
        re.compile(rb"\bgh[pousr]_[A-Za-z0-9]{36}|\bgithub_pat_\w{22,}"),
    ),
    Kind("hub_token", (b"hf_",), re.compile(rb"\bhf_[A-Za-z0-9]{30,}")),
    Kind("hub_token", (b"ms-",), re.compile(rb"(?<![\w-])ms-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")),
    Kind("aws_key", (b"AKIA", b"ASIA"), re.compile(rb"\bA[KS]IA(?=[A-Z]{0,15}\d)[0-9A-Z]{16}\b")),
    Kind("google_key", (b"AIza",), re.compile(rb"\bAIza[\w-]{35}")),
    Kind("slack_token", (b"xox",), re.compile(rb"\bxox[abeoprs]-(?=[\w-]*\d)[\w-]{10,}")),
    Kind("private_key", (b"PRIVATE KEY-----",), re.compile(rb"-----BEGIN [A-Z ]*PRIVATE KEY-----")),
    Kind("web_token", (b".eyJ",), re.compile(rb"\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{16,}")),
    Kind(
        "password_in_address",
        (b"://",),
        re.compile(rb"://[^\s/:@?#\"'<>\\]{0,64}:[^\s/:@?#\"'<>\\]{6,128}@(?=[\w.\[-])"),
        lambda found: _is_password(found[3:-1].partition(b":")[2]),
    ),
    Kind("bearer_token", (b"earer ",), re.compile(rb"[Bb]earer (?=[\w.~+/-]*\d)[\w.~+/-]{24,}=*")),
)

_GIVEN = rb"\W{1,16}([0-9a-f]{40}(?![0-9a-z])|(?<==)[\w-]{20,})"
NAMED = (re.compile(rb"key" + _GIVEN), re.compile(rb"token" + _GIVEN))
"""On a line in lower case: what is given to a name, forty hexadecimal digits or a value in an address. Two patterns,
for one that begins with a literal is searched several times faster."""
OF_A_SERVICE = re.compile(rb"(?:api|serper|secret|access)\w{0,12}[ _-]?$")
PLACEHOLDERS = frozenset(b"your my the here goes insert replace example sample dummy placeholder".split())
BEFORE = 24
"""Characters before ``key`` in which the name has to speak of a service."""


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
        for kind in KINDS:
            if any(literal in line for literal in kind.literals) and (found := _first(kind, line)):
                yield Finding(check=CHECK, reason=kind.name, detail=_described(found))
        lower = line.lower()
        if found := _named(lower):
            yield Finding(check=CHECK, reason="named_key", detail=_described(found))


def _first(kind: Kind, line: bytes) -> bytes | None:
    for match in kind.pattern.finditer(line):
        if kind.judge is None or kind.judge(match.group()):
            return match.group()
    return None


def _named(lower: bytes) -> bytes | None:
    """The value of something like ``X-API-KEY: …`` or ``?api_key=…``."""
    for match in itertools.chain.from_iterable(pattern.finditer(lower) for pattern in NAMED):
        value = match.group(1)
        mixed = re.search(rb"\d", value) and re.search(rb"[a-z]", value)
        before = lower[max(0, match.start() - BEFORE) : match.start()]
        if mixed and OF_A_SERVICE.search(before) and not _is_placeholder(value):
            return value
    return None


def _is_placeholder(value: bytes) -> bool:
    """Words with a digit or two at their ends, one of which says that a value goes here."""
    pieces = re.split(rb"[-_]", value)
    worded = len(pieces) > 2 and all(re.fullmatch(rb"[a-z]+\d{0,2}", piece) for piece in pieces)
    return worded and not PLACEHOLDERS.isdisjoint(piece.rstrip(b"0123456789") for piece in pieces)


def _described(found: bytes) -> str:
    """Enough to find the place, too little to use it."""
    return f"{found[:6].decode('utf-8', 'replace')}…, {len(found)} characters"


def _spellings(values: Iterable[str]) -> Iterator[bytes]:
    """Each value as it would stand in JSON: plain, URL-quoted, hexadecimal, and base64 at any offset."""
    for value in values:
        data = value.encode()
        plain = orjson.dumps(value)[1:-1]
        yield plain
        yield orjson.dumps(plain.decode())[1:-1]  # inside arguments, which are JSON in JSON
        yield urllib.parse.quote(value, safe="").encode()
        yield data.hex().encode()
        for offset in range(3):
            # Base64 depends on the place modulo three; its outer characters also hold the neighbours' bits.
            coded = base64.b64encode(b"\x00" * offset + data).rstrip(b"=")
            core = coded[(0, 2, 3)[offset] : -1]
            if len(core) >= 8:
                yield core

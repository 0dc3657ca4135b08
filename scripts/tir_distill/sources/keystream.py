"""The two ways in which evaluation sets hide their text from crawlers; both are XOR with a repeated key.

* Per-row keystream (EvoBrowseComp): ``text`` and ``text_key`` are base64 of equal length, and plain text is their XOR.
* Canary (MMBrowseComp, BrowseComp): the key is SHA-256 of the row's canary, repeated to the text's length.

Plain text lives in memory only. A wrong key gives bytes that are no UTF-8, which is an error and never taken for text.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from itertools import cycle

from ..records.errors import BadRow


def xor(data: bytes, key: bytes) -> bytes:
    """Byte-wise XOR with the key repeated. Its own inverse."""
    if not data:
        return b""
    stream = (key * (len(data) // len(key) + 1))[: len(data)]
    return (int.from_bytes(data, "big") ^ int.from_bytes(stream, "big")).to_bytes(len(data), "big")


def decode_base64(text: str, what: str) -> bytes:
    """Strict base64, white space allowed. Raises BadRow ``undecryptable``."""
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError) as error:
        raise BadRow("undecryptable", f"{what} is not base64 ({error})") from None


def decrypt_keystream(text: str, key: str, what: str = "text") -> str:
    """Plain text of one field under a keystream of its own. Raises BadRow ``undecryptable``."""
    data, stream = decode_base64(text, what), decode_base64(key, f"{what}_key")
    if len(data) != len(stream):
        raise BadRow("undecryptable", f"{what} has {len(data)} bytes, its key {len(stream)}")
    return _utf8(xor(data, stream), what) if data else ""


def decrypt_canary(text: str, canary: str, what: str = "text") -> str:
    """Plain text of one field under a canary. Raises BadRow ``undecryptable``."""
    return _utf8(xor(decode_base64(text, what), hashlib.sha256(canary.encode()).digest()), what)


def encrypt_keystream(text: str, key: bytes) -> tuple[str, str]:
    """(ciphertext, key) as base64, the key cut or repeated to the text's length. For tests and the demo sources."""
    data = text.encode()
    stream = bytes(byte for byte, _ in zip(cycle(key), data, strict=False))
    return base64.b64encode(xor(data, stream or b"\0")).decode(), base64.b64encode(stream).decode()


def encrypt_canary(text: str, canary: str) -> str:
    """Ciphertext as base64 under a canary. For tests and the demo sources."""
    return base64.b64encode(xor(text.encode(), hashlib.sha256(canary.encode()).digest())).decode()


def _utf8(data: bytes, what: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise BadRow("undecryptable", f"{what}: the decrypted bytes are no UTF-8 text") from None

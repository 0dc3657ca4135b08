"""The two ways in which published evaluation text is kept from crawlers, as upstream does it."""

from __future__ import annotations

import base64
import hashlib
import random


def keystream(text: str, rng: random.Random) -> tuple[str, str]:
    """EvoBrowseComp: (ciphertext, key), both base64 and of equal length; plain = one XOR the other."""
    plain = text.encode()
    key = rng.randbytes(len(plain))
    return _base64(bytes(a ^ b for a, b in zip(plain, key, strict=True))), _base64(key)


def canary_cipher(text: str, canary: str) -> str:
    """MMBrowseComp: base64 of the text XOR the repeated SHA-256 of the row's canary."""
    plain = text.encode()
    key = hashlib.sha256(canary.encode()).digest()
    return _base64(bytes(byte ^ key[index % len(key)] for index, byte in enumerate(plain)))


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()

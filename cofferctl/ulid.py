"""Identifiers: ULIDs and their alphabet (https://github.com/ulid/spec).

Hand-written: a dozen lines, where importing a library for them costs as much as importing the whole git library.
"""

from __future__ import annotations

import hashlib
import os
import re

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
LENGTH = 26
PATTERN = re.compile(r"[0-9A-HJKMNP-TV-Z]{26}")


def _encode(number: int, length: int) -> str:
    digits = []
    for _ in range(length):
        number, digit = divmod(number, 32)
        digits.append(ALPHABET[digit])
    return "".join(reversed(digits))


def new(milliseconds: int) -> str:
    """Mint an identifier: 48 bits of time since 1970 in milliseconds, then 80 random bits."""
    return _encode(milliseconds << 80 | int.from_bytes(os.urandom(10), "big"), LENGTH)


def derived(text: str) -> str:
    """The identifier of something that was never given one: the first 26 characters of its SHA-256 in base 32."""
    digest = int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest(), "big")
    return _encode(digest >> (256 - 5 * LENGTH), LENGTH)

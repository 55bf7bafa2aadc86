"""The digest of a file, computed beside other work."""

from __future__ import annotations

import hashlib
from pathlib import Path

#: Bytes that are hashed at a time: whoever hashes little waits for the interpreter between any two pieces.
_PIECE = 8 << 20


def digest_of(path: Path) -> str:
    """The SHA-256 of the bytes of a file."""
    found = hashlib.sha256()
    with path.open("rb", buffering=0) as file:
        room = memoryview(bytearray(min(_PIECE, max(path.stat().st_size, 1))))
        while n := file.readinto(room):
            found.update(room[:n])
    return found.hexdigest()

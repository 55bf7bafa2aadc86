"""The files of a ledger: its key, its lock, and how files that only their owner may read are written."""

from __future__ import annotations

import os
import secrets
from io import BytesIO
from pathlib import Path

import polars as pl

from tarnkappe.errors import DataError

_KEY_BYTES = 32


def beside(path: Path, what: str) -> Path:
    """A file that belongs to a ledger."""
    return path.with_name(f"{path.name}.{what}")


def key_of(path: Path, there: bool) -> bytes:
    """The key of a ledger; a new one only for a new ledger."""
    place = beside(path, "key")
    try:
        key = bytes.fromhex(place.read_text(encoding="ascii").strip())
    except FileNotFoundError:
        key = b""
    except (OSError, UnicodeDecodeError, ValueError):
        raise _keyless(place, "cannot be read") from None
    if key or there:
        if len(key) != _KEY_BYTES:
            raise _keyless(place, "is missing" if not key else "was changed")
        return key
    key = secrets.token_bytes(_KEY_BYTES)
    handle = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(key.hex() + "\n")
    return key


def _keyless(place: Path, why: str) -> DataError:
    return DataError(
        "E441",
        f"the key of the ledger {why}, and without it nobody can be recognised",
        where=str(place),
        hint="Take the key from a backup. A new ledger in another place knows nothing about the releases so far.",
    )


def as_parquet(frame: pl.DataFrame) -> bytes:
    """A table as the bytes of a file."""
    out = BytesIO()
    frame.write_parquet(out)
    return out.getvalue()


def write_privately(path: Path, content: bytes) -> None:
    """Write a file that only its owner can read, whole or not at all."""
    hidden = path.with_name(f".{path.name}.tmp")
    hidden.unlink(missing_ok=True)
    handle = os.open(hidden, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as out:
        out.write(content)
        out.flush()
        os.fsync(out.fileno())
    hidden.replace(path)


def keep_locked(handle: int, place: Path) -> None:
    """Keep others from making a release with this ledger until this one is in it."""
    try:
        import fcntl
    except ImportError:  # not every system has locks that end with their process
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise DataError(
            "E445",
            "another run is making a release with this ledger",
            where=str(place),
            hint="Wait until it has ended.",
        ) from None

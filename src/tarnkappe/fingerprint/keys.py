"""Keys: what is secret about fingerprints, and nothing else."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tarnkappe.errors import JobError, RefusedError

#: The environment variable that may hold a key, in hexadecimal digits.
VARIABLE = "TARNKAPPE_KEY"

#: Shorter keys could be found by trying.
_LEAST_BYTES = 32

_DOMAIN = b"tarnkappe fingerprint 1"


def derived(key: bytes, *words: str | bytes) -> bytes:
    """A key for one purpose: HMAC-SHA256 over words whose lengths are told, so that no two purposes coincide."""
    message = bytearray(_DOMAIN)
    for word in words:
        raw = word.encode() if isinstance(word, str) else word
        message += len(raw).to_bytes(8, "big") + raw
    return hmac.digest(key, bytes(message), "sha256")


def stream(key: bytes, n: int) -> NDArray[np.uint32]:
    """Random numbers that follow from a key: HMAC-SHA256 in counter mode, eight numbers for each block."""
    blocks = (hmac.digest(key, i.to_bytes(8, "big"), "sha256") for i in range(-(-n // 8)))
    return np.frombuffer(b"".join(blocks), ">u4")[:n].astype(np.uint32)


@dataclass(frozen=True)
class DatasetKey:
    """The key of one data set. It is what a proof of ownership reveals; keys of other data sets stay secret."""

    dataset: str
    raw: bytes = field(repr=False)

    def purpose(self, *words: str) -> bytes:
        """The key for a purpose."""
        return derived(self.raw, *words)

    def commitment(self, nonce: str, plan: str) -> str:
        """What is published before anything is shared, and opened in a dispute: it binds the key and the plan."""
        return hashlib.sha256(derived(self.raw, "commitment", nonce, self.dataset, plan)).hexdigest()


@dataclass(frozen=True)
class Key:
    """The secret key of a publisher, never shown, logged or written anywhere.

    >>> Key(bytes(32))
    Key()
    """

    raw: bytes = field(repr=False)

    def __post_init__(self) -> None:
        """Refuse keys that could be guessed."""
        if len(self.raw) < _LEAST_BYTES:
            raise JobError(
                "E110",
                f"a key has at least {_LEAST_BYTES} bytes, this one has {len(self.raw)}",
                hint="tarnkappe fingerprint plan JOB --new-key KEYFILE",
            )

    @classmethod
    def new(cls) -> Key:
        """A key drawn by the operating system."""
        return cls(secrets.token_bytes(_LEAST_BYTES))

    @classmethod
    def load(cls, path: str | Path | None = None) -> Key:
        """The key in a file, or in the environment variable TARNKAPPE_KEY; hexadecimal digits in both."""
        where = str(path) if path is not None else VARIABLE
        if path is not None:
            try:
                text = Path(path).read_text(encoding="ascii")
            except FileNotFoundError:
                make = f"tarnkappe fingerprint plan JOB --new-key {where}"
                raise JobError("E107", "there is no key file", where=where, hint=make) from None
            except (OSError, UnicodeDecodeError) as error:  # copies are traced with the key they were made with
                why = (getattr(error, "strerror", None) or "it does not hold plain text").lower()
                what = f"the key file is there and cannot be read: {why}"
                raise JobError("E107", what, where=where, hint="Give the file of the key, or a backup of it.") from None
        else:
            text = os.environ.get(VARIABLE, "")
            if not text:
                raise JobError(
                    "E103", "there is no key", hint=f"--key KEYFILE   or the environment variable {VARIABLE}"
                )
        try:
            return cls(bytes.fromhex(text.strip()))
        except ValueError:
            raise JobError(
                "E110",
                "a key is written in hexadecimal digits",
                where=where,
                hint="tarnkappe fingerprint plan JOB --new-key KEYFILE",
            ) from None

    def save(self, path: str | Path) -> None:
        """Write the key to a new file that only its owner can read; an existing file is never replaced."""
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            raise RefusedError(
                "E601",
                "the key file exists already, and copies made with it could not be traced without it",
                where=str(path),
                hint="Choose another name.",
            ) from None
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(self.raw.hex() + "\n")

    def of(self, dataset: str) -> DatasetKey:
        """The key of one data set, by its digest."""
        return DatasetKey(dataset, derived(self.raw, "dataset", dataset))

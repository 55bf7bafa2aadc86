"""Secret keys that pseudonyms depend on."""

from __future__ import annotations

import hmac
from pathlib import Path

from tarnkappe.errors import DataError

#: Shorter keys could be found by trying.
_LEAST_BYTES = 32

_DOMAIN = b"tarnkappe pseudonym 1"


def key_from(path: str, *purpose: str) -> bytes:
    """The key for a purpose that follows from the one in a file; a file holds hexadecimal digits."""
    file = Path(path).expanduser()
    # What is in a file may be somebody's key in another notation: no fix may write over it.
    once = "(once; keep it secret, and apart from the data)"
    other = f"openssl rand -hex {_LEAST_BYTES} > {path}.new   {once}, and name that file in the job"
    fix = f"openssl rand -hex {_LEAST_BYTES} > {path}   {once}"
    try:
        raw = bytes.fromhex(file.read_text(encoding="ascii").strip())
    except OSError:
        raise DataError("E420", "the key file cannot be read", where=path, hint=fix) from None
    except ValueError:
        raise DataError("E420", "the key file does not hold hexadecimal digits", where=path, hint=other) from None
    if len(raw) < _LEAST_BYTES:
        what = f"a key has at least {_LEAST_BYTES} bytes, the one in the file has {len(raw)}"
        raise DataError("E420", what, where=path, hint=other)
    return derived(raw, *purpose)


def derived(key: bytes, *purpose: str) -> bytes:
    """A key for one purpose: HMAC-SHA256 over words whose lengths are told, so that no two purposes coincide."""
    message = bytearray(_DOMAIN)
    for word in purpose:
        raw = word.encode()
        message += len(raw).to_bytes(8, "big") + raw
    return hmac.digest(key, bytes(message), "sha256")

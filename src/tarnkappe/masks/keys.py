"""Secret keys that pseudonyms depend on."""

from __future__ import annotations

import hmac
from pathlib import Path
from shlex import quote

from tarnkappe.errors import DataError
from tarnkappe.small_files import read_small

#: Shorter keys could be found by trying.
_LEAST_BYTES = 32

_DOMAIN = b"tarnkappe pseudonym 1"


def key_from(path: str, *purpose: str) -> bytes:
    """The key for a purpose that follows from the one in a file; a file holds hexadecimal digits."""
    file = Path(path).expanduser()
    # What is in a file may be somebody's key in another notation: no fix may write over it.
    once = "(once; keep it secret, and apart from the data)"
    other = f"openssl rand -hex {_LEAST_BYTES} > {path}.new   {once}, and name that file in the job"
    try:
        raw = bytes.fromhex(read_small(file).decode("ascii").strip())
    except FileNotFoundError:
        folder = "" if file.parent.is_dir() else f"mkdir -p {quote(str(file.parent))} && "
        fix = f"{folder}openssl rand -hex {_LEAST_BYTES} > {path}   {once}"
        raise DataError("E420", "there is no key file", where=path, hint=fix) from None
    except OSError as error:  # there is something, which may be the key: another one would give other pseudonyms
        why = (error.strerror or "it cannot be opened").lower()
        forbidden = isinstance(error, PermissionError)
        fix = f"chmod u+r {quote(str(file))}" if forbidden else "Name the file of the key in the job."
        raise DataError("E420", f"the key file is there and cannot be read: {why}", where=path, hint=fix) from None
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

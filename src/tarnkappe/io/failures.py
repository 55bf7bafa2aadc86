"""Turn what the operating system, Polars or Arrow say about a failed write into an error a user can act on."""

from __future__ import annotations

import errno
import re
from pathlib import Path
from shlex import quote

from tarnkappe.errors import LimitError, RefusedError, TarnkappeError

_DISK_FULL = {errno.ENOSPC, errno.EDQUOT} if hasattr(errno, "EDQUOT") else {errno.ENOSPC}
# Polars reports input/output errors as text only, sometimes wrapped in an error of its own.
_DISK_FULL_WORDS = ("no space left on device", "disk quota exceeded", "not enough space on the disk")
_REASONS = {
    errno.EACCES: "permission denied",
    errno.EPERM: "operation not permitted",
    errno.EROFS: "the file system is read-only",
    errno.ENOTDIR: "a part of the path is a file, not a folder",
    errno.ENAMETOOLONG: "the name is too long",
    errno.ENOENT: "the folder does not exist",
    errno.EBUSY: "it is in use",
    errno.EFBIG: "the file would be larger than allowed there",
}
_RIGHTS = {errno.EACCES, errno.EPERM}


def is_disk_full(err: BaseException) -> bool:
    """Whether an error, or one that caused it, says that the disk is full.

    >>> is_disk_full(OSError(errno.ENOSPC, "No space left on device"))
    True
    >>> is_disk_full(ValueError("k must be at least 1"))
    False
    """
    seen: BaseException | None = err
    while seen is not None:
        if isinstance(seen, OSError) and seen.errno in _DISK_FULL:
            return True
        text = str(seen).lower()
        if any(words in text for words in _DISK_FULL_WORDS):
            return True
        seen = seen.__cause__
    return False


def translate_os_error(err: BaseException, path: str | Path) -> TarnkappeError:
    """The error to raise when writing `path` failed with `err`.

    >>> translate_os_error(OSError(errno.ENOSPC, "No space left on device"), "out").code
    'E701'
    >>> translate_os_error(PermissionError(errno.EACCES, "Permission denied"), "out").message
    "'out' cannot be written: permission denied"
    """
    if isinstance(err, TarnkappeError):
        return err
    shown = Path(path)
    if is_disk_full(err):
        return LimitError(
            "E701",
            f"the disk is full: '{shown.name}' could not be written and nothing was left behind",
            where=str(shown),
            hint=f"Free some space (see  df -h {shown.parent} ) or write to another disk.",
        )
    if isinstance(err, MemoryError):
        return LimitError("E702", f"not enough memory to write '{shown.name}'", where=str(shown))
    number = _error_number(err)
    reason = _REASONS.get(number) or (err.strerror if isinstance(err, OSError) else None) or str(err)
    rights = f", or change its rights:  chmod u+w {quote(str(shown.parent))}" if number in _RIGHTS else "."
    return RefusedError(
        "E603",
        f"'{shown.name}' cannot be written: {reason}",
        where=str(shown),
        hint=f"Choose another folder, one that you may write to{rights}",
    )


def _error_number(err: BaseException) -> int:
    """The operating system's number of an error; Polars tells it in words only."""
    if isinstance(err, OSError) and err.errno is not None:
        return err.errno
    told = re.search(r"\(os error (\d+)\)", str(err))
    return int(told[1]) if told else 0

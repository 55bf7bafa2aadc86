"""Files that people write by hand (jobs, taxonomies, configurations), read whole but never without end."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

#: No file that somebody wrote is larger; a taxonomy of a million values has some 50 MB.
_LARGEST = 512 << 20

#: Where the shell puts what it pipes to a command:  tarnkappe run <(sed s/5/10/ job.yaml)
_PIPES = ("/dev/fd", "/proc/self/fd", "/dev/stdin")


def read_small(path: Path) -> bytes:
    """The content of a file; a device, a named pipe or an endless file is an `OSError` that says so.

    >>> read_small(Path("/dev/zero"))
    Traceback (most recent call last):
        ...
    OSError: [Errno 22] it is not a regular file: '/dev/zero'
    """
    mode = path.stat().st_mode
    piped = stat.S_ISFIFO(mode) and str(path).startswith(_PIPES)
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or piped):
        raise OSError(errno.EINVAL, "it is not a regular file", os.fspath(path))
    with path.open("rb") as file:
        content = file.read(_LARGEST + 1)
    if len(content) > _LARGEST:
        raise OSError(errno.EFBIG, f"it is larger than {_LARGEST >> 20} MB", os.fspath(path))
    return content

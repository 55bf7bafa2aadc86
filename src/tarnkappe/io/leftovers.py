"""Names of temporary files and folders that tell whether the process that made them is still there."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import secrets
from collections.abc import Iterator
from pathlib import Path

_TAG = re.compile(r"-(?P<machine>[0-9a-f]{6})-(?P<pid>\d+)-[0-9a-f]{8}(?:\.\w+)?")


def temporary_tag() -> str:
    """A name part that is unique and says which process of which machine made it."""
    return f"-{_machine()}-{os.getpid()}-{secrets.token_hex(4)}"


def abandoned(folder: Path, prefix: str) -> Iterator[Path]:
    """What killed processes of this machine left in `folder` under names of `prefix` and a `temporary_tag`.

    What other machines and containers made in a shared folder is left alone: from here nobody can know whether they
    still run.
    """
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        return
    for entry in entries:
        match = _TAG.fullmatch(entry.name[len(prefix) :]) if entry.name.startswith(prefix) else None
        if match and match["machine"] == _machine() and not _alive(int(match["pid"])):
            yield entry


def _machine() -> str:
    """A short hash of the machine and the process table we see: enough to tell two apart, not enough to name one.

    In a container, numbers of processes mean something else than outside, even where the machine has the same name.
    """
    try:
        processes = str(Path("/proc/self/ns/pid").readlink())
    except OSError:  # not every system has name spaces
        processes = ""
    return hashlib.sha256(f"{platform.node()} {processes}".encode()).hexdigest()[:6]


def _alive(pid: int) -> bool:
    if os.name == "nt":  # signal 0 is a real signal there, so nothing is ever taken for abandoned
        return True
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # it exists and belongs to somebody else
        return True
    return True

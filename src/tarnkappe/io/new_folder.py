"""A folder of several files that appears as a whole, or not at all."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tarnkappe.appeared import is_to_take
from tarnkappe.errors import RefusedError
from tarnkappe.io.failures import translate_os_error


@contextlib.contextmanager
def new_folder(final: str | Path) -> Iterator[Path]:
    """Yields a hidden folder beside `final` that takes its name when all went well; only its owner can enter it."""
    target = Path(final).expanduser()
    if target.exists():
        raise RefusedError(
            "E601", f"'{target.name}' exists already", where=str(target), hint="Give another name:  --output OTHER"
        )
    try:
        unfinished = Path(tempfile.mkdtemp(prefix=f".{target.name}.tmp", dir=target.parent))
    except OSError as error:
        raise translate_os_error(error, target) from error
    try:
        yield unfinished
        is_to_take(unfinished, target)
        unfinished.rename(target)
    except BaseException as error:
        shutil.rmtree(unfinished, ignore_errors=True)
        if isinstance(error, OSError):
            raise translate_os_error(error, target) from error
        raise

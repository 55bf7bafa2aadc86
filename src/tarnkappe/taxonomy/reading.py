"""Opening taxonomy files, with errors that say which file and line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tarnkappe.errors import TaxonomyError
from tarnkappe.small_files import read_small


@contextmanager
def naming(where: str | None) -> Iterator[None]:
    """Give taxonomy errors that do not know their place the given one."""
    try:
        yield
    except TaxonomyError as error:
        error.where = error.where or where
        raise


def read_bytes(path: Path) -> bytes:
    """The content of a file."""
    try:
        return read_small(path)
    except (OSError, ValueError) as error:  # a path that holds the character NUL is a ValueError
        raise TaxonomyError(
            "E202",
            f"the taxonomy file cannot be read: {getattr(error, 'strerror', None) or error}",
            where=str(path),
            hint="Check the path; in a job file it is relative to the folder of the job file.",
        ) from error


def read_text(path: Path) -> str:
    """The content of a file in UTF-8, with or without a byte order mark."""
    data = read_bytes(path)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise TaxonomyError(
            "E202",
            "the taxonomy file is not in UTF-8",
            where=f"{path}:{line}",
            hint="Save it in the encoding UTF-8 (in a spreadsheet: Save as, CSV UTF-8).",
        ) from error

"""Tables in several files: a folder of parts, as Spark and other engines write them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path

import polars as pl

from tarnkappe.errors import DataError
from tarnkappe.io.base import Source


def parts_of(folder: Path) -> list[Path]:
    """The parts in a folder, in the order of their names; none if it is no folder of parts."""
    return sorted(p for p in folder.glob("part-*") if p.is_file() and p.stat().st_size) if folder.is_dir() else []


def digest_of_parts(digests: Iterable[tuple[str, str]]) -> str:
    """The digest of several files by name and digest, as  ``sha256sum part-* | sha256sum``  gives it; of one, its own.

    >>> digest_of_parts([("part-00000.csv", "ab12")])
    'ab12'
    """
    known = sorted(digests)
    if len(known) == 1:
        return known[0][1]
    return hashlib.sha256("".join(f"{digest}  {name}\n" for name, digest in known).encode()).hexdigest()


class PartsSource(Source):
    """The rows of several tables with the same columns, one table after the other."""

    def __init__(self, folder: Path, parts: Sequence[tuple[str, Source]], missing: tuple[str, ...]) -> None:
        """Take the opened parts with their names."""
        self._parts = tuple(parts)
        first = self._parts[0][1]
        for name, part in self._parts:
            if part.columns != first.columns:
                raise DataError(
                    "E405",
                    f"'{name}' has other columns than the first part of '{folder.name}'",
                    where=str(folder / name),
                    hint=f"Columns of the first part: {', '.join(first.columns)}.",
                )
        self.decimal = first.decimal
        super().__init__(folder.name, first.columns, sum(part.n_rows for _, part in self._parts), missing)

    @property
    def format(self) -> str:
        """The format of the parts, and how many there are."""
        n = len(self._parts)
        return f"{self._parts[0][1].format}, {n} part{'s' if n > 1 else ''}"

    @cached_property
    def sha256(self) -> str:
        """The digest of the digests of the parts."""
        return digest_of_parts((name, part.sha256) for name, part in self._parts)

    def _scan(self, columns: list[str]) -> pl.LazyFrame:
        return self._scan_as(columns, {})

    def _scan_as(self, columns: list[str], types: Mapping[str, pl.DataType]) -> pl.LazyFrame:
        return pl.concat([part._scan_as(columns, types) if types else part._scan(columns) for _, part in self._parts])

    def close(self) -> None:
        """Close every part."""
        for _, part in self._parts:
            part.close()

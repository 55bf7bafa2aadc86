"""Tables in several files: a folder of parts, as Spark and other engines write them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path

import polars as pl

from tarnkappe.errors import DataError
from tarnkappe.io.base import Source
from tarnkappe.io.texts import is_text


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
            self._refuse_other_types(folder, name, part)
        self.decimal = first.decimal
        self.spreadsheet_safe = first.spreadsheet_safe
        self.may_misdate = first.may_misdate
        super().__init__(folder.name, first.columns, sum(part.n_rows for _, part in self._parts), missing)

    def _refuse_other_types(self, folder: Path, name: str, part: Source) -> None:
        """Refuse a part in which a column is of another type, unless both are numbers or both are texts."""
        wanted = self._parts[0][1]._stored_types()
        for column, found in part._stored_types().items():
            known = wanted[column]
            alike = found == known or (found.is_numeric() and known.is_numeric()) or (is_text(found) and is_text(known))
            if not alike:
                raise DataError(
                    "E408",
                    f"column '{column}' is of type {found} in '{name}', but {known} in the first part of "
                    f"'{folder.name}'",
                    where=str(folder / name),
                    hint="Write all parts with the same types.",
                )

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
        frames = [part._scan_as(columns, types) if types else part._scan(columns) for _, part in self._parts]
        return pl.concat(frames, how="vertical_relaxed")  # whole numbers in one part, fractions in another

    def close(self) -> None:
        """Close every part."""
        for _, part in self._parts:
            part.close()

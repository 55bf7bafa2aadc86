"""A published release from its files: one table with labels, or tables whose groups have numbers."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from tarnkappe.attacks.scene import Table, is_numeric
from tarnkappe.errors import JobError
from tarnkappe.io import CsvDialect, Source, open_source
from tarnkappe.io.folders import MANIFEST, ReleaseFolder, dialect_told, manifest_of, require_records
from tarnkappe.publish.sheets import MAIN, Reading


def open_published(
    release: str | Path, dialect: CsvDialect | None = None
) -> tuple[Table, dict[str, Any] | None, ReleaseFolder | None]:
    """A release as its reader has it, with its manifest, and the folder that it lies in, if there are any."""
    path = Path(release).expanduser()
    folder = ReleaseFolder(path) if path.is_dir() and not any(path.glob("part-*")) else None
    file = path if folder is None or folder.table is None else folder.table
    manifest = manifest_of(file)
    require_records(manifest, path)
    told, missing = dialect_told(manifest, dialect)
    sheets = _sheets(manifest, file)
    quasi = list(map(str, (manifest or {}).get("quasi_identifiers", ())))
    frames, decimal = {}, told.decimal or "."
    for name, beside in sheets.items():
        with open_source(file.with_name(Path(beside).name), told, missing) as source:
            frames[name] = read_all(source, quasi)
            decimal = source.decimal
    table = published(str(release), frames, manifest or {}, decimal)
    return table, manifest, folder or ReleaseFolder.around(file)


def read_all(source: Source, besides: Collection[str] = ()) -> pl.DataFrame:
    """All columns of a table; where its decimal sign is a comma, columns of nothing but numbers as numbers.

    Columns `besides` hold labels and stay as they are.
    """
    frame = source.read(source.columns)
    if source.decimal != ",":
        return frame
    texts = [s for s in frame if s.dtype == pl.String and s.name not in besides]
    plain = [s.str.replace(",", ".", literal=True) for s in texts]
    return frame.with_columns(s.cast(pl.Float64) for s in plain if is_numeric(s))


def _sheets(manifest: Mapping[str, Any] | None, file: Path) -> dict[str, str]:
    """The file of every table; a manifest may have been changed by hand."""
    try:
        told = {str(t["name"]): str(t["file"]) for t in (manifest or {}).get("tables", ())}
    except (KeyError, TypeError, AttributeError):
        raise _unclear(file) from None
    return told or {MAIN: file.name}


def published(name: str, frames: Mapping[str, pl.DataFrame], manifest: Mapping[str, Any], decimal: str) -> Table:
    """The tables of a release as its manifest says that they belong together."""
    try:
        quasi = tuple(map(str, manifest.get("quasi_identifiers", ())))
        if "reading" not in manifest:
            return Table(name, frames[MAIN], quasi, decimal)
        numbers = Reading.told(manifest["reading"])
        held = [tuple(c for c in s["columns"] if c in quasi) for s in manifest.get("strands", ())]
        return Table(
            name,
            frames[MAIN],
            tuple(c for c in quasi if c in frames[MAIN].columns),
            decimal,
            numbers.number,
            None if numbers.secrets == MAIN else frames[numbers.secrets],
            numbers.count,
            numbers.beside,
            tuple(columns for columns in held if columns),
        )
    except (AttributeError, KeyError, TypeError, ValueError):
        raise _unclear(Path(name)) from None


def _unclear(file: Path) -> JobError:
    return JobError(
        "E110",
        "the manifest does not say how its tables belong together: 'reading' or 'tables' is not as it was written",
        where=str(file.with_name(MANIFEST)),
        hint="Take the manifest that came with the release.",
    )

"""Tables in many files: all that a pattern of names finds, and folders whose names hold values (Hive)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

import polars as pl

from tarnkappe.errors import DataError
from tarnkappe.io.base import Source
from tarnkappe.io.formats import kind_of
from tarnkappe.io.parts import PartsSource
from tarnkappe.io.views import SourceView

_PATTERN = re.compile(r"[*?\[]")
#: What a pattern leaves open, with the signs around it that set it apart.
_ANY = re.compile(r"[-_ ]*(?:[*?]|\[[^\]]*\]?)+[-_ ]*")
#: How Hive writes a missing value as the name of a folder.
_NOTHING = "__HIVE_DEFAULT_PARTITION__"


def table_name(data: str | Path) -> Path:
    """A name for the table of a path, a pattern or an address, with the suffix of its files.

    >>> [table_name(path).name for path in ("census.csv", "in/2024-*.csv", "s3://lake/people.parquet?region=eu")]
    ['census.csv', '2024.csv', 'people.parquet']
    >>> [table_name(path).name for path in ("part-*-of-[0-9].csv", "20??.csv.gz", "*.csv")]
    ['part-of.csv', '20.csv.gz', 'release.csv']
    """
    plain = str(data).partition("?")[0] if "://" in str(data) else str(data)
    path = Path(plain.rstrip("/"))
    if path.is_dir():
        files = _files(path)
        return path.with_name(path.name + files[0].suffix) if files and kind_of(path) is None else path
    stem, suffixes = path.name, ""
    if _PATTERN.search(path.name):
        stem, dot, rest = path.name.partition(".")
        suffixes = dot + rest
        stem = _ANY.sub("-", stem).strip("-_ ") or "release"
    return path.with_name(stem + suffixes)


def open_partitions(path: Path, open_one: Callable[[Path], Source], missing: tuple[str, ...]) -> Source | None:
    """The files that a pattern or a folder of folders stands for, as one table; None if it is neither."""
    if path.is_dir():
        files, root = _files(path), path
        if not any("=" in part for file in files for part in file.relative_to(path).parts[:-1]):
            return None
    elif _PATTERN.search(str(path)):
        root = _before_pattern(path)
        files = sorted(p for p in root.glob(str(path.relative_to(root))) if p.is_file() and not _hidden(p, root))
    else:
        return None
    if not files:
        raise DataError(
            "E478",
            f"no file is found by '{path.name}'",
            where=str(path),
            hint=f"Look what is there:  ls {root}",
        )
    sources: list[tuple[str, Source]] = []
    try:
        for file in files:
            values = _values(file, root)
            one = open_one(file)
            sources.append((str(file.relative_to(root)), _PartitionSource(one, values) if values else one))
        return PartsSource(path, sources, missing)
    except BaseException:
        for _, source in sources:
            source.close()
        raise


def table_size(path: Path) -> int:
    """The bytes of a table in one or many files; 0 where that cannot be known without opening it."""
    try:
        if path.is_file():
            return path.stat().st_size
        if path.is_dir():
            found = path.rglob("*")
        elif _PATTERN.search(str(path)):
            root = _before_pattern(path)
            found = root.glob(str(path.relative_to(root)))
        else:
            return 0
        return sum(file.stat().st_size for file in found if file.is_file())
    except OSError:
        return 0


def _before_pattern(path: Path) -> Path:
    """The folder in which a pattern of names begins."""
    fixed = []
    for part in path.parts[:-1]:
        if _PATTERN.search(part):
            break
        fixed.append(part)
    return Path(*fixed) if fixed else Path()


def _files(folder: Path) -> list[Path]:
    """The tables in a folder and the folders in it, in the order of their names."""
    found = sorted(p for p in folder.rglob("*") if p.is_file() and kind_of(p) is not None)
    return [p for p in found if not _hidden(p, folder)]


def _hidden(path: Path, root: Path) -> bool:
    """Whether a file, or a folder that it lies in, is no part of the table: ``_SUCCESS``, ``.crc``."""
    return any(part.startswith(("_", ".")) for part in path.relative_to(root).parts)


def _values(file: Path, root: Path) -> dict[str, str | None]:
    """What the names of the folders say about the records of a file.

    >>> _values(Path("lake/year=2024/sex=f/a.parquet"), Path("lake"))
    {'year': '2024', 'sex': 'f'}
    """
    named = [part.partition("=") for part in file.relative_to(root).parts[:-1] if "=" in part]
    return {_plain(name): None if value == _NOTHING else _plain(value) for name, _, value in named}


def _plain(name: str) -> str:
    """The name of a folder without the signs of web addresses.

    >>> _plain("New%20York")
    'New York'
    """
    signs = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
    return signs.sub(lambda found: bytes.fromhex(found[0].replace("%", "")).decode("utf-8", "replace"), name)


class _PartitionSource(SourceView):
    """A file and the values that the names of its folders say, as text: ``month=07`` stays 07."""

    def __init__(self, inner: Source, values: Mapping[str, str | None]) -> None:
        both = [name for name in values if name in inner.columns]
        if both:
            raise DataError(
                "E478",
                f"'{both[0]}' is a column of '{inner.name}' and also the name of a folder",
                where=inner.name,
                hint="Give the files by a pattern that leaves the folders out, or write them without the column.",
            )
        super().__init__(inner, columns=[*inner.columns, *values])
        self._values = values

    def _scan(self, columns: list[str]) -> pl.LazyFrame:
        stored = [name for name in columns if name not in self._values]
        frame = self.inner._scan(stored or [self.inner.columns[0]])
        said = (pl.lit(value, pl.String).alias(name) for name, value in self._values.items() if name in columns)
        return frame.with_columns(said).select(columns)

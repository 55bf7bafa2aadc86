"""The kinds of files that tables are kept in: what they are called, who reads and who writes them."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from tarnkappe.errors import DataError

#: The formats a release can be written in; each is also the suffix of its files.
Format = Literal["csv", "parquet", "xlsx", "arrow", "jsonl", "sav", "dta", "xml"]
WRITTEN: tuple[str, ...] = get_args(Format)


@dataclass(frozen=True)
class FileFormat:
    """One kind of files."""

    about: str
    #: With an article, for messages.
    noun: str
    suffixes: tuple[str, ...]
    #: How a release of such a file is written unless the job says otherwise.
    written: Format
    #: What has to be installed to read and write it.
    extra: str | None = None
    packages: tuple[str, ...] = ()

    @property
    def is_installed(self) -> bool:
        """Whether what reads and writes it is there."""
        return all(importlib.util.find_spec(package) is not None for package in self.packages)


_EXCEL = (".xlsx", ".xlsb", ".xls", ".ods")
_STATISTICS = "statistics", ("pyreadstat",)

#: All kinds of files, in the order in which they are listed.
FORMATS: dict[str, FileFormat] = {
    "csv": FileFormat("delimited text", "a CSV file", (".csv", ".tsv", ".txt"), "csv"),
    "parquet": FileFormat("Apache Parquet", "a Parquet file", (".parquet", ".pq"), "parquet"),
    "arrow": FileFormat("Apache Arrow and Feather 2", "an Arrow file", (".arrow", ".feather", ".ipc"), "arrow"),
    "jsonl": FileFormat("one JSON object per line", "a JSON Lines file", (".jsonl", ".ndjson"), "jsonl"),
    "excel": FileFormat("spreadsheets", "an Excel file", _EXCEL, "xlsx", "excel", ("fastexcel", "xlsxwriter")),
    "spss": FileFormat("SPSS", "an SPSS file", (".sav", ".zsav"), "sav", *_STATISTICS),
    "stata": FileFormat("Stata", "a Stata file", (".dta",), "dta", *_STATISTICS),
    "sas": FileFormat("SAS, read only", "a SAS file", (".sas7bdat", ".xpt"), "csv", *_STATISTICS),
    "xml": FileFormat("one XML element per record", "an XML file", (".xml",), "xml"),
    "fixed": FileFormat("fixed-width text, read only", "a fixed-width file", (".dat", ".asc", ".fwf"), "csv"),
}

#: The kind of a file by its suffix.
BY_SUFFIX = {suffix: name for name, kind in FORMATS.items() for suffix in kind.suffixes}

_PACKED = {".gz", ".zst", ".zstd"}


def unpacked_name(path: Path) -> Path:
    """The name without the suffix of a packing.

    >>> unpacked_name(Path("census.csv.gz")).name
    'census.csv'
    """
    return path.with_suffix("") if path.suffix.lower() in _PACKED else path


def kind_of(path: Path) -> str | None:
    """Which kind of file a name stands for.

    >>> kind_of(Path("census.csv.gz")), kind_of(Path("survey.sav")), kind_of(Path("notes.pdf"))
    ('csv', 'spss', None)
    """
    return BY_SUFFIX.get(unpacked_name(path).suffix.lower())


def release_format(path: Path) -> Format:
    """How a release of a file is written unless the job says otherwise; a spreadsheet becomes a spreadsheet.

    >>> release_format(Path("survey.sav")), release_format(Path("data")), release_format(Path("old.sas7bdat"))
    ('sav', 'csv', 'csv')
    """
    kind = kind_of(path)
    return "csv" if kind is None else FORMATS[kind].written


def require_extra(kind: str, what: str, where: str) -> None:
    """Refuse a file if what reads it, and writes its release, is not installed, with the line that installs it."""
    found = FORMATS[kind]
    if not found.is_installed:
        raise DataError(
            "E408",
            f"'{what}' is {found.noun}, and what reads and writes those is not installed",
            where=where,
            hint=f"pip install 'tarnkappe[{found.extra}]'   or save it as CSV.",
        )


def require_writer(format_: str) -> None:
    """Refuse to write a release in a format whose writer is not installed, with the line that installs it."""
    found = FORMATS[BY_SUFFIX[f".{format_}"]]
    if not found.is_installed:
        raise DataError(
            "E408",
            f"the release is to be {found.noun}, and the writer of those is not installed",
            where="output",
            hint=f"pip install 'tarnkappe[{found.extra}]'   or  format: csv",
        )


def not_of_its_kind(path: Path, kind: str, why: str = "or is damaged") -> DataError:
    """The error for a file that is not what its name says."""
    return DataError(
        "E470",
        f"'{path.name}' is not {FORMATS[kind].noun}, {why}",
        where=str(path),
        hint=f"Write the file again, or give it the suffix of its real format; known are {known_suffixes()}.",
    )


def known_suffixes() -> str:
    """Every suffix that is read, for messages."""
    return ", ".join(sorted(BY_SUFFIX))

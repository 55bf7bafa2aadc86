"""Readers for the well-known files that anonymisation methods are compared on."""

from __future__ import annotations

import os
from pathlib import Path

import polars as pl

from tarnkappe.errors import DataError, JobError, did_you_mean
from tarnkappe.taxonomy import Taxonomy

ADULT_SOURCE = "https://github.com/arx-deidentifier/arx/tree/master/data"

#: What the R package sdcMicro calls each CASC table.
CASC_IN_SDCMICRO = {"census": "CASCrefmicrodata", "tarragona": "Tarragona", "eia": "EIA"}

#: The columns of each CASC file that the literature uses; ``None`` stands for all of them. In EIA the
#: number of the utility counts as a numeric attribute: only so are the published losses reproduced.
CASC_COLUMNS: dict[str, tuple[str, ...] | None] = {
    "census": None,
    "tarragona": None,
    "eia": (
        "UTILITYID",
        "RESREVENUE",
        "RESSALES",
        "COMREVENUE",
        "COMSALES",
        "INDREVENUE",
        "INDSALES",
        "OTHREVENUE",
        "OTHRSALES",
        "TOTREVENUE",
        "TOTSALES",
    ),
}


#: The cloud tables.
CLOUDS = ("cloud1", "cloud2")

_PLAIN_NUMBERS = "One record per line, the same number of columns in each:  1.5,2,3"


def load_adult(folder: str | os.PathLike[str]) -> tuple[pl.DataFrame, dict[str, Taxonomy]]:
    """The Adult table (UCI, 30 162 complete records) and the taxonomy of each of its columns.

    The folder holds ``adult.csv`` and one ``adult_hierarchy_<column>.csv`` per column, as distributed with
    ARX: separated by ``;``, a hierarchy without a header, one row per value from the value up to the root.
    Age is a number, everything else is text.
    """
    base = Path(folder)
    hint = f"The files are at {ADULT_SOURCE}"
    table = pl.read_csv(_existing(base / "adult.csv", hint), separator=";", infer_schema=False)
    taxonomies = {}
    for column in table.columns:
        path = _existing(base / f"adult_hierarchy_{column}.csv", hint)
        rows = pl.read_csv(path, separator=";", has_header=False, infer_schema=False)
        taxonomies[column] = Taxonomy.from_paths(rows.iter_rows())
    return table.with_columns(pl.col("age").cast(pl.Int64)), taxonomies


def load_casc(name: str, folder: str | os.PathLike[str]) -> pl.DataFrame:
    """One of the numeric CASC reference tables for microaggregation: ``census``, ``tarragona`` or ``eia``.

    The folder holds ``census.csv`` (1 080 records, 13 columns), ``tarragona.csv`` (834, 13) and ``eia.csv``
    (4 092, of which the 11 columns that the literature uses are returned). All columns are whole numbers.

    References
    ----------
    .. [BDM02] Brand, Domingo-Ferrer, Mateo-Sanz. "Reference data sets to test and compare SDC methods for
       protection of numerical microdata." European project IST-2000-25069 CASC, 2002.
    """
    if name not in CASC_COLUMNS:
        raise JobError(
            "E105",
            f"there is no CASC table '{name}'{did_you_mean(name, CASC_COLUMNS)}",
            where="name",
            hint="Use one of: " + ", ".join(CASC_COLUMNS) + ".",
        )
    object_name = CASC_IN_SDCMICRO[name]
    export = f'write.csv({object_name}, "{name}.csv", row.names = FALSE)'
    hint = f"Rscript -e 'library(sdcMicro); data({object_name}); {export}'"
    path = _existing(Path(folder) / f"{name}.csv", hint)
    columns = CASC_COLUMNS[name]
    table = pl.read_csv(path, infer_schema_length=None)
    if columns is None:
        return table
    absent = [column for column in columns if column not in table.columns]
    if absent:
        raise DataError(
            "E410",
            f"{path.name} lacks {len(absent)} of the {len(columns)} columns used",
            where=str(path),
            details=absent,
            hint="The header must name: " + ", ".join(columns) + ".",
        )
    return table.select(columns)


def load_cloud(name: str, folder: str | os.PathLike[str]) -> pl.DataFrame:
    """One of the cloud tables that microaggregation is compared on: ``cloud1`` or ``cloud2``.

    The folder holds ``cloud1`` and ``cloud2``, each as a plain table of numbers with one record per line: ``.csv``,
    ``.txt`` or ``.data``, separated by commas, semicolons or blanks, with or without a header. Columns without a name
    are called ``x1``, ``x2``, … All values are numbers. How many records and columns there are is up to the file.

    References
    ----------
    .. [Coll89] Collard. "Cloud." UCI Machine Learning Repository, 1989 (two sets of 1024 records with 10 columns).
    """
    if name not in CLOUDS:
        raise JobError(
            "E105",
            f"there is no cloud table '{name}'{did_you_mean(name, CLOUDS)}",
            where="name",
            hint="Use one of: " + ", ".join(CLOUDS) + ".",
        )
    return load_points(_first_of(Path(folder), name))


def load_points(path: str | os.PathLike[str]) -> pl.DataFrame:
    """A plain table of numbers, one record per line, separated by commas, semicolons or blanks.

    A first line that is not all numbers is the header.
    """
    path = _existing(Path(path), "Put the file there, or give its folder.")
    lines = pl.Series([line for line in path.read_text().splitlines() if line.strip()], dtype=pl.String)
    fields = lines.str.strip_chars().str.replace_all(r"\s*[,;\s]\s*", ",").str.split(",")
    widths = fields.list.len()
    if not len(fields) or widths.n_unique() > 1:
        where = "has no rows" if not len(fields) else "has rows of different lengths"
        raise DataError("E431", f"{path.name} {where}", where=str(path), hint=_PLAIN_NUMBERS)
    table = pl.DataFrame({f"x{j + 1}": fields.list.get(j) for j in range(widths[0])})
    numbers = table.select(pl.all().cast(pl.Float64, strict=False))
    if numbers[0].null_count().sum_horizontal().item():
        numbers = numbers[1:].rename(dict(zip(table.columns, map(str, table.row(0)), strict=True)))
    missing = numbers.null_count().sum_horizontal().item()
    if missing or not numbers.height:
        what = f"{missing} fields that are no numbers" if missing else "no rows"
        raise DataError("E431", f"{path.name} has {what}", where=str(path), hint=_PLAIN_NUMBERS)
    return numbers


def _first_of(folder: Path, name: str) -> Path:
    """The file of that name, with one of the usual endings."""
    found = [folder / f"{name}{end}" for end in (".csv", ".txt", ".data")]
    return next((path for path in found if path.is_file()), found[0])


def _existing(path: Path, hint: str) -> Path:
    if not path.is_file():
        raise DataError("E401", f"{path.name} does not exist", where=str(path), hint=hint)
    return path

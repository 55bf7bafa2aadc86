"""Test data in a file: a synthetic census, simulated points, or records with the value shares of a given file."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from tarnkappe.appeared import is_to_take
from tarnkappe.datasets.blocks import require_at_least
from tarnkappe.datasets.census import WRITE_ROWS, census, census_batches
from tarnkappe.datasets.marginals import resample_batches
from tarnkappe.datasets.simulated import sim_c, sim_u
from tarnkappe.errors import DataError, JobError, RefusedError, closest, did_you_mean
from tarnkappe.fixes import OVERWRITE
from tarnkappe.io import CsvDialect, TableWriter, open_source
from tarnkappe.io.sink import Format, translate_os_error

#: Test data that need no file.
KINDS = ("census", "sim-u", "sim-c")


def generate_table(
    source: str | Path,
    n: int,
    target: str | Path,
    *,
    columns: int = 10,
    seed: int = 0,
    overwrite: bool = False,
) -> tuple[str, ...]:
    """Write `n` records of test data to a CSV or Parquet file, in batches; the columns that it has.

    `source` is ``census``, ``sim-u``, ``sim-c``, or a file: then every column is drawn by itself from the values it has
    there (see `resample`), in memory that does not depend on `n`. The file appears when it is complete.
    """
    require_at_least("n", n, 1)
    place = Path(target)
    format_ = _format(place)
    if place.exists() and not overwrite:
        raise RefusedError("E601", f"'{place.name}' exists already", where=str(place), hint=OVERWRITE)
    if str(source) not in KINDS and place.exists() and place.resolve() == Path(source).resolve():
        raise RefusedError("E602", "the output would overwrite its own input", where=str(place), hint="-o OTHER.csv")
    _refuse_unknown(str(source))
    empty, batches, dialect = _batches(source, n, columns, seed)
    unfinished = place.with_name(f".{place.name}.{uuid.uuid4().hex[:8]}.part")
    try:
        with TableWriter(unfinished, format_, dialect) as writer:
            writer.write(empty)
            for batch in batches:
                writer.write(batch)
        is_to_take(unfinished, place)
        unfinished.replace(place)
    except OSError as error:
        raise translate_os_error(error, place) from error
    finally:
        unfinished.unlink(missing_ok=True)
    return tuple(empty.columns)


def _batches(
    source: str | Path, n: int, columns: int, seed: int
) -> tuple[pl.DataFrame, Iterator[pl.DataFrame], CsvDialect]:
    if source == "census":
        return census(0), census_batches(n, seed, WRITE_ROWS), CsvDialect()
    if source in ("sim-u", "sim-c"):
        points = (sim_u if source == "sim-u" else sim_c)(n, columns, seed=seed)
        return points.clear(), iter([points]), CsvDialect()
    with open_source(source) as opened:
        frame = opened.read(opened.columns)
        dialect = getattr(opened, "dialect", None) or CsvDialect()
    return frame.clear(), resample_batches(frame, n, seed), dialect


def _refuse_unknown(source: str) -> None:
    """Refuse a bare word that is no file, and so was meant as the name of test data that need none."""
    if source in KINDS or Path(source).name != source or Path(source).suffix or Path(source).exists():
        return
    meant = source.replace("_", "-")
    what = f"'{source}' is neither a file nor one of {', '.join(KINDS)}{did_you_mean(meant, KINDS)}"
    such = closest(meant, KINDS) or KINDS[0]
    raise DataError("E401", what, hint=f"tarnkappe generate {such} --records 1000 --output {such}.csv")


def _format(place: Path) -> Format:
    formats: dict[str, Format] = {".csv": "csv", ".parquet": "parquet", ".pq": "parquet"}
    found = formats.get(place.suffix.lower())
    if found is None:
        raise JobError("E110", f"'{place.name}' is neither a .csv nor a .parquet file", hint=f"{place.stem}.csv")
    return found

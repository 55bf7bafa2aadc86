"""Open a release for queries: its tables are read as any reader can, with manifest and codebook."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import polars as pl

from tarnkappe.errors import DataError, JobError
from tarnkappe.io import CsvDialect, Source, open_source
from tarnkappe.io.folders import CODEBOOK, MANIFEST, PUBLIC, ReleaseFolder, dialect_told, manifest_of, require_records
from tarnkappe.job.files import load_job
from tarnkappe.publish.boxes import BoxForm
from tarnkappe.publish.centres import Centres
from tarnkappe.publish.regenerated import Regenerated
from tarnkappe.publish.sheets import MAIN, Strand
from tarnkappe.query.asking import Asked
from tarnkappe.query.labels import Known, declared
from tarnkappe.query.tables import numbered_tables, whole_table
from tarnkappe.release import Release, missing_sentence
from tarnkappe.schema import Column


def open_release(release: Release | str | Path) -> Asked:
    """Read the tables of a release: one in memory, a release folder, or a published file with its manifest.

    Of a folder that is still the publisher's, and of a release in memory, the job tells more about labels than the
    codebook does.
    """
    if isinstance(release, Release) and release.folder is None:
        meanings = _meanings((e.column, e.label, e.meaning) for e in release.codebook)
        tables = {name: open_source(table, missing=()) for name, table in release.tables.items()}
        return _opened(release.public_manifest, tables, meanings, release.job.columns, ".")
    path = Path(str(release.folder)) if isinstance(release, Release) else Path(release)
    table, manifest, columns = _found(path)
    dialect, missing = dialect_told(manifest)
    files = _files(table, manifest)
    meanings = _codebook(table, manifest, dialect)
    with ExitStack() as stack:
        tables = {
            name: stack.enter_context(open_source(table.with_name(file), dialect, missing))
            for name, file in files.items()
        }
        return _opened(manifest, tables, meanings, columns, dialect.decimal or ".", missing)


def _files(table: Path, manifest: Mapping[str, Any]) -> dict[str, str]:
    """The file of every table; a manifest that was changed may name others."""
    try:
        files = {str(t["name"]): str(t["file"]) for t in manifest.get("tables", ())} or {MAIN: table.name}
    except (KeyError, TypeError):
        raise _unclear(table) from None
    if MAIN not in files or any(Path(name).name != name for name in files.values()):
        raise _unclear(table)
    return files


def _found(path: Path) -> tuple[Path, dict[str, Any], tuple[Column, ...]]:
    """The table of a release, its manifest, and the columns of the job if the publisher's folder is there."""
    folder = ReleaseFolder(path) if path.is_dir() and not any(path.glob("part-*")) else None
    table = path if folder is None else folder.table
    manifest = None if table is None else manifest_of(table)
    if table is None or manifest is None:
        what = f"no {PUBLIC}/{MANIFEST} that names a file" if folder else f"no {MANIFEST} that describes it beside it"
        code = "E107" if not path.exists() else "E108"
        says = f"'{path}' does not exist" if not path.exists() else f"'{path}' is no release: it has {what}"
        raise JobError(code, says, hint='tarnkappe query FOLDER "count"   (the folder that  tarnkappe run  wrote)')
    require_records(manifest, path)
    around = folder or ReleaseFolder.around(table)
    job = None if around is None else around.job
    return table, manifest, () if job is None else load_job(job).columns


def _codebook(table: Path, manifest: Mapping[str, Any], dialect: CsvDialect) -> dict[str, dict[str, str]]:
    """What the codebook beside a table says about labels."""
    path = table.with_name(Path(str(manifest.get("codebook", CODEBOOK))).name)
    if not path.is_file():
        raise JobError(
            "E107",
            f"{path.name} is missing: it says what the labels of the release stand for",
            where=str(path),
            hint=f"Copy {path.name} from the release, where it lies beside {table.name}.",
        )
    plain = CsvDialect(delimiter=",", encoding="utf-8", spreadsheet_safe=dialect.spreadsheet_safe)
    with open_source(path, plain, ()) as source:
        rows = source.read(["column", "label", "meaning"]).cast(pl.String).fill_null("")
    return _meanings(iter(rows.rows()))


def _meanings(rows: Iterable[tuple[str, str, str]]) -> dict[str, dict[str, str]]:
    """The meaning of every label, by column; an entry without a label is about a column that has no labels."""
    out: dict[str, dict[str, str]] = {}
    for column, label, meaning in rows:
        if label:
            out.setdefault(column, {})[label] = meaning
    return out


def _opened(
    manifest: Mapping[str, Any],
    tables: Mapping[str, Source],
    meanings: Mapping[str, Mapping[str, str]],
    columns: Sequence[Column],
    decimal: str,
    missing: Sequence[str] = (),
) -> Asked:
    form = str(manifest.get("form", BoxForm.name))
    quasi = frozenset(map(str, manifest.get("quasi_identifiers", ())))
    strands = _strands(manifest)
    drawn = form == Regenerated.name
    has_labels = not drawn and (strands is not None or form == BoxForm.name)
    wild = manifest.get("missing_values") == missing_sentence("wildcard")
    trees, orders = declared(columns)
    known = Known(
        meanings if has_labels else {},
        trees,
        orders,
        decimal,
        vague=frozenset() if has_labels else quasi if form == Centres.name else frozenset(tables[MAIN].columns),
        may_lack=quasi if wild else frozenset(),
        some_lack=manifest.get("missing_values") != missing_sentence(None),
        gaps_are_open=quasi if "*" in missing else frozenset(),
    )
    frames = {name: source.read(source.columns) for name, source in tables.items()}
    try:
        if strands is None or drawn:
            found = whole_table(frames[MAIN], known)
        else:
            found = numbered_tables(frames, str(manifest["reading"]["number"]), strands, known)
    except (KeyError, pl.exceptions.PolarsError):
        raise _unclear() from None
    return Asked(found, tuple(_about(manifest)))


def _strands(manifest: Mapping[str, Any]) -> tuple[Strand, ...] | None:
    """Which columns stay together, if groups have numbers; None if every record is one row."""
    if "reading" not in manifest:
        return None
    try:
        return tuple(
            Strand(tuple(map(str, s["columns"])), str(s["sheet"]), None if s["count"] is None else str(s["count"]))
            for s in manifest["strands"]
            if s["columns"]
        )
    except (KeyError, TypeError):
        raise _unclear() from None


def _about(manifest: Mapping[str, Any]) -> Iterator[str]:
    suppressed = manifest.get("suppressed", 0)
    if suppressed:
        yield f"Records that were suppressed are not counted: {suppressed}."


def _unclear(table: Path | None = None) -> DataError:
    return DataError(
        "E403",
        "the tables are not as the manifest says: 'reading', 'strands' or 'tables' do not fit them",
        where=None if table is None else str(table),
        hint="Take the tables and the manifest as they came with the release.",
    )

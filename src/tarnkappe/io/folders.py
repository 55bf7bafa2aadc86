"""A release folder: what lies where, for those who write it and those who read it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from shlex import quote
from typing import Any

import polars as pl

from tarnkappe.errors import DataError, JobError, RefusedError
from tarnkappe.io.dialect import CsvDialect
from tarnkappe.io.reading import file_only

#: What a release folder holds: one folder to share, and one to keep, whose name nobody publishes by mistake.
PUBLIC, PRIVATE = "public", "do-not-share"

#: What the folder to keep was called before.
_FORMERLY = "internal"

#: Names that nothing around a release folder may have, lest one is taken for the other.
RESERVED = frozenset({PUBLIC, PRIVATE, _FORMERLY})

#: What every label of the published table means.
CODEBOOK = "codebook.csv"

#: Files of both, and the key by which a manifest is known to be ours.
MANIFEST, REPORT = "manifest.json", "report.html"
MANIFEST_KEY = "tarnkappe"

#: Files of the folder to keep: the job as it was carried out, the groups, and what verification needs besides the
#: published table.
JOB, GROUPS, WITNESS, POPULATION = "job.yaml", "groups.parquet", "witness.parquet", "population.parquet"
ORIGINALS = "originals.parquet"

#: Another one, if it is asked for: the releases that full-domain generalisation could make.
SOLUTIONS = "solutions.parquet"

#: And another: which values became which label.
RECODING = "recoding.csv"


@dataclass(frozen=True)
class ReleaseFolder:
    """A folder that holds a release.

    >>> ReleaseFolder(Path("census")).manifest.as_posix()
    'census/public/manifest.json'
    """

    path: Path

    @classmethod
    def around(cls, table: Path) -> ReleaseFolder | None:
        """The release folder that a table lies in, if it lies in one."""
        return cls(table.parent.parent) if table.parent.name == PUBLIC else None

    @property
    def manifest(self) -> Path:
        """The public manifest."""
        return self.path / PUBLIC / MANIFEST

    @property
    def table(self) -> Path | None:
        """The published table, if the manifest names one."""
        told = read_manifest(self.manifest)
        return self.path / PUBLIC / str(told["file"]) if told and lies_beside(told.get("file")) else None

    @property
    def job(self) -> Path | None:
        """The job file that the publisher keeps, if it is there."""
        kept = self.private / JOB
        return kept if kept.is_file() else None

    @property
    def private(self) -> Path:
        """The folder that stays with the publisher; of releases of earlier versions it has another name."""
        earlier = self.path / _FORMERLY
        return earlier if earlier.is_dir() else self.path / PRIVATE

    @classmethod
    def keeps(cls, file: Path) -> bool:
        """Whether a file lies in the folder that stays with the publisher."""
        return file.resolve().parent.name in (PRIVATE, _FORMERLY)

    def kept(self, name: str) -> pl.DataFrame | None:
        """A table of the folder to keep, if it is there."""
        path = self.private / name
        try:
            return pl.read_parquet(path) if path.is_file() else None
        except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            raise DataError(
                "E401",
                f"'{name}' cannot be read: it is damaged, or no Parquet file",
                where=str(path),
                hint="Take the private folder as it was written.",
            ) from error


def read_manifest(path: Path) -> dict[str, Any] | None:
    """A public manifest, if the file is one of ours."""
    try:
        manifest = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return manifest if isinstance(manifest, dict) and MANIFEST_KEY in manifest else None


def manifest_of(table: Path) -> dict[str, Any] | None:
    """What the manifest beside a table says about it, if there is one and it is about this table."""
    manifest = read_manifest(table.with_name(MANIFEST))
    return manifest if manifest is not None and manifest.get("file") == table.name else None


def lies_beside(file: object) -> bool:
    """Whether what a manifest, which may be forged, calls a file can be one beside it.

    >>> [lies_beside(name) for name in ("census.csv", "../census.csv", "..", "")]
    [True, False, False, False]
    """
    return isinstance(file, str) and Path(file).name == file not in ("", "..") and file.isprintable()


#: What only the manifests of other releases than of records have, and what these are about.
_OF_NO_RECORDS = {"joined": "several tables about the same people", "items": "sets of items"}


def require_records(manifest: Mapping[str, Any] | None, where: Path) -> None:
    """Refuse a release that is not of records: one of its tables alone says nothing true about its people."""
    for key, what in _OF_NO_RECORDS.items():
        if manifest is not None and key in manifest:
            raise RefusedError(
                "E609",
                f"the release has {what}; this can only be told of a table of records",
                where=str(where),
                hint=f"tarnkappe verify {quote(str(where))}   (whether it keeps its promise)",
            )


def told_dialect(dialect: CsvDialect, missing: Sequence[str]) -> dict[str, Any]:
    """What a manifest tells about its CSV file, so that nobody has to guess: the signs, and the texts for a gap.

    >>> told_dialect(CsvDialect(delimiter=";", encoding="utf-8"), ["NA"])
    {'delimiter': ';', 'encoding': 'utf-8', 'missing': ['NA']}
    """
    said = {name: value for name, value in asdict(dialect).items() if value}
    return {**said, "missing": list(missing)}


def dialect_told(
    manifest: Mapping[str, Any] | None, given: CsvDialect | None = None
) -> tuple[CsvDialect, tuple[str, ...]]:
    """How to read the file of a manifest, and which texts are gaps in it; what is `given` goes before what it tells.

    >>> dialect_told({"csv": {"delimiter": ";", "missing": ["NA"]}})[0].delimiter
    ';'
    """
    if manifest is None and given is not None:
        return given, ("",)
    asked = {name: value for name, value in asdict(file_only(given or CsvDialect())).items() if value}
    told = manifest.get("csv") if manifest else None
    said = told if isinstance(told, dict) else {}
    known = {name: said[name] for name in asdict(CsvDialect()) if name in said}
    gaps = said.get("missing")
    missing = tuple(str(text) for text in gaps) if isinstance(gaps, list) and gaps else ("",)
    try:
        return CsvDialect(**{**known, **asked}), missing
    except (JobError, TypeError, AttributeError):  # changed by hand
        return file_only(given or CsvDialect()), missing

"""From tables that were made safe to a bundle: written, read back, checked together, and described."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Generic, TypeVar

import polars as pl

from tarnkappe._version import __version__
from tarnkappe.bundle import Bundle, Found
from tarnkappe.codebook import Entry, as_table
from tarnkappe.companions import write_json
from tarnkappe.errors import DataError
from tarnkappe.io import CsvDialect, Format, Staging, TableWriter, open_source
from tarnkappe.io.folders import (
    CODEBOOK,
    JOB,
    MANIFEST,
    MANIFEST_KEY,
    PRIVATE,
    PUBLIC,
    REPORT,
    ReleaseFolder,
    dialect_told,
    lies_beside,
    manifest_of,
    read_manifest,
    told_dialect,
)
from tarnkappe.phases import Phases
from tarnkappe.report import render_bundle
from tarnkappe.verification import unreadable

B = TypeVar("B", bound=Bundle)


@dataclass(frozen=True)
class Place:
    """Where a table of a bundle goes, and how it is written."""

    file: str
    format: Format
    dialect: CsvDialect


class BundleDraft(ABC, Generic[B]):
    """Tables that were made safe and are not published yet."""

    #: What is said to break a criterion, in a message.
    unit = "group"

    @abstractmethod
    def tables(self) -> dict[str, pl.DataFrame]:
        """The tables to publish, the one about persons first."""

    @abstractmethod
    def check(self, tables: Mapping[str, pl.DataFrame]) -> Found:
        """Count anew in tables that were written, and compare them with the input."""

    @abstractmethod
    def place(self, table: str) -> Place:
        """Where a table goes."""

    @abstractmethod
    def bundle(self, tables: Mapping[str, pl.DataFrame], found: Found, codebook: tuple[Entry, ...]) -> B:
        """What is known about tables that were checked; the manifests lack what only files have."""

    @abstractmethod
    def codebook(self) -> tuple[Entry, ...]:
        """What the labels mean; nothing if values are published as they are."""

    @abstractmethod
    def job_text(self, folder: Path) -> str:
        """The job file that goes with the release, as it stands in a folder."""

    @property
    def spreadsheet_safe(self) -> bool:
        """Whether texts that a spreadsheet would run are disarmed, in the codebook too."""
        return False


def publish_in_memory(draft: BundleDraft[B], clock: Phases, like: Callable[[str, pl.DataFrame], Any]) -> B:
    """Publish tables as frames of the kind that was given (`like`); they are checked like files."""
    clock.begin("verify")
    made = draft.tables()
    found = draft.check(made).required("the release", draft.unit)
    clock.begin(None)
    return replace(
        draft.bundle(made, found, draft.codebook()),
        tables={name: like(name, table) for name, table in made.items()},
    )


def publish_to(stage: Staging, draft: BundleDraft[B], target: Path, clock: Phases) -> B:
    """Write tables and all that goes with them, and check what was written."""
    clock.begin("write")
    places: dict[str, Place] = {}
    for name, table in draft.tables().items():
        place = draft.place(name)
        with TableWriter(stage.path(f"{PUBLIC}/{place.file}"), place.format, place.dialect) as writer:
            writer.write(table)
        places[name] = replace(place, dialect=place.dialect.released())
    clock.begin("verify")
    shown = f"{str(target).rstrip('/')}/{PUBLIC}/"
    with ExitStack() as opened:
        sources, tables = {}, {}
        for name, place in places.items():
            try:
                source = opened.enter_context(open_source(stage.folder / PUBLIC / place.file, place.dialect))
                sources[name], tables[name] = source, source.read(source.columns)
            except DataError as error:
                raise unreadable(shown + place.file, error) from error
        found = draft.check(tables).required(shown, draft.unit)
        digests = {name: source.sha256 for name, source in sources.items()}
    clock.begin("report")
    bundle = draft.bundle(tables, found, draft.codebook())
    bundle = replace(bundle, public_manifest=with_files(bundle, places, digests), folder=target)
    write_companions(stage, draft, bundle, target, clock)
    return bundle


def with_files(bundle: Bundle, places: Mapping[str, Place], digests: Mapping[str, str]) -> dict[str, Any]:
    """The public manifest with what is known about files; the first table's stand at its top as well."""
    told = dict(bundle.public_manifest)
    first, *_ = places
    told |= {"made": datetime.now(UTC).isoformat(timespec="seconds")}
    told |= {"file": places[first].file, "sha256": digests[first]}
    told |= _csv(places[first])
    told["tables"] = [
        {**t, "file": places[t["name"]].file, "sha256": digests[t["name"]], **_csv(places[t["name"]])}
        for t in told["tables"]
    ]
    if bundle.codebook:
        taken = {place.file for place in places.values()}
        told["codebook"] = CODEBOOK if CODEBOOK not in taken else f"labels-{CODEBOOK}"
    return told


def _csv(place: Place) -> dict[str, Any]:
    return {"csv": told_dialect(place.dialect, ("",))} if place.format == "csv" else {}


def write_companions(stage: Staging, draft: BundleDraft[B], bundle: B, target: Path, clock: Phases) -> None:
    """Manifest, codebook and report to share, and what the publisher keeps."""
    told = bundle.public_manifest
    if bundle.codebook:
        safe = CsvDialect(spreadsheet_safe=draft.spreadsheet_safe)
        with TableWriter(stage.path(f"{PUBLIC}/{told['codebook']}"), "csv", safe) as writer:
            writer.write(as_table(bundle.codebook))
    write_json(stage.path(f"{PUBLIC}/{MANIFEST}"), told)
    stage.path(f"{PUBLIC}/{REPORT}").write_text(render_bundle(bundle), encoding="utf-8")
    internal = render_bundle(bundle, audience="internal")
    stage.path(f"{PRIVATE}/{REPORT}", private=True).write_text(internal, encoding="utf-8")
    text = draft.job_text(target / PRIVATE)
    stage.path(f"{PRIVATE}/{JOB}", private=True).write_text(text, encoding="utf-8")
    clock.begin(None)
    bundle.private_manifest["seconds"] = clock.seconds
    write_json(stage.path(f"{PRIVATE}/{MANIFEST}", private=True), bundle.private_manifest)


def public_facts(
    title: str,
    purpose: str,
    asked: Mapping[str, Any],
    found: Found,
    caution: str,
    tables: Mapping[str, pl.DataFrame],
    abouts: Mapping[str, str],
) -> dict[str, Any]:
    """What everybody may know about tables, before they are files; `asked` says what kind of bundle it is."""
    return {
        MANIFEST_KEY: __version__,
        "title": title,
        "purpose": purpose,
        **asked,
        "verdicts": [asdict(v) for v in found.verdicts],
        "caution": caution,
        "tables": [
            {"name": name, "columns": t.columns, "rows": t.height, "about": abouts[name]} for name, t in tables.items()
        ],
    }


@dataclass(frozen=True, eq=False)
class BundleAudit:
    """What was found in the folder of a bundle."""

    file: str
    description: str
    found: Found
    same_as_manifest: bool
    #: What is said to break a criterion.
    unit: str = "group"
    #: What is promised, too, but no reader of the tables can check, and why.
    unseen: str = ""

    @property
    def ok(self) -> bool:
        """Whether the tables keep what can be checked of the promise, and are those of the manifest."""
        return self.found.ok and self.same_as_manifest

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain data, for ``--json``."""
        return {
            "ok": self.ok,
            "file": self.file,
            "criteria_from": MANIFEST,
            "verdicts": [asdict(v) for v in self.found.verdicts],
            "problems": list(self.found.problems),
            "unseen": self.unseen or None,
            "sha256_matches_manifest": self.same_as_manifest,
        }


def manifest_with(path: str | Path, key: str) -> tuple[Path, dict[str, Any]] | None:
    """The first table of a bundle and its manifest, if a folder or a file is of one whose manifest has a key."""
    given = Path(path)
    if given.is_dir():
        told = read_manifest(ReleaseFolder(given).manifest)
        table = ReleaseFolder(given).table
    else:
        told, table = manifest_of(given), given
    return (table, told) if told is not None and table is not None and key in told else None


def audit_tables(
    table: Path,
    manifest: Mapping[str, Any],
    check: Callable[[Mapping[str, pl.DataFrame]], Found],
    needed: tuple[str, ...],
    unit: str = "group",
    unseen: str = "",
) -> BundleAudit:
    """Read all tables of a manifest and check them together; `needed` are tables that must be among them."""
    try:
        told = {str(t["name"]): t for t in manifest["tables"]}
        files = {name: (str(t["file"]), str(t["sha256"])) for name, t in told.items()}
        for name in needed:
            files[name]
    except (KeyError, TypeError) as error:
        raise changed_by_hand(table) from error
    if not all(lies_beside(file) for file, _ in files.values()):
        raise changed_by_hand(table)
    with ExitStack() as stack:
        sources = {}
        for name, (file, _) in files.items():
            dialect, missing = dialect_told(told[name] if "csv" in told[name] else manifest)
            sources[name] = stack.enter_context(open_source(table.with_name(file), dialect, missing))
        found = check({name: source.read(source.columns) for name, source in sources.items()})
        same = all(sources[name].sha256 == digest for name, (_, digest) in files.items())
        return BundleAudit(str(table), sources[next(iter(files))].description, found, same, unit, unseen)


def changed_by_hand(table: Path) -> DataError:
    """A manifest that makes no sense."""
    where = str(table.with_name(MANIFEST))
    return DataError("E408", "the manifest was changed by hand", where=where, hint="Take the original one.")

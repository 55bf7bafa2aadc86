"""Publish sets of items, so that whoever knows a few items of a person finds at least k persons who have them."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from tarnkappe._version import __version__
from tarnkappe.baskets.dissected import Dissected
from tarnkappe.baskets.form import MAIN, Found, Protected
from tarnkappe.baskets.published import check_tables
from tarnkappe.baskets.reading import read_sets
from tarnkappe.baskets.recoded import Recoded
from tarnkappe.companions import sheet_file, write_json
from tarnkappe.criteria.base import Verdict
from tarnkappe.errors import DataError, Notice, VerificationError
from tarnkappe.io import CsvDialect, Format, Source, Staging, TableWriter, like, open_source
from tarnkappe.io.folders import CODEBOOK, JOB, MANIFEST, MANIFEST_KEY, PRIVATE, PUBLIC, told_dialect
from tarnkappe.io.source import unpacked_name
from tarnkappe.job.given import data_and_folder
from tarnkappe.job.items import KEY, Items, ItemsJob
from tarnkappe.job.model import DataSettings, OutputSettings
from tarnkappe.phases import Phases, Progress
from tarnkappe.taxonomy import TaxonomyBuilder, from_file
from tarnkappe.taxonomy.builders import File
from tarnkappe.verification import unreadable

_SEED_BITS = 63


@dataclass(frozen=True, eq=False)
class ItemsRelease:
    """A release of sets of items; it exists only if it was checked.

    `tables` are the tables by name if it is in memory: the first has no name. `private` is what only the publisher
    may know, such as the loss.
    """

    verdicts: tuple[Verdict, ...]
    public: dict[str, Any]
    private: dict[str, Any]
    notices: tuple[Notice, ...] = ()
    tables: Mapping[str, Any] = field(default_factory=dict)
    folder: Path | None = None

    @property
    def table(self) -> Any:
        """The first table, if the release is in memory."""
        return self.tables.get(MAIN)

    @property
    def loss(self) -> float:
        """The mean share of detail that an item lost: 0 is nothing, 1 is all. For the publisher only."""
        return float(self.private["loss"])

    def __repr__(self) -> str:
        asked = " · ".join(v.asked for v in self.verdicts)
        return f"<ItemsRelease: {', '.join(t['about'] for t in self.public['tables'])} {asked}>"


def anonymize_items(
    data: Any,
    column: str,
    *,
    k: int,
    m: int = 2,
    separator: str = ";",
    key: str | None = None,
    taxonomy: TaxonomyBuilder | str | Path | None = None,
    remove: bool = False,
    algorithm: str = "apriori",
    cluster: int | None = None,
    because: str | None = None,
    folder: str | Path | None = None,
    overwrite: bool = False,
    seed: int | None = None,
) -> ItemsRelease:
    """Publish sets of items with k^m-anonymity: any at most `m` items of a person fit at least `k` persons.

    `data` is a file or a frame. Its `column` holds a set per row, with `separator` between the items. With a `key`, it
    holds one item per row, and the key says whose item it is. All other columns are left out.

    Items are coarsened along a `taxonomy`, a declaration such as `tree` or a file. Without one, or with `remove`,
    rare items are removed. With ``algorithm="disassociation"`` all items stay as they are, and what tells who has
    which together is cut. With a `folder` the release is written there, read back and checked.

    >>> import tarnkappe as tk
    >>> baskets = pl.DataFrame({"basket": ["milk;beer", "milk;wine", "bread;beer", "milk", "bread;wine", "bread"]})
    >>> drinks = tk.tree({"alcohol": ["beer", "wine"], "food": ["bread", "milk"]})
    >>> release = tk.anonymize_items(baskets, "basket", k=2, m=2, taxonomy=drinks, seed=1)
    >>> release.table["basket"].sort().to_list()
    ['alcohol;bread', 'alcohol;bread', 'alcohol;milk', 'alcohol;milk', 'bread', 'milk']
    >>> release.verdicts[0].reached
    2.0

    References
    ----------
    .. [TeMK08] Terrovitis, Mamoulis, Kalnis. "Privacy-preserving anonymization of set-valued data." VLDB 2008.
    .. [TLMS12] Terrovitis, Liagouris, Mamoulis, Skiadopoulos. "Privacy preservation by disassociation." VLDB 2012.
    """
    builder = from_file(taxonomy) if isinstance(taxonomy, (str, Path)) else taxonomy
    items = Items(column, k, m, separator, key, builder, remove, algorithm, cluster, because)
    path = str(data) if isinstance(data, (str, Path)) else None
    job = ItemsJob(items, DataSettings(path), OutputSettings(None if folder is None else str(folder)), seed)
    if folder is not None:
        return run_items(job, data, overwrite=overwrite)
    return anonymize_in_memory(job, data)


def anonymize_in_memory(job: ItemsJob, data: Any, *, progress: Progress | None = None) -> ItemsRelease:
    """Publish sets of items as frames of the kind that was given; they are checked like files."""
    clock = Phases(progress)
    draft = _decide(job, data, clock)
    clock.begin("verify")
    made = draft.made.tables(draft.rng)
    found = _require(draft.check(made), "the release")
    tables = {name: like(data, table) for name, table in made.items()}
    return ItemsRelease(found.verdicts, draft.public(made, found), draft.private(), job.notices(), tables)


def run_items(
    job: ItemsJob,
    data: Any = None,
    folder: str | Path | None = None,
    *,
    seed: int | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
    inputs: Iterable[str | Path] = (),
) -> ItemsRelease:
    """Publish sets of items into a folder: nothing appears there unless what was written was read back and checked."""
    data, target = data_and_folder(data, folder, job.data, job.output)
    job = replace(job, output=replace(job.output, folder=str(target)), seed=job.seed if seed is None else seed)
    read = [data] if isinstance(data, (str, Path)) else []
    read += [job.items.builder.path] if isinstance(job.items.builder, File) else []
    with Staging(target, overwrite=overwrite, inputs=[*read, *inputs]) as stage:
        clock = Phases(progress)
        draft = _decide(job, data, clock)
        return _publish(stage, draft, data, Path(target), clock)


@dataclass(frozen=True, eq=False)
class _Draft:
    """Sets that were made safe, and where they came from."""

    job: ItemsJob
    source: Source
    made: Protected
    seed: int
    rng: np.random.Generator

    def check(self, tables: Mapping[str, pl.DataFrame]) -> Found:
        """Count anew in tables that were written, and compare them with the input."""
        found = check_tables(tables, self.job.items)
        return Found(found.verdicts, (*found.problems, *self.made.untrue(tables)))

    def public(self, tables: Mapping[str, pl.DataFrame], found: Found) -> dict[str, Any]:
        """What everybody may know."""
        items = self.job.items
        asked = {name: getattr(items, name) for name in ("column", "k", "m", "separator", "key", "algorithm")}
        about = self.made.abouts
        return {
            MANIFEST_KEY: __version__,
            "title": self.job.title or "Anonymised sets of items",
            "purpose": self.job.purpose,
            KEY: asked,
            "verdicts": [asdict(v) for v in found.verdicts],
            "caution": self.made.caution,
            "tables": [
                {"name": name, "columns": t.columns, "rows": t.height, "about": about[name]}
                for name, t in tables.items()
            ],
        }

    def private(self) -> dict[str, Any]:
        """What only the publisher may know."""
        source = self.source
        read = {"name": source.name, "sha256": source.sha256, "description": source.description}
        return {"seed": self.seed, "input": read, **self.made.facts()}


def _decide(job: ItemsJob, data: Any, clock: Phases) -> _Draft:
    """Read the sets and make them safe."""
    clock.begin("read")
    source = open_source(data, job.data.dialect, job.data.missing)
    sets = read_sets(source, job.items)
    clock.begin("decide")
    form = Dissected if job.items.algorithm == "disassociation" else Recoded
    seed = secrets.randbits(_SEED_BITS) if job.seed is None else job.seed
    rng = np.random.Generator(np.random.Philox(seed))
    return _Draft(job, source, form.of(sets, job.items, source, rng), seed, rng)


def _require(found: Found, where: str) -> Found:
    """An exception unless tables are what was promised."""
    if found.ok:
        return found
    broken = [f"{v.asked}: {v.violating_groups} sets of items break it" for v in found.verdicts if not v.ok]
    raise VerificationError(
        "E501",
        "verification failed: the release was NOT written",
        where=where,
        details=[*broken, *found.problems],
        hint="This is a bug in Tarnkappe or a damaged disk. Please report it; no file was left behind.",
    )


def _publish(stage: Staging, draft: _Draft, data: Any, target: Path, clock: Phases) -> ItemsRelease:
    """Write a release and all that goes with it, and check what was written."""
    clock.begin("write")
    job = draft.job
    name, format_ = _file_name(job, data)
    dialect = replace(
        getattr(draft.source, "dialect", None) or CsvDialect(), spreadsheet_safe=job.output.spreadsheet_safe
    )
    files = {}
    for sheet, table in draft.made.tables(draft.rng).items():
        files[sheet] = sheet_file(name, sheet)
        with TableWriter(stage.path(f"{PUBLIC}/{files[sheet]}"), format_, dialect) as writer:
            writer.write(table)
    dialect = dialect.released()
    clock.begin("verify")
    shown = f"{str(target).rstrip('/')}/{PUBLIC}/{name}"
    with ExitStack() as opened:
        try:
            written = {
                sheet: opened.enter_context(open_source(stage.folder / PUBLIC / file, dialect))
                for sheet, file in files.items()
            }
            tables = {sheet: source.read(source.columns) for sheet, source in written.items()}
        except DataError as error:
            raise unreadable(shown, error) from error
        found = _require(draft.check(tables), shown)
        digests = {sheet: source.sha256 for sheet, source in written.items()}
    clock.begin("report")
    public = {**draft.public(tables, found), "made": datetime.now(UTC).isoformat(timespec="seconds")}
    public |= {"file": name, "sha256": digests[MAIN]}
    public |= {"csv": told_dialect(dialect, ("",))} if format_ == "csv" else {}
    for told in public["tables"]:
        told |= {"file": files[told["name"]], "sha256": digests[told["name"]]}
    book = draft.made.codebook()
    if book is not None:
        public["codebook"] = CODEBOOK if name != CODEBOOK else f"labels-{CODEBOOK}"
        safe = CsvDialect(spreadsheet_safe=job.output.spreadsheet_safe)
        with TableWriter(stage.path(f"{PUBLIC}/{public['codebook']}"), "csv", safe) as writer:
            writer.write(book)
    write_json(stage.path(f"{PUBLIC}/{MANIFEST}"), public)
    kept = replace(job, data=replace(job.data, path=str(data) if isinstance(data, (str, Path)) else None))
    text = kept.to_yaml(target / PRIVATE)
    stage.path(f"{PRIVATE}/{JOB}", private=True).write_text(text, encoding="utf-8")
    clock.begin(None)
    private = {**draft.private(), "seconds": clock.seconds}
    write_json(stage.path(f"{PRIVATE}/{MANIFEST}", private=True), private)
    return ItemsRelease(found.verdicts, public, private, job.notices(), {}, target)


def _file_name(job: ItemsJob, data: Any) -> tuple[str, Format]:
    """Name and format of the released table: those of the input unless the job says otherwise."""
    given = Path(data) if isinstance(data, (str, Path)) else Path("release.parquet")
    parquet = given.suffix.lower() in (".parquet", ".pq")
    format_: Format = job.output.format or ("parquet" if parquet else "csv")  # type: ignore[assignment]
    return f"{unpacked_name(given).stem}.{format_}", format_

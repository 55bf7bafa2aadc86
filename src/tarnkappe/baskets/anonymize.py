"""Publish sets of items, so that whoever knows a few items of a person finds at least k persons who have them."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from tarnkappe.baskets.dissected import Dissected
from tarnkappe.baskets.form import CARD, Protected
from tarnkappe.baskets.published import TITLE, UNIT, check_tables
from tarnkappe.baskets.reading import read_sets
from tarnkappe.baskets.recoded import Recoded
from tarnkappe.baskets.recount import NAME
from tarnkappe.bundle import Bundle, Found, Story
from tarnkappe.bundling import BundleDraft, Place, public_facts, publish_in_memory, publish_to
from tarnkappe.codebook import Entry
from tarnkappe.columns import ColumnSummary
from tarnkappe.companions import file_name, sheet_file
from tarnkappe.io import CsvDialect, Source, Staging, like, open_source
from tarnkappe.job.given import data_and_folder
from tarnkappe.job.items import KEY, Items, ItemsJob
from tarnkappe.job.places import DataSettings, OutputSettings
from tarnkappe.params import SEED_BITS
from tarnkappe.phases import Phases, Progress
from tarnkappe.taxonomy import TaxonomyBuilder, from_file
from tarnkappe.taxonomy.builders import File
from tarnkappe.wording import count, percent, plural


@dataclass(frozen=True, eq=False, repr=False)
class ItemsRelease(Bundle):
    """A release of sets of items; it exists only if it was checked. The first of its `tables` has no name."""

    @property
    def loss(self) -> float:
        """The mean share of detail that an item lost: 0 is nothing, 1 is all. For the publisher only."""
        return float(self.private_manifest["loss"])


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
    return publish_in_memory(_decide(job, data, clock), clock, lambda _, table: like(data, table))


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
        return publish_to(stage, _decide(job, data, clock), Path(target), clock)


@dataclass(frozen=True, eq=False)
class _Draft(BundleDraft[ItemsRelease]):
    """Sets that were made safe, and where they came from."""

    job: ItemsJob
    data: Any
    source: Source
    made: Protected
    seed: int
    rng: np.random.Generator

    unit = UNIT

    def tables(self) -> dict[str, pl.DataFrame]:
        """The sets as they are published."""
        return self.made.tables(self.rng)

    def check(self, tables: Mapping[str, pl.DataFrame]) -> Found:
        """Count anew in tables that were written, and compare them with the input."""
        found = check_tables(tables, self.job.items)
        return Found(found.verdicts, (*found.problems, *self.made.untrue(tables)))

    def codebook(self) -> tuple[Entry, ...]:
        """What the labels mean."""
        return self.made.codebook()

    def bundle(self, tables: Mapping[str, pl.DataFrame], found: Found, codebook: tuple[Entry, ...]) -> ItemsRelease:
        """What is known about sets that were checked."""
        items, job, source = self.job.items, self.job, self.source
        asked = {name: getattr(items, name) for name in ("column", "k", "m", "separator", "key", "algorithm")}
        title = job.title or "Anonymised sets of items"
        read = {"name": source.name, "sha256": source.sha256, "description": source.description}
        facts = self.made.facts()
        return ItemsRelease(
            found.verdicts,
            public_facts(title, job.purpose, {KEY: asked}, found, self.made.caution, tables, self.made.abouts),
            {"seed": self.seed, "input": read, **facts},
            self._story(tables, facts),
            (ColumnSummary(items.column, "items", self.made.done, items.because, facts["loss"]),),
            job.notices(),
            codebook,
        )

    def _story(self, tables: Mapping[str, pl.DataFrame], facts: Mapping[str, Any]) -> Story:
        items = self.job.items
        known = f"any {items.m} items" if items.m > 1 else "an item"
        return Story(
            promise=f"whoever knows {known} of a person finds at least {items.k} persons who may have them.",
            attacker=f"somebody who knows at most {plural(items.m, 'item')} of a person in {items.column}, "
            "and nothing else about this person.",
            cards={NAME: (TITLE, CARD)},
            joined=self.made.joined,
            assumptions=(
                ("One set is one person.", "Where a person has several sets, fewer persons share what is known."),
                ("Nobody knows more items.", f"The promise ends with {plural(items.m, 'known item')}."),
                ("Columns beside the items are left out.", "Only the items, and numbers drawn by lot, are published."),
            ),
            figures=(("Persons", self.made.persons(tables), "in the published tables"),),
            secret_figures=(
                ("Detail kept", percent(1 - facts["loss"]), "of an average item"),
                ("Different items", count(facts["items_before"]), "in the data"),
            ),
        )

    def place(self, table: str) -> Place:
        """A file for each table, called and written like the input."""
        name, format_ = file_name(self.job.output, self.data)
        dialect = getattr(self.source, "dialect", None) or CsvDialect()
        return Place(sheet_file(name, table), format_, replace(dialect, spreadsheet_safe=self.spreadsheet_safe))

    def job_text(self, folder: Path) -> str:
        """The job as it was carried out."""
        path = str(self.data) if isinstance(self.data, (str, Path)) else None
        return replace(self.job, data=replace(self.job.data, path=path)).to_yaml(folder)

    @property
    def spreadsheet_safe(self) -> bool:
        """As the job asks for."""
        return self.job.output.spreadsheet_safe


def _decide(job: ItemsJob, data: Any, clock: Phases) -> _Draft:
    """Read the sets and make them safe."""
    clock.begin("read")
    source = open_source(data, job.data.dialect, job.data.missing)
    sets = read_sets(source, job.items)
    clock.begin("decide")
    form = Dissected if job.items.algorithm == "disassociation" else Recoded
    seed = secrets.randbits(SEED_BITS) if job.seed is None else job.seed
    rng = np.random.Generator(np.random.Philox(seed))
    return _Draft(job, data, source, form.of(sets, job.items, source, rng), seed, rng)

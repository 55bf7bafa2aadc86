"""Publish made-up people instead of real ones."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from tarnkappe.arrays import Codes
from tarnkappe.bundle import Bundle, Checking, Found, Story
from tarnkappe.bundling import BundleDraft, Place, public_facts, publish_in_memory, publish_to
from tarnkappe.codebook import Entry
from tarnkappe.columns import ColumnSummary
from tarnkappe.companions import file_name
from tarnkappe.errors import JobError, Notice
from tarnkappe.io import CsvDialect, Source, Staging, like
from tarnkappe.job.given import by_name, data_and_folder
from tarnkappe.job.places import DataSettings, OutputSettings
from tarnkappe.job.synthetic import KEY, METHODS, BudgetSection, Synthetic, SyntheticJob, column_from
from tarnkappe.params import SEED_BITS
from tarnkappe.phases import Phases, Progress
from tarnkappe.publish.sheets import MAIN
from tarnkappe.synthetic.alpha_beta import AlphaBeta
from tarnkappe.synthetic.budget import Budget
from tarnkappe.synthetic.diffgen import DiffGen
from tarnkappe.synthetic.domains import Names
from tarnkappe.synthetic.fitting import (
    columns_to_make,
    domains_of,
    encoded,
    fitted,
    made_from,
    open_people,
    read_people,
)
from tarnkappe.synthetic.guarding import notices_about_several_records, refuse_names_of_people
from tarnkappe.synthetic.model import Copied, Model, copies
from tarnkappe.synthetic.quality import Exposure, Likeness, Tried, exposure, likeness
from tarnkappe.wording import percent, plural

#: The share of copies among what is drawn at first from which on it is said aloud.
_OFTEN = 0.05
#: What is said to break a promise, in a message.
UNIT = "record"
#: What readers must know about made-up people.
CAUTION = "No row is a person. Figures are near those of the people the rows stand for, and not the same."
REALS = "Some rows are records that people have, most are not. Only counts can be estimated, as the manifest says how."
_MECHANISM = (
    "The published table was read back: it holds declared values only, in the rows that were drawn. What every step of "
    "the drawing costs was added up. That cannot be seen in a table."
)
_COUNTED = (
    "The published table was read back: it holds possible values only, in the rows that were drawn. The people "
    "behind every value were counted again, and copies were looked for."
)
_CHECKABLE = "Everybody can check that this is the published table. How its rows were drawn cannot be seen from it:"
ABOUT = "A row for each made-up person."


@dataclass(frozen=True, eq=False, repr=False)
class SyntheticRelease(Bundle):
    """A release of made-up people; it exists only if it was checked. Likeness and exposure are for the publisher."""

    likeness: Likeness | None = None
    exposure: Exposure | None = None

    def for_readers(self) -> SyntheticRelease:
        """Without what compares it with the people."""
        return replace(super().for_readers(), likeness=None, exposure=None)


def synthesize(
    data: Any,
    method: str = "trees",
    *,
    columns: Mapping[str, Any] | None = None,
    rest: str | None = None,
    records: int | None = None,
    budget: Mapping[str, Any] | None = None,
    folder: str | Path | None = None,
    overwrite: bool = False,
    seed: int | None = None,
    title: str = "",
    purpose: str = "",
    **settings: Any,
) -> SyntheticRelease:
    """Publish made-up people who are like those in the data, which is a file or a frame.

    `method` is ``trees``, ``copula``, ``marginals``, ``diffgen`` or ``alpha-beta``; the `settings` are those of the
    section ``synthetic`` of a job file, such as ``k=10`` or ``epsilon=1.0``. `columns` says what values there are: a
    list of them, a taxonomy, ``{"low": 0, "high": 99, "width": 5}`` for numbers, ``"numeric"`` or ``"categorical"``
    where the data may say it, or ``"drop"``. `rest` does it for all others: ``"drop"`` or ``"keep"``; without
    `columns` it is ``"keep"``. The `budget` is kept over releases: ``{"file": …, "dataset": …, "epsilon": …}``. With
    a `folder` the release is written there, read back and checked.

    >>> import tarnkappe as tk
    >>> people = pl.DataFrame({"sex": ["f", "m"] * 200, "smokes": ["no", "no", "no", "yes"] * 100})
    >>> values = {"sex": ["f", "m"], "smokes": ["no", "yes"]}
    >>> release = tk.synthesize(people, "marginals", columns=values, epsilon=1.0, records=400, seed=1)
    >>> release.verdicts[0].asked, release.table.columns
    ('ε ≤ 1', ['sex', 'smokes'])
    """
    made = {
        name: column_from(given, name) for name, given in by_name(columns or {}, "columns", '"age": "numeric"').items()
    }
    path = str(data) if isinstance(data, (str, Path)) else None
    known = {f.name for f in Synthetic.__dataclass_fields__.values()}
    strange = next((name for name in settings if name not in known), None)
    if strange is not None:
        raise JobError(
            "E102", f"'{strange}' is no setting of made-up people", hint="Settings: " + ", ".join(sorted(known))
        )
    job = SyntheticJob(
        Synthetic(method, records, **settings),
        made,
        "keep" if columns is None and rest is None and method in ("trees", "copula") else rest,
        None if budget is None else BudgetSection(**budget),
        DataSettings(path),
        OutputSettings(None if folder is None else str(folder)),
        seed,
        title,
        purpose,
    )
    if folder is not None:
        return run_synthetic(job, data, overwrite=overwrite)
    return synthesize_in_memory(job, data)


def synthesize_in_memory(
    job: SyntheticJob, data: Any, *, progress: Progress | None = None, dry: bool = False
) -> SyntheticRelease:
    """Publish made-up people as a frame of the kind that was given; it is checked like a file.

    What is spent of a budget is written down, unless it is a `dry` run whose result nobody gets.
    """
    clock = Phases(progress)
    draft = _decide(job, data, clock)
    release = publish_in_memory(draft, clock, lambda _, table: like(data, table))
    if not dry:
        draft.spend()
    return release


def run_synthetic(
    job: SyntheticJob,
    data: Any = None,
    folder: str | Path | None = None,
    *,
    seed: int | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
    inputs: Iterable[str | Path] = (),
) -> SyntheticRelease:
    """Publish made-up people into a folder: nothing appears there unless what was written was read back and checked."""
    data, target = data_and_folder(data, folder, job.data, job.output)
    job = replace(job, output=replace(job.output, folder=str(target)), seed=job.seed if seed is None else seed)
    read = [data] if isinstance(data, (str, Path)) else []
    read += [c.taxonomy.path for c in job.columns.values() if c is not None and hasattr(c.taxonomy, "path")]
    read += [] if job.budget is None else [job.budget.file]
    with Staging(target, overwrite=overwrite, inputs=[*read, *inputs]) as stage:
        clock = Phases(progress)
        draft = _decide(job, data, clock)
        release = publish_to(stage, draft, Path(target), clock)
        draft.spend()  # before the folder gets its name: what may have been seen must be written down
        return release


@dataclass(frozen=True, eq=False)
class _Draft(BundleDraft[SyntheticRelease]):
    """Made-up people, the model they were drawn from, and the people it was learnt from."""

    job: SyntheticJob
    data: Any
    source: Source
    people: Codes
    model: Model
    made: Codes
    table: pl.DataFrame
    seed: int
    #: Which share of made-up people was drawn again because they were copies of too few real ones.
    again: float
    #: How many people have no declared value in each column, where values have to be declared.
    undeclared: Mapping[str, int]
    likeness: Likeness | None
    exposure: Exposure | None

    unit = UNIT

    def tables(self) -> dict[str, pl.DataFrame]:
        """The only table."""
        return {MAIN: self.table}

    def check(self, tables: Mapping[str, pl.DataFrame]) -> Found:
        """Every cell must be a value that there may be, and every row the one that was drawn; then the promise."""
        table, model = tables[MAIN], self.model
        if table.columns != self.table.columns or table.height != len(self.made):
            return Found((), ("the table has other columns or another number of rows than were drawn",))
        read = read_written(table, model)
        problems = [
            f"{n} cells of '{name}' hold no value of its domain" for name, n in model.strangers(read).items() if n
        ]
        written = model.encode(read)
        other = int((written != self.made).any(axis=1).sum())
        if other:
            problems.append(f"{other} rows are not those that were drawn")
        found = model.check(self.people, written)
        return Found(found.verdicts, (*problems, *found.problems))

    def codebook(self) -> tuple[Entry, ...]:
        """What labels mean, where labels are published."""
        return self.model.codebook()

    def bundle(self, tables: Mapping[str, pl.DataFrame], found: Found, codebook: tuple[Entry, ...]) -> SyntheticRelease:
        """What is known about made-up people who were checked."""
        job, model, asked = self.job, self.model, self.job.synthetic
        told: dict[str, Any] = {"method": asked.method, **{name: asked.setting(name) for name in METHODS[asked.method]}}
        if asked.is_mechanism:  # what there may be is told only if it was declared: else it would tell about people
            told["columns"] = {d.name: d.told() for d in model.domains}
        if isinstance(model, AlphaBeta):
            told |= model.rates()
        if model.spent():
            told["spent"] = {
                s.step: {"rho": round(s.rho, 12)}
                if s.epsilon is None or asked.delta
                else {"epsilon": round(s.epsilon, 9)}
                for s in model.spent()
            }
        read = {"name": self.source.name, "sha256": self.source.sha256, "description": self.source.description}
        private = {"seed": self.seed, "input": read, "people": len(self.people), **model.facts()}
        private |= {} if self.likeness is None else {"likeness": self.likeness.as_dict()}
        private |= {} if self.exposure is None else {"exposure": self.exposure.as_dict()}
        title = job.title or "Made-up people"
        caution = REALS if isinstance(model, AlphaBeta) else CAUTION
        facts = public_facts(title, job.purpose, {KEY: told}, found, caution, tables, {MAIN: ABOUT})
        return SyntheticRelease(
            found.verdicts, facts, private, self._story(tables), self._columns(), self._notices(), codebook,
            likeness=self.likeness, exposure=self.exposure,
        )  # fmt: skip

    def _notices(self) -> tuple[Notice, ...]:
        about = f"{percent(self.again)} of what was drawn at first were copies of too few people, and drawn again"
        hint = (
            "Take coarser columns, a smaller  k,  or fewer columns: what is drawn is farther from the people by that."
        )
        told = [Notice("W659", about, hint=hint, internal=True)] if self.again > _OFTEN else []
        for name, n in self.undeclared.items():
            what = f"'{name}' is missing in {n} of {plural(len(self.people), 'record')}, or is no declared value there"
            told.append(Notice("W630", what, internal=True))
        if not self.job.synthetic.is_mechanism:
            told += notices_about_several_records(self.source, columns_to_make(self.job, self.source))
        return (*self.job.notices(), *told)

    def _columns(self) -> tuple[ColumnSummary, ...]:
        made = {d.name for d in self.model.domains}
        done = "drawn anew" if not isinstance(self.model, DiffGen) else "drawn anew, as labels that cover values"
        return tuple(
            ColumnSummary(name, "made up" if name in made else "drop", done if name in made else "removed: not needed")
            for name in self.source.columns
        )

    def _story(self, tables: Mapping[str, pl.DataFrame]) -> Story:
        model, alike, shown = self.model, self.likeness, []
        if alike is not None:
            shown += [
                ("Columns off", percent(alike.mean_column), "mean distance of shares"),
                ("Pairs off", percent(alike.mean_pair), "mean distance of shares of pairs"),
                ("pMSE", f"{alike.propensity.pmse:.4f}", "0: cannot be told from people · 0.25: can"),
            ]
        if self.exposure is not None:
            shown += [
                ("Nearer to those learnt from", percent(self.exposure.nearer), "50 %: copies of nobody"),
                ("Members found", percent(self.exposure.found), "1 % would be found by guessing"),
                ("Membership AUC", f"{self.exposure.auc:.3f}", "0.5: as good as guessing"),
            ]
        one = ("One record is one person.", "Whoever has several is protected less.")
        lies = ("The promise lies in how rows are drawn.", "It cannot be seen in the table; the drawing was checked.")
        none = ("Nobody looks for rare people.", "Whether somebody rare is in the data is not hidden.")
        return Story(
            promise=model.sentence(),
            attacker=model.attacker,
            cards=model.cards(),
            assumptions=(one, lies if self.job.synthetic.is_mechanism else none),
            checked=Checking(_MECHANISM if self.job.synthetic.is_mechanism else _COUNTED, _CHECKABLE),
            figures=(("Made-up people", tables[MAIN].height, "in the published table"),),
            secret_figures=tuple(shown),
        )

    def place(self, table: str) -> Place:
        """A file called and written like the input."""
        name, format_ = file_name(self.job.output, self.data)
        dialect = getattr(self.source, "dialect", None) or CsvDialect()
        return Place(name, format_, replace(dialect, spreadsheet_safe=self.spreadsheet_safe))

    def job_text(self, folder: Path) -> str:
        """The job as it was carried out."""
        path = str(self.data) if isinstance(self.data, (str, Path)) else None
        return replace(self.job, data=replace(self.job.data, path=path)).to_yaml(folder)

    @property
    def spreadsheet_safe(self) -> bool:
        """As the job asks for."""
        return self.job.output.spreadsheet_safe

    def spend(self) -> None:
        """Write down what was spent, if a budget is kept."""
        if self.job.budget is not None:
            asked = self.job.synthetic
            assert asked.epsilon is not None
            Budget.of(self.job.budget).spend(asked.epsilon, asked.setting("delta"), self.job.title or "Made-up people")


def read_written(table: pl.DataFrame, model: Model) -> pl.DataFrame:
    """A written table with the numbers of its text columns as numbers; what is no number is missing."""
    return table.with_columns(
        pl.col(d.name).cast(pl.String).str.replace(",", ".", literal=True).cast(pl.Float64, strict=False)
        for d in model.domains
        if not isinstance(d, Names) and table.schema[d.name] == pl.String
    )


def _decide(job: SyntheticJob, data: Any, clock: Phases) -> _Draft:
    """Read people, learn from them, and draw others."""
    asked = job.synthetic
    if job.budget is not None and asked.epsilon is not None:
        Budget.of(job.budget).require(asked.epsilon, asked.setting("delta"))
    clock.begin("read")
    source = open_people(job, data)
    columns = columns_to_make(job, source)
    if not asked.is_mechanism:  # which may not look, and publishes only what was written down
        refuse_names_of_people(source, columns)
    frame = read_people(source, columns, lenient=asked.is_mechanism)
    domains = domains_of(frame, columns, asked)
    people = encoded(frame, domains)
    undeclared = {d.name: int((people[:, j] == d.missing).sum()) for j, d in enumerate(domains)}
    undeclared = {name: n for name, n in undeclared.items() if n and asked.is_mechanism}
    clock.begin("decide")
    seed = secrets.randbits(SEED_BITS) if job.seed is None else job.seed
    # Noise for other people must be other noise, or whoever sees two releases with one seed could take it off.
    about = [int(source.sha256[:32], 16)] if asked.is_mechanism else []
    learn, draw, write, tried = (
        np.random.Generator(np.random.Philox(s)) for s in np.random.SeedSequence([seed, *about]).spawn(4)
    )
    model = fitted(people, domains, asked, learn)
    made = made_from(model, people, asked.records, draw)
    again = float(copies(people, model.draw(1000, tried), model.k).mean()) if isinstance(model, Copied) else 0.0
    table = model.decode(made, write)
    # What compares with people is for the publisher, and comes from chance of its own: the table is the same without.
    alike = likeness(model.view(people), made, model.domains) if len(made) else None

    def half(some: Codes, rng: np.random.Generator) -> Tried:
        again = fitted(some, domains, asked, rng)
        return Tried(made_from(again, some, None, rng), again.domains, again.view)

    shown = exposure(people, half, tried) if asked.audit else None
    return _Draft(job, data, source, people, model, made, table, seed, again, undeclared, alike, shown)

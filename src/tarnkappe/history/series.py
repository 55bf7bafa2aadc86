"""Releases of people who come and go, so that everybody stays among the same secrets in all of them (m-invariance)."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from tarnkappe.arrays import Codes, Counts
from tarnkappe.bundle import Bundle, Found, Story
from tarnkappe.bundling import BundleDraft, Place, public_facts, publish_in_memory, publish_to
from tarnkappe.codebook import Entry
from tarnkappe.columns import ColumnSummary
from tarnkappe.companions import file_name, sheet_file
from tarnkappe.errors import DataError, InfeasibleError
from tarnkappe.fixes import setting
from tarnkappe.groups import Grouping
from tarnkappe.guards import admitted
from tarnkappe.history.invariance import NEW, Republished, Signature, republish
from tarnkappe.history.keeping import withdrew
from tarnkappe.history.ledger import Ledger
from tarnkappe.history.places import ABSENT, CELL, PERSON, PLACE, RECORDS, Residents, secret_name
from tarnkappe.history.unique import (
    CARD,
    COUNT,
    FALSE,
    GROUP,
    NAME,
    SIGNATURE,
    TITLE,
    check_tables,
    signature_text,
    signature_texts,
    signatures_in,
)
from tarnkappe.io import CsvDialect, Source, Staging, like, open_source
from tarnkappe.job import Job
from tarnkappe.job.given import data_and_folder
from tarnkappe.job.model import replace_job
from tarnkappe.job.series import KEY, Series, SeriesJob, series_of
from tarnkappe.kernels.hilbert import hilbert_keys
from tarnkappe.phases import Phases, Progress
from tarnkappe.publish.boxes import TIGHT
from tarnkappe.publish.labels import Labels
from tarnkappe.publish.reading import covers
from tarnkappe.publish.sheets import MAIN
from tarnkappe.schema import Schema
from tarnkappe.tally import Tally
from tarnkappe.wording import count, percent, plural

_SEED_BITS = 63

#: Bits of all columns together on the curve.
_CURVE_BITS = 62


@dataclass(frozen=True, eq=False, repr=False)
class SeriesRelease(Bundle):
    """One release of a series; it exists only if it was checked. Its `tables` are the rows and the counterfeits."""


def run_series(
    job: SeriesJob,
    data: Any = None,
    folder: str | Path | None = None,
    *,
    seed: int | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
    inputs: Iterable[str | Path] = (),
) -> SeriesRelease:
    """Publish the next release of a series into a folder, and note in its ledger who is among which secrets."""
    data, target = data_and_folder(data, folder, job.job.data, job.job.output)
    clock = Phases(progress)
    read = [data] if isinstance(data, (str, Path)) else []
    with Ledger.opened(job.series.ledger) as ledger:
        with Staging(target, overwrite=overwrite, inputs=[*read, job.series.ledger, *inputs]) as stage:
            draft = _decide(job, data, ledger, seed, clock)
            release = publish_to(stage, draft, Path(target), clock)
        ledger.appended(
            "release",
            groups=draft.state(),
            folder=str(Path(target).absolute()),
            source=ledger.hash("input", draft.source.sha256),
            table=str(release.public_manifest["sha256"]),
            people=draft.now.height,
            asked=job.series.asked,
            least=job.series.m,
        )
    return release


def anonymize_series(
    job: SeriesJob, data: Any, *, seed: int | None = None, progress: Progress | None = None
) -> SeriesRelease:
    """The next release of a series in memory: it is compared with those before, but not noted."""
    clock = Phases(progress)
    with Ledger.opened(job.series.ledger) as ledger:
        return publish_in_memory(_decide(job, data, ledger, seed, clock), clock, lambda _, table: like(data, table))


def republish_people(
    data: Any,
    *,
    m: int,
    subject: str,
    ledger: str | Path,
    folder: str | Path,
    max_counterfeits: float = 0.1,
    overwrite: bool = False,
    seed: int | None = None,
    **columns: Any,
) -> SeriesRelease:
    """Publish the next release of a series with m-invariance; `columns` are those of a `Job`: quasi, sensitive, drop.

    Whoever has all releases, and knows who is in which of them, finds everybody among the same at least `m` secrets.

    >>> import tempfile
    >>> import tarnkappe as tk
    >>> place = Path(tempfile.mkdtemp())
    >>> first = pl.DataFrame({"who": list("abcd"), "age": [21, 22, 41, 44], "ill": ["flu", "gout", "flu", "gout"]})
    >>> how = {"m": 2, "subject": "who", "ledger": place / "ledger", "quasi": {"age": tk.numeric()}}
    >>> one = republish_people(first, **how, identifiers=["who"], sensitive=["ill"], folder=place / "one", seed=1)
    >>> two = republish_people(first[1:], **how, identifiers=["who"], sensitive=["ill"], folder=place / "two", seed=1)
    >>> two.public_manifest["counterfeits"]
    1

    References
    ----------
    .. [XiTa07] Xiao, Tao. "m-invariance: towards privacy preserving re-publication of dynamic datasets." SIGMOD 2007.
    """
    from tarnkappe.criteria.k_anonymity import KAnonymity

    job = Job(**columns, criteria=KAnonymity(1))
    made = series_of(Series(m, subject, str(ledger), max_counterfeits), job)
    return run_series(made, data, folder, seed=seed, overwrite=overwrite)


@dataclass(frozen=True, eq=False)
class _Draft(BundleDraft[SeriesRelease]):
    """One release that was decided: who is in which group, and what it says."""

    job: SeriesJob
    data: Any
    source: Source
    schema: Schema
    tally: Tally
    ledger: Ledger
    #: Who is published: person, cell and group, under the numbers that are published.
    now: pl.DataFrame
    #: What is known of earlier releases: person, secret and signature.
    before: pl.DataFrame | None
    made: Republished
    #: The secrets by their numbers, also those that only somebody in an earlier release has.
    texts: pl.Series
    #: The labels of the groups, and the number that each group has in print.
    labels: tuple[Labels, ...]
    number: Counts
    seed: int

    @property
    def secret(self) -> str:
        """The sensitive column."""
        return self.job.job.goal.columns[0]

    @property
    def names(self) -> tuple[str, str]:
        """How the columns with the number of a group and with counts are called."""
        taken = set(self.schema.published)
        return (GROUP if GROUP not in taken else f"{GROUP} number"), COUNT

    def tables(self) -> dict[str, pl.DataFrame]:
        """A row for every value of every group, in the order of their numbers; and how many of them are false."""
        made = self.made
        order = np.argsort(self.number)
        lengths = np.array([len(s) for s in made.signatures], np.int64)
        flat = np.array([v for s in made.signatures for v in s], np.int64)
        begin = np.append(0, np.cumsum(lengths))
        owner = made.of_group[order]
        group = np.repeat(order, lengths[owner])
        within = np.arange(len(group)) - np.repeat(np.append(0, np.cumsum(lengths[owner]))[:-1], lengths[owner])
        code = flat[begin[made.of_group[group]] + within]
        columns: dict[str, pl.Series] = {self.names[0]: pl.Series(self.number[group] + 1)}
        for j, d in enumerate(self.tally.quasi_domains):
            columns[d.name] = self.labels[j].at(group.astype(np.int64)).cast(pl.String)
        columns[self.secret] = self.texts.gather(code)
        false = made.counterfeits[order]
        counted = pl.DataFrame({self.names[0]: pl.Series(np.arange(1, made.n_groups + 1)), COUNT: pl.Series(false)})
        return {MAIN: pl.DataFrame(columns), FALSE: counted}

    def check(self, tables: Mapping[str, pl.DataFrame]) -> Found:
        """Count anew, and hold what was written to the people and to their earlier releases."""
        found = check_tables(tables, self.job.series.m, self.names[0], self.secret, self._quasi)
        if found.problems:
            return found
        return Found(found.verdicts, tuple(self._untrue(tables)))

    @property
    def _quasi(self) -> list[str]:
        return [d.name for d in self.tally.quasi_domains]

    def _untrue(self, tables: Mapping[str, pl.DataFrame]) -> Iterable[str]:
        group, table = self.names[0], tables[MAIN]
        written = signatures_in(table, group, self.secret)
        people = self._placed().join(written, left_on=PLACE, right_on=group, how="left")
        stands = table.select(pl.col(group).cast(pl.Int64), pl.col(self.secret).cast(pl.String))
        own = people.select(pl.col(PLACE), self.texts.gather(self._values()).alias(self.secret))
        own = own.with_columns(pl.col(PLACE).alias(group)).drop(PLACE)
        lost = own.join(stands, on=[group, self.secret], how="anti", nulls_equal=True).height
        if lost:
            yield f"{plural(lost, 'person has a', 'people have a')} secret that does not stand in their group"
        if self.before is not None:
            earlier = self.before.select(PERSON, pl.col(SIGNATURE).cast(pl.String).alias("earlier"))
            moved = people.join(earlier, on=PERSON).filter(pl.col(SIGNATURE) != pl.col("earlier")).height
            if moved:
                yield f"{plural(moved, 'person is', 'people are')} among other secrets than in earlier releases"
        real = people.group_by(PLACE).len()
        false = tables[FALSE].select(pl.col(group).cast(pl.Int64), pl.col(COUNT).cast(pl.Int64))
        rows = table.group_by(pl.col(group).cast(pl.Int64)).agg(pl.len().alias("rows"))
        rows = rows.join(real, left_on=group, right_on=PLACE, how="left").join(false, on=group, how="left").fill_null(0)
        wrong = rows.filter(pl.col("rows") != pl.col("len") + pl.col(COUNT)).height
        if wrong:
            yield f"{plural(wrong, 'group has')} another number of counterfeits than is said"
        first = table.unique(group, keep="any").with_columns(pl.col(group).cast(pl.Int64)).sort(group)
        at = first[group].search_sorted(people[PLACE]).to_numpy()
        cells = people[CELL].to_numpy()
        missing = self.job.job.data.missing or ("",)
        for j, domain in enumerate(self.tally.quasi_domains):
            column = first[domain.name].cast(pl.String)
            texts = column.drop_nulls().unique(maintain_order=True)
            codes = dict(zip(texts.to_list(), range(len(texts)), strict=True))
            code = column.replace_strict(codes, default=-1, return_dtype=pl.Int32).to_numpy()
            held = covers(Labels(tuple(texts.to_list()), code), domain, at, self.tally.quasi[cells, j], missing)
            if not held.all():
                yield f"'{domain.name}' is not true of {plural(int((~held).sum()), 'person', 'people')}"

    def _values(self) -> Codes:
        """The secret of everybody who is published."""
        codes: Codes = self.tally.sensitive[self.now[CELL].to_numpy(), 0]
        return codes

    def _placed(self) -> pl.DataFrame:
        """Who is in which group, under its number in print."""
        return self.now.select(PERSON, CELL, pl.Series(PLACE, self.number[self.now["group"].to_numpy()] + 1))

    def state(self) -> pl.DataFrame:
        """What has to be known for the next release: also about those who left, who may come back."""
        texts = [signature_text(self.texts[v] for v in s) for s in self.made.signatures]
        owner = self.made.of_group[self.now["group"].to_numpy()]
        now = self._placed().select(
            PERSON,
            pl.col(PLACE).cast(pl.Int32),
            _hashed(self.ledger, self.secret, self.texts).gather(self._values()).alias(secret_name(self.secret)),
            pl.Series(SIGNATURE, texts, pl.String).gather(owner),
        )
        if self.before is not None:
            gone = self.before.join(now, on=PERSON, how="anti").with_columns(pl.lit(ABSENT, pl.Int32).alias(PLACE))
            now = pl.concat([now, gone.select(now.columns)])
        return now.sort(PERSON)

    def codebook(self) -> tuple[Entry, ...]:
        """What the labels mean."""
        boxes = _grouping(self.tally, self.now, self.made).boxes(self.tally)
        out = [Entry(self.names[0], "", "", "The number of a group, drawn by lot for this release.")]
        for j, domain in enumerate(self.tally.quasi_domains):
            column = self.schema[domain.name]
            says = TIGHT.meanings(j, column, domain, boxes, self.labels[j])
            out += [Entry(domain.name, column.role, label or "", words) for label, words in says]
        meaning = "Every value stands once in a group; see the table of counterfeits for how many of them are nobody's."
        return (*out, Entry(self.secret, "sensitive", "", meaning))

    def bundle(self, tables: Mapping[str, pl.DataFrame], found: Found, codebook: tuple[Entry, ...]) -> SeriesRelease:
        """What is known about a release that was checked."""
        series, source = self.job.series, self.source
        rows, false = tables[MAIN].height, int(self.made.counterfeits.sum())
        asked = {KEY: {"m": series.m, "column": self.secret, "group": self.names[0], "quasi": self._quasi}}
        abouts = {
            MAIN: "One row for every secret of a group: of a person, or a counterfeit.",
            FALSE: "One row for every group: how many of its rows are counterfeits.",
        }
        caution = "Some rows are counterfeits. Their number stands beside the table, which of them is not told."
        told = public_facts(
            self.job.job.title or "Release of a series", self.job.job.purpose, asked, found, caution, tables, abouts
        )
        private = {
            "seed": self.seed,
            "input": {"name": source.name, "sha256": source.sha256, "description": source.description},
            "people": self.now.height,
            "people_before": 0 if self.before is None else self.before.join(self.now, on=PERSON, how="semi").height,
        }
        done = tuple(
            ColumnSummary(d.name, "quasi", "intervals or categories per group", self.schema[d.name].because, None)
            for d in self.tally.quasi_domains
        )
        return SeriesRelease(
            found.verdicts,
            {**told, "counterfeits": false},
            private,
            self._story(rows, false),
            done,
            self.job.notices(),
            codebook,
        )

    def _story(self, rows: int, false: int) -> Story:
        m = self.job.series.m
        return Story(
            promise=f"whoever has all releases of the series finds everybody among the same at least {m} secrets.",
            attacker="somebody who has all releases, knows everybody's quasi-identifiers, and who is in which release.",
            cards={NAME: (TITLE, CARD)},
            assumptions=(
                ("A secret does not change.", "A person whose secret changes is refused, not republished."),
                ("All releases are in one ledger.", "What was published elsewhere about the same people is not known."),
                ("One row is one person.", "Persons with several records are refused."),
            ),
            joined=f"Both tables have '{self.names[0]}'.",
            figures=(("Rows", rows, "published"), ("Counterfeits", false, "among them")),
            secret_figures=(("People", count(self.now.height), "in this release"),),
        )

    def place(self, table: str) -> Place:
        """A file for each table, called and written like the input."""
        name, format_ = file_name(self.job.job.output, self.data)
        dialect = getattr(self.source, "dialect", None) or CsvDialect()
        return Place(sheet_file(name, table), format_, replace(dialect, spreadsheet_safe=self.spreadsheet_safe))

    def job_text(self, folder: Path) -> str:
        """The job as it was carried out."""
        path = str(self.data) if isinstance(self.data, (str, Path)) else None
        job = replace_job(self.job.job, data=replace(self.job.job.data, path=path))
        return replace(self.job, job=job).to_yaml(folder)

    @property
    def spreadsheet_safe(self) -> bool:
        """As the job asks for."""
        return self.job.job.output.spreadsheet_safe


def _decide(job: SeriesJob, data: Any, ledger: Ledger, seed: int | None, clock: Phases) -> _Draft:
    """Read the data, find out who was published before, and form groups."""
    clock.begin("read")
    inner, series = job.job, job.series
    source = open_source(data, inner.data.dialect, inner.data.missing)
    schema = admitted(inner, source)
    residents = Residents.of(source, schema, series.subject, ledger)
    tally, now = residents.tally, residents.frame
    _require_single(now, source)
    clock.begin("decide")
    seed = next(s for s in (seed, inner.seed, secrets.randbits(_SEED_BITS)) if s is not None)
    secret = inner.goal.columns[0]
    before = ledger.groups_of(ledger.releases[-1]) if ledger.releases else None
    if before is not None and (SIGNATURE not in before.columns or secret_name(secret) not in before.columns):
        raise DataError(
            "E448",
            "the earlier release in the ledger does not belong to this series",
            where=series.ledger,
            hint=setting("series: {ledger: private/SERIES.jsonl}", "ledger", "private/SERIES.jsonl"),
        )
    _require_present(ledger, now, source, series)
    domain = tally.sensitive_domains[0]
    texts = pl.Series(
        [None if code == domain.missing else t for code, t in enumerate(domain.taxonomy.leaves)], dtype=pl.String
    )
    value = tally.sensitive[now[CELL].to_numpy(), 0].astype(np.int32)
    owner = np.full(len(value), NEW, np.int32)
    known: list[Signature] = []
    if before is not None:
        owner, known, texts = _earlier(
            now, before, texts, secret_name(secret), _hashed(ledger, secret, texts).gather(value), source
        )
    rank = _ranks(tally)[now[CELL].to_numpy()]
    tie = np.random.Generator(np.random.Philox(seed)).permutation(len(value))
    rank = np.argsort(np.lexsort((tie, rank)))  # equal people in an order drawn by lot
    made = republish(value, owner, rank, known, series.m, len(texts))
    _require_few(made, series)
    chance = np.random.Generator(np.random.Philox(np.random.SeedSequence(seed, spawn_key=(1,))))
    number = chance.permutation(made.n_groups)
    now = now.with_columns(pl.Series("group", made.group)).drop(RECORDS)
    boxes = _grouping(tally, now, made).boxes(tally)
    labels = TIGHT.labels(boxes, tally.quasi_domains, inner.data.missing or ("",))
    return _Draft(job, data, source, schema, tally, ledger, now, before, made, texts, labels, number, seed)


def _grouping(tally: Tally, now: pl.DataFrame, made: Republished) -> Grouping:
    pieces = now.group_by(CELL, "group").len().sort(CELL, "group")
    cell, group, quota = (pieces[name].to_numpy() for name in (CELL, "group", "len"))
    return Grouping(cell.astype(np.int32), group.astype(np.int32), quota.astype(np.int64), made.n_groups)


def _ranks(tally: Tally) -> Counts:
    """Where each cell lies on a curve through the quasi-identifiers."""
    q = max(1, min(tally.quasi.shape[1], _CURVE_BITS))
    bits = min(16, _CURVE_BITS // q)
    size = np.array([max(d.size - 1, 1) for d in tally.quasi_domains[:q]])
    grid = (tally.quasi[:, :q] * ((1 << bits) - 1) // size).astype(np.uint32)
    return hilbert_keys(np.ascontiguousarray(grid), bits).astype(np.int64)


def _hashed(ledger: Ledger, column: str, texts: Iterable[str | None]) -> pl.Series:
    return pl.Series("hash", [ledger.hash(f"secret {column}", text or "")[:16] for text in texts], pl.String)


def _earlier(
    now: pl.DataFrame, before: pl.DataFrame, texts: pl.Series, name: str, secret: pl.Series, source: Source
) -> tuple[Codes, list[Signature], pl.Series]:
    """The signature of everybody who was published before, all signatures, and all secrets that stand in them.

    Somebody who left and comes back still has a signature: it belongs to the person, not to a row.
    """
    met = now.select(PERSON, secret.alias("now")).join(before, on=PERSON, how="left", maintain_order="left")
    other = met.filter(pl.col(name).is_not_null() & (pl.col(name) != pl.col("now"))).height
    if other:
        raise DataError(
            "E449",
            f"{plural(other, 'person has', 'people have')} another secret than in an earlier release",
            where=source.name,
            hint="Leave them out: m-invariance protects secrets that do not change.",
        )
    distinct = met[SIGNATURE].drop_nulls().unique().sort()
    sets = [signature_texts(text) for text in distinct.to_list()]
    held = set(texts.to_list())
    further = sorted({t for s in sets for t in s} - held, key=lambda t: (t is None, t or ""))
    texts = pl.concat([texts, pl.Series(further, dtype=pl.String)])
    code = {text: i for i, text in enumerate(texts.to_list())}
    place = pl.DataFrame({SIGNATURE: distinct, "i": pl.Series(range(len(distinct)), dtype=pl.Int32)})
    owner = met.select(SIGNATURE).join(place, on=SIGNATURE, how="left", maintain_order="left")["i"].fill_null(NEW)
    return owner.to_numpy().astype(np.int32), [tuple(sorted(code[t] for t in s)) for s in sets], texts


def _require_single(now: pl.DataFrame, source: Source) -> None:
    """Refuse persons with several records: each would be a person of its own to who counts secrets."""
    records, people = int(now[RECORDS].sum()), now[PERSON].n_unique()
    if records > people:
        raise DataError(
            "E446",
            f"{plural(records - people, 'record repeats', 'records repeat')} the key of a person, and a series has one "
            "record for each",
            where=source.name,
            hint="Keep one record of every person, or join them.",
        )


def _require_present(ledger: Ledger, now: pl.DataFrame, source: Source, series: Series) -> None:
    """Refuse people who withdrew."""
    gone = pl.DataFrame({PERSON: pl.Series(sorted(ledger.withdrawn()), dtype=pl.Binary)})
    back = now.join(gone, on=PERSON, how="semi").height
    if back:
        raise withdrew(back, source.name, series.ledger)


def _require_few(made: Republished, series: Series) -> None:
    """Refuse a release with too many counterfeits."""
    false, rows = int(made.counterfeits.sum()), int(made.sizes.sum())
    if false > series.max_counterfeits * rows:
        share = percent(false / rows)
        raise InfeasibleError(
            "E301",
            f"{plural(false, 'counterfeit')} of {count(rows)} rows ({share}) would be needed, allowed are "
            f"{percent(series.max_counterfeits)}",
            details=["Too many people left since the last release, or a secret is too common among those who joined."],
            hint=setting(
                f"series: {{max_counterfeits: {np.ceil(1000 * false / rows) / 1000:g}}}",
                "max_counterfeits",
                float(np.ceil(1000 * false / rows) / 1000),
            ),
        )

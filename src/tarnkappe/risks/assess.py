"""The risk of a table: every measure that its columns, a population, weights or the original allow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from tarnkappe.arrays import Counts, Floats
from tarnkappe.errors import JobError
from tarnkappe.io import Source, open_source
from tarnkappe.job import Job
from tarnkappe.job.model import Coarsening
from tarnkappe.publish.sheets import free_name
from tarnkappe.risks.grid import UniqueGrid, unique_grid
from tarnkappe.risks.intervals import IntervalDisclosure, interval_disclosure
from tarnkappe.risks.loglinear import LogLinear, log_linear
from tarnkappe.risks.matching import Matching, journalist, marketer, prosecutor, require_threshold
from tarnkappe.risks.quasi import QuasiAnalysis, quasi_analysis
from tarnkappe.risks.reading import Asked, asked, combinations_of, is_numeric, numbered, refused
from tarnkappe.risks.sizes import Estimate
from tarnkappe.risks.special import SpecialUniques, special_uniques
from tarnkappe.risks.subsets import Combinations
from tarnkappe.risks.uniqueness import PopulationUniqueness, population_uniqueness
from tarnkappe.risks.weighted import WeightedRisk, require_one_of, require_weights, weighted_risk
from tarnkappe.wording import count, percent, plural


@dataclass(frozen=True, eq=False)
class Risk:
    """What somebody who knows the quasi-identifiers can do with a table; what was not asked for is None."""

    table_name: str
    quasi: tuple[str, ...]
    #: Who said which columns others know: given, the job, the manifest, or suggested by the data.
    origin: str
    n_records: int
    threshold: float
    n_groups: int | None = None
    smallest_group: int | None = None
    sample_uniques: int | None = None
    matching: tuple[Matching, ...] = ()
    population: PopulationUniqueness | None = None
    log_linear: LogLinear | None = None
    weighted: WeightedRisk | None = None
    special: SpecialUniques | None = None
    subsets: QuasiAnalysis | None = None
    grid: UniqueGrid | None = None
    intervals: tuple[IntervalDisclosure, ...] = ()
    #: Why frequencies of combinations were not counted, if they were not.
    refused: str | None = None
    notes: tuple[str, ...] = ()
    #: The most exposed combinations of values, if they were asked for; these are values of people.
    worst: tuple[dict[str, str | None], ...] = ()

    def attacker(self, name: str) -> Matching:
        """The chances of one kind of attacker."""
        for found in self.matching:
            if found.attacker == name:
                return found
        raise JobError("E105", f"nothing was found out about '{name}'", hint='attacker("prosecutor")')

    @property
    def table(self) -> pl.DataFrame:
        """All figures about the table as a whole, one row each."""
        return pl.DataFrame(
            [(what, float(value)) for what, value, _ in self.figures()], ["measure", "value"], orient="row"
        )

    def figures(self) -> list[tuple[str, float, str]]:
        """What is measured, the figure, and the figure in words; for tables and reports."""
        out: list[tuple[str, float, str]] = []
        if self.sample_uniques is not None:
            share = self.sample_uniques / self.n_records
            out.append(("unique in the table", share, f"{count(self.sample_uniques)} ({percent(share)})"))
        for m in self.matching:
            out.append((f"{m.attacker}, average", m.average, percent(m.average)))
            if m.highest is not None and m.at_risk is not None:
                out.append((f"{m.attacker}, highest", m.highest, percent(m.highest)))
                out.append((f"{m.attacker}, share above {percent(m.threshold)}", m.at_risk, percent(m.at_risk)))
        if self.population is not None and self.population.share is not None:
            share = self.population.share
            out.append((f"unique in the population ({self.population.chosen.model})", share, percent(share)))
        if self.weighted is not None:
            out.append(("expected to be found, by weights", self.weighted.share, percent(self.weighted.share)))
            if self.weighted.of_households is not None:
                share = self.weighted.of_households
                out.append(("households of which one is found", share, percent(share)))
        for i in self.intervals:
            share = i.by_deviation[-1]
            out.append((f"{i.column}: within {i.widths[-1]:g} deviations", share, percent(share)))
            out.append((f"{i.column}: security ratio", i.security, f"{i.security:.2f}"))
        return out

    def __str__(self) -> str:
        lines = [f"{plural(self.n_records, 'record')} of {self.table_name}, known by {', '.join(self.quasi)}"]
        lines += [f"{what}: {words}" for what, _, words in self.figures()]
        return "\n  ".join([*lines, *self.notes])

    def __repr__(self) -> str:
        return f"<Risk of {self.table_name}: {plural(self.n_records, 'record')}, {len(self.quasi)} quasi-identifiers>"

    def _repr_html_(self) -> str:
        return self.table._repr_html_()

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain data, for ``--json``; no value of the data is in it unless it was asked for."""

        def plain(part: Any) -> Any:
            return None if part is None else part.as_dict()

        shown = {"worst": [dict(row) for row in self.worst]} if self.worst else {}
        return {
            **shown,
            "table": self.table_name,
            "quasi_identifiers": list(self.quasi),
            "quasi_identifiers_from": self.origin,
            "records": self.n_records,
            "threshold": self.threshold,
            "groups": self.n_groups,
            "smallest_group": self.smallest_group,
            "unique": self.sample_uniques,
            "attackers": {m.attacker: m.as_dict() for m in self.matching},
            "population": plain(self.population),
            "log_linear": plain(self.log_linear),
            "weighted": plain(self.weighted),
            "special_uniques": plain(self.special),
            "subsets": plain(self.subsets),
            "grid": plain(self.grid),
            "intervals": [i.as_dict() for i in self.intervals],
            "refused": self.refused,
            "notes": list(self.notes),
        }


def risk(
    data: Any,
    quasi: Iterable[str] | Mapping[str, Coarsening] | None = None,
    *,
    job: Job | str | Path | None = None,
    population: int | Any = None,
    weight: str | None = None,
    household: str | None = None,
    original: Any = None,
    key: str | None = None,
    in_order: bool = False,
    tolerance: float = 0.01,
    threshold: float = 0.2,
    special: bool = False,
    subsets: bool = False,
    grid: tuple[str, str] | None = None,
    most: int | None = None,
    perturbed: bool = False,
    show: int = 0,
) -> Risk:
    """What somebody who knows the quasi-identifiers of people can find out with a table, ours or not, raw or released.

    `quasi` are the columns that others know: their names, or a mapping to their taxonomies as in a job; else those of
    the `job`, of the manifest beside the file, or as the data suggest. `population` is the number of people that the
    records were drawn from, or a table of all of them with the same columns. `weight` names the column that says how
    many people a record stands for, `household` the one that says who lives together. `special` looks for special
    uniques (SUDA2), `subsets` at every subset of the columns, of at most `most` columns; `grid` names two columns
    over whose levels unique people are counted. `show` asks for the values of so many of the most exposed records: the
    most special ones, or those of the smallest groups.

    Of a table whose values were changed, such as one of centres, frequencies say nothing: without its `original` that
    is refused; with it, interval disclosure is measured (see `interval_disclosure` for `key` and `in_order`).

    >>> people = pl.DataFrame({"age": [30, 30, 41, 52], "sex": ["f", "f", "m", "f"]})
    >>> found = risk(people, ["age", "sex"])
    >>> found.attacker("prosecutor").average, found.sample_uniques
    (0.75, 2)
    """
    require_threshold(threshold)
    about = asked(data, quasi, job, perturbed=perturbed)
    with about.source as source:
        found = Risk(source.name, about.quasi, about.origin, source.n_rows, threshold, notes=_notes(about))
        if about.perturbed is not None and original is None:
            raise refused(about.perturbed, source.name)
        if original is not None:
            found = _with_intervals(found, source, original, about.quasi, key, in_order, tolerance)
        if about.perturbed is not None:
            return replace(found, refused=about.perturbed)
        given = combinations_of(source, about.quasi)
        people, uniques = _population(population, given, source, about.quasi)
        n_people = None if uniques is None else uniques.n_people
        found = replace(_with_frequencies(found, given, people, n_people), population=uniques)
        if weight is not None or household is not None:
            found = replace(found, weighted=_weighted(source, about.quasi, weight, household, threshold, n_people))
        if special:
            sampling = None if n_people is None else found.n_records / n_people
            found = replace(found, special=special_uniques(given, most, sampling))
        if show:
            found = replace(found, worst=_worst(given, found.special, show))
        if subsets:
            found = replace(found, subsets=quasi_analysis(given, most))
        if grid is not None:
            if not about.columns:
                raise JobError(
                    "E108",
                    "a grid needs the taxonomies of the columns, which a job says",
                    hint="tarnkappe risk FILE --job JOB.yaml --grid zip,birth",
                )
            found = replace(found, grid=unique_grid(source, about.columns, *grid))
    return found


def _worst(given: Combinations, special: SpecialUniques | None, most: int) -> tuple[dict[str, str | None], ...]:
    """The values of the most exposed combinations: the most special, then those that fewest records have."""
    assert given.cells is not None
    frame = given.cells.frame().select(pl.all().cast(pl.String))
    score = np.zeros(len(given.records))
    if special is not None:
        score[special.row] = special.score
    ranked = frame.with_columns(pl.Series("_score", -score), pl.Series("_records", given.records))
    chosen = ranked.sort("_score", "_records", *frame.columns).head(most).select(frame.columns)
    return tuple(chosen.iter_rows(named=True))


def _notes(about: Asked) -> tuple[str, ...]:
    if about.origin != "suggested":
        return ()
    return ("Which columns others know was guessed from their names and values; say it with  --quasi",)


def _with_intervals(
    found: Risk,
    source: Source,
    original: Any,
    quasi: tuple[str, ...],
    key: str | None,
    in_order: bool,
    tolerance: float,
) -> Risk:
    """With how near the numbers of the table are to those of the original."""
    opened = original if isinstance(original, Source) else open_source(original)
    with opened as first:
        types = {**first.types([q for q in quasi if q in first.columns])}
        numeric = [q for q in quasi if q in types and is_numeric(first, q) and is_numeric(source, q)]
        if not numeric:
            return replace(found, notes=(*found.notes, "No quasi-identifier is a number in both tables."))
        parts = interval_disclosure(first, source, numeric, key=key, in_order=in_order, tolerance=tolerance)
    return replace(found, intervals=parts)


def _population(
    population: int | Any, given: Combinations, source: Source, quasi: tuple[str, ...]
) -> tuple[Counts | None, PopulationUniqueness | None]:
    """How many people of the population are like each combination, if it is a table; and how many are unique in it."""
    if population is None:
        return None, None
    if isinstance(population, int) and not isinstance(population, bool):
        return None, population_uniqueness(given.records, population)
    opened = population if isinstance(population, Source) else open_source(population)
    with opened as public:
        people = public.read(list(quasi)).select(pl.all().cast(pl.String))
        n_people = public.n_rows
    name = free_name("people", quasi)
    counted = people.group_by(list(quasi)).agg(pl.len().alias(name))
    cells = source.cells(list(quasi)).frame().select(pl.all().cast(pl.String))
    matched = cells.join(counted, on=list(quasi), how="left", nulls_equal=True, maintain_order="left")[name]
    alone = Estimate("counting", float(counted.filter(pl.col(name) == 1).height), "everybody stands in the table")
    uniques = PopulationUniqueness(n_people, given.n_records, int((given.records == 1).sum()), (), alone)
    return matched.fill_null(0).to_numpy().astype(np.int64), uniques


def _with_frequencies(found: Risk, given: Combinations, people: Counts | None, n_people: int | None) -> Risk:
    sizes, threshold = given.records, found.threshold
    attackers = [prosecutor(sizes, threshold)]
    notes = list(found.notes)
    if people is not None:
        attackers.append(journalist(sizes, people, threshold))
        lacking = int(sizes[people < sizes].sum())
        if lacking:
            notes.append(f"The population table lacks people: {plural(lacking, 'record')} counted by the data instead.")
    attackers.append(marketer(sizes, people, threshold))
    model = None if n_people is None or people is not None else log_linear(given.codes, sizes, given.sizes, n_people)
    return replace(
        found,
        n_groups=len(sizes),
        smallest_group=int(sizes.min()),
        sample_uniques=int((sizes == 1).sum()),
        matching=tuple(attackers),
        log_linear=model,
        notes=tuple(notes),
    )


def _weighted(
    source: Source,
    quasi: tuple[str, ...],
    weight: str | None,
    household: str | None,
    threshold: float,
    n_people: int | None,
) -> WeightedRisk:
    """Risks by weights; without any, every record stands for as many people as the others."""
    group = numbered(source, quasi)
    weights: Floats = np.full(len(group), 1.0 if n_people is None else n_people / len(group))
    if weight is not None:
        require_one_of(weight, source.columns, "--weight")
        series = source.numeric(source.read([weight])[weight], weight).cast(pl.Float64)
        weights = series.fill_null(float("nan")).to_numpy()
        require_weights(weights, weight, source.name)
    homes = None
    if household is not None:
        require_one_of(household, source.columns, "--household")
        homes = numbered(source, [household])
    return weighted_risk(group, weights, homes, threshold)[0]

"""The goal: all criteria a release must satisfy, and how many records may be left out."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from tarnkappe.arrays import Codes, Counts, Flags
from tarnkappe.criteria.base import Criterion, Scope, Verdict
from tarnkappe.distances import distances_of
from tarnkappe.errors import InfeasibleError, JobError
from tarnkappe.fixes import Fix, Relaxation, algorithm, role, say, setting
from tarnkappe.groups import Draft, Grouping, GroupStats
from tarnkappe.relaxing import relaxations
from tarnkappe.tally import Domain, Tally
from tarnkappe.wording import count, percent, plural, stated_share

#: What a job without a criterion lacks.
_ADD_ONE = Fix("Add  criteria:\n  - k-anonymity: {k: 5}", "Add  criteria=[KAnonymity(5)]")


def _go_on() -> None:
    """Nobody ends the search."""


@dataclass(frozen=True)
class Goal:
    """Criteria that every group must satisfy, and the share of records that may be suppressed to get there.

    Suppressed records are removed from the release. They are counted, published as a number, and every loss metric
    charges them as totally lost.
    """

    criteria: tuple[Criterion, ...]
    max_suppressed: float = 0.0
    #: Called whenever groups were asked about, which is where a search can be ended.
    pause: Callable[[], None] = field(default=_go_on, compare=False, repr=False)

    def __init__(
        self, criteria: Iterable[Criterion], max_suppressed: float = 0.0, pause: Callable[[], None] = _go_on
    ) -> None:
        """Take any number of criteria; their order does not matter."""
        object.__setattr__(self, "pause", pause)
        object.__setattr__(self, "criteria", tuple(criteria))
        object.__setattr__(self, "max_suppressed", max_suppressed)
        if not self.criteria:
            raise JobError("E106", "the job has no criterion", hint=_ADD_ONE)
        if not 0 <= max_suppressed <= 1:
            raise JobError("E110", f"the suppression limit must be between 0 and 1, got {max_suppressed!r}")

    @property
    def asked(self) -> str:
        """All that is asked for, in one line.

        >>> from tarnkappe.criteria.k_anonymity import KAnonymity
        >>> Goal([KAnonymity(5)], 0.02).asked
        'k-anonymity ≥ 5 · at most 2.0 % rows removed'
        """
        asked = [c.asked + (f" ({c.sensitive_column})" if c.sensitive_column else "") for c in self.criteria]
        limit = f"at most {stated_share(self.max_suppressed)} rows removed" if self.max_suppressed else "no row removed"
        return " · ".join([*asked, limit])

    @property
    def monotone(self) -> bool:
        """Whether pooling satisfied groups keeps them satisfied."""
        return all(c.is_monotone for c in self.criteria)

    @property
    def min_size(self) -> int:
        """The smallest group that could satisfy all criteria."""
        return max(c.min_size for c in self.criteria)

    @property
    def decided_by_size(self) -> bool:
        """Whether a group satisfies the goal exactly when it has `min_size` records."""
        return all(c.decided_by_size for c in self.criteria)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that criteria look at, besides the quasi-identifiers."""
        return tuple(dict.fromkeys(name for c in self.criteria for name in c.columns))

    @property
    def centre_columns(self) -> tuple[str, ...]:
        """The quasi-identifiers whose published numbers criteria compare with those of records."""
        return tuple(dict.fromkeys(c.centre_column for c in self.criteria if c.centre_column is not None))

    @property
    def joint(self) -> bool:
        """Whether some criterion needs the joint distribution of the counted columns."""
        return any(c.needs_joint for c in self.criteria)

    @property
    def scopes(self) -> frozenset[Scope]:
        """What decides about its criteria."""
        return frozenset(c.decided_on for c in self.criteria)

    @property
    def is_mechanism(self) -> bool:
        """Whether the promise lies in how the release is made; then nothing else about the input may be published."""
        return "mechanism" in self.scopes

    @property
    def compares_with_table(self) -> bool:
        """Whether some criterion compares groups with the whole table."""
        return any(c.compares_with_table for c in self.criteria)

    @property
    def judges_groups_alone(self) -> bool:
        """Whether each group decides for itself, so that leaving out the bad ones leaves good ones."""
        return self.scopes == {"group"} and not self.compares_with_table

    @property
    def needs_population(self) -> bool:
        """Whether some criterion asks about a public table."""
        return any(c.needs_population for c in self.criteria)

    @property
    def judges_empty_groups(self) -> bool:
        """Whether people of a public table who are not in the data count too; then nothing can be suppressed."""
        return any(c.judges_empty_groups for c in self.criteria)

    def decisive(self, n_records: int) -> tuple[Criterion, ...]:
        """The criteria that no release of `n_records` satisfies if all of them in one group do not.

        It never helps an absorbing criterion to leave some records out: if those that are left satisfied it, all would.
        One group says nothing about a criterion that pooling can break.
        """
        nobody_left_out = self.budget(n_records) == 0
        return tuple(c for c in self.criteria if c.is_absorbing or (c.is_monotone and nobody_left_out))

    def about(self, criteria: Iterable[Criterion]) -> Goal:
        """The same with some of the criteria only."""
        return Goal(criteria, self.max_suppressed, self.pause)

    def budget(self, n_records: int) -> int:
        """How many of `n_records` may be suppressed.

        >>> from tarnkappe.criteria.k_anonymity import KAnonymity
        >>> Goal([KAnonymity(2)], 0.29).budget(100)
        29
        """
        return math.floor(Fraction(str(self.max_suppressed)) * n_records)

    def stats(
        self,
        tally: Tally,
        grouping: Draft,
        tables: Mapping[str, Counts] | None = None,
        keys: Codes | None = None,
    ) -> GroupStats:
        """The statistics this goal needs of a grouping.

        `keys` are the labels of the groups; algorithms that fix what is published need not give them.
        """
        if keys is None and "projection" in self.scopes and grouping.fixed is not None:
            keys = grouping.fixed.keys(tally.quasi_domains)
        stats = GroupStats.of(tally, grouping, self.columns, joint=self.joint, tables=tables, keys=keys)
        return replace(stats, distances=distances_of(tally, grouping, self.centre_columns))

    def together(self, tally: Tally) -> GroupStats:
        """The statistics of all records in one group."""
        everyone = Grouping.of_cells(tally, np.zeros(tally.n_cells, np.int32), 1)
        return self.stats(tally, everyone, keys=np.zeros((1, len(tally.quasi_domains)), np.int32))

    def satisfied(self, stats: GroupStats) -> Flags:
        """Which groups satisfy every criterion; cheap criteria first, and no group is asked twice in vain."""
        self.pause()
        empty = stats.size == 0  # only with a public table: there is nobody to protect, unless a criterion says so
        inhabited = stats.kept(~empty) if empty.any() else stats
        ok: Flags = (stats.size >= self.min_size) | empty
        for criterion in self.criteria:
            if criterion.judges_empty_groups:
                ok &= criterion.satisfied(stats)
            elif not criterion.columns or ok.any():
                ok[~empty] &= criterion.satisfied(inhabited)
        return ok

    def least_suppressed(self, stats: GroupStats) -> Counts:
        """How many records of each group must be suppressed at least, however the groups are divided further."""
        least = np.where(stats.size < self.min_size, stats.size, 0)
        for criterion in self.criteria:
            least = np.maximum(least, criterion.least_suppressed(stats))
        return least

    def verdicts(self, stats: GroupStats) -> tuple[Verdict, ...]:
        """One verdict per criterion."""
        empty = stats.size == 0
        inhabited = stats.kept(~empty) if empty.any() else stats
        return tuple(c.verdict(stats if c.judges_empty_groups else inhabited) for c in self.criteria)

    def merged(self, parts: Iterable[tuple[Verdict, ...]]) -> tuple[Verdict, ...]:
        """One verdict per criterion, of verdicts about several runs of groups."""
        merged: list[Verdict] = []
        for verdicts in parts:
            known = merged or verdicts
            pairs = zip(self.criteria, known, verdicts, strict=True)
            merged = [_worse(c, a, b) if merged else b for c, a, b in pairs]
        return tuple(merged)

    def table_distributions(self, tally: Tally) -> dict[str, Counts]:
        """The distribution of each needed sensitive column over the whole table."""
        out = {}
        tally = tally.whole or tally
        for name in self.columns:
            s = tally.sensitive_index(name)
            size = tally.sensitive_domains[s].size
            out[name] = np.bincount(tally.sensitive[:, s], weights=tally.count, minlength=size).astype(np.int64)
        return out

    def infeasible(
        self,
        tally: Tally,
        suppressed: int | None = None,
        *,
        enough: bool = True,
        at_least: bool = False,
        left_out: int | None = None,
    ) -> InfeasibleError:
        """An error that says which criterion fails even with all records in one group, or that the budget is short.

        `suppressed` is how many records the groups that were found leave out; other groups may leave out fewer, unless
        it is known that nobody does (`at_least`). If that is not `enough`, no release follows from leaving them out.
        `left_out` is how many of them are left out where so many may be, if that was tried and they are fewer.
        What the error proposes was tried on the table. That there is no release is only said if it is proved.
        """
        details, ways = [], []
        proposed: int | None = None
        budget = self.budget(tally.n_records)
        failing: list[Criterion] = []
        if tally.n_cells:
            together = self.together(tally)
            for v, c in zip(self.verdicts(together), self.criteria, strict=True):
                if not v.ok:
                    failing.append(c)
                    details.append(_reached(v, c, together))
            if not _labels_are_given(tally):
                ways += [_under(_ceilings_lifted(tally), way) for way in relaxations(self.criteria, together)]
        if suppressed is not None and suppressed < tally.n_records:  # a release of nobody is no release
            share = suppressed / max(tally.n_records, 1)
            enough = enough and not failing
            records = f"{plural(suppressed, 'record')} ({percent(share)})"
            are = "is" if suppressed == 1 else "are"
            if at_least:
                said = f"At least {records} would have to be suppressed"
            elif enough:
                may = are if left_out is None else "may be"
                said = f"A release is found if {records} {may} suppressed"
            else:
                said = f"In the groups that were found {records} {are} left over"
            allowed = f"{count(budget)} ({stated_share(self.max_suppressed)})"
            details.append(f"{said}, allowed are {allowed}.")
            if enough:
                proposed = suppressed
                ways.append(_more_suppression(suppressed, tally.n_records, left_out))
        if tally.n_cells and not failing and not _labels_are_given(tally):
            ways += self._ways_around_levels(tally)
        asked = " and ".join(c.asked for c in failing or self.criteria)
        proved = at_least or not tally.n_cells or any(c in failing for c in self.decisive(tally.n_records))
        if failing and not proved and budget:
            records = plural(budget, "record")
            details.append(f"There may be one: {records} may be left out, but which ones was not found.")
        error = InfeasibleError(
            "E301",
            f"no release satisfies {asked}" if proved else f"no release was found that satisfies {asked}",
            details=details,
            hint="Declare fewer quasi-identifiers, or weaken a criterion.",
            ways=ways,
        )
        error.proposed = proposed
        return error

    def leaving_out(self, records: int, of: int) -> Goal:
        """The same with a limit that allows so many records to be left out, as `infeasible` proposes it."""
        return Goal(self.criteria, _thousandths(records, of) / 1000, self.pause)

    def _ways_around_levels(self, tally: Tally) -> list[Relaxation]:
        """What would help where all records in one group satisfy the goal, but such a group may not be formed."""
        limited, lifted = _limited(tally), _ceilings_lifted(tally)
        if lifted is not None:
            out = [Relaxation(lifted, "all records may form one group, which satisfies the goal")]
            known = {name for c in self.criteria for name in c.quasi_identifiers}
            if len(limited) < len(tally.quasi_domains) and known.isdisjoint(d.name for d in limited):
                dropped = say("  and  ".join(["{}"] * len(limited)), *(role(d.name, "drop") for d in limited))
                names = " and ".join(f"'{d.name}'" for d in limited)
                out.append(Relaxation(dropped, f"{names} {'is' if len(limited) == 1 else 'are'} not published at all"))
            return out
        if not self.monotone or self.scopes != {"group"} or tally.population is not None:
            return []
        effect = "at worst it puts all records into one group, which satisfies the goal"
        return [Relaxation(algorithm("mondrian"), effect)]


def _reached(verdict: Verdict, criterion: Criterion, together: GroupStats) -> str:
    """What all records in one group reach of a criterion that they do not satisfy, in a sentence."""
    short = criterion.supply(together)
    if short is not None and short.there < getattr(criterion, short.parameter):
        asked = f"{short.parameter} = {count(getattr(criterion, short.parameter))}"
        return f"The whole table has {count(short.there)} {short.of}, fewer than {asked}; asked: {verdict.asked}."
    n, reached = int(together.size.sum()), verdict.reached
    everyone = f"All {count(n)} records in one group reach" if n > 1 else "The only record reaches"
    best = count(int(reached)) if reached % 1 == 0 else f"{reached:.4g}"
    on = f" on '{verdict.column}'" if verdict.column else ""
    return f"{everyone} {best}{on}; asked: {verdict.asked}."


def _worse(criterion: Criterion, one: Verdict, other: Verdict) -> Verdict:
    """The verdict about groups that two verdicts are about."""
    worst = min if criterion.compared == "at least" else max
    violating = one.violating_groups + other.violating_groups
    return replace(one, reached=worst(one.reached, other.reached), ok=one.ok and other.ok, violating_groups=violating)


def _more_suppression(records: int, of: int, left_out: int | None = None) -> Relaxation:
    """The smallest limit that allows so many records to be left out, and how many then are, if they are fewer."""
    thousandths = _thousandths(records, of)
    fix = setting(f"limits: {{suppressed_rows: {thousandths / 10:g}%}}", "max_suppressed", thousandths / 1000)
    return Relaxation(fix, f"{count(records if left_out is None else left_out)} of {count(of)} records are left out")


def _thousandths(records: int, of: int) -> int:
    """The smallest share of whole thousandths that so many records are no more than."""
    return math.ceil(Fraction(records, of) * 1000)


def _labels_are_given(tally: Tally) -> bool:
    """Whether groups are what has the same labels already, so that nothing but leaving some out changes them."""
    return any(d.as_it_is == "label" for d in tally.quasi_domains)


def _limited(tally: Tally) -> list[Domain]:
    """The quasi-identifiers that not every group may publish as widely as it likes."""
    return [d for d in tally.quasi_domains if not d.below_ceiling.all()]


def _ceilings_lifted(tally: Tally) -> Fix | None:
    """What lets all records form one group; None if nothing forbids it."""
    fixes = [_without_ceiling(d) for d in _limited(tally)]
    return say("  and  ".join(["{}"] * len(fixes)), *fixes) if fixes else None


def _under(lifted: Fix | None, way: Relaxation) -> Relaxation:
    """A way out that forms one group: where ceilings forbid such a group, they must be lifted, too."""
    return way if lifted is None else replace(way, fix=say("{}  and  {}", way.fix, lifted))


def _without_ceiling(domain: Domain) -> Fix:
    """A column whose highest level is the root of its taxonomy."""
    column, height = domain.name, domain.floor + domain.taxonomy.height
    if domain.as_it_is == "stratum":  # the role forbids any other level
        return role(column, "quasi", "suppress")
    return Fix(f"--set columns.{column}.max_level={height}", f'max_level={{"{column}": {height}}}')

"""What each column, level and criterion of a job costs, and what relaxing it buys: every change is tried."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import polars as pl

from tarnkappe.algorithms.watch import Watch
from tarnkappe.comparison.measuring import Measurer, risks_of
from tarnkappe.criteria.base import Criterion
from tarnkappe.deciding import decide_cells
from tarnkappe.errors import JobError, TarnkappeError
from tarnkappe.fixes import Fix, assignment, role
from tarnkappe.goal import Goal
from tarnkappe.job import Job
from tarnkappe.job.model import replace_job
from tarnkappe.metrics.lm import LossMetric
from tarnkappe.plan import AnyPlan, Plan
from tarnkappe.relaxing import with_threshold, written
from tarnkappe.schema import Column
from tarnkappe.tally import Tally
from tarnkappe.wording import count, percent, plural, stated

#: What is changed: a column is left out, coarsened beforehand, a criterion is weakened or left out, or more records may
#: be suppressed.
Kind = Literal["column", "level", "criterion", "limit"]

#: A share of detail, or of records, that is worth a word.
_NOTICEABLE = 0.0005

#: Shares of records to suppress that are tried, as many as are larger than the one allowed.
_LIMITS = (0.01, 0.05, 0.1)


@dataclass(frozen=True)
class Figures:
    """What a decision costs; `lost` is the share of its detail that each quasi-identifier has lost."""

    lost: dict[str, float]
    weights: dict[str, float]
    n_records: int
    suppressed: int
    groups: int
    #: The risk of being found of an average record, if the release hides who a record is about.
    risk: float | None

    @classmethod
    def of(cls, plan: AnyPlan) -> Figures:
        """The figures of a plan."""
        metric = LossMetric()
        lost = metric.column_scores(plan) if isinstance(plan, Plan) and metric.applies(plan) else {}
        weights = {d.name: d.weight for d in plan.tally.quasi_domains}
        risks = risks_of(plan)
        return cls(
            lost,
            weights,
            plan.tally.n_records,
            plan.suppressed,
            plan.n_groups,
            None if risks is None else risks["average"],
        )

    def kept(self, leaving_out: str | None = None) -> float | None:
        """The share of their detail that columns have kept on average, but for one of them."""
        named = {name: loss for name, loss in self.lost.items() if name != leaving_out}
        whole = sum(self.weights[name] for name in named)
        return 1 - sum(self.weights[name] * loss for name, loss in named.items()) / whole if named else None


@dataclass(frozen=True)
class Change:
    """A change to the job, what it leads to, and what that means in a sentence."""

    kind: Kind
    what: str
    #: What to write into the job.
    fix: Fix
    #: Whether people are protected less by it.
    weakens: bool
    figures: Figures | None
    #: How much more detail the columns keep that are compared, and how many records more are published.
    gain: float
    records: int
    sentence: str


@dataclass(frozen=True, eq=False)
class Advice:
    """What a job costs as it is, and what changes to it would buy. For the publisher only."""

    job: Job
    n_records: int
    #: None if the job has no release as it is.
    now: Figures | None
    error: str | None
    changes: tuple[Change, ...]

    @property
    def costs(self) -> tuple[tuple[str, float], ...]:
        """The share of its detail that each quasi-identifier loses, the largest first."""
        return tuple(sorted((self.now.lost if self.now else {}).items(), key=lambda pair: -pair[1]))

    @property
    def table(self) -> pl.DataFrame:
        """What every change would buy, one row each, with what to write."""
        rows = [(c.kind, c.what, c.gain, c.records, c.weakens, c.sentence, c.fix.in_job) for c in self.changes]
        head = ("kind", "what", "gain", "records", "weakens", "meaning", "write")
        return pl.DataFrame(rows, head, orient="row", infer_schema_length=None)

    def _repr_html_(self) -> str:
        return self.table._repr_html_()

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain data, for ``--json``."""
        now = self.now
        return {
            "records": self.n_records,
            "error": self.error,
            "now": None
            if now is None
            else {"kept": now.kept(), "suppressed": now.suppressed, "groups": now.groups, "risk": now.risk},
            "columns": dict(self.costs),
            "changes": [
                {
                    "kind": c.kind,
                    "what": c.what,
                    "write": c.fix.in_job,
                    "weakens": c.weakens,
                    "gain": c.gain,
                    "records": c.records,
                    "release": c.figures is not None,
                    "sentence": c.sentence,
                }
                for c in self.changes
            ],
        }


def advise(
    job: Job,
    data: Any = None,
    *,
    seed: int | None = None,
    levels: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> Advice:
    """Say what each column, level and criterion of a job costs, and what relaxing it buys.

    Every change is decided with the job's own algorithm on the counted cells, and measured; nothing is estimated and
    nothing released. Changes that coarsen a column beforehand (`levels`) count the data once more each.

    >>> import polars as pl
    >>> from tarnkappe import Job, KAnonymity, numeric, suppress
    >>> table = pl.DataFrame({"age": list(range(20, 60)), "sex": ["f", "m"] * 20})
    >>> job = Job(quasi={"age": numeric(), "sex": suppress()}, criteria=[KAnonymity(4)])
    >>> print(advise(job, table, seed=1).changes[0].sentence)
    Leaving out 'sex': the other columns keep 89.7 % of their detail instead of 79.5 %.
    """
    measurer, used = Measurer(data), job.seed if seed is None else seed
    trial = _Trial(job, measurer, 0 if used is None else used)
    try:
        now, error = trial.now(), None
    except TarnkappeError as reason:
        if reason.code != "E301":
            raise
        now, error = None, f"{reason.code} {reason.message}"
    tries = list(trial.changes(levels))
    found = []
    for i, (change, decide) in enumerate(tries):
        found.append(_tried(change, decide, now))
        if progress is not None:
            progress(i + 1, len(tries))
    found.sort(key=lambda c: (c.figures is None, -c.gain - c.records / max(trial.tally.n_records, 1)))
    return Advice(job, trial.tally.n_records, now, error, tuple(found))


@dataclass(frozen=True)
class _Try:
    """A change before it is tried."""

    kind: Kind
    what: str
    fix: Fix
    weakens: bool
    #: The column that is not compared, because it is not published any more.
    gone: str | None = None


@dataclass(frozen=True, eq=False)
class _Trial:
    """A job whose changes are tried on cells that are counted once."""

    job: Job
    measurer: Measurer
    seed: int

    @property
    def tally(self) -> Tally:
        return self.measurer.tally(self.job)

    def now(self) -> Figures:
        """The job as it is."""
        return self._decided(self.job, self.tally)

    def _decided(self, job: Job, tally: Tally) -> Figures:
        return Figures.of(decide_cells(job, tally, self.seed, Watch(seconds=job.time_limit))[2])

    def changes(self, levels: bool) -> Iterator[tuple[_Try, Callable[[], Figures]]]:
        """All changes worth a try, and how each is decided."""
        quasi = [c for c in self.job.columns if c.role == "quasi"]
        if len(quasi) > 1 and self.tally.population is None:
            for column in quasi:
                yield self._without(column)
        if levels:
            for column in quasi:
                yield from self._raised(column)
        for criterion in self.job.goal.criteria:
            yield from self._weaker(criterion)
        yield from self._limits()

    def _without(self, column: Column) -> tuple[_Try, Callable[[], Figures]]:
        name = column.name
        what = _Try("column", f"leaving out '{name}'", role(name, "drop"), False, gone=name)
        return what, lambda: self._decided(self.job, self.tally.without(name))

    def _raised(self, column: Column) -> Iterator[tuple[_Try, Callable[[], Figures]]]:
        """The column from one level higher on, if it has levels to give up."""
        domain = next(d for d in self.tally.quasi_domains if d.name == column.name)
        level = max(domain.floor, column.min_level) + 1
        top = domain.floor + domain.taxonomy.height if domain.max_level is None else domain.floor + domain.max_level
        if column.taxonomy is None or level >= top:
            return
        changed = tuple(_with_floor(c, level) if c.name == column.name else c for c in self.job.columns)
        job = replace_job(self.job, columns=changed)
        fix = Fix(f"{column.name}: {{min_level: {level}}}", f'min_level={{"{column.name}": {level}}}')
        what = _Try("level", f"publishing '{column.name}' from level {level} on", fix, False)
        yield what, lambda: self._decided(job, self.measurer.tally(job))

    def _weaker(self, criterion: Criterion) -> Iterator[tuple[_Try, Callable[[], Figures]]]:
        others = [c for c in self.job.goal.criteria if c is not criterion]
        on = f" on '{criterion.sensitive_column}'" if criterion.sensitive_column else ""
        made = with_threshold(criterion, _looser(criterion))
        if made is not None and made.threshold != criterion.threshold:
            goal = Goal([made if c is criterion else c for c in self.job.goal.criteria], self.job.goal.max_suppressed)
            before, after = criterion.get_params(), made.get_params()
            changed = next(name for name in after if after[name] != before[name])
            asked = f"{criterion.name}{on} {stated(after[changed])} instead of {stated(before[changed])}"
            yield _Try("criterion", asked, written(made), True), self._with(goal)
        if others:
            fix = Fix(f"without  {written(criterion).in_job}", f"without  {written(criterion).in_python}")
            goal = Goal(others, self.job.goal.max_suppressed)
            yield _Try("criterion", f"without {criterion.name}{on}", fix, True), self._with(goal)

    def _limits(self) -> Iterator[tuple[_Try, Callable[[], Figures]]]:
        allowed = self.job.goal.max_suppressed
        for limit in [x for x in _LIMITS if x > allowed][:2]:
            what = f"allowing {percent(limit)} of the records to be suppressed instead of {percent(allowed)}"
            fix = assignment("limits.suppressed_rows", limit)
            yield _Try("limit", what, fix, False), self._with(Goal(self.job.goal.criteria, limit))

    def _with(self, goal: Goal) -> Callable[[], Figures]:
        job = replace_job(self.job, goal=goal)
        return lambda: self._decided(job, self.tally)


def _with_floor(column: Column, level: int) -> Column:
    rest = column.because, level, column.max_level
    return Column(column.name, column.role, column.kind, column.taxonomy, column.weight, *rest)


def _looser(criterion: Criterion) -> float:
    """A threshold that asks for clearly less."""
    threshold = criterion.threshold
    if criterion.compared == "at least":
        return float(math.ceil(threshold / 2)) if criterion.decided_by_size else threshold - 1
    return threshold * 1.5


def _tried(change: _Try, decide: Callable[[], Figures], now: Figures | None) -> Change:
    """What came of a change."""
    small = change.what[1:2] == "-"  # the field's letters stay small: k-anonymity
    begin = change.what if small else change.what[:1].upper() + change.what[1:]
    told = (change.kind, change.what, change.fix, change.weakens)
    try:
        then = decide()
    except TarnkappeError as error:
        if error.code != "E301" and not isinstance(error, JobError):
            raise
        return Change(*told, None, 0.0, 0, f"{begin}: there is no release.")
    kept, before = then.kept(change.gone), None if now is None else now.kept(change.gone)
    records = 0 if now is None else now.suppressed - then.suppressed
    if now is None:
        detail = "" if kept is None else f" that keeps {percent(kept)} of the detail"
        lost = f", {count(then.suppressed)} records suppressed" if then.suppressed else ""
        return Change(*told, then, 1.0, 0, f"{begin}: there is a release{detail}{lost}.")
    gain = 0.0 if kept is None or before is None else kept - before
    return Change(*told, then, gain, records, f"{begin}: {_effect(change, kept, before, records, now)}.")


def _effect(change: _Try, kept: float | None, before: float | None, records: int, now: Figures) -> str:
    parts = []
    whose = "the other columns keep" if change.gone else "columns keep"
    if kept is not None and before is not None and abs(kept - before) >= _NOTICEABLE:
        parts.append(f"{whose} {percent(kept)} of their detail instead of {percent(before)}")
    if records:
        fewer = "fewer" if records > 0 else "more"
        share = abs(records) / now.n_records
        parts.append(f"{plural(abs(records), 'record')} {fewer} suppressed ({percent(share)})")
    if not parts:
        return "changes next to nothing"
    return ", and ".join(parts)

"""Queries and large populations: what generalisation and bucketisation keep, and what they tell about single people.

    python bench/portfolio.py [--records 50000]

On Adult and on the generated census, seven quasi-identifiers, the occupation is sensitive. First, the relative error of
COUNT queries at k = 10 and l = 5. Second, figure 6.1 of the thesis (after Li and Li, KDD 2009) with our releases: the
loss of privacy of the person who loses most (PLoss) and the loss of use for large populations (ULoss), for
generalisation and bucketisation, with l-diversity and t-closeness of varied strength. Both ways of publishing take the
same groups where they can: Mondrian cuts for boxes, and for buckets in which all quasi-identifiers stay exact.

Bucketisations publish quasi-identifiers as they are, so no k is asked of them. Nothing here depends on the machine.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
from measure import DATA
from portfolio_figure import figure
from tables import ADULT_QUASI, SENSITIVE

import tarnkappe as tk
from tarnkappe.algorithms import algorithm_class
from tarnkappe.algorithms.base import Algorithm
from tarnkappe.algorithms.bucketization.base import Bucketization
from tarnkappe.algorithms.bucketization.slicing import Slicing
from tarnkappe.arrays import Flags, Floats
from tarnkappe.criteria import Criterion
from tarnkappe.datasets import census, census_taxonomies, load_adult
from tarnkappe.engines.memory import MemoryEngine
from tarnkappe.errors import InfeasibleError
from tarnkappe.goal import Goal
from tarnkappe.io import open_source
from tarnkappe.metrics.query_error import QueryError, Workload, measure
from tarnkappe.plan import AnyPlan, DealtPlan, Plan
from tarnkappe.tally import Domain, Tally

RESULTS = Path(__file__).parent / "results"
K, L, PREDICATES = 10, 5, (1, 2, 4)
AGES = tk.intervals(5, 10, 20, 40)
QUERIED = ("flash", "mondrian", "hilb", "anatomize", "slicing")

#: What is varied in the figure. No l above what the commonest occupation allows.
DIVERSITIES, CLOSENESSES = (2, 3, 4, 5, 6, 7), (0.5, 0.4, 0.3, 0.2, 0.15, 0.1)

#: A population is at least this share of all records, named by at most so many columns.
SUPPORT, MOST_COLUMNS = 0.01, 2


def tally_of(frame: pl.DataFrame, trees: dict[str, object], age: object = None) -> Tally:
    """The cells of a table; age is a scale, or has levels, which full-domain generalisation needs."""
    quasi = {name: (age or tk.numeric()) if name == "age" else trees[name] for name in ADULT_QUASI}
    job = tk.Job(quasi=quasi, sensitive=[SENSITIVE], drop="rest", criteria=[tk.LDiversity(SENSITIVE, 2)])
    source = open_source(frame)
    return MemoryEngine().count(source, job.schema(source.columns))


def decided(algorithm: Algorithm, tally: Tally, *criteria: Criterion) -> AnyPlan | None:
    """A release before it is written; None if there is none."""
    rng = np.random.default_rng(1)
    torn = isinstance(algorithm, Bucketization)
    goal = Goal([c for c in criteria if not (torn and isinstance(c, tk.KAnonymity))], max_suppressed=0.05)
    try:
        if isinstance(algorithm, Bucketization):
            return DealtPlan.of(tally, goal, algorithm.deal(tally, goal, rng=rng).mixed(rng))
        return Plan.of(tally, goal, algorithm.decide(tally, goal, rng=rng))
    except InfeasibleError:
        return None


@dataclass(frozen=True)
class Told:
    """What a plan tells about the sensitive column: of every group its values, and where its people may be.

    Of boxes every value that a label covers is equally likely; of buckets the values are known.
    """

    plan: AnyPlan
    #: Records by group and sensitive value.
    values: Floats

    @classmethod
    def by(cls, plan: AnyPlan) -> Told:
        """Count the sensitive values of every group."""
        group, cell, weight = _pieces(plan)
        size = plan.tally.sensitive_domains[0].size
        flat = group.astype(np.int64) * size + plan.tally.sensitive[cell, 0]
        return cls(plan, np.bincount(flat, weight, plan.n_groups * size).reshape(-1, size))

    def ploss(self) -> float:
        """How much the group of the person whom it tells most says beyond the whole table."""
        whole = np.bincount(self.plan.tally.sensitive[:, 0], self.plan.tally.count, self.values.shape[1])
        return float(divergence(self.values, whole[None, :].astype(float)).max())

    def estimate(self, wanted: dict[int, Flags]) -> Floats:
        """How often a reader takes each sensitive value to occur among those with the wanted values."""
        if isinstance(self.plan, Plan):
            shares = np.ones(self.plan.n_groups)
            for j, codes in wanted.items():
                shares = shares * _covered(self.plan, j, codes)
            return shares @ self.values
        group, cell, _ = _pieces(self.plan)
        inside = np.logical_and.reduce([codes[self.plan.tally.quasi[cell, j]] for j, codes in wanted.items()])
        people = np.bincount(group, inside, self.plan.n_groups)
        return (people / self.plan.sizes) @ self.values


def _pieces(plan: AnyPlan) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The group, the cell and the number of records of everything that is published."""
    if isinstance(plan, DealtPlan):
        deal = plan.deal
        return np.repeat(np.arange(deal.n_groups), deal.size), deal.cell, np.ones(len(deal.cell))
    kept = plan.grouping.group >= 0
    return plan.grouping.group[kept], plan.grouping.cell[kept], plan.grouping.quota[kept].astype(float)


def _covered(plan: Plan, j: int, wanted: Flags) -> Floats:
    """The share of the values that each group's label covers that is wanted."""
    boxes, domain = plan.boxes, plan.tally.quasi_domains[j]
    spread, node = boxes.publishes_range(j, domain), boxes.node[:, j]
    first = np.where(spread, boxes.lo[:, j], domain.taxonomy.lo[node])
    last = np.where(spread, boxes.hi[:, j], domain.taxonomy.hi[node])
    before = np.append(0, np.cumsum(wanted))
    return (before[last + 1] - before[first]) / (last - first + 1)


def divergence(p: Floats, q: Floats) -> Floats:
    """Jensen-Shannon to the base of two, row by row."""
    p, q = p / p.sum(axis=1, keepdims=True), q / q.sum(axis=1, keepdims=True)
    mean = (p + q) / 2

    def relative(of: Floats) -> Floats:
        return np.where(of > 0, of * np.log2(np.where(of > 0, of, 1) / np.where(mean > 0, mean, 1)), 0).sum(axis=1)

    return (relative(p) + relative(q)) / 2


def populations(tally: Tally) -> Iterator[tuple[dict[int, Flags], Floats]]:
    """Everybody with certain values or nodes in one or two columns, if they are many; and their sensitive values."""
    size = tally.sensitive_domains[0].size

    def secrets(inside: Flags) -> Floats:
        return np.bincount(tally.sensitive[inside, 0], tally.count[inside], size).astype(float)

    def grown(known: dict[int, Flags], inside: Flags, first: int) -> Iterator[tuple[dict[int, Flags], Floats]]:
        for j in range(first, len(tally.quasi_domains)):
            for codes in _named(tally.quasi_domains[j]):
                also = inside & codes[tally.quasi[:, j]]
                found = secrets(also)
                if found.sum() < SUPPORT * tally.n_records:
                    continue
                wanted = {**known, j: codes}
                yield wanted, found
                if len(wanted) < MOST_COLUMNS:
                    yield from grown(wanted, also, j + 1)

    yield from grown({}, np.ones(tally.n_cells, np.bool_), 0)


def _named(domain: Domain) -> Iterator[Flags]:
    """The values of a column that populations are named by: nodes below the root, of a scale its twentieths."""
    tree = domain.taxonomy
    runs = np.unique(np.column_stack([tree.lo[1:], tree.hi[1:]]), axis=0)
    if domain.is_line and domain.size > 20:
        ends = np.linspace(0, domain.size, 21).astype(int)
        runs = np.column_stack([ends[:-1], ends[1:] - 1])
    for lo, hi in runs.tolist():
        codes = np.zeros(domain.size, np.bool_)
        codes[lo : hi + 1] = True
        yield codes


def losses(plan: AnyPlan, known: list[tuple[dict[int, Flags], Floats]]) -> tuple[float, float]:
    """PLoss and ULoss."""
    told = Told.by(plan)
    whole = told.values.sum(axis=0)
    guesses = np.array([told.estimate(wanted) for wanted, _ in known])
    guesses = np.where(guesses.sum(axis=1, keepdims=True) > 0, guesses, whole)
    return told.ploss(), float(divergence(guesses, np.array([truth for _, truth in known])).mean())


def portfolio(tally: Tally) -> tuple[dict[str, list[tuple[str, float, float]]], float, int]:
    """PLoss and ULoss over l and t for each way of publishing; ULoss of the trivial table; how many populations."""
    known = list(populations(tally))
    together = Slicing(strands=(tuple(d.name for d in tally.quasi_domains), (SENSITIVE,)))
    ways: dict[str, Algorithm] = {"generalisation": tk.Mondrian(), "bucketisation": together}
    goals: dict[str, list[Criterion]] = {
        "l-diversity": [tk.FrequencyLDiversity(SENSITIVE, l) for l in DIVERSITIES],  # noqa: E741
        "t-closeness": [tk.TCloseness(SENSITIVE, t) for t in CLOSENESSES],
    }
    found: dict[str, list[tuple[str, float, float]]] = {}
    for way, algorithm in ways.items():
        for name, criteria in goals.items():
            for criterion in criteria:
                plan = decided(algorithm, tally, criterion)
                if plan is not None:
                    said = f"{name[0]} = {getattr(criterion, name[0]):g}"
                    found.setdefault(f"{way}, {name}", []).append((said, *losses(plan, known)))
    truth = np.array([values for _, values in known])
    whole = np.bincount(tally.sensitive[:, 0], tally.count, truth.shape[1])[None, :].astype(float)
    return found, float(divergence(np.repeat(whole, len(truth), axis=0), truth).mean()), len(known)


def queried(frame: pl.DataFrame, trees: dict[str, object]) -> dict[str, dict[int, QueryError]]:
    """The errors of each algorithm by the number of predicates; all are asked the same queries."""
    out: dict[str, dict[int, QueryError]] = {}
    scale, levels = tally_of(frame, trees), tally_of(frame, trees, AGES)
    k, l = tk.KAnonymity(K), tk.FrequencyLDiversity(SENSITIVE, L)  # noqa: E741
    goals = {f"k = {K}": (k,), f"k = {K}, l = {L}": (k, l)}
    for said, criteria in goals.items():
        for name in QUERIED:
            algorithm = algorithm_class(name)()
            torn = isinstance(algorithm, Bucketization)
            if torn and l not in criteria:
                continue  # it publishes quasi-identifiers as they are
            plan = decided(algorithm, levels if name == "flash" else scale, *criteria)
            if plan is not None:
                title = f"{name}, l = {L}" if torn else f"{name}, {said}"
                out[title] = {d: _asked(plan, d, scale) for d in PREDICATES}
    return out


def _asked(plan: AnyPlan, d: int, scale: Tally) -> QueryError:
    return measure(plan, Workload(predicates=d), np.random.default_rng(d), SENSITIVE, asked_of=scale)


def told_order(errors: dict[str, list[tuple[float, float]]]) -> str:
    """Where the medians and means are not in the order of the literature: full-domain, Mondrian, Hilb, buckets."""
    same = [name for name in errors if name.endswith(f"l = {L}")]
    wrong = [
        f"{what} of {coarse.split(',')[0]} and {fine.split(',')[0]} at qd = {d}"
        for coarse, fine in pairwise(same)
        for d, before, after in zip(PREDICATES, errors[coarse], errors[fine], strict=True)
        for what, a, b in zip(("medians", "means"), before, after, strict=True)
        if a < b
    ]
    order = " > ".join(name.split(",")[0] for name in same)
    return f"At l = {L} errors are ordered {order}" + (f", except {'; '.join(wrong)}." if wrong else " throughout.")


def told_queries(title: str, errors: dict[str, dict[int, QueryError]]) -> list[str]:
    """The table of one data set."""
    lines = [f"| {title} | {' | '.join(f'qd = {d}' for d in PREDICATES)} |", f"|---|{'---:|' * len(PREDICATES)}"]
    for name, by in errors.items():
        cells = [f"{by[d].median:.1%} ({by[d].mean:.1%})" for d in PREDICATES]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    found = {name: [(by[d].median, by[d].mean) for d in PREDICATES] for name, by in errors.items()}
    return [*lines, "", told_order(found), ""]


def told_portfolio(title: str, found: dict[str, list[tuple[str, float, float]]], trivial: float, n: int) -> list[str]:
    """The points of one data set."""
    lines = [
        f"{title}: {n} populations; ULoss of the table without quasi-identifiers {trivial:.4f}.",
        "",
        "| releases | PLoss / ULoss, from weak to strong |",
        "|---|---|",
    ]
    for name, points in found.items():
        lines.append(f"| {name} | {'; '.join(f'{said}: {p:.3f} / {u:.4f}' for said, p, u in points)} |")
    return [*lines, ""]


def main() -> None:
    """Measure both tables, write the section and the pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=50_000, help="records of the census")
    given = parser.parse_args()
    people, trees = load_adult(DATA / "adult")
    tables = {
        "Adult": (people, dict(trees)),
        "census": (census(given.records, seed=1), dict(census_taxonomies())),
    }
    text = [
        "## Queries and large populations (`bench/portfolio.py`)",
        "",
        f"Adult (30 162 records) and the generated census ({given.records} records), seven quasi-identifiers, "
        "occupation sensitive. Median (mean) relative error of 1 000 COUNT queries, the same for all, selectivity "
        f"5 %, sanity bound 0.1 %; k = {K}, and at most one of {L} in a group with the same occupation (l = {L}), at "
        "most 5 % suppressed. Bucketisations publish quasi-identifiers as they are, so they promise l only.",
        "",
    ]
    points = []
    for title, (frame, trees_) in tables.items():
        text += told_queries(title, queried(frame, trees_))
        found, trivial, n = portfolio(tally_of(frame, trees_))
        points.append((title, found, trivial, n))
        (RESULTS / f"portfolio-{title.lower()}.svg").write_text(figure(title, found, trivial), encoding="utf-8")
    text += [
        "Figure 6.1 of the thesis (Li and Li 2009) with our releases: loss of privacy of the person who loses most and "
        f"loss of use for populations of at least {SUPPORT:.0%} named by one or two columns. Both want to be low. "
        "Boxes are Mondrian's; buckets are cut the same way and keep quasi-identifiers exact.",
        "",
    ]
    for one in points:
        text += told_portfolio(*one)
        text += [f"![PLoss and ULoss on {one[0]}](results/portfolio-{one[0].lower()}.svg)", ""]
    (RESULTS / "portfolio.md").write_text("\n".join(text), encoding="utf-8")
    print("\n".join(text))


if __name__ == "__main__":
    main()

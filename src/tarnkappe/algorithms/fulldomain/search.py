"""What all searches in the lattice share: checking and scoring a node, ruling others out, concluding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tarnkappe.algorithms.fulldomain.lattice import Classes, ClassTables, Lattice, Node
from tarnkappe.algorithms.recoding import Cut, recode
from tarnkappe.arrays import Codes, Floats
from tarnkappe.errors import InfeasibleError
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping, Note
from tarnkappe.kernels.fulldomain.lattice import small_classes, suppressed_costs, suppressed_gaps
from tarnkappe.metrics.base import ColumnLoss, Metric, SizeMetric
from tarnkappe.metrics.classification import Classification
from tarnkappe.plan import Plan, suppress_leftovers
from tarnkappe.tally import Tally

#: Tightening bounds pays off if so many nodes are open below.
_WORTH_TIGHTENING = 20

#: Minimal nodes that a note lists.
_MOST_LISTED = 100


@dataclass(frozen=True)
class Checked:
    """What is known about a node that was checked.

    `score` is to be minimised, whatever the metric; it is infinite for a node that violates the goal. `suppressed` and
    `n_groups` are those of the release at this node, as far as they were needed to decide.
    """

    node: Node
    ok: bool
    score: float
    suppressed: int
    n_groups: int
    #: Whether all specialisations violate the goal too.
    rules_out_below: bool = False
    #: Whether all generalisations satisfy the goal too.
    vouches_above: bool = False


class Scoring:
    """The score of a node by a metric, and what it must cost at least.

    `tradeoff` weighs generalisation against suppression: 0.5 counts both in full, towards 0 suppression counts less,
    towards 1 generalisation does. It applies to metrics that add up costs of records.
    """

    def __init__(self, tally: Tally, goal: Goal, metric: Metric, tradeoff: float) -> None:
        self.tally, self.goal, self.metric = tally, goal, metric
        self.sign = 1.0 if metric.goal == "minimise" else -1.0
        self.per_class = True
        self.by_columns = isinstance(metric, ColumnLoss)
        if isinstance(metric, ColumnLoss):
            self._prepare(metric, min(1.0, 2.0 * (1.0 - tradeoff)), min(1.0, 2.0 * tradeoff))

    def _prepare(self, metric: ColumnLoss, generalised: float, suppressed: float) -> None:
        """Costs of every leaf at every level, and their sums over all records."""
        domains = self.tally.quasi_domains
        self.rows = np.cumsum([0, *(d.taxonomy.height + 1 for d in domains)]).astype(np.int32)
        widest = max(d.size for d in domains)
        self.costs = np.zeros((int(self.rows[-1]), widest))
        self.gaps = np.zeros_like(self.costs)
        self.charges = np.zeros((len(domains), widest))
        self.sums, self.least = np.zeros(len(self.costs)), np.zeros(len(self.costs))
        for j, d in enumerate(domains):
            counts = self.tally.value_counts[j]
            charge = suppressed * metric.suppressed_costs(d, counts)
            self.charges[j, : d.size] = charge
            for level, nodes in enumerate(d.taxonomy.ancestors):
                row = self.rows[j] + level
                cost = generalised * metric.leaf_costs(d, nodes, counts)
                self.costs[row, : d.size] = cost
                self.sums[row] = cost @ counts
                # Whatever happens to a record, it costs at least the cheaper of the two.
                self.least[row] = np.minimum(cost, charge) @ counts
                self.gaps[row, : d.size] = np.maximum(charge - cost, 0.0)
                alike = cost[d.taxonomy.lo[nodes]] == cost
                self.per_class &= bool(alike[counts > 0].all())

    def bounds(self, lattice: Lattice) -> Floats:
        """The least that every node of the lattice can score, as a grid; it never falls when generalising."""
        if not isinstance(self.metric, ColumnLoss):
            return np.full(lattice.shape, -np.inf)
        grids = np.meshgrid(
            *(
                self.least[start + low : start + high + 1]
                for start, low, high in zip(self.rows[:-1], lattice.low, lattice.high, strict=True)
            ),
            indexing="ij",
        )
        return self.sign * self.metric.combine(np.stack(grids, axis=-1), self.tally)

    def bounds_of(self, levels: NDArray[np.int64], lost: Floats) -> Floats:
        """The least that nodes (one row of levels each) can score if suppression adds so much per column and level."""
        assert isinstance(self.metric, ColumnLoss)
        rows = self.rows[:-1] + levels
        return self.sign * self.metric.combine(self.least[rows] + lost[rows], self.tally)

    def bound(self, node: Node) -> float:
        """The least that one node can score."""
        if not isinstance(self.metric, ColumnLoss):
            return -np.inf
        return float(self.sign * self.metric.combine(self.least[self.rows[:-1] + np.array(node)], self.tally))

    def score(self, classes: Classes, ok: NDArray[np.bool_], suppressed: int, quasi: Codes) -> float:
        """The score of a node whose classes are published where `ok` and suppressed elsewhere."""
        if isinstance(self.metric, SizeMetric):
            sizes = classes.size[ok & (classes.size > 0)]
            return self.sign * self.metric.of_sizes(sizes, suppressed, self.goal)
        if isinstance(self.metric, ColumnLoss):
            rows = (self.rows[:-1] + np.array(classes.node)).astype(np.int32)
            sums = self.sums[rows]
            if suppressed:
                sums = sums + suppressed_costs(
                    ok, classes.tuple_of, classes.size, quasi, self.costs, rows, self.charges
                )
            return float(self.sign * self.metric.combine(sums, self.tally))
        if isinstance(self.metric, Classification):
            return self.sign * self.metric.of_stats(classes.stats_of(ok & (classes.size > 0)), suppressed)
        settled = suppress_leftovers(self.tally, recode(self.tally, cuts_at(self.tally, classes.node)), self.goal)
        assert settled is not None, "only nodes that satisfy the goal are scored"
        return self.sign * self.metric.score(Plan.of(self.tally, self.goal, settled))


@dataclass(eq=False)
class Search:
    """One search: checks nodes, remembers the best, and knows which nodes need not be checked any more.

    `against_published` asks that criteria which compare a group with the table also hold against the published table;
    that is what a release must satisfy. Without it, only the input's distribution counts.
    """

    tally: Tally
    goal: Goal
    metric: Metric
    tradeoff: float = 0.5
    against_published: bool = True
    best: Checked | None = None
    n_checked: int = 0
    #: The node that would suppress fewest records, as far as that is known, and how many.
    least_suppressing: Node | None = None
    fewest_suppressed: int | None = None

    def __post_init__(self) -> None:
        """Prepare the lattice, the class tables and the scoring."""
        self.lattice = Lattice.of(self.tally.quasi_domains)
        self.scoring = Scoring(self.tally, self.goal, self.metric, self.tradeoff)
        further = self.metric.target if isinstance(self.metric, Classification) else None
        self.tables = ClassTables(self.tally, self.goal, further, from_tuples=not self.scoring.per_class)
        self.budget = self.goal.budget(self.tally.n_records)
        self._least = self.goal.min_size
        self._strict = self.goal.judges_empty_groups
        self.checked: dict[Node, Checked] = {}

    @cached_property
    def failure_spreads(self) -> bool:
        """Whether a node that violates the goal proves that all its specialisations do.

        With suppression this needs criteria that stay satisfied whatever is pooled in: otherwise a more special node
        may have to suppress fewer records.
        """
        return self.goal.monotone if self.budget == 0 else all(c.is_absorbing for c in self.goal.criteria)

    @cached_property
    def bounds(self) -> Floats:
        """The least that every node can score, as a grid."""
        return self.scoring.bounds(self.lattice)

    @property
    def threshold(self) -> float:
        """The score to beat."""
        return np.inf if self.best is None else self.best.score

    def check(self, node: Node, *, bound: float = np.inf) -> Checked:
        """Check a node and score it, unless it certainly scores worse than `bound`; remember it if it is the best."""
        result = self.probe(node, bound=bound)
        if result.ok and (self.best is None or self.rank(result) < self.rank(self.best)):
            self.best = result
        return result

    def probe(self, node: Node, *, bound: float = np.inf) -> Checked:
        """Check a node without considering it as a result; also nodes beyond the levels allowed may be asked about."""
        known = self.checked.get(node)
        if known is not None and (known.ok or known.score == np.inf):
            return known
        self.goal.pause()
        result = self.checked[node] = self._check(node, bound)
        self.n_checked += 1
        return result

    @staticmethod
    def rank(checked: Checked) -> tuple[float, int, Node]:
        """How nodes are compared: by score, then by height, then by name, so that ties do not depend on the order."""
        return checked.score, sum(checked.node), checked.node

    def _check(self, node: Node, bound: float) -> Checked:
        classes = self.tables.roll_up(node)
        ok, small = small_classes(classes.size, self._least)
        if small > self.budget:  # too small stays too small in every specialisation
            return self._failed(node, small, rules_out_below=True)
        if self.tables.needs_stats:
            if self.scoring.by_columns and small and bound < np.inf:
                score = self.scoring.score(classes, ok, small, self.tables.quasi)
                if score > bound:
                    return Checked(node, False, score, small, int(ok.sum()))
            ok = self._settled(classes, ok)
        self.tables.keep(classes)
        suppressed = int(classes.size[~ok].sum())
        if not self.accepts(ok, suppressed):
            return self._failed(node, suppressed, rules_out_below=self._is_hopeless(classes))
        score = self.scoring.score(classes, ok, suppressed, self.tables.quasi)
        groups = int((ok & (classes.size > 0)).sum())
        return Checked(node, True, score, suppressed, groups, vouches_above=self.failure_spreads)

    def settle(self, classes: Classes, *, early: bool = False) -> tuple[NDArray[np.bool_], int, bool]:
        """Which classes of a node can be published, how many records that suppresses, and whether all below is lost.

        With `early`, no more is asked about a node that sizes alone rule out.
        """
        ok, small = small_classes(classes.size, self._least)
        if early and small > self.budget:
            return ok, small, True
        if self.tables.needs_stats:
            ok = self._settled(classes, ok)
        suppressed = int(classes.size[~ok].sum())
        lost = small > self.budget or (not self.accepts(ok, suppressed) and self._is_hopeless(classes))
        return ok, suppressed, lost

    def accepts(self, ok: NDArray[np.bool_], suppressed: int) -> bool:
        """Whether a release of these classes satisfies the goal within its limit."""
        if suppressed > self.budget or suppressed == self.tally.n_records or not ok.any():
            return False
        return not (self._strict and not ok.all())

    def _is_hopeless(self, classes: Classes) -> bool:
        """Whether all specialisations of a node that fails fail too."""
        if self.failure_spreads or not self.tables.needs_stats:
            return self.failure_spreads
        return int(self.goal.least_suppressed(classes.stats).sum()) > self.budget

    def _failed(self, node: Node, suppressed: int, *, rules_out_below: bool) -> Checked:
        fewest = self.tally.n_records if self.fewest_suppressed is None else self.fewest_suppressed
        if suppressed < fewest and node in self.lattice:  # what lies beyond the levels allowed is no release
            self.fewest_suppressed, self.least_suppressing = suppressed, node
        return Checked(node, False, np.inf, suppressed, 0, rules_out_below=rules_out_below)

    def _settled(self, classes: Classes, large: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which classes remain once those that violate the goal are suppressed, and what that makes violate it."""
        alone = self.goal.scopes == {"group"}
        shifts = self.goal.compares_with_table and self.against_published
        if alone and not self._strict:  # what is too small is lost, whatever else it holds
            remaining, stats = large, classes.stats_of(large)
            ok = self.goal.satisfied(stats)
            remaining[large] = ok
        else:
            stats = classes.stats
            remaining = ok = self.goal.satisfied(stats)
        if remaining.all() or (alone and not shifts):
            return remaining
        part = stats.kept(ok)
        while len(part.size) and int(classes.size[~remaining].sum()) <= self.budget:
            good = np.ones(part.n_groups, np.bool_) if alone else self.goal.satisfied(part)
            if shifts:
                good &= self.goal.satisfied(part.against_itself())
            if good.all():
                break
            remaining[remaining] = good
            part = part.kept(good)
        return remaining

    def lost_below(self, node: Node) -> Floats:
        """Per column and level, what the records that are lost at a node add to the cost of its specialisations."""
        classes = self.tables.roll_up(node)
        if self.tables.needs_stats:
            lost = self.goal.least_suppressed(classes.stats)
        else:
            lost = np.where(classes.size < self._least, classes.size, 0)
        scoring, finest = self.scoring, self.tables.finest
        sizes = (classes.size, self.tables.class_of_tuples(node), finest.size)
        return suppressed_gaps(lost, *sizes, self.tables.quasi, scoring.gaps, scoring.rows)

    def conclude(self, notes: Mapping[str, Note]) -> Grouping:
        """The best release found, or an `InfeasibleError`."""
        if self.best is None:
            raise self.infeasible()
        best = self.best
        settled = suppress_leftovers(self.tally, recode(self.tally, cuts_at(self.tally, best.node)), self.goal)
        assert settled is not None, "a node that satisfied the goal does so again"
        facts: dict[str, Note] = {
            "levels": ", ".join(map(str, self.levels(best.node))),
            "metric": self.metric.name,
            "score": self.scoring.sign * best.score,
            "nodes in the lattice": self.lattice.n_nodes,
            "nodes checked": self.n_checked,
            **notes,
        }
        return Grouping(settled.cell, settled.group, settled.quota, settled.n_groups, settled.form, facts)

    def levels(self, node: Node) -> Node:
        """The levels of the columns' taxonomies at a node, which counts from their floors."""
        return tuple(d.floor + level for d, level in zip(self.tally.quasi_domains, node, strict=True))

    def listed(self, nodes: list[Node]) -> str:
        """Nodes as text, the first hundred of them."""
        shown = [f"({', '.join(map(str, self.levels(node)))})" for node in nodes[:_MOST_LISTED]]
        return " ".join(shown) + (f" and {len(nodes) - _MOST_LISTED} more" if len(nodes) > _MOST_LISTED else "")

    def infeasible(self) -> InfeasibleError:
        """That no node satisfies the goal; how many records the best one would suppress is tried without a limit."""
        if self.least_suppressing is None:
            return self.goal.infeasible(self.tally)
        freely = Search(self.tally, Goal(self.goal.criteria, 1.0), self.metric, self.tradeoff, self.against_published)
        found = freely.probe(self.least_suppressing)
        return self.goal.infeasible(self.tally, found.suppressed if found.ok else None)


def cuts_at(tally: Tally, node: Node) -> list[Cut]:
    """How each column is recoded at a node."""
    return [Cut.at_level(d, level) for d, level in zip(tally.quasi_domains, node, strict=True)]


@dataclass(eq=False)
class Tags:
    """Which nodes are still open: neither ruled out, nor too costly, nor checked. Kept as grids over the lattice."""

    search: Search
    open: NDArray[np.bool_] = field(init=False)
    #: Nodes that are known to satisfy the goal.
    good: NDArray[np.bool_] = field(init=False)
    #: Nodes that are known to violate it.
    bad: NDArray[np.bool_] = field(init=False)

    def __post_init__(self) -> None:
        """Everything is open."""
        shape = self.search.lattice.shape
        self.open = np.ones(shape, np.bool_)
        self.good, self.bad = np.zeros(shape, np.bool_), np.zeros(shape, np.bool_)

    def check(self, node: Node, *, bounded: bool = True) -> Checked:
        """Check a node and close what that decides; `bounded`: only as far as it may beat the best score."""
        search, lattice = self.search, self.search.lattice
        before = search.threshold
        found = search.check(node, bound=before if bounded else np.inf)
        at = tuple(i - a for i, a in zip(node, lattice.low, strict=True))
        self.open[at] = False
        if found.ok:
            self.good[lattice.above(node) if found.vouches_above else at] = True
        elif found.score == np.inf:
            ruled_out = lattice.below(node) if found.rules_out_below else at
            self.bad[ruled_out] = True
            self.open[ruled_out] = False
        if search.threshold < before:
            self.open &= search.bounds <= search.threshold
        return found

    def tighten(self, found: Checked) -> None:
        """Close specialisations that cost too much, since what is lost at this node is lost for them too."""
        search, lattice = self.search, self.search.lattice
        if not (search.scoring.by_columns and found.ok and found.suppressed):
            return
        below = lattice.below(found.node)
        places = np.argwhere(self.open[below])
        if len(places) < _WORTH_TIGHTENING:
            return
        bounds = search.scoring.bounds_of(places + np.array(lattice.low), search.lost_below(found.node))
        costly = places[bounds > search.threshold]
        self.open[tuple(costly.T)] = False

    def check_open(self) -> None:
        """Check what is still open, the most special nodes first."""
        lattice = self.search.lattice
        open_nodes = self.open.ravel()  # a view: it follows what checks close
        for i in np.argsort(lattice.heights.ravel(), kind="stable"):
            if open_nodes[i]:
                self.check(lattice.node(int(i)))

    def minimal_nodes(self) -> list[Node]:
        """The nodes known to satisfy the goal that generalise no other such node."""
        grid = self.good
        covered = np.zeros_like(grid)
        for axis in range(grid.ndim):
            moved = np.moveaxis(covered, axis, 0)
            moved[1:] |= np.moveaxis(grid, axis, 0)[:-1]
        return [self.search.lattice.node(int(i)) for i in np.flatnonzero(grid & ~covered)]

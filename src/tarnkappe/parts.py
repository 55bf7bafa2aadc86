"""Plans of which no machine holds all groups: what is known about parts that were decided by themselves, added up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.boxes import Boxes
from tarnkappe.criteria.base import Verdict
from tarnkappe.goal import Goal
from tarnkappe.groups import Histogram, Note
from tarnkappe.metrics import CellLoss, SizeMetric, all_metrics
from tarnkappe.plan import Distribution, Plan, Planned
from tarnkappe.publish.form import Labelled
from tarnkappe.publish.labels import Labels
from tarnkappe.tally import Domain, Tally


def outline(
    quasi: Sequence[Counts], sensitive: Sequence[Counts], quasi_domains: Sequence[Domain], others: Sequence[Domain]
) -> Tally:
    """The fewest cells in which every value of every column has so many records; they say nothing about combinations.

    It stands for cells that are elsewhere, where nothing but single columns matters.

    >>> from tarnkappe.taxonomy.tree import Taxonomy
    >>> age, illness = (Domain(name, Taxonomy.scale(["0", "1"])) for name in ("age", "illness"))
    >>> drawn = outline([np.array([3, 1])], [np.array([2, 2])], [age], [illness])
    >>> drawn.count.tolist(), drawn.quasi.ravel().tolist(), drawn.sensitive.ravel().tolist()
    ([2, 1, 1], [0, 0, 1], [0, 1, 1])
    """
    ends = [np.cumsum(counts) for counts in (*quasi, *sensitive)]
    cuts = np.unique(np.concatenate([np.zeros(1, np.int64), *ends]))
    codes = [np.searchsorted(end, cuts[1:]).astype(np.int32) for end in ends]
    nothing = np.zeros((len(cuts) - 1, 0), np.int32)
    return Tally(
        np.column_stack([nothing, *codes[: len(quasi)]]),
        np.column_stack([nothing, *codes[len(quasi) :]]),
        np.diff(cuts),
        tuple(quasi_domains),
        tuple(others),
    )


@dataclass(frozen=True, eq=False)
class Shown:
    """All that is published in one quasi-identifier: distinct labels (None: the missing value) and what they cover."""

    texts: tuple[str | None, ...]
    lo: Codes
    hi: Codes
    node: Codes
    members: NDArray[np.uint64] | None

    @classmethod
    def of(cls, plan: Plan, j: int) -> Shown:
        """What the groups of a plan publish."""
        boxes, labels = plan.published_in(j)
        code, first = np.unique(labels.code, return_index=True)
        members = boxes.members[j][first] if j in boxes.members else None
        texts = tuple(None if c < 0 else labels.texts[c] for c in code)
        return cls(texts, boxes.lo[first, j], boxes.hi[first, j], boxes.node[first, j], members)

    def with_more(self, other: Shown) -> Shown:
        """What is published here or there."""
        known = set(self.texts)
        new = [i for i, text in enumerate(other.texts) if text not in known]
        lo, hi, node = (np.concatenate([getattr(self, n), getattr(other, n)[new]]) for n in ("lo", "hi", "node"))
        members = None
        if self.members is not None and other.members is not None:
            members = np.concatenate([self.members, other.members[new]])
        return Shown((*self.texts, *(other.texts[i] for i in new)), lo, hi, node, members)

    def boxes(self, j: int, n_columns: int) -> Boxes:
        """Boxes that cover it, as many as there are labels; nothing is known of their other columns."""

        def wide(codes: Codes) -> Codes:
            out = np.zeros((len(codes), n_columns), np.int32)
            out[:, j] = codes
            return out

        members = {} if self.members is None else {j: self.members}
        return Boxes(wide(self.lo), wide(self.hi), wide(self.node), members)

    @property
    def labels(self) -> Labels:
        """Its labels, one for each box."""
        known = [text for text in self.texts if text is not None]
        code = np.cumsum([text is not None for text in self.texts]) - 1
        return Labels(tuple(known), np.where([text is None for text in self.texts], -1, code).astype(np.int32))


@dataclass(frozen=True, eq=False)
class PartFigures:
    """What is told about parts of a table once their groups are decided: nothing in it grows with their records."""

    parts: int
    groups: int
    suppressed: int
    sizes_before: Mapping[int, int]
    shown: tuple[Shown, ...]
    #: The loss of each quasi-identifier, added up over all records, by metric.
    losses: Mapping[str, Floats]
    #: Missing cells that were published with the value of their group.
    wildcards: int
    form: Labelled
    untrue: tuple[str, ...]
    notes: Mapping[str, Note]

    @classmethod
    def of(cls, plan: Plan, untrue: Sequence[str]) -> PartFigures:
        """What is told about one part; `untrue` is what is wrong with its labels."""
        metrics = {name: m for name, m in all_metrics().items() if isinstance(m, CellLoss) and m.applies(plan)}
        return cls(
            1,
            plan.n_groups,
            plan.suppressed,
            dict(plan.sizes_before),
            tuple(Shown.of(plan, j) for j in range(len(plan.tally.quasi_domains))),
            {name: metric.column_sums(plan) for name, metric in metrics.items()},
            wildcard_cells(plan),
            plan.form,
            tuple(untrue),
            plan.notes,
        )

    def with_more(self, other: PartFigures) -> PartFigures:
        """What is told about these and those parts."""
        return PartFigures(
            self.parts + other.parts,
            self.groups + other.groups,
            self.suppressed + other.suppressed,
            Counter(self.sizes_before) + Counter(other.sizes_before),
            tuple(a.with_more(b) for a, b in zip(self.shown, other.shown, strict=True)),
            {name: sums + other.losses[name] for name, sums in self.losses.items()},
            self.wildcards + other.wildcards,
            self.form,
            tuple(dict.fromkeys((*self.untrue, *other.untrue))),
            {**self.notes, **other.notes},
        )


@dataclass(frozen=True, eq=False)
class PartedPlan(Planned):
    """Groups that were decided in parts of the table and stay where they were decided.

    The tally is an outline of the table (`outline`): it is true column by column. Groups of different
    parts that look the same are one group; `size_counts` says how many groups of each size there are then.
    """

    tally: Tally
    goal: Goal
    figures: PartFigures
    size_counts: Distribution

    @classmethod
    def of(cls, tally: Tally, goal: Goal, parts: Sequence[PartFigures], size_counts: Distribution) -> PartedPlan:
        """The plan of a table of which all parts were decided."""
        return cls(tally, goal, reduce(PartFigures.with_more, parts), size_counts)

    @property
    def form(self) -> Labelled:
        """What the groups say."""
        return self.figures.form

    @property
    def notes(self) -> Mapping[str, Note]:
        """Facts about the search."""
        return {**self.figures.notes, "parts of the curve": self.figures.parts}

    @property
    def n_groups(self) -> int:
        """Number of groups published."""
        return sum(n for _, n in self.size_counts)

    @property
    def suppressed(self) -> int:
        """Records of the input that are not published."""
        return self.figures.suppressed

    @cached_property
    def sizes(self) -> Counts:
        """Records per group, in ascending order."""
        return np.repeat(*np.array(self.size_counts, np.int64).reshape(-1, 2).T)

    @property
    def sizes_before(self) -> Distribution:
        """Records per combination of quasi-identifiers in the data, and how many combinations have each number."""
        return tuple(sorted(self.figures.sizes_before.items()))

    def published_in(self, j: int) -> tuple[Boxes, Labels]:
        """All that is published in a quasi-identifier: boxes, of which only this column matters, and their labels."""
        shown = self.figures.shown[j]
        return shown.boxes(j, len(self.tally.quasi_domains)), shown.labels

    @property
    def scores(self) -> dict[str, float]:
        """The metrics that can be added up part by part, and those of the sizes of groups."""
        out = {}
        for name, metric in all_metrics().items():
            if name in self.figures.losses and isinstance(metric, CellLoss):
                out[name] = float(metric.combine(self.figures.losses[name], self.tally))
            elif isinstance(metric, SizeMetric):
                out[name] = metric.of_sizes(self.sizes, self.suppressed, self.goal)
        return out

    def column_scores(self, metric: CellLoss) -> dict[str, float]:
        """The mean loss of each quasi-identifier over all records of the input."""
        means = self.figures.losses[metric.name] / self.tally.n_records
        return {domain.name: float(mean) for domain, mean in zip(self.tally.quasi_domains, means, strict=True)}


def wildcard_cells(plan: Plan) -> int:
    """How many missing cells are published with the value of their group."""
    kept = plan.grouping.group >= 0

    def cells(j: int, domain: Domain) -> int:
        missing = plan.tally.quasi[plan.grouping.cell, j] == domain.missing
        return int(plan.grouping.quota[missing & kept].sum())

    return sum(cells(j, domain) for j, domain in enumerate(plan.tally.quasi_domains) if domain.wildcard)


@dataclass(frozen=True, eq=False)
class Recounted:
    """What was found in parts of a published table, each of which holds whole groups."""

    n_records: int
    verdicts: tuple[Verdict, ...]
    size_counts: Mapping[int, int]
    #: Per column that no criterion looks at: groups in which all have the same value, and their records.
    same_for_all: Mapping[str, tuple[int, int]]
    untrue: tuple[str, ...]
    #: Set once all parts were put together: how often each sensitive value is published.
    tables: Mapping[str, Counts] = field(default_factory=dict)

    def with_more(self, other: Recounted, goal: Goal) -> Recounted:
        """What was found in these and those parts."""
        mine, theirs = self.same_for_all, other.same_for_all
        return replace(
            self,
            n_records=self.n_records + other.n_records,
            verdicts=goal.merged([self.verdicts, other.verdicts]),
            size_counts=Counter(self.size_counts) + Counter(other.size_counts),
            same_for_all={name: (g + theirs[name][0], n + theirs[name][1]) for name, (g, n) in mine.items()},
            untrue=tuple(dict.fromkeys((*self.untrue, *other.untrue))),
        )


def same_for_all(histogram: Histogram, sizes: Counts) -> tuple[int, int]:
    """How many groups have one value only, and how many records they have."""
    alone = np.diff(histogram.indptr) == 1
    return int(alone.sum()), int(sizes[alone].sum())

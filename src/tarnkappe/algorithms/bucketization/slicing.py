"""Slicing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tarnkappe.algorithms.bucketization.base import Bucketization
from tarnkappe.algorithms.bucketization.strands import attributes_of, contingency, k_medoids
from tarnkappe.algorithms.steps.medians import MedianFront
from tarnkappe.arrays import Codes, Counts, Flags
from tarnkappe.deals import Deal
from tarnkappe.errors import JobError, did_you_mean
from tarnkappe.fixes import algorithm, assignment, say
from tarnkappe.goal import Goal
from tarnkappe.groups import Draft, GroupStats
from tarnkappe.params import param
from tarnkappe.publish.sliced import Sliced, beside
from tarnkappe.tally import Tally, distinct_rows

#: The columns of every strand.
Strands = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Slicing(Bucketization):
    r"""Columns that are closely related stay together in strands; within a bucket, strands are mixed.

    Strands are clusters of columns (k-medoids by their mean-square contingency), each sensitive column in one of its
    own, or as given. Buckets are formed as Mondrian does, by median cuts. Within a bucket the rows of every strand are
    put in a random order of their own.

    Somebody who knows the quasi-identifiers of a person ``t`` finds buckets ``B`` that ``t`` could be in, and there the
    rows of the strand with the secret ``s`` that match ``t``:

    .. math:: p(t, s) = \sum_B p(t, B) \; p(s | t, B), \qquad
       p(t, B) \propto \prod_i \frac{|\{r \in B : r[C_i] = t[C_i]\}|}{|B|}

    A cut is allowed only if in both halves, for everything that quasi-identifiers in the strand of a secret say, the
    rows that say it satisfy the goal. So every :math:`p(\cdot | t, B)` satisfies it. What is then likely about
    anybody is a mixture of these over all buckets that match, and a monotone criterion holds for the mixture, whatever
    the weights are.

    O(d · n · log n), and O(d² · n) to compare the columns.

    Differs from the paper in: every bucket must satisfy the goal for everybody who matches it, not only the mixture of
    buckets, so that a release can be checked without the original and any monotone criterion is accepted; sensitive
    columns are medoids of their clusters; a quasi-identifier that would tell the secret leaves its strand.

    References
    ----------
    .. [LLZM12] Li, Li, Zhang, Molloy. "Slicing: a new approach for privacy preserving data publishing." TKDE 24(3),
       2012.
    .. [HLLP13] Han, Luo, Lu, Peng. "SLOMS: a privacy preserving data publishing method for multiple sensitive
       attributes microdata." Journal of Software 8(12), 2013.
    """

    name: ClassVar = "slicing"
    title: ClassVar = "Slicing"
    summary: ClassVar = "Related columns stay together, all others are mixed within buckets; values stay exact."
    publishes: ClassVar = Sliced

    clusters: int = param(2, doc="Number of strands, those of the sensitive columns among them.", ge=2)
    strands: tuple[tuple[str, ...], ...] = param(
        (),
        doc="The columns of every strand, such as [[age, sex], [zip, illness]], if they are not to be found.",
        kw_only=True,
    )

    def deal(self, tally: Tally, goal: Goal, *, rng: np.random.Generator) -> Deal:
        """Buckets in which everybody who matches is safe."""
        self.require_supported(tally, goal)
        self.require_published(tally, goal)
        self._require_alone(goal)
        if not tally.n_records:
            raise goal.infeasible(tally)
        parts = self._given(tally) if self.strands else self._found(tally, goal)
        kept = self._safe_together(tally, goal, parts)
        lost = tally.n_records - int(tally.count[kept].sum())
        if not len(kept) or lost > goal.budget(tally.n_records):
            raise goal.infeasible(tally, lost if len(kept) else None)
        part = Tally(
            tally.quasi[kept],
            tally.sensitive[kept],
            tally.count[kept],
            tally.quasi_domains,
            tally.sensitive_domains,
            whole=tally,
        )
        buckets = _Front(part, goal, parts).exhaust()
        of_tally = replace(buckets, cell=kept[buckets.cell].astype(np.int32))
        return Deal.of(of_tally, Sliced(parts), {"strands": "; ".join(", ".join(part) for part in parts)})

    def _require_alone(self, goal: Goal) -> None:
        """Refuse a criterion that knows the other secrets: they stand in other strands."""
        knowing = [c.name for c in goal.criteria if c.others_known]
        if knowing:
            raise JobError(
                "E111",
                f"{self.name} tears sensitive columns from each other, so {knowing[0]} cannot take others for known",
                hint=say("Remove  know_others,  or choose another algorithm:  {}", algorithm("mondrian")),
            )

    def _given(self, tally: Tally) -> Strands:
        """The strands of the job, if they are such."""
        secret = [domain.name for domain in tally.sensitive_domains if not domain.aside]
        known = [domain.name for domain, _ in attributes_of(tally)]
        named = [name for strand in self.strands for name in strand]
        unknown = [name for name in named if name not in known]
        absent = [name for name in known if name not in named]
        wrong = None
        if unknown:
            wrong = f"'{unknown[0]}' is neither a quasi-identifier nor sensitive{did_you_mean(unknown[0], known)}"
        elif absent:
            wrong = f"'{absent[0]}' stands in none of them"
        elif any(named.count(name) > 1 for name in secret):
            wrong = "a sensitive column stands in several of them, so its values would join them again"
        elif any(len({*strand} & {*secret}) > 1 for strand in self.strands):
            wrong = "two sensitive columns stand in one of them"
        elif any(len(set(strand)) < max(len(strand), 1) for strand in self.strands):
            wrong = "one of them is empty, or has a column twice"
        elif len(self.strands) < 2:
            wrong = "there is only one, so nothing would be torn apart"
        if wrong is not None:
            example = [[name for name in known if name not in secret], *([name] for name in secret)]
            raise JobError("E110", f"'strands': {wrong}", hint=assignment("strands", example))
        return self.strands

    def _found(self, tally: Tally, goal: Goal) -> Strands:
        """Clusters of related columns, such that all records in one bucket are safe.

        A quasi-identifier that is rare, or tells the secret, leaves the strand of the secret: the least related first.
        """
        names = [domain.name for domain, _ in attributes_of(tally)]
        n_quasi = len(tally.quasi_domains)
        secret = list(range(n_quasi, len(names)))
        related = contingency(tally)
        nearest = k_medoids(1.0 - related, secret, max(self.clusters, len(secret)))
        free = sorted({int(m) for m in nearest} - {*secret})
        for s in secret:
            inside = sorted((int(j) for j in np.flatnonzero(nearest[:n_quasi] == s)), key=lambda j: -related[j, s])
            asked = [c for c in goal.criteria if c.sensitive_column == names[s]]
            while inside and asked:
                strand = tuple(names[j] for j in [*inside, s])
                if len(self._safe_together(tally, goal.about(asked), (strand,))) == tally.n_cells:
                    break
                leaving = inside.pop()
                nearest[leaving] = max(free, key=lambda m: related[leaving, m], default=leaving)
                free = free or [leaving]
        found = [tuple(names[i] for i in np.flatnonzero(nearest == m)) for m in [*free, *secret]]
        return tuple(strand for strand in found if strand)

    def _safe_together(self, tally: Tally, goal: Goal, parts: Strands) -> Counts:
        """The cells whose records are safe with all of them in one bucket; others are left out until all are."""
        kept, tables = np.arange(tally.n_cells), goal.table_distributions(tally)
        while len(kept):
            zero = np.zeros(len(kept), np.int32)
            safe = np.ones(len(kept), np.bool_)
            for asked, known in _ways(goal, parts, tally):
                part, _, ok = _judged(tally, asked, known, tables, kept, zero, tally.count[kept])
                safe &= ok[part]
            if safe.all():
                break
            kept = kept[safe]
        return kept


def _ways(goal: Goal, parts: Strands, tally: Tally) -> list[tuple[Goal, Codes]]:
    """What is asked about the secret of each strand, and what each cell has beside it."""
    out = []
    for part in parts:
        criteria = [c for c in goal.criteria if c.sensitive_column in part]
        if criteria:
            out.append((goal.about(criteria), beside(tally, part)))
    return out


def _judged(
    tally: Tally,
    goal: Goal,
    known: Codes,
    tables: Mapping[str, Counts],
    cell: NDArray[np.integer],
    group: Codes,
    records: Counts,
) -> tuple[Codes, Codes, Flags]:
    """Groups divided by what stands beside a secret: the part of every piece, a piece of each, which satisfy a goal."""
    key = known[cell]
    part, first = distinct_rows([group, key], [int(group.max(initial=0)) + 1, int(known.max(initial=0)) + 1])
    draft = Draft(np.asarray(cell, np.int32), part, records, len(first))
    stats = GroupStats.of(tally, draft, goal.columns, tables=tables)
    return part, first, goal.satisfied(stats)


class _Front(MedianFront):
    """Buckets that are cut at medians as long as everybody who matches a half is safe there."""

    def __init__(self, tally: Tally, goal: Goal, parts: Sequence[tuple[str, ...]]) -> None:
        super().__init__(tally, goal)
        self._ways = _ways(goal, tuple(parts), tally)

    def allowed(self, segments: Counts, attribute: Counts, code: Codes, ties: Counts) -> Flags:
        """Whether both halves of each cut are safe."""
        if not len(segments):
            return np.ones(0, np.bool_)
        cell, records, bounds = self.halves(segments, attribute, code, ties)
        half = np.repeat(np.arange(2 * len(segments), dtype=np.int32), np.diff(bounds))
        ok = np.ones(2 * len(segments), np.bool_)
        for goal, known in self._ways:
            _, first, safe = _judged(self.tally, goal, known, self.tables, cell, half, records)
            ok[half[first[~safe]]] = False
        return ok[0::2] & ok[1::2]

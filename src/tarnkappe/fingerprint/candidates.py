"""Candidates: every generalisation pattern that satisfies a goal, with what it costs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tarnkappe.algorithms.fulldomain.lattice import Node
from tarnkappe.algorithms.fulldomain.solutions import Solution, Solutions
from tarnkappe.arrays import Counts, Floats
from tarnkappe.errors import InfeasibleError, JobError, LimitError
from tarnkappe.fixes import say, setting
from tarnkappe.goal import Goal
from tarnkappe.metrics import metric_named
from tarnkappe.tally import Tally
from tarnkappe.wording import plural

#: Lattices beyond this are not enumerated: nobody chooses among so many patterns.
_MOST_NODES = 5_000_000

#: What every pattern is measured by besides its sizes.
_METRICS = ("loss", "lm", "precision", "aecs")

#: Clusters settle long before.
_MOST_ROUNDS = 100


def satisfying(tally: Tally, goal: Goal) -> list[Solution]:
    """Every pattern that satisfies the goal within its suppression limit, in the order of its levels."""
    space = Solutions(tally, goal, [metric_named(name) for name in _METRICS])
    if space.lattice.n_nodes > _MOST_NODES:
        raise LimitError(
            "E704",
            f"{plural(space.lattice.n_nodes, 'pattern')} are too many to list",
            hint="Declare fewer quasi-identifiers, or limit their levels:  --set columns.COLUMN.max_level=2",
        )
    return sorted(space.satisfying(), key=lambda found: found.levels)


@dataclass(frozen=True, eq=False)
class Candidates:
    """Patterns that satisfy a goal, one row of `levels` each, with figures in our definitions and in the poster's.

    `loss` is what ARX reports and the poster calls LM; `lm` is the plain mean over columns. `precision` and `aecs`
    charge suppressed records in full, as everywhere in Tarnkappe. The poster's `level_share` (there: precision) and
    `average_size` (there: AES) do not look at them.
    """

    columns: tuple[str, ...]
    heights: Node
    n_records: int
    levels: NDArray[np.int16]
    max_k: Counts
    suppressed: Counts
    groups: Counts
    loss: Floats
    lm: Floats
    precision: Floats
    aecs: Floats

    @classmethod
    def of(cls, tally: Tally, goal: Goal) -> Candidates:
        """All patterns that satisfy the goal within its suppression limit."""
        found = satisfying(tally, goal)
        if not found:
            raise InfeasibleError(
                "E301",
                "no generalisation pattern satisfies the goal",
                hint=say(
                    "{}   or a weaker criterion", setting("limits: {suppressed_rows: 5%}", "max_suppressed", 0.05)
                ),
            )
        figures: dict[str, Any] = {
            "max_k": np.array([p.smallest for p in found], np.int64),
            "suppressed": np.array([p.suppressed for p in found], np.int64),
            "groups": np.array([p.groups for p in found], np.int64),
        }
        scores: dict[str, Any] = {name: np.array([p.scores[name] for p in found]) for name in _METRICS}
        domains = tally.quasi_domains
        return cls(
            columns=tuple(d.name for d in domains),
            heights=tuple(d.floor + d.taxonomy.height for d in domains),
            n_records=tally.n_records,
            levels=np.array([p.levels for p in found], np.int16),
            **figures,
            **scores,
        )

    def __len__(self) -> int:
        return len(self.levels)

    @property
    def suppressed_share(self) -> Floats:
        """The share of records that each pattern leaves out."""
        return self.suppressed / self.n_records

    @property
    def level_share(self) -> Floats:
        """Mean of level over height of the columns; the poster calls it precision."""
        heights = np.maximum(np.array(self.heights), 1)
        share: Floats = (self.levels / heights).mean(axis=1)
        return share

    @property
    def average_size(self) -> Floats:
        """Published records per group; the poster calls it AES."""
        return (self.n_records - self.suppressed) / self.groups

    def metric(self, name: str) -> Floats:
        """A column of figures by name, so that less is better."""
        known = {
            **{m: getattr(self, m) for m in _METRICS},
            "precision": 1.0 - self.precision,
            "level-share": self.level_share,
            "suppressed": self.suppressed_share,
        }
        if name not in known:
            raise JobError("E110", f"patterns are not measured by '{name}'", hint=f"One of {', '.join(sorted(known))}.")
        return np.asarray(known[name], np.float64)

    def chosen(self, which: NDArray[Any] | Sequence[int]) -> Candidates:
        """Some of the patterns."""
        at = np.asarray(which)
        names = ("levels", "max_k", "suppressed", "groups", *_METRICS)
        return replace(self, **{name: getattr(self, name)[at] for name in names})

    def best(self, n: int, metric: str = "loss") -> Candidates:
        """The best patterns by a metric, best first; ties are broken by name."""
        keys = (*self.levels.T[::-1], self.metric(metric))
        return self.chosen(np.lexsort(keys)[:n])

    def only(self, patterns: Iterable[Sequence[int]]) -> Candidates:
        """The patterns of a list, in its order, such as the search space of another program.

        Every one of them must satisfy the goal: what another program calls anonymous is checked, not believed.
        """
        place = {tuple(map(int, row)): i for i, row in enumerate(self.levels)}
        at = []
        for given in patterns:
            levels = tuple(map(int, given))
            if levels not in place:
                raise InfeasibleError(
                    "E301",
                    f"the pattern {list(levels)} does not satisfy the goal",
                    hint="Leave it out, or list patterns with  tarnkappe fingerprint plan --json",
                )
            at.append(place[levels])
        return self.chosen(at)

    def place(self, levels: Sequence[int]) -> int:
        """Where a pattern stands."""
        return int(np.flatnonzero((self.levels == np.asarray(levels)).all(axis=1))[0])

    def above(self, base: Sequence[int]) -> Candidates:
        """The patterns that generalise a base pattern, itself included."""
        return self.chosen(np.array((self.levels >= np.asarray(base)).all(axis=1)))

    def rows(self) -> list[dict[str, Any]]:
        """All patterns as plain data, with the figures of the poster beside ours."""
        told = {
            "max_k": self.max_k,
            "suppressed": self.suppressed,
            "groups": self.groups,
            **{name: getattr(self, name) for name in _METRICS},
            "level_share": self.level_share,
            "average_size": self.average_size,
        }
        lists = {name: values.tolist() for name, values in told.items()}
        return [
            {"levels": levels, **{name: values[i] for name, values in lists.items()}}
            for i, levels in enumerate(self.levels.tolist())
        ]


@dataclass(frozen=True, eq=False)
class Cluster:
    """Equally good solutions: patterns with about the same `max_k` and about the same loss."""

    patterns: Candidates
    #: Where they stand among all candidates.
    members: NDArray[np.int64]
    k_range: tuple[int, int]
    loss_range: tuple[float, float]


def clusters(candidates: Candidates, n: int, metric: str = "loss") -> tuple[Cluster, ...]:
    r"""Divide patterns into at most `n` clusters of equally good ones, the best cluster first (poster, step 3).

    .. math:: \min \sum_i \lVert (\log k_i, \ell_i) - \mu_{c(i)} \rVert^2

    with both figures scaled to variance 1: k-means, started from the patterns that lie farthest apart, so that the same
    patterns give the same clusters. O(n · patterns · rounds).
    """
    if n < 1:
        raise JobError("E110", f"'clusters' must be at least 1, got {n!r}", hint="clusters=10")
    losses = candidates.metric(metric)
    points = np.column_stack([np.log(np.maximum(candidates.max_k, 1)), losses])
    spread = points.std(axis=0)
    points = (points - points.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    centres = points[[int(losses.argmin())]]
    nearest = np.full(len(points), np.inf)
    while len(centres) < n:
        nearest = np.minimum(nearest, ((points - centres[-1]) ** 2).sum(axis=1))
        if nearest.max() <= 0:
            break
        centres = np.vstack([centres, points[int(nearest.argmax())]])
    label = np.full(len(points), -1)
    for _ in range(_MOST_ROUNDS):
        before = label
        label = ((points[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2).argmin(axis=1)
        if np.array_equal(label, before):
            break
        for c in np.unique(label):
            centres[c] = points[label == c].mean(axis=0)
    out = []
    for c in np.unique(label):
        at = np.flatnonzero(label == c)
        at = at[np.argsort(losses[at], kind="stable")]
        k, loss = candidates.max_k[at], losses[at]
        ranges = (int(k.min()), int(k.max())), (float(loss.min()), float(loss.max()))
        out.append(Cluster(candidates.chosen(at), at, *ranges))
    return tuple(sorted(out, key=lambda cluster: cluster.loss_range))

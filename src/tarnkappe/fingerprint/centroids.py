"""Centroid marks: groups that publish means move them a little, by key, pair by pair."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tarnkappe.arrays import Counts, Flags, Floats
from tarnkappe.errors import JobError
from tarnkappe.fingerprint.keys import DatasetKey, stream
from tarnkappe.fingerprint.reading import Evidence
from tarnkappe.fixes import algorithm, say
from tarnkappe.plan import Plan
from tarnkappe.publish.centres import Centres

#: Nearer to the mean than this share of a step, a centre shows both symbols: colluders took the middle.
_MIDDLE = 0.3

#: Farther from the mean than this many steps, a number was altered.
_FARTHEST = 3.0

#: Distances computed at a time.
_CHUNK = 4_000_000


@dataclass(frozen=True, eq=False)
class CentroidScheme:
    r"""Pairs of groups that carry a bit in a column: one mean goes up, the other down, or the other way round.

    .. math:: \delta_a = \pm\frac{2 n_b}{n_a + n_b}\,s_j, \quad \delta_b = \mp\frac{2 n_a}{n_a + n_b}\,s_j

    so the sum over all records, and with it the mean of the column, stays as it is. All records of a group move
    together: groups are the same in all copies and in what any coalition sees, so criteria about groups hold. The step
    :math:`s_j` is a share of the column's standard deviation over groups.

    Colluders who average their copies come near the mean where they differ; that is read as both symbols.
    """

    names: tuple[str, ...]
    values: Floats
    size: Counts
    step: Floats
    #: Group a, group b and column of every position.
    pairs: NDArray[np.int64]

    @classmethod
    def of(cls, plan: Plan, key: DatasetKey, strength: float = 0.02) -> CentroidScheme:
        """Pair groups by key, every column anew; `strength` is the step in standard deviations."""
        form = plan.form
        if not isinstance(form, Centres):
            raise JobError(
                "E111",
                "centroid marks need groups that publish means",
                hint=say("{}   or block marks", algorithm("mdav")),
            )
        if not 0 < strength < 1:
            raise JobError("E110", f"'strength' must lie between 0 and 1, got {strength!r}", hint="strength=0.02")
        domains = plan.tally.quasi_domains
        numbers = [j for j, d in enumerate(domains) if d.values is not None and form.operators[j] == "mean"]
        if not numbers:
            raise JobError("E111", "no column publishes means", hint='quasi={"age": numeric()}')
        step = np.zeros(len(domains))
        pairs: list[NDArray[np.int64]] = []
        for j in numbers:
            known = np.flatnonzero(np.isfinite(form.values[:, j]))
            step[j] = strength * float(form.values[known, j].std())
            if step[j] == 0:
                continue
            order = known[np.argsort(stream(key.purpose("pairs", domains[j].name), len(known)), kind="stable")]
            half = len(order) // 2
            pairs.append(np.column_stack([order[:half], order[half : 2 * half], np.full(half, j)]))
        chosen = np.concatenate(pairs) if pairs else np.zeros((0, 3), np.int64)
        return cls(tuple(d.name for d in domains), form.values, plan.sizes, step, chosen)

    @property
    def n_positions(self) -> int:
        """Positions of the code."""
        return len(self.pairs)

    def shifted(self, bits: Flags) -> Floats:
        """The means of all groups in the copy with these bits."""
        a, b, j = self.pairs.T
        sign = np.where(bits, 1.0, -1.0) * 2.0 * self.step[j] / (self.size[a] + self.size[b])
        out = self.values.copy()
        out[a, j] += sign * self.size[b]
        out[b, j] -= sign * self.size[a]
        return out

    def plan_of_copy(self, plan: Plan, bits: Flags) -> Plan:
        """The plan of a copy, checked like any; to be published with `Decided.regrouped(plan).publish(folder)`."""
        form = plan.form
        assert isinstance(form, Centres)
        told = tuple(
            f"{word}, moved by less than {2 * s:.3g}," if s else word
            for word, s in zip(form.operators, self.step, strict=True)
        )
        moved = replace(form, values=self.shifted(bits), operators=told, shifted=True)
        return Plan.of(plan.tally, plan.goal, replace(plan.grouping, form=moved))

    def read(self, table: pl.DataFrame) -> Evidence:
        """What a leak shows at every position: rows belong to the group whose means are nearest."""
        there = [j for j, name in enumerate(self.names) if name in table.columns and self.step[j] > 0]
        votes = np.zeros((self.n_positions, 3))
        if not there:
            return Evidence(votes, votes, np.zeros(self.n_positions), float(table.height), table.height)
        shown = table.select(pl.col(self.names[j]).cast(pl.Float64, strict=False) for j in there)
        rows = shown.group_by(pl.all()).len("\0rows")
        count = rows["\0rows"].to_numpy().astype(np.float64)
        seen = rows.drop("\0rows").to_numpy()
        group = self._nearest(seen, there)
        strange = float(count[group < 0].sum())
        found = np.zeros((len(self.size), len(self.names), 2))  # weighted deviation, and weight
        for i, j in enumerate(there):
            off = (seen[:, i] - self.values[np.maximum(group, 0), j]) / self.step[j]
            usable = (group >= 0) & np.isfinite(off) & (np.abs(off) < _FARTHEST)
            np.add.at(found, (group[usable], j, 0), off[usable] * count[usable])
            np.add.at(found, (group[usable], j, 1), count[usable])
        a, b, j = self.pairs.T
        for this, other, sign in ((a, b, 1.0), (b, a, -1.0)):
            total, weight = found[this, j].T
            expected = 2.0 * self.size[other] / (self.size[this] + self.size[other])
            lean = np.divide(sign * total, weight * expected, out=np.zeros_like(total), where=weight > 0)
            symbol = np.where(np.abs(lean) < _MIDDLE, 2, (lean > 0).astype(np.int64))
            np.add.at(votes, (np.arange(self.n_positions), symbol), weight)
        return Evidence(votes, votes, (votes.sum(axis=1) > 0).astype(np.float64), strange, table.height)

    def _nearest(self, seen: Floats, there: list[int]) -> NDArray[np.int64]:
        """The group with the nearest means, -1 if none is near."""
        scale = self.step[there]
        centres = np.nan_to_num(self.values[:, there] / scale, nan=np.inf)
        out = np.full(len(seen), -1, np.int64)
        chunk = max(_CHUNK // max(len(centres), 1), 1)
        for start in range(0, len(seen), chunk):
            part = seen[start : start + chunk] / scale
            apart = np.zeros((len(part), len(centres)))
            for i in range(len(there)):
                gap = np.abs(part[:, i, None] - centres[None, :, i])
                apart += np.minimum(np.nan_to_num(gap, nan=_FARTHEST, posinf=_FARTHEST), 10.0 * _FARTHEST)
            near = apart.argmin(axis=1)
            close = apart[np.arange(len(part)), near] < _FARTHEST * len(there)
            out[start : start + chunk] = np.where(close, near, -1)
        return out

"""Groups publish centres: one value per quasi-identifier in place of their records' values."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import polars as pl

from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.boxes import Boxes, renamed
from tarnkappe.publish.form import GroupFigure, Held, Labelled, Meaning
from tarnkappe.publish.labels import Labels
from tarnkappe.schema import Column
from tarnkappe.space import Block
from tarnkappe.tally import Domain, Tally

if TYPE_CHECKING:
    from tarnkappe.groups import Grouping

#: What sizes and radii are called; radii are rounded up to so many steps of a standard deviation.
SIZE, RADIUS, _RADIUS_STEPS = "group size", "radius", 100

#: What rounding may do to so many steps.
_ROUNDING = 1e-6

#: Whole numbers up to here are written as such; 64 bits hold no larger ones.
_MOST_WHOLE = 2.0**63


@dataclass(frozen=True, eq=False)
class Centres(Labelled):
    """What each group publishes in place of its records' values: one value per quasi-identifier.

    ``values[g, j]`` is a number where values have distances, else a code of the domain; NaN is the missing value.
    `operators` says, per quasi-identifier, how it was found, such as ``mean``. `remarks` are numbers about each group
    that only the publisher may see, such as how many of its records are far from what it publishes. `fixed` is what
    groups cover, where an algorithm says so.
    """

    name: ClassVar = "centres"
    hides: ClassVar = frozenset({"identity", "secret"})
    changes: ClassVar = "replaced by centres"
    truth: ClassVar = "every record has the centre of its group"

    values: Floats
    operators: tuple[str, ...]
    remarks: Mapping[str, Floats] = field(default_factory=dict)
    #: Whether values were moved away from the centres on purpose, and may lie outside of their groups.
    shifted: bool = False
    fixed: Boxes | None = None
    #: Whether groups publish their sizes and radii, too.
    measured: bool = False
    #: Per quasi-identifier, how far rounding may have taken a mean; none: it is not known.
    rounded: tuple[float, ...] | None = None

    @classmethod
    def joined(cls, parts: Sequence[Labelled]) -> Centres:
        """The centres of several sets of groups, one after the other; parts without groups have none."""
        some = [part for part in parts if isinstance(part, Centres)]
        remarks = {name: np.concatenate([p.remarks[name] for p in some]) for name in some[0].remarks}
        fixed = [p.fixed for p in some if p.fixed is not None]
        return cls(
            np.concatenate([p.values for p in some]),
            some[0].operators,
            remarks,
            any(p.shifted for p in some),
            Boxes.joined(fixed) if fixed else None,
            any(p.measured for p in some),
            some[0].rounded,
        )

    @property
    def centres(self) -> Floats:
        """The values."""
        return self.values

    def relabel(self, new: Codes, n_groups: int) -> Centres:
        """The centres after group ``g`` was renamed to ``new[g]`` (-1: dropped); groups that become one have one."""
        remarks = {name: renamed(numbers, new, n_groups) for name, numbers in self.remarks.items()}
        fixed = None if self.fixed is None else self.fixed.relabel(new, n_groups)
        return replace(self, values=renamed(self.values, new, n_groups), remarks=remarks, fixed=fixed)

    def covering(self, boxes: Boxes) -> Centres:
        """The same centres."""
        return replace(self, fixed=boxes)

    def labels(self, boxes: Boxes, domains: Sequence[Domain], missing: Collection[str] = ()) -> tuple[Labels, ...]:
        """Numbers stay numbers, codes become their texts."""
        return publish_centres(self, domains, missing)

    def figures(self, tally: Tally, grouping: Grouping) -> Mapping[str, GroupFigure]:
        """The size of each group, and a radius within which all its records are."""
        if not self.measured:
            return {}
        size = np.bincount(grouping.group[grouping.group >= 0], grouping.quota[grouping.group >= 0], grouping.n_groups)
        radius = np.ceil(self.radii(tally, grouping) * _RADIUS_STEPS - _ROUNDING) / _RADIUS_STEPS
        return {
            SIZE: GroupFigure(size.astype(np.float64), "How many records have this centre."),
            RADIUS: GroupFigure(
                np.maximum(radius, 0.0),
                "All records of the group are within this distance of its centre, rounded up: the root of the sum of "
                "squares over all quasi-identifiers, each in units of its standard deviation in the data.",
            ),
        }

    def untrue_figures(
        self, tally: Tally, grouping: Grouping, told: Mapping[str, Floats], records: Counts
    ) -> Iterator[str]:
        """Sizes are those found, and radii just cover all records."""
        if not self.measured:
            return
        if not np.array_equal(told[SIZE], records):
            yield "sizes of groups are not those that were found"
        reach = self.radii(tally, grouping)
        slack = 2 * _ROUNDING / _RADIUS_STEPS
        if not bool(np.all((told[RADIUS] >= reach - slack) & (told[RADIUS] <= reach + 1 / _RADIUS_STEPS + slack))):
            yield "radii of groups do not just cover their records"

    def radii(self, tally: Tally, grouping: Grouping) -> Floats:
        """The distance of the farthest record of each group from what the group publishes."""
        kept = (grouping.group >= 0) & (grouping.quota > 0)
        cell, group = grouping.cell[kept], grouping.group[kept]
        apart = np.zeros(len(cell))
        for j in range(len(tally.quasi_domains)):
            apart += Block.of_column(tally, j).apart(tally.quasi[cell, j], self.values[group, j])
        out = np.zeros(grouping.n_groups)
        np.maximum.at(out, group, np.sqrt(apart))
        return out

    def done(self, j: int, column: Column, domain: Domain, boxes: Boxes, labels: Labels) -> str:
        """Which centre it is."""
        return f"replaced by the {self.operators[j]} of each group"

    def meanings(self, j: int, column: Column, domain: Domain, boxes: Boxes, labels: Labels) -> Iterator[Meaning]:
        """One entry for all centres."""
        yield "", f"Every value is the {self.operators[j]} of its group."
        if (labels.code < 0).any():
            yield None, "Missing in the whole group."

    def untrue(self, j: int, domain: Domain, boxes: Boxes, labels: Labels, held: Held, missing: Collection[str]) -> int:
        """Groups whose centre lies outside of what they cover, or is not the mean that it is said to be."""
        known = np.flatnonzero((boxes.lo[:, j] <= boxes.hi[:, j]) & (labels.code >= 0))
        if self.shifted or not domain.is_line or not len(known):
            return 0
        if labels.numbers is None:
            shown = np.array([domain.code_of[text] for text in labels.texts], np.float64)
        else:
            shown = labels.numbers.cast(pl.Float64).to_numpy()
        centre = shown[labels.code[known]]
        low, high = domain.positions[boxes.lo[known, j]], domain.positions[boxes.hi[known, j]]  # NaN: missing
        slack = 1e-9 * (np.abs(low) + np.abs(high))
        wrong = (centre < low - slack) | (centre > high + slack)
        if self.operators[j] == "mean" and self.rounded is not None:
            mean = _means_of(held, domain, boxes.lo[:, j])[known]
            with np.errstate(invalid="ignore"):  # a sum that no number holds says nothing
                wrong |= np.abs(centre - mean) > self.rounded[j] * (1 + _ROUNDING) + slack
        return int(wrong.sum())


def _means_of(held: Held, domain: Domain, lowest: Codes) -> Floats:
    """The mean of the known values of every group, summed up from its lowest value so that no digits are lost."""
    known = domain.known[held.value]
    group, value, records = held.group[known], held.value[known], held.records[known]
    origin = np.nan_to_num(domain.positions[lowest])
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        above = records * (domain.positions[value] - origin[group])
        mean: Floats = origin + np.bincount(group, above, len(lowest)) / np.bincount(group, records, len(lowest))
    return mean


def publish_centres(
    centres: Centres, domains: Sequence[Domain], missing_texts: Collection[str] = ()
) -> tuple[Labels, ...]:
    """The labels of all quasi-identifiers: numbers stay numbers, codes become their texts."""
    return tuple(_labels(centres.values[:, j], domain, missing_texts) for j, domain in enumerate(domains))


def _labels(values: Floats, domain: Domain, missing_texts: Collection[str]) -> Labels:
    absent = np.isnan(values)
    if domain.values is None:
        found, code = np.unique(np.where(absent, -1, values).astype(np.int64), return_inverse=True)
        texts = [None if c < 0 else domain.taxonomy.leaves[c] for c in found]
        numbers = None
    else:
        distinct, code = np.unique(values + 0.0, return_inverse=True)  # -0.0 reads like 0
        known = distinct[~np.isnan(distinct)]
        whole = domain.is_integer and bool(np.all((np.mod(known, 1) == 0) & (np.abs(known) < _MOST_WHOLE)))
        numbers = pl.Series(distinct).fill_nan(None)
        numbers = numbers.cast(pl.Int64) if whole else numbers
        texts = [None if x is None else str(x) for x in numbers.to_list()]
    shown = [t is not None and t not in missing_texts for t in texts]
    place = np.where(shown, np.cumsum(shown) - 1, -1).astype(np.int32)
    kept = None if numbers is None else numbers.filter(pl.Series(shown, dtype=pl.Boolean))
    return Labels(tuple(t for t, s in zip(texts, shown, strict=True) if s and t is not None), place[code], kept)

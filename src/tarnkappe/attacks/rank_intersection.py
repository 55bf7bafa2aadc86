"""The rank intersection attack."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.arrays import Codes, Floats
from tarnkappe.attacks.base import Attack, AttackCard, Finding, Need
from tarnkappe.attacks.people import Looks, People, covering
from tarnkappe.attacks.scene import Scene, as_floats
from tarnkappe.tally import distinct_rows
from tarnkappe.wording import percent, plural


@dataclass(frozen=True)
class RankIntersection(Attack):
    r"""Columns were averaged one by one along their order: a person's value lies between two averages in each of them.

    In a column that was averaged in groups of neighbouring values, the average of a person's group is one of the two
    next to the person's value, or one of three if the value is itself an average. The records that have one of these in
    every column are the candidates; the person's own is always among them. The attack succeeds where one is left.
    Groups that hold the same records in all columns leave k. The baseline is a random pick. O(different people ·
    different records · columns) at worst.

    References
    ----------
    .. [NHT08] Nin, Herranz, Torra. "Rethinking rank swapping to decrease disclosure risk." Data & Knowledge Engineering
       2008.
    .. [NiTo09] Nin, Torra. "Analysis of the univariate microaggregation disclosure risk." New Generation Computing
       2009.
    """

    name: ClassVar = "rank-intersection"
    title: ClassVar = "rank intersection attack"
    card: ClassVar = AttackCard(
        attacker="knows numbers of a person, and in each column keeps the records whose average is next to them.",
        success="one record is left, which is the person's.",
        baseline="a record picked at random.",
        remedy="average all columns together (algorithm: mdav), so that groups are the same in every column",
    )
    needs: ClassVar[tuple[Need, ...]] = ("quasi", "known", "numbers", "whole")
    finds: ClassVar = "identity"

    def carry_out(self, scene: Scene) -> Finding:
        """The share of people for whom one record is left."""
        assert scene.known is not None
        theirs = [as_floats(scene.known[name]) for name in scene.numeric]
        told = [as_floats(scene.release.frame[name]) for name in scene.numeric]
        complete = np.logical_and.reduce([~np.isnan(x) for x in theirs])
        # Averages by rank: a person is between two of them, and a record is a box of the ranks it is next to.
        levels = [np.unique(y[~np.isnan(y)]) for y in told]
        place = [_place(x[complete], level) for x, level in zip(theirs, levels, strict=True)]
        rank = [2 * np.searchsorted(level, y) for y, level in zip(told, levels, strict=True)]
        of, first = distinct_rows(place, [2 * len(level) + 2 for level in levels])
        people = People(
            np.column_stack([p[first] for p in place]).astype(np.int32),
            np.bincount(of).astype(np.int64),
            of.astype(np.int64),
        )
        row, distinct = distinct_rows(rank, [2 * len(level) + 2 for level in levels])
        middle = np.column_stack([r[distinct] for r in rank]).astype(np.int32)
        count = np.bincount(row).astype(np.int64)
        looks = Looks(row.astype(np.int64), count, np.arange(len(count)), middle - 1, middle + 3)
        fits = covering(people, looks)[people.of]
        n, single = len(fits), int((fits == 1).sum())
        rows = scene.release.n_rows
        sentence = (
            f"Of {plural(n, 'person', 'people')}, {percent(single / n if n else 0.0)} have one record left that is "
            f"next to them in all of {plural(len(levels), 'column')}; a random pick would find {percent(1 / rows)}."
        )
        some = fits[fits > 0]
        figures = {
            "fewest records left": int(some.min(initial=rows)),
            "expected share of right picks among those left": float((1 / some).sum() / max(n, 1)),
        }
        return self.found(single, n, 1 / rows, sentence, figures=figures)


def _place(values: Floats, levels: Floats) -> Codes:
    """Where values are among averages: 2i + 1 on the i-th of them, 2i + 2 between it and the next, 0 below all."""
    below = np.searchsorted(levels, values, "right")
    on = (below > 0) & (levels[np.maximum(below - 1, 0)] == values)
    place: Codes = (2 * below - on).astype(np.int32)
    return place

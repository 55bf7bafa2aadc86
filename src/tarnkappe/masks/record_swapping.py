"""Record swapping between regions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.masks.base import Chance, ColumnMask, Fitted, Held, Kept, MaskCard, unfit
from tarnkappe.masks.columns import Columns, differing
from tarnkappe.params import param
from tarnkappe.wording import stated

#: Records that are tried as partners of one.
_TRIES = 1000


@dataclass(frozen=True)
class RecordSwapping(ColumnMask):
    r"""Some records exchange their region with records of another region that are alike in chosen columns.

    Partners have the same values in the columns of `match`, so all tables of the region with these columns stay as they
    are. Records that are alone with their values in the columns of `rare` go first: whoever finds a rare person in a
    region cannot be sure that they live there. O(records log records).

    References
    ----------
    .. [DaRe82] Dalenius, Reiss. "Data-swapping: a technique for disclosure control." Journal of Statistical Planning
       and Inference 1982.
    .. [STG10] Shlomo, Tudor, Groom. "Data swapping for protecting census tables." Privacy in Statistical
       Databases 2010.
    """

    name: ClassVar = "record-swapping"
    title: ClassVar = "record swapping between regions"
    card: ClassVar = MaskCard(
        changes="the region of some records becomes that of a like record elsewhere.",
        keeps="all tables of the region with the columns that partners share.",
        does_not="change anything about a record but its region: who is rare in the whole table stays so.",
        not_for="maps of rare things, and relations of the region with columns that partners need not share.",
    )

    share: float = param(doc="Share of the records that get another region, about.", gt=0, le=1, example=0.05)
    match: tuple[str, ...] = param((), doc="Columns in which partners are alike.")
    rare: tuple[str, ...] = param((), doc="Columns; records alone with their values there are exchanged first.")

    @property
    def looks_at(self) -> tuple[str, ...]:
        """The columns that partners share, and those that make records rare."""
        return tuple(dict.fromkeys([*self.match, *self.rare]))

    @property
    def compares_with(self) -> tuple[str, ...]:
        """The columns that partners share."""
        return self.match

    @property
    def done(self) -> str:
        """In words."""
        return f"exchanged between records of different regions, about {stated(self.share)} of all"

    @property
    def keeps(self) -> tuple[str, ...]:
        """In words."""
        return (f"the table of {', '.join([self.column, *self.match])}",)

    def fit(self, data: Columns, chance: Chance) -> Fitted:
        """Find partners, and exchange their regions."""
        from tarnkappe.kernels.masks.swapping import swap_between

        region, kind = data.codes([self.column]), data.codes(self.match)
        rng, n = chance.rng, data.n
        key = rng.random(n)
        if self.rare:
            combination = data.codes(self.rare)
            key += np.bincount(combination)[combination] > 1  # those who are alone come first
        order = np.lexsort((key, kind))
        starts = np.append(0, np.cumsum(np.bincount(kind)))
        wanted = np.diff(starts) * self.share / 2
        pairs = np.floor(wanted + rng.random(len(wanted))).astype(np.int64)
        partner = swap_between(order, starts.astype(np.int64), region.astype(np.int32), pairs, _TRIES)
        if (partner == np.arange(n)).all():
            hint = "Fewer columns in  match,  or a larger  share."
            raise unfit(self, "no record finds a partner in another region", data.source, hint)
        return Held([data.values(self.column).gather(partner).alias(self.column)])

    def kept(self, before: Columns, after: Columns) -> Iterator[Kept]:
        """The table of the region with all columns that partners share."""
        there = [name for name in self.match if name in after.names]
        yield Kept(f"the table of {', '.join([self.column, *there])}", differing([self.column, *there], before, after))

    def kept_by_record(self, before: Columns, after: Columns) -> Iterator[Kept]:
        """No more records have another region than were asked for; each class may have one pair more."""
        x, z = before.values(self.column), after.values(self.column)
        n_changed = int(x.ne_missing(z).sum())
        classes = int(before.codes(self.match).max(initial=0)) + 1
        yield Kept(f"share of records with another {self.column}", n_changed, self.share * before.n + 2 * classes)

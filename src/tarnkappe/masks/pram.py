"""Post-randomisation (PRAM)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from tarnkappe.masks.base import Chance, ColumnMask, Fitted, Held, Kept, MaskCard
from tarnkappe.masks.columns import Columns
from tarnkappe.params import param
from tarnkappe.wording import stated_share

#: A sum of chances is farther off than this once in a thousand million masks (Bernstein): in standard deviations and
#: in records.
_SIGMAS, _RECORDS = 6.5, 14.0


@dataclass(frozen=True)
class Pram(ColumnMask):
    r"""Values are drawn anew with a known probability, from how often each occurs, so that frequencies stay on average.

    .. math:: p_{ij} = d [i = j] + (1 - d) \lambda_j, \quad \sum_i \lambda_i p_{ij} = \lambda_j

    A record keeps its value for sure with probability d, and else draws one from the frequencies λ: of the whole table,
    or of those who are alike in the columns of `by`. The matrix is invariant: expected frequencies are those of the
    data, in every group. A missing value is a value like others. O(records log records).

    References
    ----------
    .. [GKWW98] Gouweleeuw, Kooiman, Willenborg, de Wolf. "Post randomisation for statistical disclosure control: theory
       and implementation." Journal of Official Statistics 1998.
    """

    name: ClassVar = "pram"
    title: ClassVar = "post-randomisation (PRAM)"
    card: ClassVar = MaskCard(
        changes="some records get a value drawn from how often each occurs.",
        keeps="expected frequencies of the column, in every group that is named.",
        does_not="hide a value that is rare in its group: whoever has it in the release likely had it before.",
        not_for="columns whose relation with others matters, unless these are named under 'by'.",
    )

    stay_share: float = param(doc="Share of the records that keep their value for sure.", ge=0, le=1, example=0.8)
    by: tuple[str, ...] = param((), doc="Columns; values are drawn among records that are alike in them.")

    @property
    def looks_at(self) -> tuple[str, ...]:
        """The columns of groups."""
        return self.by

    @property
    def draws_from(self) -> tuple[str, ...]:
        """The column."""
        return (self.column,)

    @property
    def done(self) -> str:
        """In words."""
        within = f", by {', '.join(self.by)}" if self.by else ""
        return f"post-randomised: {stated_share(self.stay_share)} keep their value, others draw one{within}"

    @property
    def keeps(self) -> tuple[str, ...]:
        """In words."""
        within = f" by {', '.join(self.by)}" if self.by else ""
        return (f"expected frequencies of {self.column}{within}",)

    def fit(self, data: Columns, chance: Chance) -> Fitted:
        """Draw who draws anew, and what: the value of a record of the same group, any of them as likely."""
        n, rng = data.n, chance.rng
        lot = rng.random(n)
        if self.by:
            group = data.codes(self.by)
            order = np.argsort(group, kind="stable")
            starts = np.append(0, np.cumsum(np.bincount(group)))
            anyone = order[starts[group] + (lot * np.diff(starts)[group]).astype(np.int64)]
        else:
            lot *= n
            anyone = lot.astype(np.uint32)
        row = np.arange(n, dtype=anyone.dtype)
        rng.random(out=lot)
        np.copyto(row, anyone, where=lot >= self.stay_share)
        return Held([data.hold(self.column).gather(row).alias(self.column)])

    def kept(self, before: Columns, after: Columns) -> Iterator[Kept]:
        """Frequencies are off by no more than chance allows, in every group whose columns are published."""
        by = [name for name in self.by if name in after.names]
        names = [*by, self.column]
        types = before.types(names)
        one, other = before.counted(names, types), after.counted(names, types)
        keys, groups = [f"c{j}" for j in range(len(names))], [f"c{j}" for j in range(len(by))]
        both = one.join(other, on=keys, how="full", nulls_equal=True, coalesce=True, suffix=" after")
        strange = both.filter(pl.col("n").is_null()).height
        yield Kept(f"no new value of {self.column}", strange)
        d = self.stay_share
        size = pl.col("n").sum().over(groups) if groups else pl.col("n").sum()
        off = (
            both.drop_nulls("n")
            .with_columns(pl.col("n after").fill_null(0), size.alias("size"))
            .with_columns((pl.col("n") / pl.col("size")).alias("p"))
            .with_columns((d + (1 - d) * pl.col("p")).alias("q"), ((1 - d) * pl.col("p")).alias("s"))
            .select(
                (pl.col("n after") - pl.col("n")).abs().cast(pl.Float64).alias("off"),
                (
                    pl.col("n") * pl.col("q") * (1 - pl.col("q"))
                    + (pl.col("size") - pl.col("n")) * pl.col("s") * (1 - pl.col("s"))
                ).alias("variance"),
            )
        )
        # Groups that are not published, or drawn from separately, vary less than one large group does.
        excess = off.select((pl.col("off") - _SIGMAS * pl.col("variance").sqrt()).max()).item()
        yield Kept(f"expected frequencies of {self.column}", max(float(excess or 0.0), 0.0), _RECORDS)

    def kept_by_record(self, before: Columns, after: Columns) -> Iterator[Kept]:
        """No more records change than draw anew."""
        x, z = before.values(self.column), after.values(self.column)
        changed = int((x.ne_missing(z) if x.dtype == z.dtype else x.cast(z.dtype).ne_missing(z)).sum())
        n, p = before.n, 1 - self.stay_share
        yield Kept("share of records that draw anew", changed, n * p + _SIGMAS * math.sqrt(n * p * (1 - p)) + _RECORDS)

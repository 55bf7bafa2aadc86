"""Figures about the numbers of groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tarnkappe.arrays import Codes, Counts
from tarnkappe.kernels.histograms import reduce_groups
from tarnkappe.publish.sheets import Statistic
from tarnkappe.tally import Domain

if TYPE_CHECKING:
    import polars as pl


def leaf_numbers(domain: Domain) -> pl.Series:
    """The number that every value of a column of numbers is, whole ones exactly; None for the missing one.

    >>> from tarnkappe.taxonomy.tree import Taxonomy
    >>> leaf_numbers(Domain("x", Taxonomy.scale(["0,5", "2"]), decimal=",")).to_list()
    [0.5, 2.0]
    """
    import polars as pl

    texts = pl.Series("number", domain.taxonomy.leaves, dtype=pl.String)
    texts = texts.to_frame().select(pl.when(pl.Series(domain.known)).then(pl.first())).to_series()
    if domain.decimal != ".":
        texts = texts.str.replace(domain.decimal, ".", literal=True)
    whole = texts.cast(pl.Int64, strict=False)
    return whole if whole.null_count() == texts.null_count() else texts.cast(pl.Float64)


def totals(codes: Codes, domain: Domain, starts: Counts) -> dict[Statistic, pl.Series]:
    """The smallest and the largest number of each group, their sum and their mean; empty where no number is known.

    Records ``starts[g]`` to ``starts[g + 1]`` form group ``g``. Sums of decimals are exact, and rounded once.

    >>> from tarnkappe.taxonomy.tree import Taxonomy
    >>> domain = Domain("x", Taxonomy.scale(["0.1", "0.2"]), np.array([0.1, 0.2]))
    >>> {k: v.to_list() for k, v in totals(np.array([0, 0, 0, 1]), domain, np.array([0, 3, 4])).items()}
    {'min': [0.1, 0.2], 'max': [0.1, 0.2], 'sum': [0.3, 0.2], 'mean': [0.1, 0.2]}
    """
    import polars as pl

    known = np.ones(len(codes), np.bool_) if domain.missing < 0 else codes != domain.missing
    n_known = reduce_groups(np.add, known.astype(np.int64), starts)
    low = reduce_groups(np.minimum, np.where(known, codes, domain.size - 1), starts)
    high = reduce_groups(np.maximum, np.where(known, codes, 0), starts)
    whole, power = (None, 1) if domain.decimals is None else domain.decimals
    # Sums of so many numbers fit into 64 bits.
    if whole is not None and int(np.abs(whole).max(initial=0)) * max(len(codes), 1) < 1 << 62:
        sums = reduce_groups(np.add, np.where(known, whole[codes], 0), starts)
        total = sums if power == 1 else sums / power
        mean = sums / (np.maximum(n_known, 1) * power)
    else:
        total = reduce_groups(np.add, np.where(known, domain.positions[codes], 0.0), starts)
        mean = total / np.maximum(n_known, 1)
    numbers = leaf_numbers(domain)
    shown = {"min": numbers.gather(low), "max": numbers.gather(high), "sum": pl.Series(total), "mean": pl.Series(mean)}
    some = pl.Series(n_known > 0)
    return {what: x.zip_with(some, pl.Series([None], dtype=x.dtype)) for what, x in shown.items()}  # type: ignore

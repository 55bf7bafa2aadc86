"""MRMondrian."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tarnkappe.algorithms.multidimensional.sharded import CountedMondrian


@dataclass(frozen=True)
class MRMondrian(CountedMondrian):
    r"""Mondrian by counting rounds over shards until a part is small enough, then parts in parallel.

    All parts of a round are cut at once. A tree of cuts says to which part a record belongs; it is all that the shards
    must be sent. Each shard counts its records by (part, attribute, value), the counts are added up, and the median
    cuts are read off the sums. If the goal is more than a size, one more round counts the sensitive values on both
    sides of the cuts that are tried. Parts of at most `part_records` records are then brought together and finished by
    `Mondrian` in memory, side by side.

    The cuts are exactly those of strict Mondrian, so the groups are the same, whatever the number of shards and the
    size of parts. With :math:`n` records, :math:`\log_2(n / p)` rounds for parts of :math:`p`; a round is O(d · cells),
    and its result as large as the distinct values of all parts.

    Differs from the paper in: medians are exact, because values are counted before anything is approximated (the
    dissertation takes the median of the shards' medians); any monotone goal; strict cuts with the second try below the
    median and on taxonomies, as in `Mondrian`; shards are parts of the tally in memory, counted in threads.

    References
    ----------
    .. [Zhan14] Zhang. "Toward scalable and cost-effective privacy-preserving big data publishing in cloud computing."
       Dissertation, University of Technology Sydney, 2014.
    .. [LeDR06] LeFevre, DeWitt, Ramakrishnan. "Mondrian multidimensional k-anonymity." ICDE 2006.
    """

    name: ClassVar = "mrmondrian"
    title: ClassVar = "MRMondrian"
    summary: ClassVar = "Mondrian in counting rounds over shards, then part by part; the same groups."
    counts_secrets: ClassVar = False

"""Rothko-T."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tarnkappe.algorithms.multidimensional.sharded import CountedMondrian


@dataclass(frozen=True)
class RothkoT(CountedMondrian):
    r"""Mondrian by frequency sets: one scan per level of the tree, and cuts chosen from frequency sets only.

    The frequency set of a part and an attribute is the number of records by value and sensitive values: enough to find
    the median cut *and* to say whether both halves satisfy the goal. One scan over the shards builds those of all parts
    and attributes at once, so a level of the tree costs one scan, whatever the goal and however many cuts are tried.
    Parts of at most `part_records` records are finished in memory by `Mondrian`.

    The cuts are exactly those of strict Mondrian, so the groups are the same. :math:`\lceil\log_2(n/p)\rceil` scans or
    a few more for parts of :math:`p` records; between them, memory for the frequency sets: at most ``d`` entries per
    cell, and far fewer where values repeat.

    Differs from the paper in: medians as in `Mondrian` instead of the most informative cut (see InfoGain Mondrian);
    any monotone goal; what is scanned is the tally in memory, in shards, not a table on disk, so a level is never
    divided over several scans.

    References
    ----------
    .. [LeDR08] LeFevre, DeWitt, Ramakrishnan. "Workload-aware anonymization techniques for large-scale datasets." ACM
       TODS 33(3), 2008.
    .. [GeRG00] Gehrke, Ramakrishnan, Ganti. "RainForest: a framework for fast decision tree construction of large
       datasets." Data Mining and Knowledge Discovery 4, 2000.
    """

    name: ClassVar = "rothko-t"
    title: ClassVar = "Rothko-T"
    summary: ClassVar = "Mondrian with one scan per level and cuts chosen from frequency sets; the same groups."
    counts_secrets: ClassVar = True

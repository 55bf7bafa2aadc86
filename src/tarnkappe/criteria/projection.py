"""What an attacker sees who knows only some of the quasi-identifiers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tarnkappe.arrays import Codes
from tarnkappe.groups import GroupStats


def projected(stats: GroupStats, x: Sequence[str], columns: Sequence[str]) -> tuple[GroupStats, Codes]:
    """Groups pooled by what they publish in the quasi-identifiers `x` (none means all), and the pool of each group.

    Only the distributions of `columns` are kept, and the joint one if there is any.
    """
    if not x:
        return stats, np.arange(stats.n_groups, dtype=np.int32)
    needed = {name: stats.histograms[name] for name in columns}
    slim = GroupStats(stats.size, needed, stats.joint, keys=stats.keys, quasi=stats.quasi)
    return slim.projected([stats.quasi.index(name) for name in x])


def on_part(x: Sequence[str]) -> str:
    """The quasi-identifiers `x` in words, if they are not all."""
    return f" by {', '.join(x)}" if x else ""

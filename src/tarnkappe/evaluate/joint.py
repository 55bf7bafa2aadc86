"""How many records of a release share what is published in several columns together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tarnkappe.errors import JobError
from tarnkappe.io import open_source


@dataclass(frozen=True)
class JointAnonymity:
    """What an attacker finds who knows several columns of a person."""

    k: int
    #: The share of records that no other equals in these columns.
    alone: float
    #: The share of records that fewer than k, themselves included, equal.
    below: float
    #: The fewest records that are equal.
    smallest: int
    n_records: int

    @property
    def ok(self) -> bool:
        """Whether the columns together are k-anonymous."""
        return self.smallest >= self.k


def joint_anonymity(release: Any, columns: Sequence[str], k: int) -> JointAnonymity:
    r"""Whether columns that may be protected one by one are k-anonymous together.

    .. math:: \mathrm{below}_k = \frac{|\{r : |\{s : s[X] = r[X]\}| < k\}|}{n}

    `release` is a file or a frame, `columns` are the X that an attacker knows.

    >>> import polars as pl
    >>> table = pl.DataFrame({"age": [25, 25, 60, 60], "income": [10, 40, 10, 40]})
    >>> joint_anonymity(table, ["age"], 2).ok
    True
    >>> joint_anonymity(table, ["age", "income"], 2).alone
    1.0
    """
    if k < 1:
        raise JobError("E110", f"'k' must be at least 1, got {k!r}", hint="k=5")
    if not columns:
        raise JobError("E106", "there is no column to compare records by", hint='columns=["age", "income"]')
    sizes = open_source(release).read(list(columns)).group_by(list(columns)).len()["len"].to_numpy().astype(np.int64)
    n = int(sizes.sum())
    return JointAnonymity(
        k=k,
        alone=int((sizes == 1).sum()) / max(n, 1),
        below=int(sizes[sizes < k].sum()) / max(n, 1),
        smallest=int(sizes.min(initial=n)),
        n_records=n,
    )

"""What else could have been published, for the report of the publisher."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

#: Alternatives that are told.
_MOST_ALTERNATIVES = 10

#: How the columns of the solution space begin that hold levels.
_LEVEL = "level of "


@dataclass(frozen=True)
class Alternatives:
    """The releases that full-domain generalisation could have made: how many, and those that keep most detail.

    An alternative is the level of each column, the records that it leaves out, its groups, the smallest of them, and
    its loss (LM).
    """

    n: int = 0
    best: tuple[tuple[dict[str, int], int, int, int, float], ...] = ()

    def with_more(self, frame: pl.DataFrame) -> Alternatives:
        """The same with the nodes of a frame, see `tarnkappe.solutions`; those that break the goal do not count."""
        good = frame.filter("ok")
        found = [
            (
                {name.removeprefix(_LEVEL): row[name] for name in good.columns if name.startswith(_LEVEL)},
                row["suppressed"],
                row["groups"],
                row["smallest"],
                row["lm"],
            )
            for row in good.bottom_k(_MOST_ALTERNATIVES, by="lm").iter_rows(named=True)
        ]
        both = sorted([*self.best, *found], key=lambda one: (one[-1], *one[0].values()))
        return Alternatives(self.n + good.height, tuple(both[:_MOST_ALTERNATIVES]))

"""Linkage by a few items of a long record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from tarnkappe.attacks.base import Attack, AttackCard, Finding, Need
from tarnkappe.attacks.people import Ground
from tarnkappe.attacks.scene import Scene
from tarnkappe.errors import JobError
from tarnkappe.fixes import known_columns, say
from tarnkappe.params import param
from tarnkappe.wording import percent, plural

#: Pairs of a target and a record that share an item, looked at in one go.
_AT_ONCE = 20_000_000


@dataclass(frozen=True)
class SparseLinkage(Attack):
    r"""A few items that a person is known to have, such as films, point at one long record among very many.

    Both tables have a row for every person and item; the quasi-identifier is the item, the key is the person, or its
    pseudonym in the release. Of each of some people, ``items`` of their items are drawn by lot and looked for. Rare
    items count more. The score of a record is

    .. math:: \sum_{i \text{ known, in the record}} \frac{1}{\log(1 + |\{\text{records with } i\}|)} ,

    and the best one is taken if it stands out: if it is better than the second by more than ``eccentricity`` standard
    deviations of all scores. It succeeds if that record is the person's. If any ``items`` items of anybody are shared
    by k records (k^m-anonymity), the best ones are equal and none is taken. The baseline is a random pick; the control
    removes each person's own record, and is the share that is taken for somebody else's then.

    Differs from the paper in: items are there or not; ratings and days that are nearly right do not count in part.

    References
    ----------
    .. [NaSh08] Narayanan, Shmatikov. "Robust de-anonymization of large sparse datasets." IEEE Symposium on Security and
       Privacy 2008.
    """

    name: ClassVar = "sparse-linkage"
    title: ClassVar = "linkage by a few items"
    card: ClassVar = AttackCard(
        attacker="knows a few items of a person, such as films rated elsewhere, and looks for a record with them.",
        success="the record that stands out is the person's, with all its other items.",
        baseline="a record picked at random.",
        remedy="k^m-anonymity for sets of items (a job file with  items: {k: 5, m: 2, …})",
    )
    needs: ClassVar[tuple[Need, ...]] = ("quasi", "known", "key")
    finds: ClassVar = "identity"

    items: int = param(3, doc="How many items of a person are known.", ge=1, example=3)
    eccentricity: float = param(1.5, doc="By how many standard deviations the best record must stand out.", ge=0)
    people: int = param(1000, doc="How many people are looked for, at most.", ge=1)
    separator: str | None = param(None, doc="What stands between items, where they stand in one cell.")

    def carry_out(self, scene: Scene) -> Finding:
        """The share of people whose record stands out."""
        assert scene.known is not None
        assert scene.key is not None
        if len(scene.quasi) > 1:
            what = f"it looks for items, which stand in one column, and {len(scene.quasi)} are named"
            raise JobError(
                "E110", what, hint=say("{}   (a row for every person and item)", known_columns(scene.names[:1]))
            )
        column = scene.quasi[0]
        released, theirs = (self._rows(frame, scene.key, column.name) for frame in (scene.release.frame, scene.known))
        ground = Ground.of([column], [theirs.select(column.name)], [(scene.release.name, released, ".")])
        records = released["k"].unique(maintain_order=True).sort()
        index = _index(ground, released, records, scene.release.name, column.name)
        n_records = len(records)
        targets = theirs.filter(pl.col("k").is_in(records.implode()))["k"].unique().sort()
        rng = scene.chance()
        chosen = targets.gather(np.sort(rng.permutation(len(targets))[: self.people]))
        asked = self._asked(ground, theirs, chosen, column.name, rng)
        support = index.group_by("code").agg(pl.len().alias("n"))
        index = index.join(support.select("code", (1 / (1 + pl.col("n")).log()).alias("w")), on="code")
        own = pl.DataFrame({"t": np.arange(len(chosen)), "own": records.search_sorted(chosen).cast(pl.Int64)})
        right = wrong = 0
        step = max(1, _AT_ONCE // max(int(index.height / max(index["code"].n_unique(), 1)) * self.items, 1))
        for begin in range(0, len(chosen), step):
            some = asked.filter(pl.col("t").is_between(begin, begin + step - 1))
            scores = some.join(index, on="code").group_by("t", "record").agg(pl.col("w").sum().alias("score"))
            scores = scores.join(own, on="t")
            right += self._standing_out(scores, n_records).filter(pl.col("record") == pl.col("own")).height
            wrong += self._standing_out(scores.filter(pl.col("record") != pl.col("own")), n_records - 1).height
        n = len(chosen)
        rate = percent(right / max(n, 1))
        sentence = (
            f"Whoever knows {plural(self.items, 'item')} of a person finds the record of {rate} of "
            f"{plural(n, 'person', 'people')} among {plural(n_records, 'record')}."
        )
        control = wrong / n if n else None
        return self.found(right, n, 1 / n_records, sentence, control=control)

    def _rows(self, frame: pl.DataFrame, key: str, column: str) -> pl.DataFrame:
        """A row for every person and item, each once."""
        rows = frame.select(pl.col(key).cast(pl.String).alias("k"), pl.col(column).cast(pl.String))
        if self.separator is not None:
            rows = rows.with_columns(pl.col(column).str.split(self.separator)).explode(column)
        return rows.with_columns(pl.col(column).str.strip_chars()).drop_nulls().unique(maintain_order=True)

    def _asked(
        self, ground: Ground, theirs: pl.DataFrame, chosen: pl.Series, column: str, rng: np.random.Generator
    ) -> pl.DataFrame:
        """Some items of each of the people who are looked for, drawn by lot."""
        rows = theirs.join(pl.DataFrame({"k": chosen, "t": np.arange(len(chosen))}), on="k").sort("t", column)
        rows = rows.with_columns(pl.Series("lot", rng.random(rows.height)))
        rows = rows.filter(pl.col("lot").rank("ordinal").over("t") <= self.items)
        coded = ground.people(rows.select(column))
        return rows.select("t").with_columns(pl.Series("code", coded.codes[coded.of, 0].astype(np.int64)))

    def _standing_out(self, scores: pl.DataFrame, n_records: int) -> pl.DataFrame:
        """The best record of each person, if it stands out; records without any known item score nothing."""
        best = scores.group_by("t").agg(
            pl.col("record").sort_by("score", "record").last(),
            pl.col("own").first(),
            pl.col("score").max().alias("best"),
            pl.when(pl.len() > 1).then(pl.col("score").sort().get(-2, null_on_oob=True)).otherwise(0.0).alias("second"),
            pl.col("score").sum().alias("sum"),
            (pl.col("score") ** 2).sum().alias("squares"),
        )
        mean = pl.col("sum") / n_records
        deviation = (pl.col("squares") / n_records - mean**2).clip(0).sqrt()
        ahead = pl.col("best") - pl.col("second")
        return best.filter((ahead > 1e-9) & (ahead > self.eccentricity * deviation - 1e-12))


def _index(ground: Ground, released: pl.DataFrame, records: pl.Series, where: str, column: str) -> pl.DataFrame:
    """Which records hold which items, each pair once; a coarse label holds all items below it."""
    looks = ground.looks(released.select(column), where)
    width = (looks.hi[:, 0] - looks.lo[:, 0] + 1).astype(np.int64)
    box = np.repeat(np.arange(len(width)), width)
    code = looks.lo[box, 0] + np.arange(len(box)) - np.repeat(np.cumsum(width) - width, width)
    below = pl.DataFrame({"look": looks.look[box], "code": code.astype(np.int64)})
    rows = pl.DataFrame({"look": looks.of, "record": records.search_sorted(released["k"]).cast(pl.Int64)})
    return rows.join(below, on="look").select("code", "record").unique()

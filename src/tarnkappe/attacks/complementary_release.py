"""The complementary release attack."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from tarnkappe.arrays import Flags
from tarnkappe.attacks.base import AttackCard, Finding, SequelAttack
from tarnkappe.attacks.people import People, covering_looks
from tarnkappe.attacks.scene import Scene, Table
from tarnkappe.errors import DataError
from tarnkappe.fixes import Fix
from tarnkappe.wording import percent, plural

#: Pairs of a person and a look times values that are looked at in one go.
_AT_ONCE = 1 << 26

#: What is missing where there is nothing to compare with.
_OTHER = "a release of the same people with the same secret"


@dataclass(frozen=True)
class ComplementaryRelease(SequelAttack):
    r"""Two releases of the same people are intersected: a person's secret stands in both of their groups.

    For every person, the values that stand in some group that fits the person are found in each release. What stands in
    all of them is left:

    .. math:: |\cap_R \cup_{G \in R,\, G \text{ fits}} \{s \in G\}| = 1

    gives the secret away. The baseline is the same with the best single release. With a table of people that holds the
    secrets, only values that are right count. A second release with the groups of the first adds nothing.
    O(people · different records · columns) at worst.

    References
    ----------
    .. [Swe02] Sweeney. "k-anonymity: a model for protecting privacy." International Journal on Uncertainty, Fuzziness
       and Knowledge-based Systems 2002.
    .. [GKS08] Ganta, Kasiviswanathan, Smith. "Composition attacks and auxiliary information in data privacy." KDD 2008.
    """

    name: ClassVar = "complementary-release"
    title: ClassVar = "complementary release attack"
    card: ClassVar = AttackCard(
        attacker="has two releases of the same people, and keeps what both say about a person.",
        success="one value is left that can be the person's secret.",
        baseline="the same with the better one of the two releases alone.",
        remedy="keep the groups of the earlier release, or treat what it published as quasi-identifiers",
    )
    needs: ClassVar = ("quasi", "sensitive", "known", "other", "whole")

    def carry_out(self, scene: Scene) -> Finding:
        """The share of people of whom one value is left."""
        assert scene.known is not None
        column = self.of(scene)
        people = scene.joint_ground.people(scene.known)
        tables = [t for t in (scene.release, *scene.others) if column in _secrets(t).columns]
        if len(tables) < 2:
            what = f"no other release has '{column}', so nothing is left over when they are compared"
            raise DataError("E410", what, hint=Fix(f"--other  {_OTHER}", f"{_OTHER} in  others"))
        texts = [_secrets(t)[column].cast(pl.String) for t in tables]
        values = pl.concat(texts).unique(maintain_order=True).to_list()
        alone = [_possible(scene, table, column, people, values) for table in tables]
        left = np.logical_and.reduce(alone)
        reached = np.logical_and.reduce([p.any(axis=1) for p in alone])
        n = int(reached[people.of].sum())
        told = [self._told(scene, people, p, reached, column, values) for p in [left, *alone]]
        baseline = max(told[1:]) / n if n else 0.0
        n_releases = plural(len(tables), "release")
        sentence = (
            f"{n_releases} together leave one {column} for {percent(told[0] / n if n else 0.0)} of "
            f"{plural(n, 'person', 'people')}; the better one alone for {percent(baseline)}."
        )
        sizes = left.sum(axis=1)[people.of][reached[people.of]]
        figures = {
            "values left on average": float(sizes.mean()) if n else 0.0,
            "people for whom nothing is left": int((sizes == 0).sum()),
        }
        return self.found(told[0], n, baseline, sentence, column=column, figures=figures)

    @staticmethod
    def _told(
        scene: Scene, people: People, possible: Flags, reached: Flags, column: str, values: list[str | None]
    ) -> int:
        """People of whom one value is left; only where it is right, if that is known."""
        assert scene.known is not None
        one = (possible.sum(axis=1) == 1) & reached
        if column not in scene.known.columns:
            return int(people.count[one].sum())
        rows = np.flatnonzero(one[people.of])
        said = [values[i] for i in possible[people.of[rows]].argmax(axis=1).tolist()]
        truth = scene.known[column].cast(pl.String).gather(rows)
        return int(pl.Series(said, dtype=pl.String).eq_missing(truth).sum())


def _secrets(table: Table) -> pl.DataFrame:
    """Where the sensitive values of a release stand."""
    return table.frame if table.secrets is None else table.secrets


def _possible(scene: Scene, table: Table, column: str, everybody: People, values: list[str | None]) -> Flags:
    """Which values stand in some group that fits each of the people, by the columns that the release has."""
    assert scene.known is not None
    ground = scene.joint_ground
    names = [name for name in ground.names if name in table.frame.columns]
    if not names:
        return np.ones((len(everybody.codes), len(values)), np.bool_)
    looks, people = ground.looks(table.frame, table.name, names), ground.people(scene.known, names)
    place = {value: i for i, value in enumerate(values)}
    if table.number is None:
        group, cells = looks.of, pl.DataFrame({"g": looks.of, "v": table.frame[column].cast(pl.String)})
    else:
        numbers = table.frame[table.number].rank("dense") - 1
        known = pl.DataFrame({"n": table.frame[table.number], "g": numbers.cast(pl.Int64)}).unique()
        group = numbers.to_numpy().astype(np.int64)
        rows = _secrets(table).select(pl.col(table.number).alias("n"), pl.col(column).cast(pl.String).alias("v"))
        cells = rows.join(known, on="n").select("g", "v")
    cells = cells.unique()
    in_group = np.zeros((int(group.max()) + 1, len(values)), np.bool_)
    in_group[cells["g"].to_numpy(), [place[v] for v in cells["v"].to_list()]] = True
    pairs = np.unique(np.stack([looks.of, group], axis=1), axis=0)
    in_look = np.zeros((looks.n, len(values)), np.bool_)
    begin = np.searchsorted(pairs[:, 0], np.arange(looks.n))
    in_look[:] = np.logical_or.reduceat(in_group[pairs[:, 1]], begin, axis=0)
    start, look = covering_looks(people, looks)
    out = np.zeros((len(people.codes), len(values)), np.bool_)
    step = max(1, _AT_ONCE // len(values))
    first = 0
    while first < len(out):  # as many people at a time as memory allows
        last = max(first + 1, int(np.searchsorted(start, start[first] + step, "right")) - 1)
        some = np.flatnonzero(np.diff(start[first : last + 1])) + first
        if len(some):
            chosen = in_look[look[start[first] : start[last]]]
            out[some] = np.logical_or.reduceat(chosen, start[some] - start[first], axis=0)
        first = last
    row = np.unique(everybody.of, return_index=True)[1]  # one row of each of those whom all columns tell apart
    return out[people.of[row]]

"""The minimality attack."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import comb
from typing import ClassVar

import numpy as np
import polars as pl

from tarnkappe.arrays import Flags
from tarnkappe.attacks.base import AttackCard, Finding, Need, SecretAttack
from tarnkappe.attacks.people import covering_looks
from tarnkappe.attacks.scene import Scene
from tarnkappe.errors import JobError
from tarnkappe.fixes import Fix
from tarnkappe.params import param
from tarnkappe.wording import percent, plural


@dataclass(frozen=True)
class Minimality(SecretAttack):
    r"""A group was coarsened only because it had to be: whoever knows that learns who made it necessary.

    The attacker knows the quasi-identifiers of everybody, and that people with the same ones were put together with
    others only if more than 1/``l`` of some of them had the guarded value. Of a published group with m such records,
    all ways to deal them to its n₁, n₂, … people are equally likely at first. Those that would have left every part as
    it is are ruled out:

    .. math:: P(i) = \frac{E[\, c_i \mid \exists j : c_j > n_j / l \,]}{n_i}, \qquad
              (c_1, c_2, \dots) \sim \text{hypergeometric}.

    The attacker accuses everybody of whom that is more likely than the share of the group. The rate is the share of
    those accused who have the value, the baseline the share that the group's figures alone would make one expect.
    Where the decision did not look at the secret, the reasoning is wrong and gains nothing. Exact, by dynamic
    programming: O(parts · m²) for every published group.

    References
    ----------
    .. [WFWP07] Wong, Fu, Wang, Pei. "Minimality attack in privacy preserving data publishing." VLDB 2007.
    """

    name: ClassVar = "minimality"
    title: ClassVar = "minimality attack"
    card: ClassVar = AttackCard(
        attacker="knows everybody's quasi-identifiers, the algorithm, and that it coarsens no more than it must.",
        success="somebody who is accused because their group had to be coarsened has the guarded value.",
        baseline="the share of the value in the published groups of those who are accused.",
        remedy="form groups without looking at the secret, such as by k-anonymity alone",
    )
    needs: ClassVar[tuple[Need, ...]] = ("quasi", "sensitive", "known", "secrets", "rows")

    value: str | None = param(
        None, doc="The value that was guarded; the rarest one if not given.", refers_to="value", example="HIV"
    )
    l: int = param(2, doc="No more than one in so many could have it.", ge=2, example=2)  # noqa: E741

    def carry_out(self, scene: Scene) -> Finding:
        """The share of those accused who have the value."""
        assert scene.known is not None
        column = self.of(scene)
        spread = scene.spread(column)
        if self.value is not None and self.value not in spread.values:
            raise JobError(
                "E105",
                f"'{column}' has no such value as the guarded one",
                hint=Fix("minimality: {l: 2}", "Minimality(l=2)"),
            )
        rarest = spread.values[int(np.argmin(np.where(spread.table > 0, spread.table, spread.n + 1)))]
        value = self.value if self.value is not None else rarest
        ground = scene.ground
        people, looks = ground.people(scene.known), ground.looks(scene.release.frame, scene.release.name)
        has = _having(scene.known[column], value)
        guilty = np.bincount(people.of, has, len(people.codes))
        guarded = np.bincount(looks.of, _having(scene.release.frame[column], value), looks.n).astype(int)
        start, look = covering_looks(people, looks)
        person = np.repeat(np.arange(len(people.codes)), np.diff(start))
        order = np.argsort(look, kind="stable")
        ends = np.searchsorted(look[order], np.arange(looks.n + 1))
        right = expected = 0.0
        accused, highest = 0, 0.0
        for g in range(looks.n):
            parts = person[order[ends[g] : ends[g + 1]]]
            sizes = tuple(int(n) for n in people.count[parts])
            if len(parts) < 2 or guarded[g] == 0 or sum(sizes) != looks.count[g]:
                continue  # not coarsened, nothing to guard, or people could also be elsewhere
            share = guarded[g] / looks.count[g]
            belief = np.array(credibility(sizes, int(guarded[g]), self.l))
            highest = max(highest, float(belief.max()))
            blamed = parts[belief > share + 1e-12]
            accused += int(people.count[blamed].sum())
            right += float(guilty[blamed].sum())
            expected += float(people.count[blamed].sum()) * share
        baseline, rate = (expected / accused, right / accused) if accused else (0.0, 0.0)
        sentence = (
            f"Knowing that groups are coarsened only if they must be, {plural(accused, 'person', 'people')} are "
            f"accused of one guarded {column}, {percent(rate)} of them rightly; their groups alone "
            f"would make one expect {percent(baseline)}."
        )
        return self.found(right, accused, baseline, sentence, column=column, figures={"highest belief": highest})


def _having(series: pl.Series, value: str | None) -> Flags:
    """Which records have a value."""
    texts = series.cast(pl.String)
    return (texts.is_null() if value is None else (texts == value).fill_null(value=False)).to_numpy()


def credibility(sizes: tuple[int, ...], guarded: int, l: int) -> list[float]:  # noqa: E741
    """How likely people of each part have the guarded value, if some part has more of it than one in l.

    All ways to deal it to the people are equally likely before that is known. Without any way that would have made
    coarsening necessary, nothing is learned.

    >>> credibility((2, 2), 2, 2)
    [0.5, 0.5]
    >>> [round(p, 3) for p in credibility((2, 4), 2, 2)]
    [1.0, 0.0]
    """
    everybody = sum(sizes)

    @cache
    def harmless(first: int, left: int) -> int:
        """Ways to deal the value to the parts from `first` on so that none of them has too much."""
        if first == len(sizes):
            return int(left == 0)
        return sum(
            comb(sizes[first], c) * harmless(first + 1, left - c) for c in range(min(sizes[first] // l, left) + 1)
        )

    every = comb(everybody, guarded)
    telling = every - harmless(0, guarded)
    if telling == 0:
        return [guarded / everybody] * len(sizes)
    out = []
    for i, n in enumerate(sizes):
        rest = sizes[:i] + sizes[i + 1 :]
        others = _harmless_ways(rest, guarded, l)
        # Persons of the part that have it, summed over all ways, less those of the ways that are ruled out.
        total = comb(everybody - 1, guarded - 1) * n
        ruled_out = sum(c * comb(n, c) * others[guarded - c] for c in range(1, min(n // l, guarded) + 1))
        out.append((total - ruled_out) / telling / n)
    return out


def _harmless_ways(sizes: tuple[int, ...], most: int, l: int) -> list[int]:  # noqa: E741
    """Ways to deal 0, 1, … most values to parts so that none of them has more than one in l."""
    ways = [1, *[0] * most]
    for n in sizes:
        can = [comb(n, c) for c in range(n // l + 1)]
        ways = [sum(can[c] * ways[m - c] for c in range(min(len(can), m + 1))) for m in range(most + 1)]
    return ways

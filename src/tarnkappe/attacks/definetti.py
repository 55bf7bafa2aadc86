"""The deFinetti attack."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import polars as pl

from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.attacks.base import AttackCard, Finding, Need, SecretAttack
from tarnkappe.attacks.people import covering_looks
from tarnkappe.attacks.scene import Scene, Table
from tarnkappe.params import param
from tarnkappe.wording import percent


@dataclass(frozen=True)
class DeFinetti(SecretAttack):
    r"""Whoever sees many groups learns which quasi-identifiers go with which secret, and uses it inside every group.

    People of a group stand with their quasi-identifiers, its secrets beside them in no order. Who has which is guessed
    by naive Bayes, fitted to the guesses, again and again:

    .. math:: w_{is} \propto P(s) \prod_j P(x_{ij} \mid s), \qquad
              \sum_{s} w_{is} = 1, \quad \sum_{i \in G} w_{is} = |\{r \in G : r[S] = s\}| .

    All weights start as the shares of the group, so nothing is left to chance. The guess for a person is the value with
    the largest weight, all of them alike where several share it. It is right if the person has it; of people who look
    the same, as often as they have it, given what their groups hold. The baseline is the most frequent secret of the
    group. In a generalised release all people of a group look alike, so that nothing is learned beyond the baseline.
    O(rounds · pairs of a person and a secret of the group · columns).

    Differs from the paper in: weights instead of one matching that is improved by swaps.

    References
    ----------
    .. [Kif09] Kifer. "Attacks on privacy and deFinetti's theorem." SIGMOD 2009.
    """

    name: ClassVar = "definetti"
    title: ClassVar = "deFinetti attack"
    card: ClassVar = AttackCard(
        attacker="sees quasi-identifiers and secrets group by group, and learns from all groups which go together.",
        success="the secret that is most likely then is the person's.",
        baseline="the most frequent secret of the group.",
        remedy="generalise the quasi-identifiers (mondrian) instead of publishing them beside buckets of secrets",
    )
    needs: ClassVar[tuple[Need, ...]] = ("quasi", "sensitive", "known", "secrets")

    rounds: int = param(30, doc="How often the guesses are improved.", ge=1)

    def carry_out(self, scene: Scene) -> Finding:
        """The share of people whose secret is guessed right."""
        assert scene.known is not None
        column = self.of(scene)
        release = scene.release
        if release.torn:  # what stands beside a secret is torn from the rest, so that numbers alone join them
            release = replace(release, beside={})
        spread = scene.spread(column, release)
        group, people = _people(release, column, scene)
        features = [_codes(people[name]) for name in people.columns]
        person, code, share = _pairs(group, spread.start, spread.code, spread.count, spread.size)
        weight = _learn(features, person, code, share, group, len(spread.values), self.rounds)
        guess = weight >= np.maximum.reduceat(weight, _begin(person))[person] - 1e-9
        among = np.bincount(person, guess, len(group))[person]
        true = (
            share if release.number is None else self._true(scene, release, people.columns, person, code, share, group)
        )
        right = float((true / among)[guess].sum())
        n = len(group)
        baseline = float((spread.most / spread.size)[group].sum() / n)
        blind = float((np.bincount(spread.group, spread.count**2) / spread.size**2)[group].sum() / n)
        sentence = (
            f"Learning from all groups, the {column} of {percent(right / n)} of the people is guessed right; the most "
            f"frequent value of each group would be right for {percent(baseline)}."
        )
        figures = {"random value of the group": blind}
        return self.found(right, n, baseline, sentence, column=column, figures=figures)

    def _true(
        self,
        scene: Scene,
        release: Table,
        names: list[str],
        person: Counts,
        code: Codes,
        share: Floats,
        group: Counts,
    ) -> Floats:
        """How likely each pair of a person and a secret of the group is right, by the true secrets of people.

        Whoever looks like nobody else has one secret, and the pair is right or not. People who look the same are dealt
        to their groups as the secrets of the groups allow.
        """
        assert scene.known is not None
        column = self.of(scene)
        looks, truth = _secrets_of_looks(scene, release, column, names)
        values = pl.Series(scene.spread(column, release).values, dtype=pl.String)
        asked = pl.DataFrame({"look": looks[person], "s": values.gather(code)})
        found = asked.join(truth, on=["look", "s"], how="left", nulls_equal=True, maintain_order="left")["n"]
        return _dealt(
            found.fill_null(0).cast(pl.Float64).to_numpy().copy(), person, group[person] * len(values) + code, share
        )


def _secrets_of_looks(scene: Scene, release: Table, column: str, names: list[str]) -> tuple[Counts, pl.DataFrame]:
    """What every row looks like, and how many of the people who could be behind each look have which secret."""
    assert scene.known is not None
    people = scene.ground.people(scene.known, names)
    looks = scene.ground.looks(release.frame, release.name, names)
    start, look = covering_looks(people, looks)
    pairs = pl.DataFrame({"person": np.repeat(np.arange(len(people.codes)), np.diff(start)), "look": look})
    have = pl.DataFrame({"person": people.of, "s": scene.known[column].cast(pl.String)})
    have = have.group_by("person", "s").agg(pl.len().alias("n"))
    return looks.of, pairs.join(have, on="person").group_by("look", "s").agg(pl.col("n").sum())


def _dealt(weight: Floats, person: Counts, cell: Counts, share: Floats, rounds: int = 10) -> Floats:
    """Weights scaled so that each person has one secret, and each secret of a group as many people as have it."""
    wanted = np.bincount(cell, share)
    for _ in range(rounds):
        weight = weight / np.maximum(np.bincount(person, weight), 1e-300)[person]
        weight = weight * (wanted / np.maximum(np.bincount(cell, weight, len(wanted)), 1e-300))[cell]
    out: Floats = weight / np.maximum(np.bincount(person, weight), 1e-300)[person]
    return out


def _people(release: Table, column: str, scene: Scene) -> tuple[Counts, pl.DataFrame]:
    """The group of every person, as secrets are counted in, and their quasi-identifiers as published."""
    names = [name for name in scene.names if name in release.frame.columns]
    if release.torn:  # the slice that says most, of those that the secret was torn from
        beside = scene.release.beside.get(column, ())
        names = list(max((s for s in release.slices if not set(s) & set(beside)), key=len, default=names))
    keys = list(release.quasi) if release.number is None else [release.number, *release.beside.get(column, ())]
    keys = [key for key in keys if key in release.frame.columns]
    group = release.frame.select(pl.struct(keys).rank("dense") - 1).to_series()
    return group.to_numpy().astype(np.int64), release.frame.select(names)


def _codes(series: pl.Series) -> Codes:
    return (series.cast(pl.String).fill_null("").rank("dense") - 1).to_numpy().astype(np.int32)


def _pairs(group: Counts, start: Counts, code: Codes, count: Counts, size: Counts) -> tuple[Counts, Codes, Floats]:
    """Every person with every secret of their group, and the share of the group that has it."""
    n = np.diff(start)[group]
    person = np.repeat(np.arange(len(group)), n)
    entry = start[group][person] + np.arange(len(person)) - np.repeat(np.cumsum(n) - n, n)
    return person, code[entry], count[entry] / size[group][person]


def _begin(person: Counts) -> Counts:
    return np.flatnonzero(np.append(True, person[1:] != person[:-1]))


def _learn(
    features: list[Codes], person: Counts, code: Codes, share: Floats, group: Counts, n_values: int, rounds: int
) -> Floats:
    """How likely each person has each secret of their group, after some rounds of learning."""
    weight = share.copy()
    cell = group[person] * n_values + code
    for _ in range(rounds):
        total = np.bincount(code, weight, n_values) + 1e-12
        log = np.log(total[code])
        for values in features:
            key = code.astype(np.int64) * (int(values.max()) + 1) + values[person]
            seen = np.bincount(key, weight, n_values * (int(values.max()) + 1))
            log += np.log((seen[key] + 1.0) / (total[code] + int(values.max()) + 1))
        top = np.maximum.reduceat(log, _begin(person))[person]
        new = _dealt(np.exp(log - top) * share, person, cell, share)
        weight = np.round(new, 12)  # what is alike stays alike, whatever the sums were rounded to
    return weight

"""Probabilistic record linkage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.arrays import Counts, Floats
from tarnkappe.attacks.base import Attack, AttackCard, Finding, Need, Remedy
from tarnkappe.attacks.comparing import Comparison
from tarnkappe.attacks.distance_linkage import linked
from tarnkappe.attacks.scene import Scene
from tarnkappe.errors import JobError
from tarnkappe.fixes import setting
from tarnkappe.kernels.attacks.matching import count_patterns, rank_by_pattern
from tarnkappe.params import param
from tarnkappe.threads import share_out

#: People whose pairs with all records the weights are learned from.
_SAMPLE = 1000

#: Columns that patterns of agreement are counted over.
_MOST_COLUMNS = 20


@dataclass(frozen=True)
class ProbabilisticLinkage(Attack):
    r"""Every person is linked to the record that most likely is theirs, by weights that the two tables tell themselves.

    A person and a record agree in a column or not. How often they agree if they belong together (m) and if not (u) is
    learned from all pairs by expectation maximisation, without knowing which pairs are right. The score of a pair is

    .. math:: \sum_{j \text{ agrees}} \log (m_j / u_j) + \sum_{j \text{ differs}} \log ((1 - m_j) / (1 - u_j)) .

    A link is right if the person's own record, which a key tells, scores best and no other scores the same. Unlike
    plain linkage it survives errors in the table of people. In a k-anonymous release k records always score the same.
    Weights are learned from a sample of 1 000 people, drawn by lot, and all records. The baseline is a random pick.
    O(people · different records · columns).

    References
    ----------
    .. [FeSu69] Fellegi, Sunter. "A theory for record linkage." Journal of the American Statistical Association 1969.
    """

    name: ClassVar = "probabilistic-linkage"
    title: ClassVar = "probabilistic record linkage"
    card: ClassVar = AttackCard(
        attacker="has a table of people that may have errors, and learns from both tables which agreement means much.",
        success="the likeliest record is the person's own, and no other is as likely.",
        baseline="a record picked at random.",
        remedy=Remedy("k-anonymity", k=5),
    )
    needs: ClassVar[tuple[Need, ...]] = ("quasi", "known", "key", "whole")
    finds: ClassVar = "identity"

    near: float = param(
        0.0, doc="Numbers agree if they differ by no more standard deviations; averages need some.", ge=0, example=0.1
    )

    def carry_out(self, scene: Scene) -> Finding:
        """The share of people who are linked to their own record."""
        compared = Comparison.of(scene, self.near)
        columns = compared.codes.shape[1]
        if columns > _MOST_COLUMNS:
            raise JobError(
                "E110",
                f"it compares at most {_MOST_COLUMNS} columns",
                hint=setting("--quasi age,sex,zip", "quasi", ["age", "sex", "zip"]),
            )
        n = len(compared.own)
        sample = np.sort(scene.chance().permutation(n)[:_SAMPLE])
        patterns = np.zeros(1 << columns, np.int64)
        tables = compared.agree, compared.offset, compared.width
        count_patterns(*tables, compared.codes[sample], compared.labels, compared.count, patterns)
        score = learned_weights(patterns, columns, scene.release.n_rows)
        codes = compared.codes, compared.labels
        beaten, ties = np.zeros(n, np.bool_), np.zeros(n, np.int64)

        def task(begin: int, end: int) -> None:
            rank_by_pattern(*tables, score, *codes, compared.count, compared.own, begin, end, beaten, ties)

        share_out(task, np.arange(n + 1, dtype=np.int64) * max(len(compared.labels), 1))
        return linked(self, scene, beaten, ties)


def learned_weights(patterns: Counts, columns: int, rows: int, rounds: int = 100) -> Floats:
    """The score of every pattern of agreement, learned from how often each occurs among all pairs.

    One pair in as many as there are rows is right. An agreement never speaks against a pair: columns that depend on
    each other would otherwise be taken for what makes a pair right.

    >>> score = learned_weights(np.array([900, 40, 45, 15]), 2, 50)
    >>> bool(score[3] > score[1] > score[0])
    True
    """
    bits = (np.arange(1 << columns)[:, None] >> np.arange(columns)) & 1
    total = max(int(patterns.sum()), 1)
    agreeing = (patterns[:, None] * bits).sum(axis=0) / total
    share, m = 1 / max(rows, 2), np.full(columns, 0.9)  # of the pairs, and of the agreements of those that are right
    u = np.clip(agreeing, 1e-6, 1 - 1e-6)
    for _ in range(rounds):
        match = share * np.prod(np.where(bits, m, 1 - m), axis=1)
        other = (1 - share) * np.prod(np.where(bits, u, 1 - u), axis=1)
        weight = patterns * match / np.maximum(match + other, 1e-300)
        rest = patterns - weight
        # One agreement in advance keeps a column that never differs from deciding alone.
        m = np.clip(((weight[:, None] * bits).sum(axis=0) + 1) / (weight.sum() + 2), 1e-6, 1 - 1e-6)
        u = np.clip((rest[:, None] * bits).sum(axis=0) / max(rest.sum(), 1e-300), 1e-6, 1 - 1e-6)
        m = np.maximum(m, u + 0.01 * (1 - u))
    score: Floats = np.where(bits, np.log(m / u), np.log((1 - m) / (1 - u))).sum(axis=1)
    return score

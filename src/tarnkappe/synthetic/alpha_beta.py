"""The α-β mechanism for (d, γ)-privacy: real records are kept by chance, and others are inserted by chance."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tarnkappe.arrays import Codes, Counts
from tarnkappe.bundle import Found
from tarnkappe.criteria.base import Card, Verdict
from tarnkappe.errors import JobError
from tarnkappe.synthetic.domains import Coded
from tarnkappe.synthetic.model import Model
from tarnkappe.wording import stated

#: Records that may be inserted, and possible records that are gone through one by one.
_MOST_INSERTED, _FEW = 20_000_000, 1 << 22


def keeping_and_inserting(d: float, gamma: float) -> tuple[float, float]:
    r"""The :math:`\alpha` and :math:`\beta` that keep the most real records for a promise.

    A record is published with probability :math:`\alpha + \beta` if somebody has it, and with :math:`\beta` if not.
    With a prior belief of at most d that somebody has it, the belief after seeing it is at most :math:`\gamma` if
    :math:`(\alpha + \beta) / \beta \le \gamma (1 - d) / d (1 - \gamma)`; and after not seeing it, it is at least
    :math:`d / \gamma` of the belief before if :math:`(1 - \alpha - \beta) / (1 - \beta) \ge d / \gamma`. Both hold
    with equality here.

    >>> alpha, beta = keeping_and_inserting(0.01, 0.2)
    >>> round(believed(0.01, alpha, beta, seen=True), 9)
    0.2
    """
    if gamma >= 1:
        return 1.0 - d, 0.0
    ratio, lost = gamma * (1 - d) / (d * (1 - gamma)), 1 - d / gamma
    beta = lost / (ratio - 1 + lost)
    return (ratio - 1) * beta, beta


def believed(prior: float, alpha: float, beta: float, *, seen: bool) -> float:
    """How likely somebody has a record, to whoever thought it as likely as `prior`, after it was seen or not."""
    real, made = (alpha + beta, beta) if seen else (1 - alpha - beta, 1 - beta)
    return prior * real / (prior * real + (1 - prior) * made)


@dataclass(frozen=True, eq=False)
class AlphaBeta(Model):
    r"""A set of records: some that people have, and some that nobody has.

    How many people have a property is estimated from the number :math:`v` of published records that have it and the
    number :math:`D` of possible ones: :math:`(v - \beta D) / \alpha`.

    References
    ----------
    .. [RaSH07] Rastogi, Suciu, Hong. "The boundary between privacy and utility in data publishing." VLDB 2007.
    """

    d: float
    gamma: float
    alpha: float
    beta: float
    possible: int
    #: The records that people have, each once.
    real: Counts

    promise: ClassVar = "d-gamma-privacy"
    title: ClassVar = "(d, γ)-privacy"
    attacker: ClassVar = (
        "somebody who thinks of every record, independently of others, that it is in the data for certain, or at most "
        "as likely as d."
    )
    card: ClassVar = Card(
        protects_from="being believed to be in the data more than γ, or much less than before.",
        does_not="protect from who knows that records depend on each other, or believed more than d before.",
        typical="γ = 0.2 and d about the number of people over the number of possible records.",
        cost="very high where many records are possible: most published records are nobody's.",
    )

    @property
    def usual_records(self) -> int:
        """Chance decides."""
        return 0

    def draw(self, n: int, rng: np.random.Generator) -> Codes:
        """Keep and insert; `n` says nothing, chance decides how many."""
        if self.possible <= _FEW:
            odds = np.full(self.possible, self.beta)
            odds[self.real] = self.alpha + self.beta
            chosen = np.flatnonzero(rng.random(self.possible) < odds)
        else:
            kept = self.real[rng.random(len(self.real)) < self.alpha + self.beta]
            chosen = np.concatenate([kept, self._inserted(rng)])
        shape = tuple(domain.size for domain in self.domains)
        return np.column_stack(np.unravel_index(rng.permutation(chosen), shape)).astype(np.int32)

    def _inserted(self, rng: np.random.Generator) -> Counts:
        """As many different records that nobody has as chance says, all equally likely."""
        wanted = int(rng.binomial(self.possible - len(self.real), self.beta))
        found = np.empty(0, np.int64)
        while len(found) < wanted:
            more = rng.integers(0, self.possible, wanted - len(found) + 16)
            more = more[~np.isin(more, self.real)]
            both, first = np.unique(np.concatenate([found, more]), return_index=True)
            found = both[np.argsort(first)]  # in the order in which they were drawn, or the end would be cut off
        return found[:wanted]

    def sentence(self) -> str:
        """Both bounds."""
        return (
            f"whoever thought a record at most {stated(self.d)} likely thinks it at most {stated(self.gamma)} likely "
            f"now, and at least {self.d / self.gamma:g} times as likely as before."
        )

    def check(self, people: Codes, written: Codes) -> Found:
        """The beliefs that the probabilities lead to; a record must not stand twice, which would tell it is real."""
        after = believed(self.d, self.alpha, self.beta, seen=True)
        asked = f"belief after ≤ {stated(self.gamma)} for at most {stated(self.d)} before"
        ok = after <= self.gamma + 1e-9 and (1 - self.alpha - self.beta) >= (1 - self.beta) * self.d / self.gamma - 1e-9
        twice = len(written) - len(np.unique(written, axis=0)) if len(written) else 0
        problems = (f"{twice} records stand twice",) if twice else ()
        return Found((Verdict(self.promise, None, asked, round(after, 9), ok, int(not ok)),), problems)

    def facts(self) -> dict[str, Any]:
        """How many records people have."""
        return {"different_records": len(self.real)}

    def rates(self) -> dict[str, Any]:
        """What readers need to estimate from the table; none of it depends on the data."""
        return {"alpha": self.alpha, "beta": self.beta, "possible_records": self.possible}


def fit_alpha_beta(people: Codes, domains: tuple[Coded, ...], d: float, gamma: float) -> AlphaBeta:
    """Choose the probabilities, and remember what records people have."""
    alpha, beta = keeping_and_inserting(d, gamma)
    sizes = [domain.size for domain in domains]
    possible = math.prod(sizes)
    if possible >= 1 << 62 or possible * beta > _MOST_INSERTED:
        raise JobError(
            "E110",
            f"about {possible * beta:.2g} records that nobody has would be inserted",
            details=[f"{possible:.2g} records are possible, and each is inserted with a probability of {beta:.2g}."],
            hint="Drop columns, declare wider intervals, or lower  d.",
        )
    real = np.unique(np.ravel_multi_index([people[:, j] for j in range(len(domains))], sizes))
    return AlphaBeta(domains, d, gamma, alpha, beta, possible, real)

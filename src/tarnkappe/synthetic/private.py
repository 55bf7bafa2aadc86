"""What mechanisms with differential privacy have in common: what they promise, and how noisy counts are put right."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.bundle import Found
from tarnkappe.criteria.base import Card, Verdict
from tarnkappe.mechanisms import epsilon_of, gaussian_noise, geometric_noise, granted_epsilon
from tarnkappe.synthetic.model import Model, Spent
from tarnkappe.wording import at_most, stated

#: What one step may spend more than it was granted, by the rounding of a sum of floats.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Private(Model):
    """A mechanism whose every step is differentially private; the steps add up.

    Two tables are neighbours if one has one record more. So the number of records is a secret too.

    References
    ----------
    .. [DMNS06] Dwork, McSherry, Nissim, Smith. "Calibrating noise to sensitivity in private data analysis." TCC 2006.
    .. [CeRo21] Cesar, Rogers. "Bounding, concentrating, and truncating: unifying privacy loss composition for data
       analytics." ALT 2021.
    """

    epsilon: float
    delta: float
    ledger: tuple[Spent, ...]

    promise: ClassVar = "differential-privacy"
    title: ClassVar = "differential privacy"
    attacker: ClassVar = "anybody, whatever they know: they may know everything about everybody but one person."
    card: ClassVar = Card(
        protects_from="learning anything about a person that could not be learnt without that person's record.",
        does_not="keep what few people have in common; and it cannot be proved by looking at a table.",
        typical="epsilon 0.5 to 2, over all releases about the same people together.",
        cost="high for few people and many values; little for many people.",
    )

    def spent(self) -> tuple[Spent, ...]:
        """Every step with what it costs."""
        return self.ledger

    def sentence(self) -> str:
        """The odds in numbers."""
        odds = at_most(float(np.exp(self.epsilon)))
        odds = f"with or without any one person, no release is more than {odds} times as likely"
        return odds + (f", but for a chance of {stated(self.delta)}." if self.delta else ".")

    def check(self, people: Codes, written: Codes) -> Found:
        """The costs of all steps are added up; a table can show nothing more."""
        total = together(self.ledger, self.delta)
        asked = f"ε ≤ {stated(self.epsilon)}" + (f", δ = {stated(self.delta)}" if self.delta else "")
        ok = total <= self.epsilon + _ROUNDING
        return Found((Verdict(self.promise, None, asked, round(total, 9), ok, int(not ok)),))

    def facts(self) -> dict[str, Any]:
        """The noise of every step stands in the manifest for everybody; nothing is left for the publisher alone."""
        return {}


def together(steps: Iterable[Spent], delta: float) -> float:
    """What steps cost together: the sum of pure epsilons, or with a delta what the sum of their rhos comes to."""
    steps = tuple(steps)
    pure = [s.epsilon for s in steps if s.epsilon is not None]
    added = sum(pure) if len(pure) == len(steps) else math.inf
    return min(added, epsilon_of(sum(s.rho for s in steps), delta)) if delta else added


def pure(step: str, epsilon: float, times: int = 1) -> Spent:
    """What a step costs that is carried out several times, each with pure epsilon, as chance is really drawn."""
    each = float(granted_epsilon(epsilon))
    return Spent(step, each * times, each * each / 2 * times)


def chosen(step: str, epsilon: float, times: int = 1) -> Spent:
    """The same for choices by the exponential mechanism, whose rho is only a quarter of that [CeRo21]."""
    each = float(granted_epsilon(epsilon))
    return Spent(step, each * times, each * each / 8 * times)


@dataclass(frozen=True)
class Noise:
    """The noise of a table of counts of which one record changes one by one: geometric, or Gaussian with a variance."""

    epsilon: float = 0.0
    variance: int = 0

    @classmethod
    def worth(cls, rho: float) -> Noise:
        """Gaussian noise that costs no more than so much zCDP."""
        return cls(variance=max(math.ceil(1 / (2 * rho)), 1))

    def draw(self, n: int, rng: np.random.Generator) -> Counts:
        """Independent draws."""
        return gaussian_noise(self.variance, rng, n) if self.variance else geometric_noise(self.epsilon, 1, rng, n)

    @property
    def deviation(self) -> float:
        """How far off a count is, about."""
        return math.sqrt(self.variance) if self.variance else math.sqrt(2) / self.epsilon

    def cost(self, step: str, times: int = 1) -> Spent:
        """What so many tables cost."""
        return Spent(step, None, times / (2 * self.variance)) if self.variance else pure(step, self.epsilon, times)


def without_negatives(noisy: Floats, total: float) -> Floats:
    """The table nearest to a noisy one that has no negative counts and adds up to a total.

    >>> without_negatives(np.array([5.0, -1.0, 2.0]), 6.0).tolist()
    [4.5, 0.0, 1.5]
    """
    flat = noisy.ravel()
    down = np.sort(flat)[::-1]
    over = (np.cumsum(down) - total) / np.arange(1, len(flat) + 1)
    last = int(np.flatnonzero(down > over)[-1]) if total > 0 else 0
    out: Floats = np.maximum(flat - over[last], 0.0).reshape(noisy.shape)
    return out

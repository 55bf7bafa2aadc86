"""What mechanisms with differential privacy have in common: what they promise, and how noisy counts are put right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tarnkappe.arrays import Codes, Floats
from tarnkappe.bundle import Found
from tarnkappe.criteria.base import Card, Verdict
from tarnkappe.mechanisms import granted_epsilon
from tarnkappe.synthetic.model import Model, Spent

#: What one step may spend more than it was granted, by the rounding of a sum of floats.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Private(Model):
    """A mechanism whose every step is differentially private; the steps add up.

    Two tables are neighbours if one has one record more. So the number of records is a secret too.
    """

    epsilon: float
    ledger: tuple[Spent, ...]

    promise: ClassVar = "differential-privacy"
    title: ClassVar = "ε-differential privacy"
    attacker: ClassVar = "whoever they are, and whatever they know: they may know everybody but one person."
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
        odds = np.exp(self.epsilon)
        return f"with or without any one person, no release is more than {odds:.3g} times as likely."

    def check(self, people: Codes, written: Codes) -> Found:
        """The costs of all steps are added up; a table can show nothing more."""
        total = sum(s.epsilon for s in self.ledger)
        asked = f"ε ≤ {self.epsilon:g}"
        ok = total <= self.epsilon + _ROUNDING
        return Found((Verdict(self.promise, None, asked, round(total, 9), ok, int(not ok)),))

    def facts(self) -> dict[str, Any]:
        """What each step cost."""
        return {"spent": {s.step: round(s.epsilon, 9) for s in self.ledger}}


def granted(step: str, epsilon: float, times: int = 1) -> Spent:
    """What a step costs that is carried out several times, as the noise is really drawn."""
    return Spent(step, float(granted_epsilon(epsilon)) * times)


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

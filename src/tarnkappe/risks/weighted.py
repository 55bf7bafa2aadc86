"""The risk of every record of a survey whose records stand for so many people each."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.errors import DataError, JobError
from tarnkappe.kernels.risks.series import mean_inverse
from tarnkappe.wording import count, percent


@dataclass(frozen=True)
class WeightedRisk:
    """Risks of records that stand for several people each: how many are expected to be found, and how many stand out.

    `expected` is the sum of all risks: so many records would be linked correctly. `of_households` is the share of
    households of which at least one member is found, if the data have households.
    """

    expected: float
    share: float
    highest: float
    at_risk: float
    threshold: float
    of_households: float | None = None
    highest_household: float | None = None

    def __str__(self) -> str:
        found = f"{count(round(self.expected))} records ({percent(self.share)}) expected to be found"
        return f"{found}; {percent(self.at_risk)} of the records above {percent(self.threshold)}"

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        return asdict(self)


def individual_risks(sizes: Counts, people: Floats) -> Floats:
    r"""The risk of a record in each group, by the weights of its records (Benedetti and Franconi).

    .. math:: r = E[1/F \mid f] = c \int_0^1 \frac{x^{f-1}}{c + x}\,dx, \quad p = f/\hat F, \quad c = \frac{p}{1-p}

    where f records stand for :math:`\hat F` people, the sum of their weights. For one record it is
    ``p/(1-p) ln(1/p)``; the general value is exact, not the usual approximation.

    >>> individual_risks(np.array([1, 2]), np.array([10.0, 20.0])).round(4).tolist()
    [0.2558, 0.0827]

    References
    ----------
    .. [BeFr98] Benedetti, Franconi. "Statistical and technological solutions for controlled data dissemination." 1998.
    .. [FrPo04] Franconi, Polettini. "Individual risk estimation in µ-Argus: a review." PSD 2004.
    """
    share = np.minimum(sizes / np.maximum(people, 1e-300), 1.0)
    out = np.empty(len(sizes))
    mean_inverse(np.ascontiguousarray(sizes, np.int64), np.ascontiguousarray(share, np.float64), out)
    return out


def household_risks(risks: Floats, household: Codes) -> Floats:
    r"""The chance that at least one member of each household is found: :math:`1 - \prod (1 - r)`.

    >>> household_risks(np.array([0.5, 0.5, 0.1]), np.array([0, 0, 1])).tolist()
    [0.75, 0.1]
    """
    with np.errstate(divide="ignore"):
        unseen = np.bincount(household, np.log1p(-risks))
    found: Floats = np.round(-np.expm1(unseen), 15).astype(np.float64)
    return found


def weighted_risk(
    group: Codes, weights: Floats, household: Codes | None = None, threshold: float = 0.2
) -> tuple[WeightedRisk, Floats]:
    """The risks of records that belong to groups and stand for so many people each; also every record's own."""
    sizes = np.bincount(group).astype(np.int64)
    risk = individual_risks(sizes, np.bincount(group, weights).astype(np.float64))[group]
    homes = None if household is None else household_risks(risk, household)
    summary = WeightedRisk(
        expected=float(risk.sum()),
        share=float(risk.mean()),
        highest=float(risk.max()),
        at_risk=float((risk > threshold).mean()),
        threshold=threshold,
        of_households=None if homes is None else float(homes.mean()),
        highest_household=None if homes is None else float(homes.max()),
    )
    return summary, risk


def require_weights(weights: Floats, column: str, where: str) -> None:
    """Refuse weights that are none."""
    if not np.isfinite(weights).all() or (weights < 1).any():
        raise DataError(
            "E406",
            f"column '{column}' has weights below 1 or none: every record stands at least for itself",
            where=where,
            hint="Give the column of sampling weights, in which a record stands for 1 person or more.",
        )


def require_one_of(column: str, known: tuple[str, ...], option: str) -> None:
    """Refuse a column that the data do not have."""
    if column not in known:
        raise JobError("E105", f"'{option}' names '{column}', which the data do not have", hint=f"{option} {known[0]}")

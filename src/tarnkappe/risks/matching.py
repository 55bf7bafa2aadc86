"""How likely somebody finds the right record: who knows a person, who wants anybody, and who wants all."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from tarnkappe.arrays import Counts
from tarnkappe.errors import JobError
from tarnkappe.wording import percent

AttackerName = Literal["prosecutor", "journalist", "marketer"]

_WANTS: dict[AttackerName, str] = {
    "prosecutor": "knows that a certain person is in the data and looks for their record",
    "journalist": "looks for anybody at all, to show that it can be done",
    "marketer": "links as many records as possible and does not mind mistakes",
}


@dataclass(frozen=True)
class Matching:
    """The chances of one kind of attacker who knows the quasi-identifiers of people.

    `highest` is the chance at the most exposed record, `average` that at a record drawn by lot, and `at_risk` the share
    of records whose chance is above the `threshold`. A marketer goes for the average only.
    """

    attacker: AttackerName
    highest: float | None
    average: float
    at_risk: float | None
    threshold: float

    @property
    def wants(self) -> str:
        """What such an attacker does, in words."""
        return _WANTS[self.attacker]

    def __str__(self) -> str:
        average = f"{percent(self.average)} on average"
        if self.highest is None or self.at_risk is None:
            return f"{average}: the share of records that would be linked correctly"
        return (
            f"{average}, {percent(self.highest)} at the most exposed record; "
            f"{percent(self.at_risk)} of the records above {percent(self.threshold)}"
        )

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        return asdict(self)


def require_threshold(threshold: float) -> None:
    """Refuse a threshold that is no probability."""
    if not 0 < threshold <= 1:
        raise JobError("E110", f"'threshold' must be above 0 and at most 1, got {threshold!r}", hint="threshold=0.2")


def prosecutor(sizes: Counts, threshold: float = 0.2) -> Matching:
    r"""The attacker who knows that the person is in the data: 1/f for a record in a group of f.

    .. math:: \max = 1/\min f, \quad \mathrm{average} = \frac{\#groups}{n}, \quad
              \mathrm{at\ risk} = \frac1n \sum_{f : 1/f > \tau} f

    >>> found = prosecutor(np.array([1, 2, 3, 4]))
    >>> found.average, found.highest
    (0.4, 1.0)

    References
    ----------
    .. [ElEm13] El Emam. "Guide to the De-Identification of Personal Health Information." CRC Press 2013.
    """
    require_threshold(threshold)
    n = int(sizes.sum())
    exposed = int(sizes[1.0 / sizes > threshold].sum())
    return Matching("prosecutor", 1.0 / int(sizes.min()), len(sizes) / n, exposed / n, threshold)


def journalist(sizes: Counts, people: Counts, threshold: float = 0.2) -> Matching:
    r"""The attacker who wants anybody, and compares with the population: 1/F for a record whose like F people are.

    .. math:: \max = 1/\min F, \quad \mathrm{average} = \max\Bigl(\frac{\#groups}{\sum F}, \frac1n \sum f/F\Bigr)

    `people` says how many people of the population are like each group.

    >>> found = journalist(np.array([1, 2]), np.array([4, 2]))
    >>> found.highest, round(found.average, 4)
    (0.5, 0.4167)

    References
    ----------
    .. [ElEm13] El Emam. "Guide to the De-Identification of Personal Health Information." CRC Press 2013.
    """
    require_threshold(threshold)
    n, known = int(sizes.sum()), np.maximum(people, sizes)
    average = max(len(sizes) / float(known.sum()), float((sizes / known).sum()) / n)
    exposed = int(sizes[1.0 / known > threshold].sum())
    return Matching("journalist", 1.0 / float(known.min()), average, exposed / n, threshold)


def marketer(sizes: Counts, people: Counts | None = None, threshold: float = 0.2) -> Matching:
    r"""The attacker who links everybody: which share of the records is expected to be linked correctly.

    .. math:: \frac1n \sum_{groups} f/F

    Without a population everybody in it is in the data: F = f.

    >>> marketer(np.array([1, 2, 3, 4])).average
    0.4

    References
    ----------
    .. [DaEl10] Dankar, El Emam. "A method for evaluating marketer re-identification risk." PAIS 2010.
    """
    require_threshold(threshold)
    known = sizes if people is None else np.maximum(people, sizes)
    return Matching("marketer", None, float((sizes / known).sum()) / int(sizes.sum()), None, threshold)

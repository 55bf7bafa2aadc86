"""How many people are unique in the population that a sample was drawn from, estimated from the sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tarnkappe.arrays import Counts
from tarnkappe.errors import JobError
from tarnkappe.risks.pitman import pitman
from tarnkappe.risks.sizes import Estimate, SizeCounts
from tarnkappe.risks.snb import snb
from tarnkappe.wording import count, percent


@dataclass(frozen=True)
class PopulationUniqueness:
    """What models say about a population of `n_people`, and which of them the rule of Dankar et al. takes.

    Estimates speak about the population that the sample was drawn from at random, and about no other.
    """

    n_people: int
    n_records: int
    sample_uniques: int
    estimates: tuple[Estimate, ...]
    chosen: Estimate

    @property
    def sampling(self) -> float:
        """Which share of the population is in the data."""
        return self.n_records / self.n_people

    @property
    def share(self) -> float | None:
        """The share of the population that is unique, by the model that the rule takes."""
        return None if self.chosen.uniques is None else self.chosen.uniques / self.n_people

    def __str__(self) -> str:
        if self.chosen.uniques is None or self.share is None:
            return f"no model has a solution for these data: {self.chosen.remark}"
        about = count(round(self.chosen.uniques))
        return f"about {about} of {count(self.n_people)} people ({percent(self.share)}) by {self.chosen.model}"

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        return {
            "people": self.n_people,
            "sampling": self.sampling,
            "sample_uniques": self.sample_uniques,
            "estimates": [e.as_dict() for e in self.estimates],
            "chosen": self.chosen.as_dict(),
            "share": self.share,
        }


def population_uniqueness(sizes: Counts, n_people: int) -> PopulationUniqueness:
    r"""Estimate how many people of the population are unique, by three models and the rule that chooses among them.

    The rule of Dankar et al.: nobody if nobody is unique in the sample; Pitman if at most a tenth of the population was
    drawn, and Zayatz if Pitman fails; else the smaller of SNB and Zayatz, and Zayatz if SNB fails.

    >>> found = population_uniqueness(np.array([1, 1, 1, 2, 2, 5]), 24)
    >>> found.chosen.model, round(found.chosen.uniques, 3)
    ('SNB', 1.592)

    References
    ----------
    .. [DENR12] Dankar, El Emam, Neisa, Roffey. "Estimating the re-identification risk of clinical data sets." BMC
       Medical Informatics and Decision Making 12:66, 2012.
    """
    given = SizeCounts.of(sizes)
    if n_people < given.n_records:
        raise JobError(
            "E110",
            f"a population of {count(n_people)} cannot hold the {count(given.n_records)} records of the sample",
            hint=f"population={given.n_records * 10}",
        )
    found = {e.model: e for e in (zayatz(given, n_people), pitman(given, n_people), snb(given, n_people))}
    return PopulationUniqueness(
        n_people, given.n_records, given.groups_of(1), tuple(found.values()), _by_rule(found, given, n_people)
    )


def _by_rule(found: dict[str, Estimate], given: SizeCounts, n_people: int) -> Estimate:
    fallback, first, second = found["Zayatz"], found["Pitman"], found["SNB"]
    if not given.groups_of(1):
        return Estimate("the rule", 0.0, "nobody is unique in the sample")
    if given.n_records == n_people:
        return Estimate("counting", float(given.groups_of(1)), "everybody is in the data")
    if given.n_records <= 0.1 * n_people:
        return fallback if first.uniques is None else first
    known = [e for e in (second, fallback) if e.uniques is not None]
    return min(known, key=lambda e: e.uniques or 0.0) if known else fallback


def zayatz(given: SizeCounts, n_people: int) -> Estimate:
    r"""Zayatz: which part of the sample uniques is unique in the population, by the sizes seen in the sample.

    .. math:: P = \frac{s_1 h(1)}{\sum_i s_i h(i)}, \quad \mathrm{uniques} = \frac{n_1 P}{\pi}

    where :math:`s_i` is the share of groups of size i and h(i) the hypergeometric chance that of i people just one is
    drawn.

    References
    ----------
    .. [Zaya91] Zayatz. "Estimation of the percent of unique population elements on a microdata file using the sample."
       US Bureau of the Census, 1991.
    """
    n = given.n_records
    sampling = n / n_people
    alone = given.groups_of(1)
    if not alone:
        return Estimate("Zayatz", 0.0, "nobody is unique in the sample")
    largest = int(given.size.max())
    step = np.arange(1, largest)
    with np.errstate(divide="ignore"):
        others = np.cumsum(np.log(np.maximum(n_people - step - n + 1, 0)) - np.log(n_people - step))
    missed = np.exp(np.append(0.0, others))[given.size - 1]  # none of the others of a group was drawn
    chance = given.size * sampling * missed
    share = alone * sampling / float(given.times @ chance)
    return Estimate("Zayatz", alone * share / sampling)

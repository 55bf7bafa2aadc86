"""How many links between the original and the written table may be right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tarnkappe.criteria.base import Card
from tarnkappe.errors import JobError
from tarnkappe.fixes import Fix
from tarnkappe.params import Declared, param
from tarnkappe.wording import stated

#: How an attacker may link: the nearest record, records of about the same ranks, the likeliest record.
ATTACKS = ("distance", "rank-interval", "probabilistic")


@dataclass(frozen=True)
class MaxLinkage(Declared):
    r"""Whoever links the original with the release finds the right record for at most a share of the people.

    Three attackers are tried on what was written, each of whom has the whole original: one takes the nearest record,
    one all records whose ranks are within a window in every column, and one the likeliest record by weights that both
    tables tell. A tie counts as the chance of picking the right one.

    .. math:: \max_a \frac{1}{n} \sum_i P(a \text{ links person } i \text{ with their own record}) \le share

    References
    ----------
    .. [DoTo01] Domingo-Ferrer, Torra. "A quantitative comparison of disclosure control methods for microdata." In:
       Confidentiality, Disclosure and Data Access, 2001.
    """

    name: ClassVar = "max-linkage"
    title: ClassVar = "largest share of right links"
    card: ClassVar = Card(
        protects_from="somebody who has the original values and looks for each person's record in the release.",
        does_not="prove anything about other ways to link, nor hide what many records say together.",
        typical="0.05 or less; k-anonymity by groups of k allows 1/k.",
        cost="stronger masks; there is no search for them, the release is refused if the share is exceeded.",
    )

    share: float = param(doc="Largest share of right links.", ge=0, le=1, example=0.05)
    columns: tuple[str, ...] = param(
        (), doc="What the attacker knows; all masked columns and quasi-identifiers if empty."
    )
    attacks: tuple[str, ...] = param(ATTACKS, doc="How the attacker links.", choices=ATTACKS)
    windows_percent: tuple[float, ...] = param(
        (1.0, 2.0, 5.0, 10.0, 15.0),
        doc="Windows of ranks that are tried, in percent of the records; that of rank swapping is tried anyway.",
        gt=0,
        le=100,
    )
    near: float = param(0.1, doc="Numbers agree if they differ by no more standard deviations.", ge=0)
    people: int = param(2000, doc="People who are looked for, drawn by lot; all if there are fewer.", ge=1)

    def __post_init__(self) -> None:
        """Check that somebody attacks."""
        super().__post_init__()
        if not self.attacks or ("rank-interval" in self.attacks and not self.windows_percent):
            raise JobError(
                "E110", f"{self.name} needs a way to link", hint=Fix("attacks: [distance]", 'attacks=["distance"]')
            )

    @property
    def asked(self) -> str:
        """The promise in short."""
        return f"{self.name} ≤ {stated(self.share)}"

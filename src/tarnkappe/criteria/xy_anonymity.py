"""(X, Y)-anonymity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.arrays import Floats
from tarnkappe.criteria.base import Card, Criterion
from tarnkappe.criteria.projection import on_part, projected
from tarnkappe.groups import GroupStats
from tarnkappe.params import param


@dataclass(frozen=True)
class XYAnonymity(Criterion):
    r"""Every combination of the quasi-identifiers in X is linked to at least ``k`` different values of Y.

    .. math:: |\{r[Y] : r \in G\}| \ge k

    for all records :math:`r` with the same published values in X. If Y is the key of a person, this is k-anonymity that
    counts people instead of records: a person with many records does not make a group look larger. Missing keys count
    as one person.

    >>> import numpy as np
    >>> from tarnkappe.tally import Domain
    >>> from tarnkappe.taxonomy.tree import Taxonomy
    >>> patient = Domain("patient", Taxonomy.scale(["1", "2"]), aside=True)
    >>> codes = np.array([0, 0, 1], np.int32)
    >>> stats = GroupStats.from_cells(np.array([0, 1, 1]), np.array([5, 1, 1]), {"patient": (codes, patient)})
    >>> XYAnonymity("patient", 2).holds(stats).tolist()
    [False, True]

    References
    ----------
    .. [WaFu06] Wang, Fung. "Anonymizing sequential releases." KDD 2006.
    """

    name: ClassVar = "xy-anonymity"
    title: ClassVar = "(X, Y)-anonymity"
    sense: ClassVar = "at least"
    monotone: ClassVar = True
    absorbing: ClassVar = True
    card: ClassVar = Card(
        protects_from="being singled out where a person has several records: k people, not k records, share a group.",
        does_not="hide a secret that all k people of a group share.",
        typical="as for k-anonymity: 3 to 5 for researchers under contract, 10 and more for public files.",
        cost="low; the more records a person has, the larger the groups become.",
    )

    y: str = param(
        doc="The column whose different values are counted, usually that with role subject.",
        refers_to="counted",
        example="NAME",
    )
    k: int = param(doc="Smallest number of different values of y.", ge=1, example=5)
    x: tuple[str, ...] = param(
        (), doc="The quasi-identifiers that the attacker knows; all of them if not given.", refers_to="quasi"
    )

    @property
    def threshold(self) -> float:
        """The k."""
        return float(self.k)

    @property
    def asked(self) -> str:
        """The promise in short."""
        return f"different '{self.y}'{on_part(self.x)} ≥ {self.k}"

    @property
    def min_size(self) -> int:
        """So many values need as many records, but where groups are pooled each may be smaller."""
        return 1 if self.x else self.k

    def level(self, stats: GroupStats) -> Floats:
        """Different values of y for what each group publishes in X."""
        known, part = projected(stats, self.x, (self.y,))
        distinct: Floats = np.diff(known.histograms[self.y].indptr).astype(np.float64)[part]
        return distinct

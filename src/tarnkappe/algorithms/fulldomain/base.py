"""What the searches for an optimal full-domain generalisation have in common."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.algorithms.base import Algorithm
from tarnkappe.algorithms.fulldomain.lattice import Lattice
from tarnkappe.algorithms.fulldomain.search import Search
from tarnkappe.algorithms.watch import TimeOver
from tarnkappe.criteria.base import Scope
from tarnkappe.errors import JobError, LimitError
from tarnkappe.fixes import algorithm, say
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping, Note
from tarnkappe.metrics import metric_named
from tarnkappe.metrics.classification import Classification
from tarnkappe.params import param
from tarnkappe.registry import registered
from tarnkappe.tally import Tally
from tarnkappe.wording import plural, size

#: Grids over the lattice may take so many bytes together.
_MOST_BYTES = 2 << 30


def _searches() -> dict[str, type[FullDomainSearch]]:
    """All searches of this room by name."""
    return registered(__package__, FullDomainSearch)  # type: ignore[type-abstract]


@dataclass(frozen=True)
class FullDomainSearch(Algorithm):
    """A search for the node of the lattice that satisfies the goal and loses least.

    Whole nodes are checked with all their classes, so criteria that pooling can break, that look at a part of the
    quasi-identifiers or at the whole table are fine. Only what is proved by the goal is ruled out unchecked.
    """

    scheme: ClassVar = "full-domain"
    handles_non_monotone: ClassVar = True
    handles_population: ClassVar = True
    scopes: ClassVar[frozenset[Scope]] = frozenset({"group", "projection", "table"})
    #: Whether it remembers something about every node of the lattice; then the lattice must fit into memory.
    keeps_all_nodes: ClassVar[bool] = True

    metric: str = param("loss", doc="The loss metric to optimise, such as loss, precision, aecs or gcp.")
    tradeoff: float = param(
        0.5,
        doc="Weighs generalisation against suppression: 0 makes suppression free, 1 generalisation, 0.5 counts both.",
        ge=0,
        le=1,
    )

    target: str | None = param(
        None, doc="The column whose classes  metric: classification  is to tell apart.", refers_to="predicted"
    )

    def __post_init__(self) -> None:
        """Refuse a metric that does not exist, or one without what it needs."""
        super().__post_init__()
        if not metric_named(self.metric).measures_boxes():
            raise JobError(
                "E110",
                f"the metric '{self.metric}' does not measure ranges and categories, which {self.name} publishes",
                hint=algorithm(self.name, metric="loss"),
            )
        if (self.metric == Classification.name) != (self.target is not None):
            raise JobError(
                "E110",
                "the metric 'classification' and a target need each other",
                hint=algorithm(self.name, metric="classification", target="COLUMN"),
            )

    def require_supported(self, tally: Tally, goal: Goal) -> None:
        """Refuse also a lattice that no memory holds."""
        super().require_supported(tally, goal)
        lattice = Lattice.of(tally.quasi_domains)
        if self.keeps_all_nodes and lattice.bytes_of_grids > _MOST_BYTES:
            others = [name for name, cls in _searches().items() if not cls.keeps_all_nodes]
            raise LimitError(
                "E704",
                f"{self.name} remembers every node of the lattice, and {plural(lattice.n_nodes, 'node')} of "
                f"{len(lattice.low)} columns take {size(lattice.bytes_of_grids)}",
                details=[f"These search lattices of any size: {', '.join(others)}."],
                hint=say("{}   or fewer levels and quasi-identifiers", algorithm("best-first")),
            )

    def search_size(self, tally: Tally) -> str:
        """The nodes of the lattice."""
        return f"{plural(Lattice.of(tally.quasi_domains).n_nodes, 'node')} of the lattice"

    def memory(self, tally: Tally) -> int:
        """What the cells take, and the grids over the lattice."""
        grids = Lattice.of(tally.quasi_domains).bytes_of_grids if self.keeps_all_nodes else 0
        return super().memory(tally) + grids

    @abstractmethod
    def run(self, search: Search, rng: np.random.Generator) -> dict[str, Note]:
        """Check nodes until the search is over; returns notes about it."""

    def decide(self, tally: Tally, goal: Goal, *, rng: np.random.Generator) -> Grouping:
        """The best node that satisfies the goal."""
        self.require_supported(tally, goal)
        if tally.n_records == 0:
            raise goal.infeasible(tally)
        search = Search(tally, goal, metric_named(self.metric, self.target), self.tradeoff)
        try:
            notes = self.run(search, rng)
        except TimeOver:
            if search.best is None:
                raise
            notes = {"optimal": False}
        return search.conclude(notes)

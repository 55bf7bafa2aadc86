"""(k, beta)-SDGS: sample, generalise in a way fixed in advance, suppress."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np

from tarnkappe.algorithms.base import Algorithm
from tarnkappe.algorithms.recoding import Cut, recode
from tarnkappe.arrays import Codes, Counts
from tarnkappe.criteria.base import Scope
from tarnkappe.errors import JobError, did_you_mean
from tarnkappe.fixes import assignment, coarsened, setting
from tarnkappe.goal import Goal
from tarnkappe.groups import SUPPRESSED, Grouping
from tarnkappe.params import param
from tarnkappe.tally import Domain, Tally, distinct_rows

#: Records whose lots are drawn at once.
_BLOCK = 1 << 20


@dataclass(frozen=True)
class Sdgs(Algorithm):
    r"""Keep a random part of the records, generalise to levels fixed in advance, publish what occurs often enough.

    1. Keep each record with probability :math:`\beta`.
    2. Generalise every quasi-identifier to its level.
    3. Suppress every record of which fewer than k kept ones look the same, sensitive values included.

    k and :math:`\beta` come from the goal (`DifferentialPrivacy`). The levels must be chosen without looking at the
    data: trying several and keeping the best breaks the promise. For the same reason the goal must allow any number of
    records to be suppressed, and no other criterion can be combined.

    A kept record is one whose 64 random bits are below :math:`\beta \cdot 2^{64}`, so the chance of being kept is exact
    and never above :math:`\beta`. Whoever knows the seed knows who was kept: it must be secret, and drawn by chance.
    The pipeline draws 128 bits for the counter-based generator Philox, keeps them in the internal manifest only, and
    uses each seed once. O(records) for the lots, O(cells · log cells) for the rest.

    Differs from the paper in: sensitive columns count as part of a record when copies are counted.

    References
    ----------
    .. [LiQS12] Li, Qardaji, Su. "On sampling, anonymization, and differential privacy: or, k-anonymization meets
       differential privacy." ASIACCS 2012.
    """

    name: ClassVar = "sdgs"
    title: ClassVar = "(k,β)-SDGS"
    scheme: ClassVar = "full-domain"
    summary: ClassVar = "Random sample at levels fixed in advance, rare records suppressed: differential privacy."
    scopes: ClassVar[frozenset[Scope]] = frozenset({"mechanism"})

    levels: Mapping[str, float] = param(
        {}, doc="Level per quasi-identifier: a whole number, or a share of the height such as 0.5."
    )
    share: float = param(
        0.5, doc="The level of quasi-identifiers not named, as a share of their height, rounded up.", ge=0, le=1
    )

    def __post_init__(self) -> None:
        """Check that levels are levels."""
        super().__post_init__()
        named = isinstance(self.levels, Mapping) and all(isinstance(name, str) for name in self.levels)
        if not named or not all(_is_level(level) for level in self.levels.values()):
            raise JobError(
                "E110",
                "'levels' must be whole numbers from 0 on, or shares between 0 and 1, one per quasi-identifier",
                hint=assignment("levels", {"age": 2, "zip": 0.5}),
            )
        object.__setattr__(self, "levels", dict(self.levels))

    def decide(self, tally: Tally, goal: Goal, *, rng: np.random.Generator) -> Grouping:
        """Draw the records, and suppress what is not drawn or too rare."""
        self.require_supported(tally, goal)
        if goal.max_suppressed < 1:
            raise JobError(
                "E111",
                f"{self.name} leaves records out by chance, so their number cannot be limited",
                hint=setting("limits: {suppressed_rows: 100%}", "max_suppressed", 1.0),
            )
        if tally.n_cells == 0:
            raise goal.infeasible(tally)
        cuts = [_at_level(d, level) for d, level in zip(tally.quasi_domains, self._levels(tally), strict=True)]
        for domain, cut in zip(tally.quasi_domains, cuts, strict=True):
            _require_fixed_labels(domain, cut)
        grouping = recode(tally, cuts)
        kept = thin(tally.count, min(c.sampling for c in goal.criteria), rng)
        joint, values = tally.joint
        record, _ = distinct_rows([grouping.group, joint], [grouping.n_groups, len(values)])
        copies = np.bincount(record, weights=kept).astype(np.int64)
        published = np.where(copies[record] >= goal.min_size, kept, 0)
        if not published.any():
            raise goal.infeasible(tally, tally.n_records)
        return _split(tally, grouping, published)

    def all_in_one(self, tally: Tally) -> None:
        """Levels are fixed in advance, and chance decides who is left out."""

    def _levels(self, tally: Tally) -> list[int]:
        """The level of every quasi-identifier, inside the limits of its column."""
        names = [d.name for d in tally.quasi_domains]
        unknown = [name for name in self.levels if name not in names]
        if unknown:
            raise JobError(
                "E105",
                f"'levels' names '{unknown[0]}', which is no quasi-identifier{did_you_mean(unknown[0], names)}",
                hint=assignment("levels", {names[0]: 1}),
            )
        return [self._level(domain) for domain in tally.quasi_domains]

    def _level(self, domain: Domain) -> int:
        """The level of one quasi-identifier."""
        lowest, height = domain.floor, _height(domain)
        highest = height if domain.max_level is None else lowest + domain.max_level
        if domain.name not in self.levels:
            return min(max(_part(self.share, height), lowest), highest) - lowest
        given = self.levels[domain.name]
        level = _part(given, height) if given < 1 else int(given)
        if not lowest <= level <= highest:
            raise JobError(
                "E110",
                f"'{domain.name}' has the levels {lowest} to {highest}, not {level}",
                hint=assignment("levels", {domain.name: highest}),
            )
        return level - lowest


def thin(count: Counts, beta: float, rng: np.random.Generator) -> Counts:
    """How many records of each cell are kept, if each is kept with probability `beta`.

    The probability is exact: `beta` rounded down to 64 binary places.

    >>> thin(np.array([3, 0, 5]), 1 - 2**-53, np.random.default_rng(0)).tolist()
    [3, 0, 5]
    """
    ends = np.cumsum(count)
    kept_until = np.zeros(len(count) + 1, np.int64)
    limit = np.uint64(math.floor(beta * 2.0**64))
    total = int(ends[-1]) if len(ends) else 0
    kept = 0
    for begin in range(0, total, _BLOCK):
        size = min(_BLOCK, total - begin)
        running = np.cumsum(rng.integers(0, 1 << 64, size, dtype=np.uint64) < limit)
        first, last = np.searchsorted(ends, [begin, begin + size], side="right")
        kept_until[first + 1 : last + 1] = kept + running[ends[first:last] - begin - 1]
        kept += int(running[-1])
    return np.diff(kept_until)


def _height(domain: Domain) -> int:
    """How many levels a column has by its declaration; in a computed tree, single values may take one more or less."""
    return domain.floor + domain.taxonomy.height if domain.n_levels is None else domain.n_levels


def _at_level(domain: Domain, level: int) -> Cut:
    """Every leaf goes up until it is as far from the root as the level is by declaration.

    Counted from the root, the way to a value does not depend on what other values the tree holds.
    """
    tree, depth = domain.taxonomy, _height(domain) - domain.floor - level
    node = tree.leaf_nodes
    while np.any(tree.depth[node] > depth):
        node = np.where(tree.depth[node] > depth, tree.parent[node], node)
    return Cut.of_nodes(domain, node)


def _part(share: float, height: int) -> int:
    """A share of a height, rounded up."""
    return math.ceil(Fraction(str(share)) * height)


def _is_level(level: object) -> bool:
    """Whether this is a level, or a share of all levels."""
    if isinstance(level, bool) or not isinstance(level, (int, float)) or level < 0:
        return False
    return level < 1 or level % 1 == 0


def _require_fixed_labels(domain: Domain, cut: Cut) -> None:
    """Refuse a column that would publish the smallest and largest value of the data."""
    if bool(np.any(domain.is_range[cut.node] & (cut.lo < cut.hi))):
        raise JobError(
            "E111",
            f"quasi-identifier '{domain.name}' would publish the range of its values, which depends on the data",
            hint=coarsened(domain.name, "intervals", widths=[5, 10, 20]),
        )


def _split(tally: Tally, grouping: Grouping, published: Counts) -> Grouping:
    """The grouping in which only some records of each cell are published; groups without any disappear."""
    rest = tally.count - published
    cell = np.arange(tally.n_cells, dtype=np.int32)
    pieces = np.concatenate([cell[published > 0], cell[rest > 0]])
    group = np.concatenate([grouping.group[published > 0], np.full(int((rest > 0).sum()), SUPPRESSED, np.int32)])
    quota = np.concatenate([published[published > 0], rest[rest > 0]])
    whole = replace(Grouping.sorted_by_cell(pieces, group, quota, grouping.n_groups), form=grouping.form)
    used: Codes = np.zeros(grouping.n_groups, np.int32)
    used[group[group >= 0]] = 1
    return whole.without(used == 0)

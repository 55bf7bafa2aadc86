"""How like people made-up ones are, and whether people can be found by them. For the publisher only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np

from tarnkappe.arrays import Codes, Floats
from tarnkappe.attacks.membership import ranked
from tarnkappe.kernels.synthetic.nearest import nearest_distances
from tarnkappe.synthetic.domains import Coded
from tarnkappe.threads import share_out
from tarnkappe.usefulness.analyses import Design, Propensity, told_apart
from tarnkappe.usefulness.distributions import jensen_shannon

#: Codes of a column that are compared in pairs; rarer ones, or neighbours on a scale, count together.
_BINS = 20
#: Names that have a column of their own when tables are to be told apart.
_CATEGORIES = 8
#: Records of either table that are looked at for that.
_ROWS = 5_000
#: Most people of a half that the method is tried on, and those of either half, and made-up ones, that are looked at.
_HALF, _LOOKED = 20_000, 2_000
#: The share of false accusations at which a membership attack is measured.
FALSE_ALARMS = 0.01


@dataclass(frozen=True)
class Likeness:
    """How like the people made-up ones are; distances are total variation, 0 (the same) to 1 (nothing in common)."""

    propensity: Propensity
    columns: dict[str, float]
    divergences: dict[str, float]
    pairs: dict[str, float]

    @property
    def mean_column(self) -> float:
        """The mean distance of columns."""
        return float(np.mean(list(self.columns.values())))

    @property
    def mean_pair(self) -> float:
        """The mean distance of pairs of columns; that of the only column if there is one."""
        return float(np.mean(list(self.pairs.values()))) if self.pairs else self.mean_column

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        return {**asdict(self), "mean_column": self.mean_column, "mean_pair": self.mean_pair}


@dataclass(frozen=True)
class Exposure:
    """What the method gives away about the people it learns from, tried on one half of them and held to the other.

    `nearer` is the share of made-up people who are nearer to somebody of the half that was learnt from than to
    anybody of the other: 0.5 if they are nobody's copies. `nearest_ratio` is the median of how far the nearest of the
    first half is, over how far the nearest of the other is. `auc` is the probability that an attacker takes somebody
    of the first half for a member rather than somebody of the other, and `found` the share that is found if 1 % of
    others may be accused. The attacker goes by how near the nearest record is; one who knows that copies are drawn
    again leaves out who stands there as they are. The better of both counts.
    """

    people: int
    nearer: float
    nearest_ratio: float
    auc: float
    found: float

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        return asdict(self)


def likeness(people: Codes, made: Codes, domains: tuple[Coded, ...]) -> Likeness:
    """Compare columns, pairs of columns, and whole records."""
    coarse = [_coarse(people[:, j], made[:, j], domain) for j, domain in enumerate(domains)]
    columns, divergences = {}, {}
    for j, domain in enumerate(domains):
        p, q = (np.bincount(side[:, j], minlength=domain.size) / max(len(side), 1) for side in (people, made))
        columns[domain.name] = float(np.abs(p - q).sum() / 2)
        divergences[domain.name] = jensen_shannon(p, q)
    pairs = {}
    for (a, (x, y, m)), (b, (u, v, w)) in combinations(enumerate(coarse), 2):
        p, q = (np.bincount(i * w + j, minlength=m * w) / max(len(i), 1) for i, j in ((x, u), (y, v)))
        pairs[f"{domains[a].name} × {domains[b].name}"] = float(np.abs(p - q).sum() / 2)
    return Likeness(told_apart(_design(people, made, domains)), columns, divergences, pairs)


def _coarse(people: Codes, made: Codes, domain: Coded) -> tuple[Codes, Codes, int]:
    """The codes of both in few bins: neighbours on a scale, else the commonest and all others."""
    counts = np.bincount(people, minlength=domain.size)
    if domain.size <= _BINS:
        return people, made, domain.size
    if domain.ordered:
        middle = np.cumsum(counts) - counts / 2
        bins = np.minimum((middle / max(len(people), 1) * _BINS).astype(np.int32), _BINS - 1)
    else:
        rank = np.empty(domain.size, np.int32)
        rank[np.argsort(-counts, kind="stable")] = np.arange(domain.size)
        bins = np.minimum(rank, _BINS - 1)
    return bins[people], bins[made], _BINS


def _design(people: Codes, made: Codes, domains: tuple[Coded, ...]) -> Design:
    """Both tables as numbers: what is on a scale as such, names by whether they are one of the commonest."""
    people, made = (side[:: max(1, -(-len(side) // _ROWS))] for side in (people, made))
    names: list[str] = []
    sides: tuple[list[Floats], list[Floats]] = ([], [])
    for j, domain in enumerate(domains):
        if domain.ordered:
            mean, spread = people[:, j].mean(), people[:, j].std() or 1.0
            names.append(domain.name)
            for side, codes in zip(sides, (people, made), strict=True):
                side.append((codes[:, j] - mean) / spread)
            continue
        commonest = np.argsort(-np.bincount(people[:, j], minlength=domain.size), kind="stable")[1:_CATEGORIES]
        for code in commonest:
            names.append(f"{domain.name} {code}")
            for side, codes in zip(sides, (people, made), strict=True):
                side.append((codes[:, j] == code).astype(np.float64))
    before, after = (
        np.column_stack(side) if side else np.zeros((len(codes), 0))
        for side, codes in zip(sides, (people, made), strict=True)
    )
    return Design(tuple(names), before, after, (np.ones(len(people)), np.ones(len(made))))


@dataclass(frozen=True, eq=False)
class Tried:
    """What a method made of some people: others, the domains of their codes, and how people look in these."""

    made: Codes
    domains: tuple[Coded, ...]
    seen: Callable[[Codes], Codes]


def exposure(
    people: Codes, make: Callable[[Codes, np.random.Generator], Tried], rng: np.random.Generator
) -> Exposure | None:
    """Try a method on half of the people: are made-up people nearer to them than to others? None for too few people."""
    half = min(len(people) // 2, _HALF)
    if half < 10:
        return None
    chosen = rng.permutation(len(people))
    learnt, others = people[chosen[:half]], people[chosen[half : 2 * half]]
    tried = make(learnt, rng)
    made, learnt, others = tried.made, tried.seen(learnt), tried.seen(others)
    if not len(made):
        return None
    scale = np.array([1 / max(d.size - 1, 1) if d.ordered else 0.0 for d in tried.domains])
    near_learnt, near_others = (nearest(made[:_LOOKED], side, scale) for side in (learnt, others))
    ties = near_learnt == near_others
    ratio = np.median((near_learnt + 1e-9) / (near_others + 1e-9))
    apart = np.concatenate([nearest(side[:_LOOKED], made, scale) for side in (learnt, others)]).round(9)
    ins = np.repeat([1.0, 0.0], min(half, _LOOKED))
    # Where copies are drawn again, a published record is hardly anybody's who was learnt from: a second attacker knows.
    scores = -apart, np.where(apart == 0, -np.inf, -apart)
    found, auc = np.max([ranked(score, ins, 1 - ins, FALSE_ALARMS) for score in scores], axis=0).tolist()
    nearer = float((near_learnt < near_others).mean() + ties.mean() / 2)
    return Exposure(half, nearer, float(ratio), auc, found)


def nearest(points: Codes, records: Codes, scale: Floats) -> Floats:
    """How far the nearest record is from each point."""
    out = np.zeros(len(points))
    work = np.arange(len(points) + 1, dtype=np.int64) * max(len(records), 1)
    first, second = np.ascontiguousarray(points, np.int32), np.ascontiguousarray(records, np.int32)
    share_out(lambda begin, end: nearest_distances(first, second, scale, begin, end, out), work)
    return out

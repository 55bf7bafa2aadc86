"""kAnonyMeans, condensation and r-gather in plain Python, as the tests' second opinion."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

Point = tuple[float, ...]


def square(a: Any, b: Any) -> float:
    """The squared distance, coordinate by coordinate."""
    total = 0.0
    for x, y in zip(a, b, strict=True):
        total += (x - y) ** 2
    return total


def mean(points: list[Any]) -> Point:
    """The mean, added up in order."""
    out = [0.0] * len(points[0])
    for p in points:
        out = [a + float(b) for a, b in zip(out, p, strict=True)]
    return tuple(a / len(points) for a in out)


def nearest(p: Any, centres: list[Any]) -> int:
    """The nearest centre, the first of equals."""
    return min(range(len(centres)), key=lambda c: (square(p, centres[c]), c))


def error(points: Any, groups: list[list[int]]) -> float:
    """The sum of squared distances from the means."""
    return sum(square(points[i], c) for g in groups if g for c in [mean([points[m] for m in g])] for i in g)


def partner(clusters: list[tuple[list[int], Point]], c: int, at_least: int, by_sse: bool) -> int:
    """The most suitable cluster to merge with, -1 if none is large enough."""
    found = []
    a, here = clusters[c]
    for other, (b, there) in enumerate(clusters):
        if other != c and len(b) >= max(at_least, 1):
            weight = len(a) * len(b) / (len(a) + len(b)) if by_sse else 1.0
            cost = 0.0
            for x, y in zip(here, there, strict=True):
                cost += weight * (x - y) ** 2
            found.append((cost, other))
    return min(found)[1] if found else -1


def merged(points: Any, clusters: list[list[int]], k: int, merge: str, by_sse: bool) -> list[list[int]]:
    """No cluster has fewer than k points any more, or it has none."""
    at: list[tuple[list[int], Point]] = [(c, mean([points[i] for i in c]) if c else ()) for c in clusters]
    while any(0 < len(c) < k for c, _ in at):
        for first in range(len(at)):
            c = first
            while 0 < len(at[c][0]) < k:
                a, here = at[c]
                other = partner(at, c, k - len(a), by_sse) if merge == "once" else -1
                other = partner(at, c, 1, by_sse) if other < 0 else other
                b, there = at[other]
                both = len(a) + len(b)
                moved = tuple(y + (x - y) * len(a) / both for x, y in zip(here, there, strict=True))
                at[other], at[c] = (sorted(a + b), moved), ([], ())
                c = other
                if merge == "outer":
                    break
    return [c for c, _ in at]


def mdav_plus(points: Any, members: list[int], k: int) -> list[list[int]]:
    """Groups of k around the points farthest from the mean of all."""
    centre = [0.0] * points.shape[1]
    for i in members:
        centre = [a + x / len(members) for a, x in zip(centre, points[i], strict=True)]
    left, groups = list(members), []
    while len(left) >= k:
        seed = max(left, key=lambda i: (square(points[i], centre), -i))
        group = sorted(left, key=lambda i: (-1.0 if i == seed else square(points[i], points[seed]), i))[:k]
        groups.append(group)
        left = [i for i in left if i not in group]
    means = []
    for g in groups:
        at = [0.0] * points.shape[1]
        for i in sorted(g):
            at = [a + x / k for a, x in zip(at, points[i], strict=True)]
        means.append(at)
    for i in left:
        groups[nearest(points[i], means)].append(i)
    return groups


def merged_and_split(
    points: Any, clusters: list[list[int]], k: int, merge: str = "outer", by_sse: bool = False
) -> list[list[int]]:
    """Groups of k to 2k - 1 points, in the order of the clusters."""
    out = []
    for c in merged(points, clusters, k, merge, by_sse):
        if len(c) >= 2 * k:
            out += mdav_plus(points, c, k)
        elif c:
            out.append(c)
    return out


def means(points: Any, starts: Any, k: int, merge: str, by_sse: bool, interleave: str) -> list[list[int]]:
    """The best groups that k-means comes across."""
    centres = [tuple(c) for c in starts]
    owner = [0] * len(points)
    seen: list[list[list[int]]] = []
    best: list[list[int]] = []
    since = 0
    while True:
        while True:
            before, owner = owner, [nearest(p, centres) for p in points]
            if before == owner or interleave == "rounds":
                break
            for c in set(owner):
                centres[c] = mean([points[i] for i in range(len(points)) if owner[i] == c])
        clusters = [[i for i in range(len(points)) if owner[i] == c] for c in range(len(centres))]
        groups = merged_and_split(points, clusters, k, merge, by_sse)
        since = 0 if not best or error(points, groups) < error(points, best) - 1e-12 else since + 1
        best = groups if since == 0 else best
        if interleave == "never" or since == 5 or sorted(map(sorted, groups)) in seen:
            return best
        seen.append(sorted(map(sorted, groups)))
        centres = [mean([points[i] for i in sorted(g)]) for g in groups]
        owner = [next(g for g, members in enumerate(groups) if i in members) for i in range(len(points))]


def smallest_radius(points: Any, r: int) -> float:
    """The smallest largest radius of groups of at least r points round one of them, by trying everything."""
    n = len(points)
    far = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
    for radius in np.unique(far):
        for count in range(1, n // r + 1):
            if any(_suffice(far[list(c)] <= radius, r) for c in combinations(range(n), count)):
                return float(radius)
    raise AssertionError("one group is always possible")


def _suffice(within: Any, r: int) -> bool:
    """Whether centres can share all points so that each has r (Hall's condition, by subsets of centres)."""
    if not within.any(axis=0).all():
        return False
    rows = range(len(within))
    subsets = (list(s) for size in range(1, len(within) + 1) for s in combinations(rows, size))
    return all(within[s].any(axis=0).sum() >= r * len(s) for s in subsets)

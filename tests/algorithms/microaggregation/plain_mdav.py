"""The methods of the MDAV family, written down plainly: every distance is computed, everything is sorted."""

from __future__ import annotations

import numpy as np


def squares(points: np.ndarray, centre: np.ndarray) -> np.ndarray:
    """Squared distances, summed up axis by axis like in the kernels."""
    out = np.zeros(len(points))
    for j in range(points.shape[1]):
        out += (points[:, j] - centre[j]) ** 2
    return out


def error(points: np.ndarray) -> float:
    return float(((points - points.mean(axis=0)) ** 2).sum())


class Plain:
    """Points, their groups so far, and those that have none."""

    def __init__(self, points: np.ndarray) -> None:
        self.points = points
        self.group = np.full(len(points), -1, np.int32)
        self.left = np.arange(len(points))
        self.total = points.sum(axis=0)
        self.number = 0

    def nearest(self, centre: np.ndarray) -> np.ndarray:
        return self.left[np.argsort(squares(self.points[self.left], centre), kind="stable")]

    def farthest(self, centre: np.ndarray) -> int:
        return int(self.left[np.argmax(squares(self.points[self.left], centre))])

    def take(self, chosen: np.ndarray) -> None:
        self.group[chosen] = self.number
        for i in chosen:
            self.total = self.total - self.points[i]
        self.left = self.left[self.group[self.left] < 0]

    def close(self) -> None:
        self.number += 1

    def finish(self) -> np.ndarray:
        """The rest is a group."""
        self.take(self.left)
        return self.group

    def join(self) -> np.ndarray:
        """The rest joins the groups with the nearest means."""
        means = np.array([self.points[self.group == g].mean(axis=0) for g in range(self.number)])
        for i in self.left:
            self.group[i] = np.argmin(squares(means, self.points[i]))
        return self.group


def mdav(points: np.ndarray, k: int) -> np.ndarray:
    p = Plain(points)
    while len(p.left) >= 2 * k:
        first = points[p.farthest(p.total / len(p.left))]
        p.take(p.nearest(first)[:k])
        p.close()
        if len(p.left) < 2 * k:
            break
        p.take(p.nearest(points[p.farthest(first)])[:k])
        p.close()
    return p.finish()


def maximum_distance(points: np.ndarray, k: int) -> np.ndarray:
    p = Plain(points)
    while len(p.left) >= 2 * k:
        apart = np.array([squares(points[p.left], points[i]) for i in p.left])
        first, second = p.left[list(np.unravel_index(np.argmax(apart), apart.shape))]
        p.take(p.nearest(points[first])[:k])
        p.close()
        second = second if p.group[second] < 0 else p.farthest(points[first])
        p.take(p.nearest(points[second])[:k])
        p.close()
    return p.finish() if len(p.left) >= k else p.join()


def mdav_plus(points: np.ndarray, k: int, extend=None) -> np.ndarray:
    p = Plain(points)
    far = ((points - points.mean(axis=0)) ** 2).sum(axis=1)
    while len(p.left) >= k:
        seed = p.left[np.argmax(far[p.left])]
        p.take(p.nearest(points[seed])[:k])
        while extend is not None and len(p.left) and (p.group == p.number).sum() < 2 * k - 1:
            chosen = extend(p, k)
            if chosen is None:
                break
            p.take(np.array([chosen]))
        p.close()
    return p.join()


def v_mdav(points: np.ndarray, k: int, gamma: float) -> np.ndarray:
    def extend(p: Plain, k: int) -> int | None:
        members = points[p.group == p.number]
        gap = np.min([squares(points[p.left], m) for m in members], axis=0)
        e = p.left[np.argmin(gap)]
        others = p.left[p.left != e]
        out = squares(points[others], points[e]).min() if len(others) else np.inf
        return e if gap.min() < gamma * gamma * out else None

    return mdav_plus(points, k, extend)


def mdav_star(points: np.ndarray, k: int, gamma: float) -> np.ndarray:
    def extend(p: Plain, k: int) -> int | None:
        members = points[p.group == p.number]
        if len(p.left) < k:
            return None
        e = p.nearest(members.mean(axis=0))[0]
        own = [i for i in p.nearest(points[e])[:k] if i != e]
        here = error(np.vstack([members, points[e]])) - error(members)
        there = error(points[[e, *own]]) - error(points[own])
        return e if here < gamma * there else None

    return mdav_plus(points, k, extend)

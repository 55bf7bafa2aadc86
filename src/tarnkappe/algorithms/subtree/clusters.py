"""Clusters of like cells: k-means on mixed columns."""

from __future__ import annotations

import numpy as np

from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.kernels.subtree.clustering import count_values, nearest_centres
from tarnkappe.tally import Domain, Tally

_MAX_ROUNDS = 50
_STARTS = 5


def cluster_cells(tally: Tally, n_clusters: int, rng: np.random.Generator) -> Codes:
    """The cluster of every cell, by k-means with k-means++ seeds; at most so many clusters, the best of a few starts.

    A number stands where it is on its range, from 0 to 1. Any other value stands in a corner of its own, and all of
    them are at distance 1 from each other. So a centre is a mean, or the shares of the values, and the squared
    distances from all values of a column to all centres are a small table: O(rounds · cells · columns · clusters).
    """
    found = [_cluster_once(tally, n_clusters, rng) for _ in range(_STARTS)]
    cluster, _ = min(found, key=lambda entry: entry[1])
    return np.unique(cluster, return_inverse=True)[1].astype(np.int32)


def _cluster_once(tally: Tally, n_clusters: int, rng: np.random.Generator) -> tuple[Codes, float]:
    """The cluster of every cell from one start, and the sum of squared distances."""
    domains, codes, count = tally.quasi_domains, tally.quasi, tally.count
    seeds = _seeds(codes, domains, count, n_clusters, rng)
    cluster, away = _nearest(codes, [_distances_to_values(d, codes[seeds, j]) for j, d in enumerate(domains)])
    for _ in range(_MAX_ROUNDS):
        often = _often(codes, domains, cluster, len(seeds), count)
        tables = [_distances(d, _shares(own)) for d, own in zip(domains, often, strict=True)]
        moved, away = _nearest(codes, tables)
        if np.array_equal(moved, cluster):
            break
        cluster = moved
    return cluster, float((away * count).sum())


def _seeds(
    codes: Codes, domains: tuple[Domain, ...], count: Counts, n_clusters: int, rng: np.random.Generator
) -> Codes:
    """Cells far apart: each is drawn with a chance that grows with its squared distance to the nearest before it."""
    seeds = [int(rng.choice(len(count), p=count / count.sum()))]
    away = np.full(len(count), np.inf)
    while len(seeds) < n_clusters:
        tables = [_distances_to_values(d, codes[seeds[-1:], j]) for j, d in enumerate(domains)]
        away = np.minimum(away, _nearest(codes, tables)[1])
        chance = away * count
        if chance.sum() <= 0:
            break
        seeds.append(int(rng.choice(len(count), p=chance / chance.sum())))
    return np.array(seeds, np.int32)


def _often(codes: Codes, domains: tuple[Domain, ...], cluster: Codes, n_clusters: int, count: Counts) -> list[Floats]:
    """How many records of each cluster have each value, column by column."""
    starts = _starts([d.size for d in domains])
    often = np.zeros((n_clusters, int(starts[-1])))
    count_values(codes, starts, cluster, count, often)
    return np.split(often, starts[1:-1], axis=1)


def _shares(counts: Floats) -> Floats:
    """How often each value occurs in each cluster, as a share of the cluster."""
    shares: Floats = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    return shares


def _distances_to_values(domain: Domain, values: Codes) -> Floats:
    """Squared distance from centres that are single values to every value."""
    return _distances(domain, np.eye(domain.size)[values])


def _distances(domain: Domain, shares: Floats) -> Floats:
    """Squared distance from each centre to every value of a column, times the weight of the column."""
    place = _places(domain)
    apart = (1 - 2 * shares + (shares**2).sum(axis=1, keepdims=True)) / 2
    on_range = np.isfinite(place)
    if on_range.any():
        # What is not on the range (a missing value) is at distance 1 from everything that is.
        mass = shares[:, on_range].sum(axis=1, keepdims=True)
        mean = (shares[:, on_range] * place[on_range]).sum(axis=1, keepdims=True) / np.maximum(mass, 1e-300)
        apart[:, on_range] = mass * (place[on_range] - mean) ** 2 + (1 - mass)
        apart[:, ~on_range] = 1 - shares[:, ~on_range]
    weighted: Floats = apart * domain.weight
    return weighted


def _places(domain: Domain) -> Floats:
    """Where each code stands on its range, from 0 to 1; not a number for codes that are not on one."""
    out = np.full(domain.size, np.nan)
    tree = domain.taxonomy
    for node in np.flatnonzero(domain.is_range):
        inside = np.arange(tree.lo[node], tree.hi[node] + 1)
        out[inside] = (domain.positions[inside] - domain.positions[inside[0]]) / (domain.extent or 1.0)
    return out


def _nearest(codes: Codes, tables: list[Floats]) -> tuple[Codes, Floats]:
    """For every cell its nearest centre and the squared distance to it."""
    starts = _starts([table.shape[1] for table in tables])
    nearest, least = np.empty(len(codes), np.int32), np.empty(len(codes))
    nearest_centres(codes, starts, np.ascontiguousarray(np.concatenate(tables, axis=1).T), nearest, least)
    return nearest, least


def _starts(sizes: list[int]) -> Counts:
    """Where the values of each column begin if all are numbered through, and where the last ones end."""
    return np.append(0, np.cumsum(sizes))

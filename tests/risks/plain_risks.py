"""The measures of risk once more, as their definitions read: slow, and in plain Python."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import combinations


def groups(rows, columns):
    """How many rows have each combination of some columns."""
    return Counter(tuple(row[j] for j in columns) for row in rows)


def plain_zayatz(sizes, n_people):
    n, u = sum(sizes), len(sizes)
    times = Counter(sizes)

    def drawn_once(i):
        return Fraction(math.comb(i, 1) * math.comb(n_people - i, n - 1), math.comb(n_people, n))

    below = sum(Fraction(t, u) * drawn_once(i) for i, t in times.items())
    share = Fraction(times[1], u) * drawn_once(1) / below
    return float(times[1] * share * Fraction(n_people, n))


def plain_pitman_likelihood(sizes, theta, alpha):
    """The probability of a partition, customer by customer: in whatever order they come it is the same."""
    total, seated, tables = 0.0, 0, 0
    for size in sizes:
        for place in range(size):
            if seated:
                total += math.log((theta + alpha * tables if place == 0 else place - alpha) / (theta + seated))
            tables += place == 0
            seated += 1
    return total


def plain_snb_expected(groups_, alpha, beta, sampling, size, most=4000):
    """The expected number of groups of a size in a sample, summed over the sizes in the population."""
    total, chance = 0.0, beta**alpha
    for others in range(most):
        f = others + 1
        if f >= size:
            total += chance * math.comb(f, size) * sampling**size * (1 - sampling) ** (f - size)
        chance *= (alpha + others) / (others + 1) * (1 - beta)
    return groups_ * total


def plain_shlosser(sizes, q):
    times = Counter(sizes)
    a = sum(i * q**2 * (1 - q**2) ** (i - 1) * f for i, f in times.items())
    b = sum((1 - q) ** i * ((1 + q) ** i - 1) * f for i, f in times.items())
    c = sum((1 - q) ** i * f for i, f in times.items())
    d = sum(i * q * (1 - q) ** (i - 1) * f for i, f in times.items())
    return len(sizes) + times[1] * a / b * (c / d) ** 2


def plain_mean_inverse(f, p, most=200_000):
    """The mean of 1/F by its sum."""
    total, chance = 0.0, p**f
    for h in range(f, most):
        total += chance / h
        chance *= h / (h - f + 1) * (1 - p)
        if chance < 1e-18 and h > f / p * 5:
            break
    return total


def minimal_sample_uniques(rows, most):
    """Per row the sets of columns that single it out, none of which contains another."""
    d = len(rows[0])
    out = [[] for _ in rows]
    for size in range(1, most + 1):
        for columns in combinations(range(d), size):
            sizes = groups(rows, columns)
            for i, row in enumerate(rows):
                alone = sizes[tuple(row[j] for j in columns)] == 1
                if alone and not any(set(smaller) <= set(columns) for smaller in out[i]):
                    out[i].append(columns)
    return out


def plain_scores(rows, most):
    d = len(rows[0])
    return [
        float(sum(math.prod(d - i for i in range(len(m), min(most, d - 1) + 1)) for m in found))
        for found in minimal_sample_uniques(rows, most)
    ]


def plain_keys(rows):
    """The smallest sets of columns that tell apart whoever all columns tell apart."""
    d = len(rows[0])
    full = len(groups(rows, range(d)))
    keys = []
    for size in range(1, d + 1):
        for columns in combinations(range(d), size):
            if len(groups(rows, columns)) == full and not any(set(k) <= set(columns) for k in keys):
                keys.append(columns)
    return keys


def plain_separation(rows, columns):
    n = len(rows)
    apart = sum(any(rows[a][j] != rows[b][j] for j in columns) for a in range(n) for b in range(a))
    return apart / (n * (n - 1) / 2)

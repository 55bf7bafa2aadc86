"""Sensitive values that are raised along their taxonomy, record by record, until nobody's guarding node is breached."""

from __future__ import annotations

import numpy as np

from tarnkappe.arrays import Codes, Counts, Flags, Floats
from tarnkappe.kernels import helper, kernel

#: Sums may lie so much above a limit, as a share of it, by rounding alone.
_ROUNDING = 1e-11

#: What a record adds that gives its person away for certain.
_CERTAIN = 1e6


@helper
def _added(lo: int, hi: int, covered: int, first: int, last: int, guarded: int, people: int, several: bool) -> float:
    """What a record that publishes the leaves ``lo .. hi`` adds to the exposure of a guarding node."""
    if lo >= first and hi <= last:
        share = 1.0
    elif lo <= first and hi >= last:
        share = guarded / covered
    else:
        return 0.0
    if not several:
        return share / people
    return min(-np.log1p(-share / people), _CERTAIN) if share < people else _CERTAIN


@kernel
def raise_values(
    indptr: Counts,
    leaf: Codes,
    counts: Counts,
    people: Counts,
    guard_indptr: Counts,
    first: Codes,
    last: Codes,
    guarded: Counts,
    path: Codes,
    lo: Codes,
    hi: Codes,
    covered: Counts,
    cost: Floats,
    limit: float,
    several: bool,
) -> tuple[Counts, Floats, Flags]:
    """How many records of each value of each group are raised how far; what that costs each group; whether it helps.

    Entry ``j`` of group ``g`` (``indptr[g] .. indptr[g+1]``) are ``counts[j]`` records with the value ``leaf[j]``. Its
    nodes from itself to the root are ``path[leaf[j]]``, -1 after it. `cost` is what a record loses that publishes a
    node. Guards and people are as in `worst_breaches`. The exposure of a guard is a sum over records and must not
    exceed `limit`: of their shares by the number of people, or of the logarithms of what spares a person.

    As long as some guard is exposed too much, those records are raised that lower what is too much at the least cost:
    as many as the first guard needs that is served, or bears. If nothing helps, all that some guard covers is raised to
    the root.
    """
    n_steps = path.shape[1]
    out = np.zeros((leaf.size, n_steps), np.int64)
    out[:, 0] = counts
    lost, ok = np.zeros(indptr.size - 1), np.ones(indptr.size - 1, np.bool_)
    most = limit * (1 + _ROUNDING)
    for g in range(lost.size):
        begin, end = indptr[g], indptr[g + 1]
        guards = np.empty(guard_indptr[g + 1] - guard_indptr[g], np.int64)
        m = 0
        for i in range(guard_indptr[g], guard_indptr[g + 1]):
            if first[i] <= last[i]:
                guards[m] = i
                m += 1
        if m == 0:
            continue
        # What a record of each entry adds to each guard, at each step of its path.
        adds = np.zeros((end - begin, n_steps, m))
        for j in range(begin, end):
            for s in range(n_steps):
                v = path[leaf[j], s]
                if v < 0:
                    break
                for i in range(m):
                    w = guards[i]
                    adds[j - begin, s, i] = _added(
                        lo[v], hi[v], covered[v], first[w], last[w], guarded[w], people[g], several
                    )
        stuck = False
        while True:
            total = np.zeros(m)
            for j in range(begin, end):
                for s in range(n_steps):
                    if out[j, s] > 0:
                        for i in range(m):
                            total[i] += out[j, s] * adds[j - begin, s, i]
            over = 0.0
            for i in range(m):
                if total[i] > most:
                    over += total[i] - limit
            if over == 0.0:
                break
            if stuck:
                ok[g] = False
                break
            best, at, up, step = 0.0, -1, -1, -1
            cheapest = np.inf
            for j in range(begin, end):
                for s in range(n_steps - 1):
                    if out[j, s] == 0:
                        continue
                    for t in range(s + 1, n_steps):
                        v = path[leaf[j], t]
                        if v < 0:
                            break
                        after = 0.0
                        for i in range(m):
                            new = total[i] + adds[j - begin, t, i] - adds[j - begin, s, i]
                            if new > most:
                                after += new - limit
                        won = over - after
                        if won <= over * 1e-13:
                            continue
                        price = cost[v] - cost[path[leaf[j], s]] + 1e-12
                        if won / price > best or (won / price == best and price < cheapest):
                            best, at, step, up, cheapest = won / price, j, s, t, price
            if at < 0:
                stuck = True
                for j in range(begin, end):
                    covers = False
                    for i in range(m):
                        covers = covers or first[guards[i]] <= leaf[j] <= last[guards[i]]
                    if covers:
                        top = 0
                        while top + 1 < n_steps and path[leaf[j], top + 1] >= 0:
                            top += 1
                        out[j] = 0
                        out[j, top] = counts[j]
                continue
            moved = out[at, step]
            for i in range(m):
                change = adds[at - begin, up, i] - adds[at - begin, step, i]
                if change < 0 and total[i] > most:
                    moved = min(moved, max(np.int64(np.ceil((total[i] - most) / -change)), 1))
                elif change > 0 and total[i] <= most:
                    moved = min(moved, max(np.int64((most - total[i]) / change), 1))
            out[at, step] -= moved
            out[at, up] += moved
        for j in range(begin, end):
            for s in range(n_steps):
                if out[j, s] > 0:
                    lost[g] += out[j, s] * cost[path[leaf[j], s]]
    return out, lost, ok

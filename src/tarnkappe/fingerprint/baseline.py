"""The poster's open question: k-anonymise, then mark single values. What that does to the same table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Codes
from tarnkappe.plan import Plan
from tarnkappe.tally import distinct_rows


@dataclass(frozen=True)
class ValueMarks:
    """A k-anonymous table after single values of its quasi-identifiers were marked.

    `missed` is the share of leaks that name nobody, by attack; a leak that names the wrong recipient counts in `wrong`.
    """

    gamma: int
    changed_rows: int
    smallest: int
    unique: int
    below: float
    missed: dict[str, float]
    wrong: int


def compare_marks(
    plan: Plan, rng: np.random.Generator, *, gamma: int = 10, length: int = 32, recipients: int = 20, runs: int = 0
) -> ValueMarks:
    """Mark values as classical schemes do, and look at k, and at leaks.

    One row in `gamma` is marked: in one column the number of its label gets the parity of a bit of the recipient. Rows
    are found again by number, which favours these schemes: after sorting they would need an identifier. Detection takes
    the majority of each bit and names whose bits are all the same, or nobody.
    """
    k = plan.goal.min_size
    rows = _rows(plan)
    labels = [np.unique(column) for column in rows.T]
    rows = np.column_stack([np.searchsorted(own, column) for own, column in zip(labels, rows.T, strict=True)])
    able = [j for j, own in enumerate(labels) if len(own) > 1]
    place = rng.permutation(len(rows))[: max(len(rows) // gamma, 1)]
    column = rng.choice(able, len(place))
    position = rng.integers(0, length, len(place))
    book = rng.random((recipients, length)) < 0.5

    def marked(bits: NDArray[np.bool_]) -> NDArray[np.int64]:
        out = rows.copy()
        now = out[place, column]
        wanted = now - now % 2 + bits[position]
        most = np.array([len(own) for own in labels])[column]
        out[place, column] = np.where(wanted < most, wanted, now)
        return out.astype(np.int64)

    def read(table: NDArray[np.int64], there: NDArray[np.bool_]) -> NDArray[np.float64]:
        seen = there[place]
        vote = 2.0 * (table[place[seen], column[seen]] % 2) - 1
        return np.bincount(position[seen], vote, length).astype(np.float64)

    sizes = _sizes(marked(book[0]))
    attacks = {"none": (0.0, 0.0), "half deleted": (0.5, 0.0), "90 % deleted": (0.9, 0.0), "half flipped": (0.0, 0.5)}
    missed, wrong = {}, 0
    for name, (deleted, flipped) in attacks.items():
        misses = 0
        for _ in range(runs):
            who = int(rng.integers(recipients))
            table = marked(book[who])
            flip = (rng.random(len(place)) < flipped) & (rng.random(len(place)) < 0.5)
            table[place[flip], column[flip]] ^= 1
            votes = read(table, rng.random(len(rows)) >= deleted)
            found = np.flatnonzero((book == (votes > 0)).all(axis=1) & (votes != 0).all())
            misses += who not in found
            wrong += bool(len(set(found.tolist()) - {who}))
        missed[name] = misses / max(runs, 1)
    return ValueMarks(
        gamma=gamma,
        changed_rows=int((marked(book[0]) != rows).any(axis=1).sum()),
        smallest=int(sizes.min()),
        unique=int((sizes == 1).sum()),
        below=float(sizes[sizes < k].sum() / sizes.sum()),
        missed=missed,
        wrong=wrong,
    )


def _rows(plan: Plan) -> Codes:
    node = plan.boxes.node
    return np.repeat(node, plan.sizes, axis=0)


def _sizes(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    rank, first = distinct_rows(list(rows.T), [int(c.max(initial=0)) + 1 for c in rows.T])
    return np.bincount(rank, minlength=len(first)).astype(np.int64)

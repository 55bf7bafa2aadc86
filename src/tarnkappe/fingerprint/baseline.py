"""The poster's open question: k-anonymise, then mark single values. What that does to the same table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Counts, Floats
from tarnkappe.fingerprint.attacks import ATTACKS, Attack, Bench, outcome
from tarnkappe.fingerprint.keys import DatasetKey
from tarnkappe.fingerprint.reading import Evidence
from tarnkappe.fingerprint.tracing import score_book
from tarnkappe.fingerprint.value_schemes import VALUE_SCHEMES, Cells, PublishedCells, ValueScheme
from tarnkappe.plan import Plan
from tarnkappe.tally import distinct_rows

#: A leak: its cells, and the numbers of its rows.
_Leaked = tuple[Cells, NDArray[np.int64]]

#: What somebody does to a copy; and an attack, which gives who is behind a leak, too.
_Change = Callable[[Cells, np.random.Generator], _Leaked]
_Attack = Callable[[NDArray[np.bool_], np.random.Generator], tuple[tuple[int, ...], _Leaked]]


@dataclass(frozen=True)
class Privacy:
    """What is left of a k-anonymous table once single values were marked."""

    smallest: int
    unique: int
    #: Share of the records in groups that are too small, and of the cells that are false.
    below: float
    false_cells: float


@dataclass(frozen=True)
class Tracked:
    """An attack on copies of one scheme: how often nobody guilty was accused, and how often anybody innocent."""

    runs: int
    missed: int
    falsely_accused: int


@dataclass(frozen=True)
class Marks:
    """One way to mark copies of a table: what it does to it, and what becomes of leaks, by attack.

    `bounded` reads the same marks with the decoder of this package, whose risk of a false accusation is bounded.
    """

    title: str
    gamma: int
    privacy: Privacy
    #: Mean loss of the table (LM).
    loss: float
    attacks: Mapping[str, Tracked] = field(default_factory=dict)
    bounded: Mapping[str, Tracked] = field(default_factory=dict)


def spoilt(plan: Plan, key: DatasetKey, kind: type[ValueScheme], gamma: int = 10) -> Privacy:
    """What one recipient's value marks do to the groups of a k-anonymous table."""
    scheme = kind(PublishedCells.of(plan), key, gamma)
    book, _ = scheme.book(["somebody"])
    marked = scheme.marked(book[0])
    sizes = _sizes(marked)
    return Privacy(
        smallest=int(sizes.min()) if len(sizes) else 0,
        unique=int((sizes == 1).sum()),
        below=float(sizes[sizes < plan.goal.min_size].sum() / max(sizes.sum(), 1)),
        false_cells=float((marked != scheme.table.cells).mean()),
    )


def compare_marks(
    plan: Plan,
    bench: Bench,
    rng: np.random.Generator,
    *,
    loss: float,
    extra_loss: float,
    gamma: int = 10,
    runs: int = 20,
    colluders: Sequence[int] = (2,),
) -> tuple[Marks, ...]:
    """Block marks and the three value schemes on one k-anonymous table, under the same attacks.

    One row in `gamma` is marked by value schemes. They are told the number of every row of a leak, which an attacker
    would not leave in it, except in the attack "sorted".
    """
    table = PublishedCells.of(plan)
    names = [f"recipient {i}" for i in range(bench.n_recipients)]
    out = [_block_marks(bench, rng, loss + extra_loss, runs, colluders)]
    for kind in VALUE_SCHEMES:
        scheme = kind(table, bench.key, gamma)
        book, bias = scheme.book(names)
        attacks, bounded = {}, {}
        for title, attack in _attacks(scheme, colluders).items():
            tried = np.zeros((2, 2), np.int64)  # by decoder: missed, falsely accused
            for _ in range(runs):
                who, leak = attack(book, rng)
                votes = scheme.votes(*leak)
                found = [scheme.accused(votes, book), _bounded(votes, bias, book, bench.alpha)]
                tried += [[bool(who) and not accused & {*who}, bool(accused - {*who})] for accused in found]
            attacks[title], bounded[title] = (Tracked(runs, *map(int, row)) for row in tried)
        out.append(Marks(scheme.title, gamma, spoilt(plan, bench.key, kind, gamma), loss, attacks, bounded))
    return tuple(out)


def _bounded(votes: Floats, bias: Floats, book: NDArray[np.bool_], alpha: float) -> set[int]:
    """Who is accused by the decoder that bounds the risk for innocents."""
    seen = np.column_stack([votes, np.zeros(len(votes))])
    evidence = Evidence(seen, seen, (votes.sum(axis=1) > 0).astype(np.float64), 0.0, int(votes.sum()))
    names = [str(u) for u in range(len(book))]
    return {int(u) for u in score_book(evidence, bias, book, names, alpha=alpha, colluders=2).accused}


#: The attacks, by what tables call them: the attack of the bench, and its strength.
_SAME: dict[str, tuple[str, float]] = {
    "50 % of rows deleted": ("delete-rows", 0.5),
    "95 % of rows deleted": ("delete-rows", 0.95),
    "20 % of cells replaced": ("alter-cells", 0.2),
    "as many rows invented": ("add-rows", 1.0),
    "1 column deleted": ("delete-columns", 1),
    "2 columns deleted": ("delete-columns", 2),
    "1 column coarsened": ("coarsen", 1),
}


def _block_marks(bench: Bench, rng: np.random.Generator, loss: float, runs: int, colluders: Sequence[int]) -> Marks:
    by_name = {a.name: a for a in ATTACKS}

    def tried(attack: Attack, strength: float) -> Tracked:
        found = outcome(bench, attack, strength, rng, runs)
        return Tracked(runs, 0 if attack.name == "nobody" else runs - found.traced, found.falsely_accused)

    untouched = tried(by_name["delete-rows"], 0.0)
    attacks = {"none": untouched, "sorted": untouched}  # block marks do not know an order
    attacks |= {title: tried(by_name[name], strength) for title, (name, strength) in _SAME.items()}
    attacks |= {f"{c} copies mixed": tried(by_name["mix-rows"], c) for c in colluders}
    attacks["a copy of nobody"] = tried(by_name["nobody"], 1)
    sizes = bench.layout.size
    own = Privacy(int(sizes.min()), int((sizes == 1).sum()), 0.0, 0.0)
    return Marks("block marks", 1, own, loss, attacks, attacks)


def _attacks(scheme: ValueScheme, colluders: Sequence[int]) -> dict[str, _Attack]:
    """The attacks on copies with value marks."""
    n = scheme.table.n_rows
    everybody = np.arange(n)

    def alone(change: _Change) -> _Attack:
        def attack(book: NDArray[np.bool_], rng: np.random.Generator) -> tuple[tuple[int, ...], _Leaked]:
            who = int(rng.integers(len(book)))
            return (who,), change(scheme.marked(book[who]), rng)

        return attack

    def deleted(share: float) -> _Change:
        def change(cells: Cells, rng: np.random.Generator) -> _Leaked:
            kept = rng.random(n) >= share
            return cells[kept], everybody[kept]

        return change

    def replaced(cells: Cells, rng: np.random.Generator) -> _Leaked:
        drawn = np.column_stack([rng.permutation(column) for column in cells.T])
        return np.where(rng.random(cells.shape) < 0.2, drawn, cells), everybody

    def invented(cells: Cells, rng: np.random.Generator) -> _Leaked:
        false = np.column_stack([rng.choice(column, n) for column in cells.T])
        return np.concatenate([cells, false]), np.arange(2 * n)

    def without(columns: int) -> _Change:
        def change(cells: Cells, rng: np.random.Generator) -> _Leaked:
            out = cells.copy()
            out[:, rng.choice(out.shape[1], columns, replace=False)] = -1
            return out, everybody

        return change

    def coarsened(cells: Cells, rng: np.random.Generator) -> _Leaked:
        out = cells.copy()
        out[:, rng.choice(scheme.columns)] = -1  # the labels above are none that the table has
        return out, everybody

    def sorted_rows(cells: Cells, rng: np.random.Generator) -> _Leaked:
        return cells[np.lexsort(cells.T)], everybody  # where a row stands is all that is left of its number

    def mixed(c: int) -> _Attack:
        def attack(book: NDArray[np.bool_], rng: np.random.Generator) -> tuple[tuple[int, ...], _Leaked]:
            who = tuple(rng.choice(len(book), c, replace=False).tolist())
            copies = np.stack([scheme.marked(book[u]) for u in who])
            return who, (copies[rng.integers(0, c, n), everybody], everybody)

        return attack

    def nobody(book: NDArray[np.bool_], rng: np.random.Generator) -> tuple[tuple[int, ...], _Leaked]:
        stranger, _ = scheme.book([f"stranger {rng.integers(1 << 62)}"])
        return (), (scheme.marked(stranger[0]), everybody)

    return {
        "none": alone(deleted(0.0)),
        "sorted": alone(sorted_rows),
        "50 % of rows deleted": alone(deleted(0.5)),
        "95 % of rows deleted": alone(deleted(0.95)),
        "20 % of cells replaced": alone(replaced),
        "as many rows invented": alone(invented),
        "1 column deleted": alone(without(1)),
        "2 columns deleted": alone(without(2)),
        "1 column coarsened": alone(coarsened),
        **{f"{c} copies mixed": mixed(c) for c in colluders},
        "a copy of nobody": nobody,
    }


def _sizes(cells: Cells) -> Counts:
    rank, first = distinct_rows(list(cells.T), [int(c.max(initial=0)) + 1 for c in cells.T])
    return np.bincount(rank, minlength=len(first)).astype(np.int64)

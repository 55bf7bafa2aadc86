"""Attacks: what can be done to copies before they are leaked, with a strength, and how far tracing survives it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Codes, Flags, Floats
from tarnkappe.fingerprint.code import TardosCode
from tarnkappe.fingerprint.keys import DatasetKey
from tarnkappe.fingerprint.marks import Layout
from tarnkappe.fingerprint.reading import UNKNOWN, Leak, read_marks
from tarnkappe.fingerprint.tracing import Trace, code_book, score_book
from tarnkappe.tally import distinct_rows

#: Copies of larger data sets are thinned out: tracing does not get harder with more rows.
_MOST_ROWS = 40_000

#: A leak, and the places of those who are behind it.
Attacked = tuple[Leak, tuple[int, ...]]


@dataclass(frozen=True, eq=False)
class Bench:
    """Copies of a layout for imagined recipients, in memory."""

    layout: Layout
    key: DatasetKey
    n_recipients: int
    alpha: float
    colluders: int

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The recipients."""
        return tuple(f"recipient {i}" for i in range(self.n_recipients))

    @cached_property
    def bias(self) -> Floats:
        """The biases of the code."""
        return TardosCode(self.key, self.layout.n_positions).biases()

    @cached_property
    def book(self) -> Flags:
        """The bits of all recipients."""
        return code_book(TardosCode(self.key, self.layout.n_positions), self.names)

    @cached_property
    def group(self) -> NDArray[np.int64]:
        """The group of every row."""
        size = self.layout.size
        total = int(size.sum())
        if total > _MOST_ROWS:
            size = np.maximum(size * _MOST_ROWS // total, 1)
        return np.repeat(np.arange(len(size)), size)

    def copy(self, bits: Flags) -> Codes:
        """The rows of the copy with these bits."""
        return self.layout.marked(bits)[self.group]

    def whole(self, bits: Flags) -> Leak:
        """A copy with these bits, group by group."""
        return Leak(self.layout.marked(bits), self.layout.size.astype(np.float64))

    def leak(self, rows: Codes) -> Leak:
        """Rows as a leak."""
        rank, first = distinct_rows([c + 1 for c in rows.T], [int(c.max(initial=0)) + 2 for c in rows.T])
        return Leak(rows[first], np.bincount(rank, minlength=len(first)).astype(np.float64))

    def trace(self, leak: Leak) -> Trace:
        """Who is behind a leak."""
        evidence = read_marks(leak, self.layout)
        how = {"alpha": self.alpha, "colluders": self.colluders}
        return score_book(evidence, self.bias, self.book, self.names, **how)  # type: ignore[arg-type]

    def detail(self, leak: Leak) -> float:
        """What is left of the detail of the base, over all its rows: 1 for the base, 0 for nothing."""
        kept = 0.0
        rows = min(leak.n_rows / len(self.group), 1.0)
        for j, tree in enumerate(self.layout.columns.trees):
            width = (tree.leaf_counts - 1) / max(tree.n_leaves - 1, 1)
            known = leak.node[:, j] >= 0
            best = float((1 - width[self.layout.node[:, j]]) @ self.layout.size) / float(self.layout.size.sum())
            have = float((1 - width[leak.node[known, j]]) @ leak.count[known]) / max(leak.n_rows, 1)
            kept += rows * min(have / best, 1.0) if best > 0 else rows
        return kept / len(self.layout.columns.trees)


@dataclass(frozen=True, eq=False)
class Attack:
    """A manipulation with strengths to try it at; `run` makes a leak."""

    name: str
    title: str
    #: What was done, with a place for the strength: a share, or a number.
    phrase: str
    strengths: tuple[float, ...]
    run: Callable[[Bench, float, np.random.Generator], Attacked]
    #: The share of cells that are still true at a strength.
    true_cells: Callable[[float], float] = lambda strength: 1.0

    def said(self, strength: float) -> str:
        """The attack at a strength, in words."""
        return self.phrase.format(share=f"{strength:.0%}".replace("%", " %"), n=f"{strength:g}")


def _one(bench: Bench, rng: np.random.Generator) -> tuple[int, Codes]:
    who = int(rng.integers(bench.n_recipients))
    return who, bench.copy(bench.book[who])


def _delete_rows(bench: Bench, strength: float, rng: np.random.Generator) -> Attacked:
    who, rows = _one(bench, rng)
    return bench.leak(rows[rng.random(len(rows)) >= strength]), (who,)


def _flip(bench: Bench, strength: float, rng: np.random.Generator) -> Attacked:
    """Marks of some rows are drawn anew, each as likely as the other."""
    who, rows = _one(bench, rng)
    other = bench.copy(~bench.book[who])
    changed = (rng.random(len(rows)) < strength) & (rng.random(len(rows)) < 0.5)
    return bench.leak(np.where(changed[:, None], other, rows)), (who,)


def _fabricate(bench: Bench, strength: float, rng: np.random.Generator) -> Attacked:
    """Rows are added whose columns look right one by one."""
    who, rows = _one(bench, rng)
    n = int(strength * len(rows))
    false = np.column_stack([rng.choice(column, n) for column in rows.T])
    return bench.leak(np.concatenate([rows, false.astype(np.int32)])), (who,)


def _delete_columns(bench: Bench, strength: float, rng: np.random.Generator) -> Attacked:
    who, rows = _one(bench, rng)
    rows = rows.copy()
    rows[:, rng.choice(rows.shape[1], int(strength), replace=False)] = UNKNOWN
    return bench.leak(rows), (who,)


def _coarsen(bench: Bench, strength: float, rng: np.random.Generator) -> Attacked:
    """Columns that carry marks go up a level, in all rows."""
    who, rows = _one(bench, rng)
    rows, columns = rows.copy(), bench.layout.columns
    marked = np.unique(bench.layout.pairs)
    for j in rng.choice(marked, min(int(strength), len(marked)), replace=False).tolist():
        rows[:, j] = columns.raised(bench.layout.node[bench.group, j], j, columns.level[j] + 1)
    return bench.leak(rows), (who,)


def _alter(bench: Bench, strength: float, rng: np.random.Generator) -> Attacked:
    """Cells are replaced by others of their column."""
    who, rows = _one(bench, rng)
    drawn = np.column_stack([rng.permutation(column) for column in rows.T])
    return bench.leak(np.where(rng.random(rows.shape) < strength, drawn, rows).astype(np.int32)), (who,)


def _rename(bench: Bench, strength: float, rng: np.random.Generator) -> Attacked:
    """Labels get names that nobody has a list of."""
    who, rows = _one(bench, rng)
    rows = rows.copy()
    for j, tree in enumerate(bench.layout.columns.trees):
        renamed = rng.random(tree.n_nodes) < strength
        rows[renamed[rows[:, j]], j] = UNKNOWN
    return bench.leak(rows), (who,)


def _guess(bench: Bench, strength: float, rng: np.random.Generator) -> Attacked:
    """Cells that a mark made coarse get a finer label again: the one that somebody else has who looks as coarse."""
    who, rows = _one(bench, rng)
    columns = bench.layout.columns
    plain = bench.layout.node[bench.group]
    out = rows.copy()
    for j in columns.free:
        coarse = np.flatnonzero((rows[:, j] != plain[:, j]) & (rng.random(len(rows)) < strength))
        above = columns.raised(plain[:, j], j, columns.level[j] + 1)
        order = np.argsort(above, kind="stable")
        start, end = (np.searchsorted(above[order], rows[coarse, j], side=side) for side in ("left", "right"))
        out[coarse, j] = plain[order[start + (rng.random(len(coarse)) * (end - start)).astype(np.int64)], j]
    return bench.leak(out), (who,)


def _coalition(bench: Bench, strength: float, rng: np.random.Generator) -> tuple[tuple[int, ...], NDArray[np.int32]]:
    """Colluders and what every group says in their copies."""
    who = tuple(rng.choice(bench.n_recipients, int(strength), replace=False).tolist())
    return who, np.stack([bench.layout.marked(bench.book[u]) for u in who])


def _mix_rows(bench: Bench, strength: float, rng: np.random.Generator) -> Attacked:
    who, copies = _coalition(bench, strength, rng)
    pick = rng.integers(0, len(who), len(bench.group))
    return bench.leak(copies[pick, bench.group]), who


def _interleave(bench: Bench, strength: float, rng: np.random.Generator) -> Attacked:
    """Every block comes from one of the colluders."""
    who, copies = _coalition(bench, strength, rng)
    pick = rng.integers(0, len(who), bench.layout.n_blocks + 1)[bench.layout.block]
    return Leak(copies[pick, np.arange(copies.shape[1])], bench.layout.size.astype(np.float64)), who


def _combine(bench: Bench, strength: float, rng: np.random.Generator, *, finest: bool) -> Attacked:
    who, copies = _coalition(bench, strength, rng)
    out = copies[0].copy()
    for j, tree in enumerate(bench.layout.columns.trees):
        depth = tree.depth[copies[:, :, j]]
        taken = depth.argmax(axis=0) if finest else depth.argmin(axis=0)
        out[:, j] = copies[taken, np.arange(copies.shape[1]), j]
    return Leak(out, bench.layout.size.astype(np.float64)), who


def _merge(bench: Bench, strength: float, rng: np.random.Generator) -> Attacked:
    """Of every cell the finest text that a colluder has."""
    return _combine(bench, strength, rng, finest=True)


def _blur(bench: Bench, strength: float, rng: np.random.Generator) -> Attacked:
    """Of every cell the coarsest: where copies differ, both marked columns are coarse."""
    return _combine(bench, strength, rng, finest=False)


def _vote(bench: Bench, strength: float, rng: np.random.Generator, *, most: bool) -> Attacked:
    who, _ = _coalition(bench, strength, rng)
    ones = bench.book[list(who)].sum(axis=0)
    half = 2 * ones > len(who)
    chosen = half if most else ~half
    tie = 2 * ones == len(who)
    chosen = np.where(tie, rng.random(len(ones)) < 0.5, chosen)
    chosen = np.where(ones == 0, False, np.where(ones == len(who), True, chosen))
    return bench.whole(chosen), who


def _majority(bench: Bench, strength: float, rng: np.random.Generator) -> Attacked:
    return _vote(bench, strength, rng, most=True)


def _minority(bench: Bench, strength: float, rng: np.random.Generator) -> Attacked:
    return _vote(bench, strength, rng, most=False)


def _innocent(bench: Bench, strength: float, rng: np.random.Generator) -> Attacked:
    """A copy that was issued to nobody."""
    return bench.whole(rng.random(bench.layout.n_positions) < bench.bias), ()


def _truth(strength: float) -> float:
    return 1 - strength


#: Everything that copies are put through.
ATTACKS: tuple[Attack, ...] = (
    Attack("delete-rows", "rows deleted", "{share} of the rows deleted", (0.5, 0.9, 0.95, 0.99), _delete_rows),
    Attack(
        "flip-marks", "rows whose marks are drawn anew", "marks of {share} drawn anew", (0.25, 0.5, 0.75, 0.9), _flip
    ),
    Attack(
        "add-rows",
        "fabricated rows added",
        "{share} fabricated rows added",
        (0.5, 1.0, 2.0),
        _fabricate,
        lambda strength: 1 / (1 + strength),
    ),
    Attack("alter-cells", "cells replaced", "{share} of the cells replaced", (0.05, 0.1, 0.2), _alter, _truth),
    Attack("delete-columns", "columns deleted", "columns deleted: {n}", (1, 2, 3), _delete_columns),
    Attack("coarsen", "marked columns coarsened", "marked columns coarsened: {n}", (1, 2, 3), _coarsen),
    Attack(
        "rename-labels", "labels under new names", "{share} of the labels renamed", (0.1, 0.25, 0.5), _rename, _truth
    ),
    Attack("guess", "coarse cells made finer by guessing", "{share} of marks guessed away", (0.25, 0.5, 1.0), _guess),
    Attack("mix-rows", "colluders: rows mixed", "{n} copies mixed by rows", (2, 3, 4), _mix_rows),
    Attack("interleave", "colluders: blocks mixed", "{n} copies mixed by blocks", (2, 3, 4), _interleave),
    Attack("merge", "colluders: finest cells", "finest cells of {n} copies", (2, 3, 4), _merge),
    Attack("blur", "colluders: coarsest cells", "coarsest cells of {n} copies", (2, 3, 4), _blur),
    Attack("majority", "colluders: most frequent mark", "most frequent marks of {n} copies", (2, 3, 4), _majority),
    Attack("minority", "colluders: rarest mark", "rarest marks of {n} copies", (2, 3, 4), _minority),
    Attack("nobody", "a copy of nobody", "a copy of nobody", (1,), _innocent),
)


@dataclass(frozen=True)
class Outcome:
    """How often an attack was traced, how often anybody innocent was accused, and what is left to the attacker."""

    attack: str
    title: str
    strength: float
    runs: int
    traced: int
    falsely_accused: int
    detail_left: float
    #: The attack at this strength, in words.
    words: str = ""

    @property
    def traced_share(self) -> float:
        """The share of runs in which somebody guilty was accused."""
        return self.traced / self.runs


def robustness(
    bench: Bench, rng: np.random.Generator, *, runs: int = 20, attacks: Sequence[Attack] = ATTACKS
) -> tuple[Outcome, ...]:
    """Try attacks at all their strengths."""
    out = []
    for attack in attacks:
        for strength in attack.strengths:
            if strength > bench.n_recipients or (
                attack.name == "delete-columns" and strength >= bench.layout.node.shape[1]
            ):
                continue
            out.append(outcome(bench, attack, strength, rng, runs))
    return tuple(out)


def outcome(bench: Bench, attack: Attack, strength: float, rng: np.random.Generator, runs: int) -> Outcome:
    """Try one attack at one strength."""
    traced = false = 0
    detail = 0.0
    for _ in range(runs):
        leak, who = attack.run(bench, strength, rng)
        accused = set(bench.trace(leak).accused)
        guilty = {bench.names[u] for u in who}
        traced += bool(accused & guilty)
        false += bool(accused - guilty)
        detail += bench.detail(leak) * attack.true_cells(strength)
    return Outcome(attack.name, attack.title, strength, runs, traced, false, detail / runs, attack.said(strength))

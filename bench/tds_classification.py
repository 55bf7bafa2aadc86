"""How well the salary class of Adult can be predicted from releases, and how long each release takes.

Each algorithm anonymises the whole table once; then, ten times, a decision tree is trained on two thirds of the
records of the release and tested on the other third. So the tree sees nothing but published labels, and what it is
tested on is recoded in the same way. A suppressed record is never trained on and counts as predicted to be of the
majority class.

Every published label is given to the tree as two numbers, the first and the last leaf it covers in the order of its
taxonomy; raw data have the same two numbers twice. Ages are cut freely by algorithms that can do so, and generalised
along the taxonomy by the full-domain ones.

    python bench/tds_classification.py            all of them; or names such as  tds mondrian
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from measure import DATA, timed
from numpy.typing import NDArray

import tarnkappe as tk
from tarnkappe.algorithms import all_algorithms
from tarnkappe.datasets import load_adult
from tarnkappe.engines.memory import MemoryEngine, assign_records
from tarnkappe.io import open_source

TARGET = "salary-class"
KS = (10, 50, 100)
SPLITS = 10
MIN_LEAF = 20

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Contender:
    """An algorithm as it is compared; `numeric` if ages need no taxonomy."""

    name: str
    title: str
    settings: dict[str, Any] = field(default_factory=dict)
    numeric: bool = True


CONTENDERS = (
    Contender("tds", "TDS", {"target": TARGET}),
    Contender("tds", "TDS, whole subtrees (as published)", {"target": TARGET, "granularity": "subtree", "attempts": 1}),
    Contender("mondrian", "Mondrian"),
    Contender("infogain-mondrian", "InfoGain Mondrian", {"target": TARGET}),
    Contender("flash", "full-domain optimum (Flash, Loss)", {"metric": "loss"}, numeric=False),
    Contender("datafly", "Datafly", numeric=False),
)


class DecisionTree:
    """Binary splits of whole numbers by information gain; a leaf has at least `MIN_LEAF` records."""

    def __init__(self, rows: Rows, target: Rows) -> None:
        self.feature: list[int] = []
        self.threshold: list[int] = []
        self.children: list[tuple[int, int]] = []
        self.label: list[int] = []
        self._grow(rows, target)

    def _grow(self, rows: Rows, target: Rows) -> int:
        node = len(self.label)
        self.feature.append(-1)
        self.threshold.append(0)
        self.children.append((0, 0))
        self.label.append(int(np.bincount(target, minlength=2).argmax()))
        gain, feature, threshold = max(_best_split(rows[:, j], target, j) for j in range(rows.shape[1]))
        if gain > 1e-9:
            left = rows[:, feature] <= threshold
            self.feature[node], self.threshold[node] = feature, threshold
            self.children[node] = self._grow(rows[left], target[left]), self._grow(rows[~left], target[~left])
        return node

    def predict(self, rows: Rows) -> Rows:
        """The class of every row."""
        feature, threshold = np.array(self.feature), np.array(self.threshold)
        children, node = np.array(self.children), np.zeros(len(rows), np.int64)
        moving = np.arange(len(rows))
        while len(moving := moving[feature[node[moving]] >= 0]):
            at = node[moving]
            right = rows[moving, feature[at]] > threshold[at]
            node[moving] = children[at, right.astype(np.int64)]
        return np.array(self.label)[node]


def _surprise(counts: Rows) -> NDArray[np.float64]:
    """Records times entropy in bits, for counts of both classes."""
    total = counts.sum(axis=-1)
    logs = np.where(counts > 0, counts * np.log2(np.maximum(counts, 1)), 0).sum(axis=-1)
    return total * np.log2(np.maximum(total, 1)) - logs


def _best_split(column: Rows, target: Rows, feature: int) -> tuple[float, int, int]:
    """Gain, feature and threshold of the best split of one column."""
    counts = np.bincount(column * 2 + target, minlength=2 * int(column.max() + 1)).reshape(-1, 2)
    left = np.cumsum(counts, axis=0)[:-1]
    right = counts.sum(axis=0) - left
    allowed = np.minimum(left.sum(axis=1), right.sum(axis=1)) >= MIN_LEAF
    if not allowed.any():
        return 0.0, feature, 0
    gain = np.where(allowed, _surprise(counts.sum(axis=0)) - _surprise(left) - _surprise(right), 0.0)
    return float(gain.max()), feature, int(gain.argmax())


def accuracy(rows: Rows, kept: NDArray[np.bool_], target: Rows) -> tuple[float, float]:
    """Mean share of right predictions over the splits, and their standard deviation."""
    majority = int(np.bincount(target).argmax())
    right = []
    for seed in range(SPLITS):
        order = np.random.default_rng(seed).permutation(len(target))
        train, test = np.split(order, [2 * len(order) // 3])
        train = train[kept[train]]
        guess = DecisionTree(rows[train], target[train]).predict(rows[test])
        guess[~kept[test]] = majority
        right.append(float((guess == target[test]).mean()))
    return float(np.mean(right)), float(np.std(right))


def _job(contender: Contender, k: int) -> tk.Job:
    quasi = {
        name: tk.numeric() if name == "age" and contender.numeric else taxonomies[name]
        for name in frame.columns
        if name != TARGET
    }
    algorithm = all_algorithms()[contender.name](**contender.settings)
    return tk.Job(quasi=quasi, sensitive=[TARGET], criteria=[tk.KAnonymity(k)], algorithm=algorithm)


def measured(contender: Contender, k: int) -> dict[str, Any]:
    """Accuracy from a release, and the time from a data frame to the verified release."""
    job = _job(contender, k)
    job.anonymize(frame, seed=1)  # compiles what is not cached
    _, seconds, _ = timed(lambda: job.anonymize(frame, seed=1), repeat=3)
    source, engine = open_source(frame), MemoryEngine()
    tally = engine.count(source, job.schema(source.columns))
    grouping = job.algorithm.decide(tally, job.goal, rng=np.random.default_rng(1))
    boxes = grouping.boxes(tally)
    group = assign_records(engine._cell, grouping, np.random.default_rng(1))
    rows = np.column_stack([boxes.lo[group], boxes.hi[group]]).astype(np.int64)
    mean, spread = accuracy(rows, group >= 0, tally.sensitive[engine._cell, 0].astype(np.int64))
    return {"accuracy": mean, "spread": spread, "seconds": seconds, "groups": grouping.n_groups}


def raw() -> tuple[float, float]:
    """Accuracy from the raw table, and that of always saying the commonest class."""
    source, engine = open_source(frame), MemoryEngine()
    tally = engine.count(source, _job(CONTENDERS[0], 2).schema(source.columns))
    codes = tally.quasi[engine._cell].astype(np.int64)
    target = tally.sensitive[engine._cell, 0].astype(np.int64)
    mean, _ = accuracy(np.column_stack([codes, codes]), np.ones(len(target), np.bool_), target)
    return mean, float(np.bincount(target).max() / len(target))


def main() -> None:
    """Print one table."""
    known = all_algorithms()
    asked = [c for c in CONTENDERS if c.name in known and (len(sys.argv) < 2 or c.name in sys.argv[1:])]
    for name in sorted({c.name for c in CONTENDERS} - set(known)):
        print(f"{name} is not registered and left out")
    from_raw, commonest = raw()
    print(f"raw table {from_raw:.2%}, commonest class {commonest:.2%}\n")
    print("| algorithm | " + " | ".join(f"k = {k}" for k in KS) + " | groups | slowest release |")
    print("|---|" + "---|" * (len(KS) + 2))
    for contender in asked:
        rows = [measured(contender, k) for k in KS]
        shares = " | ".join(f"{r['accuracy']:.2%} ± {100 * r['spread']:.2f}" for r in rows)
        groups = ", ".join(str(r["groups"]) for r in rows)
        print(f"| {contender.title} | {shares} | {groups} | {max(r['seconds'] for r in rows):.2f} s |", flush=True)


frame, taxonomies = load_adult(DATA / "adult")

if __name__ == "__main__":
    main()

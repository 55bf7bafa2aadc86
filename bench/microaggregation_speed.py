"""Time, memory and loss of MDAV and of its variant in blocks, on records that are normal in ten dimensions.

    python bench/microaggregation_speed.py [--most 1000000] [--k 5]

Prints one JSON line for each method and size, and keeps them for ``microaggregation/slides.py report``. Every line is a
process of its own; its seconds are those of grouping, without compiling. "plain" is MDAV written down in NumPy, with
the same groups ("same" says whether they are).
"""

from __future__ import annotations

import argparse
import json
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
from measure import ROOT, in_process, report, timed

from tarnkappe.algorithms.microaggregation.blocks import BlockMDAV
from tarnkappe.algorithms.microaggregation.mdav import MDAV
from tarnkappe.algorithms.microaggregation.refinement import refined
from tarnkappe.arrays import Codes, Floats
from tarnkappe.kernels.microaggregation.points import group_means, squared_errors

DIMENSIONS = 10
FIGURE = ROOT / "microaggregation" / "figures" / "speed.json"
METHODS = {"plain": 50_000, "mdav": 50_000, "block-mdav": None, "block-mdav, refined": None}
SIZES = (10_000, 20_000, 50_000, 125_000, 250_000, 500_000, 1_000_000)


def plain(points: Floats, k: int) -> Codes:
    """MDAV as it is written down: all distances, every time."""
    group, left, total, number = np.full(len(points), -1, np.int32), np.arange(len(points)), points.sum(axis=0), 0

    def squares(centre: Floats) -> Floats:
        out = np.zeros(len(left))
        for j in range(points.shape[1]):
            out += (points[left, j] - centre[j]) ** 2
        return out

    def take(seed: int) -> None:
        nonlocal left, total, number
        chosen = left[np.argsort(squares(points[seed]), kind="stable")[:k]]
        for i in chosen:
            total = total - points[i]
        group[chosen] = number
        left, number = left[group[left] < 0], number + 1

    while len(left) >= 2 * k:
        first = int(left[squares(total / len(left)).argmax()])
        take(first)
        if len(left) < 2 * k:
            break
        take(int(left[squares(points[first]).argmax()]))
    group[left] = number
    return group


def method(name: str, k: int) -> Callable[[Floats], Codes]:
    """The groups that a method makes of points."""

    def rng() -> np.random.Generator:
        return np.random.default_rng(1)

    blocks = BlockMDAV()
    return {
        "plain": lambda points: plain(points, k),
        "mdav": lambda points: MDAV().partition(points, k, rng()),
        "block-mdav": lambda points: blocks.partition(points, k, rng()),
        "block-mdav, refined": lambda points: refined(points, [blocks.partition(points, k, rng())], k, rng()),
    }[name]


def measured(name: str, n: int, k: int) -> None:
    """Group n records by a method, and report on it."""
    points = np.random.default_rng(0).normal(size=(n, DIMENSIONS))
    group_by = method(name, k)
    group_by(points[: min(n, 6000)])  # compiles
    group, wall, cpu = timed(lambda: group_by(points))
    means, size = group_means(points, group, int(group.max()) + 1)
    assert size.min() >= k
    loss = 100 * squared_errors(points, group, means).sum() / ((points - points.mean(axis=0)) ** 2).sum()
    report(seconds=wall, cpu=cpu, loss=loss, digest=zlib.crc32(group.tobytes()))


def main() -> None:
    """Print and keep all measurements, or make one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, default=SIZES[-1], help="records of the largest table")
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--part", choices=METHODS, help=argparse.SUPPRESS)
    parser.add_argument("--n", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.part:
        measured(given.part, given.n, given.k)
        return
    rows = []
    for n in (n for n in SIZES if n <= given.most):
        digest = None
        for name, most in METHODS.items():
            if most is not None and n > most:
                continue
            part = ("--part", name, "--n", str(n), "--k", str(given.k))
            row = {"method": name, "n": n, "k": given.k, **in_process(Path(__file__).name, *part, timeout=3600)}
            found = row.pop("digest", None)
            digest = found if name == "plain" else digest
            if name == "mdav" and digest is not None:
                row["same"] = found == digest
            print(json.dumps(row), flush=True)
            rows.append(row)
    FIGURE.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

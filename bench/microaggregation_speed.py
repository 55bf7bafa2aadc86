"""Time, memory and loss of MDAV and of its variant in blocks, on records that are normal in ten dimensions.

    python bench/microaggregation_speed.py [--most 1000000] [--k 5]

Prints a Markdown table. Every line is a process of its own; its seconds are those of grouping, without compiling.
"plain" is MDAV written down in NumPy, with the same groups ("same" says whether they are). There is no R here: on a
machine of this class the C++ of sdcMicro took 0.68 s for 10 000 records and 2.5 s for 20 000 (k = 5).
"""

from __future__ import annotations

import argparse
import zlib
from collections.abc import Callable

import numpy as np
from measure import in_process, report, timed

from tarnkappe.algorithms.microaggregation.blocks import BlockMDAV
from tarnkappe.algorithms.microaggregation.mdav import MDAV
from tarnkappe.algorithms.microaggregation.refinement import refined
from tarnkappe.kernels.points import group_means, squared_errors
from tarnkappe.tally import Codes, Floats

DIMENSIONS = 10
METHODS = {"plain": 50_000, "mdav": 50_000, "block-mdav": None, "block-mdav, refined": None}
SIZES = (10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000)
TITLES = ("method", "n", "k", "seconds", "CPU seconds", "loss", "peak MB", "same")


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


def line(name: str, n: int, k: int, plain_digest: int | None) -> tuple[str, int | None]:
    """A row of the table, and what identifies the groups."""
    found = in_process("microaggregation_speed.py", "--part", name, "--n", str(n), "--k", str(k), timeout=3600)
    if "error" in found:
        return f"| {name} | {n} | {k} | {found['error']} |", None
    same = ("yes" if found["digest"] == plain_digest else "NO") if name == "mdav" and plain_digest is not None else ""
    cells = (name, n, k, *(f"{found[x]:.2f}" for x in ("seconds", "cpu", "loss")), found["peak_mb"], same)
    return "| " + " | ".join(map(str, cells)) + " |", found["digest"]


def main() -> None:
    """Print the table, or one measurement."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, default=SIZES[-1], help="records of the largest table")
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--part", choices=METHODS, help=argparse.SUPPRESS)
    parser.add_argument("--n", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.part:
        measured(given.part, given.n, given.k)
        return
    print("| " + " | ".join(TITLES) + " |\n|" + "---|" * len(TITLES))
    for n in (n for n in SIZES if n <= given.most):
        digest = None
        for name, most in METHODS.items():
            if most is None or n <= most:
                row, found = line(name, n, given.k, digest)
                digest = found if name == "plain" else digest
                print(row, flush=True)


if __name__ == "__main__":
    main()

"""Two parties at the two ends of a stream: the cuts of one holder of all columns, and nothing else is said."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest

from tarnkappe.algorithms.subtree.two_party import Holding, specialise_together
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.errors import DataError
from tarnkappe.goal import Goal
from tarnkappe.parties import specialise_with_other
from tarnkappe.tally import Domain
from tarnkappe.taxonomy.tree import Taxonomy

DOMAIN = Domain("x", Taxonomy.scale([str(i) for i in range(8)]), np.arange(8.0))


def case(seed: int) -> tuple[list[Holding], tuple[Any, int], Any]:
    rng = np.random.default_rng(seed)
    codes = [rng.integers(0, 8, (120, n)).astype(np.int32) for n in (2, 1)]
    held = [Holding(c, (DOMAIN,) * c.shape[1]) for c in codes]
    return held, ((codes[0][:, 0] + codes[1][:, 0] > 7).astype(np.int32), 2), np.ones(120, np.int64)


class Overheard(io.BufferedWriter):
    """A stream that keeps what is said."""

    def __init__(self, file: int, said: list[bytes]) -> None:
        super().__init__(io.FileIO(file, "w"))
        self.said = said

    def write(self, text: Any) -> int:
        self.said.append(bytes(text))
        return super().write(text)


def talk(seed: int, k: int, limit: float, said: list[bytes]) -> list[Any]:
    held, classes, count = case(seed)
    pipes = [os.pipe(), os.pipe()]
    out: list[Any] = [None, None]

    def part(i: int) -> None:
        with os.fdopen(pipes[i][0], "rb") as hear, Overheard(pipes[1 - i][1], said) as tell:
            goal = Goal([KAnonymity(k)], limit)
            out[i] = specialise_with_other(held[i], classes, count, goal, hear=hear, tell=tell, first=i == 0)

    other = Thread(target=part, args=(1,))
    other.start()
    part(0)
    other.join()
    return out


@pytest.mark.parametrize("seed", range(6))
def test_the_same_cuts_as_in_one_place_and_nothing_else_is_said(seed: int):
    k, limit = 3 + seed, 0.2 * (seed % 2)
    said: list[bytes] = []
    held, classes, count = case(seed)
    together = specialise_together(held, classes, count, Goal([KAnonymity(k)], limit))
    for mine, cuts in zip(talk(seed, k, limit, said), together, strict=True):
        for one, other in zip(mine, cuts, strict=True):
            assert np.array_equal(one.part, other.part)
            assert np.array_equal(one.node, other.node)
    terms = {"people", "least", "most_left_out", "granularity", "classes"}
    kinds = {frozenset(json.loads(line)) for line in said}
    division = {"groups", "cell", "piece", "ok"}
    assert kinds <= {frozenset(terms), frozenset(), frozenset({"score", "detail"}), frozenset(division)}
    published = np.stack(
        [c.part[held[i].codes[:, j]] for i, cuts in enumerate(together) for j, c in enumerate(cuts)], 1
    )
    for line in map(json.loads, said):  # whoever comes apart on the way comes apart in the release
        if set(line) == division:
            cell, piece = np.array(line["cell"]), np.array(line["piece"])
            for p in np.unique(piece):
                here, there = published[cell[piece == p]], published[cell[piece != p]]
                assert not {tuple(row) for row in here} & {tuple(row) for row in there}


@pytest.mark.parametrize(
    "lines",
    [
        [],
        ["{}"],
        ["not json"],
        ["[1]"],
        ["HELLO", '{"score": 1e9}'],
        ["HELLO", '{"score": "high", "detail": 1}'],
        ["HELLO", '{"score": 1e9, "detail": NaN}'],
        ["HELLO", '{"score": 1e9, "detail": 1}', '{"groups": [0], "cell": [0], "piece": [0]}'],
        ["HELLO", '{"score": 1e9, "detail": 1}', '{"groups": [0], "cell": [999], "piece": [0], "ok": [true]}'],
        ["HELLO", '{"score": 1e9, "detail": 1}', '{"groups": [7], "cell": [1], "piece": [0], "ok": [true]}'],
        ["HELLO", '{"score": 1e9, "detail": 1}', '{"groups": [0], "cell": [1, 1], "piece": [0, 0], "ok": [true]}'],
        ["HELLO", '{"score": 1e9, "detail": 1}', '{"groups": [0], "cell": [1], "piece": [4], "ok": [true]}'],
        ["HELLO", '{"score": 1e9, "detail": 1}', '{"groups": [0], "cell": [1e400], "piece": [0], "ok": [true]}'],
    ],
)
def test_what_makes_no_sense_ends_the_talk(lines: list[str]):
    (mine, _), classes, count = case(1)
    told = io.BytesIO()
    with pytest.raises(DataError):  # find out what the first sentence is
        specialise_with_other(mine, classes, count, Goal([KAnonymity(5)]), hear=io.BytesIO(), tell=told, first=True)
    hello = told.getvalue().decode().strip()
    heard = io.BytesIO("".join(f"{hello if line == 'HELLO' else line}\n" for line in lines).encode())
    with pytest.raises(DataError) as error:
        specialise_with_other(mine, classes, count, Goal([KAnonymity(5)]), hear=heard, tell=io.BytesIO(), first=True)
    assert error.value.code == "E454"


def test_two_processes(tmp_path: Path):
    """The other party is a process of its own, at the other end of its standard streams."""
    script = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_two_places import Goal, KAnonymity, case, specialise_with_other
held, classes, count = case(3)
goal = Goal([KAnonymity(6)])
cuts = specialise_with_other(
    held[1], classes, count, goal, hear=sys.stdin.buffer, tell=sys.stdout.buffer, first=False)
open({str(tmp_path / "cut")!r}, "w").write(repr(cuts[0].part.tolist()))
"""
    held, classes, count = case(3)
    goal = Goal([KAnonymity(6)])
    other = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert other.stdin is not None
    assert other.stdout is not None
    with other:
        mine = specialise_with_other(held[0], classes, count, goal, hear=other.stdout, tell=other.stdin, first=True)
    together = specialise_together(held, classes, count, goal)
    assert [cut.part.tolist() for cut in mine] == [cut.part.tolist() for cut in together[0]]
    assert (tmp_path / "cut").read_text() == repr(together[1][0].part.tolist())

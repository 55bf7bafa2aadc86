"""The laws of engines: whoever counts and rewrites records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tarnkappe.algorithms.multidimensional.mondrian import Mondrian
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.engines.base import Engine, KeptBatches
from tarnkappe.engines.memory import MemoryEngine
from tarnkappe.plan import Plan
from tarnkappe.schema import Schema
from tarnkappe.tally import Tally
from tarnkappe.testing.shared import require, same
from tarnkappe.testing.tables import job_about, random_table


def check_engine(make: Callable[[], Engine], *, seed: int = 0, tables: int = 3) -> None:
    """Check an engine on random tables; raises an `AssertionError`.

    `make` makes a new engine. Checked are: it counts the cells that the memory engine counts; every record is written
    with the labels of its group and its own sensitive values, as often as planned; the same chance writes the same
    rows, also when asked a second time; and other chance writes them in another order.

    >>> check_engine(MemoryEngine, tables=1)
    """
    rng = np.random.default_rng(seed)
    job = job_about([KAnonymity(3)], Mondrian())
    for _ in range(tables):
        table = random_table(rng, int(rng.integers(40, 150)))
        engine, known = make(), MemoryEngine()
        name = engine.name
        schema = job.schema(table.columns)
        tally = _counted(engine, table, schema)
        expected = _counted(known, table, schema)
        found: list[NDArray[Any]] = [tally.quasi, tally.sensitive, tally.count]
        cells: list[NDArray[Any]] = [expected.quasi, expected.sensitive, expected.count]
        require(same(found, cells), f"the {name} engine counts other cells than there are")
        plan = Plan.of(tally, job.goal, Mondrian().decide(tally, job.goal, rng=np.random.default_rng(1)))
        written = [_rows(engine, plan, schema, seed) for seed in (1, 1, 2)]
        require(written[0] == written[1], f"the {name} engine writes the same release in two ways")
        wanted = _rows(known, plan, schema, 1)
        for rows in written:
            require(Counter(rows) == Counter(wanted), f"the {name} engine writes records that were not planned")
        require(written[0] != written[2], f"the order of the {name} engine does not depend on chance")


def _counted(engine: Engine, table: pl.DataFrame, schema: Schema) -> Tally:
    return engine.count(engine.open(table), schema)


def _rows(engine: Engine, plan: Plan, schema: Schema, seed: int) -> list[tuple[str | None, ...]]:
    writer = KeptBatches()
    engine.rewrite(plan, schema, writer, np.random.default_rng(seed))
    return pl.concat([batch.select(pl.all().cast(pl.String)) for batch in writer.written]).rows()

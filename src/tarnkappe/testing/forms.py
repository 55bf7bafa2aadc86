"""The laws of forms: what groups say."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tarnkappe.algorithms.base import Algorithm
from tarnkappe.criteria.base import Criterion
from tarnkappe.errors import InfeasibleError, VerificationError
from tarnkappe.pipeline import decide
from tarnkappe.plan import DealtPlan, Plan
from tarnkappe.publish.form import HIDDEN_WORDS
from tarnkappe.publish.sheets import MAIN
from tarnkappe.schema import Schema
from tarnkappe.testing.shared import require
from tarnkappe.testing.tables import QUASI, SENSITIVE, job_about, random_table


def check_form(algorithm: Algorithm, criteria: Sequence[Criterion], *, seed: int = 0, tables: int = 5) -> None:
    """Check the form of what an algorithm publishes, on random tables; raises an `AssertionError`.

    Tables have the quasi-identifiers `age` and `town` and the sensitive columns `disease` and `income`. Checked are:
    what is published passes its own verification; two copies of one decision have the same groups; groups that are
    renamed say the same under their new names; tables of numbered groups are sorted by number, are the same whenever
    they are asked for, have the columns that they announce, and all published columns stand in some strand.

    >>> from tarnkappe.algorithms.multidimensional.mondrian import Mondrian
    >>> from tarnkappe.criteria.k_anonymity import KAnonymity
    >>> check_form(Mondrian(), [KAnonymity(3)], tables=1)
    """
    name = algorithm.publishes.name
    require(set(algorithm.publishes.hides) <= set(HIDDEN_WORDS), f"{name} hides what nobody knows of")
    rng = np.random.default_rng(seed)
    done = 0
    for i in range(tables):
        table = random_table(rng, int(rng.integers(30, 120)))
        try:
            decided = decide(job_about(list(criteria), algorithm, max_suppressed=0.5), table, seed=i)
        except InfeasibleError:
            continue
        done += 1
        try:
            releases = [decided.publish(copy=copy) for copy in (0, 0, 1)]
        except VerificationError as error:
            raise AssertionError(f"{name} publishes what it did not promise: {error.details}") from error
        first, again, other = releases
        alike = all(first.tables[t].equals(again.tables[t]) for t in first.tables)
        require(alike, f"{name} publishes the same copy in two ways")
        require(first.group_sizes == other.group_sizes, f"copies of {name} have other groups")
        plan = decided.plan
        if isinstance(plan, Plan):
            _check_labelled(name, plan)
        else:
            _check_numbered(name, plan, decided.schema, {t: list(x.columns) for t, x in first.tables.items()})
            for sheet, frame in first.tables.items():
                require(frame[first.number].is_sorted(), f"the table '{sheet}' of {name} is not sorted by number")
    require(done > 0, f"{algorithm.name} found no release for any of {tables} random tables")


def _check_labelled(name: str, plan: Plan) -> None:
    """Groups that are renamed say the same under their new names."""
    grouping, domains = plan.grouping, plan.tally.quasi_domains
    new = np.random.default_rng(1).permutation(plan.n_groups).astype(np.int32)
    moved = grouping.relabel(new, plan.n_groups)
    before = grouping.form.labels(grouping.boxes(plan.tally), domains)
    after = moved.form.labels(moved.boxes(plan.tally), domains)
    for one, other in zip(before, after, strict=True):
        texts = [None if c < 0 else one.texts[c] for c in one.code]
        there = [None if c < 0 else other.texts[c] for c in other.code[new]]
        require(texts == there, f"{name} says something else where groups have other names")


def _check_numbered(name: str, plan: DealtPlan, schema: Schema, columns: dict[str, list[str]]) -> None:
    """Strands, reading and tables belong together."""
    reading, strands = plan.form.reading(schema), plan.form.strands(schema)
    require(MAIN in columns, f"{name} has no table of people")
    require(reading.secrets in columns, f"{name} puts sensitive values into a table that it does not write")
    for table, names in columns.items():
        require(reading.number in names, f"the table '{table}' of {name} has no number of a group")
    for strand in strands:
        known = columns.get(strand.sheet, [])
        require(set(strand.columns) <= set(known), f"a strand of {name} has columns that its table has not")
    told = {column for strand in strands for column in strand.of_data}
    require(told == {*QUASI, *SENSITIVE}, f"some columns of {name} stand in no strand")

"""Tables 4.6 and 4.7 of the thesis: a public table, the private part of it, and delta-presence with (1/2, 2/3)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import tarnkappe as tk
from tarnkappe.criteria.delta_presence import DeltaPresence
from tarnkappe.errors import DataError, InfeasibleError
from tarnkappe.goal import Goal
from tarnkappe.groups import GroupStats
from tarnkappe.pipeline import check
from tarnkappe.plan import Plan
from tarnkappe.schema import Column
from tarnkappe.taxonomy import TaxonomyBuilder, suppress, tree

#: Table 4.6: postcode, age, nationality, and whether the person is in the private table.
PEOPLE = (
    ("47906", "35", "USA", 0),
    ("47903", "59", "Kanada", 1),
    ("47906", "42", "USA", 1),
    ("47630", "18", "Brasilien", 0),
    ("47630", "22", "Brasilien", 0),
    ("47633", "63", "Peru", 1),
    ("48973", "33", "Spanien", 0),
    ("48972", "47", "Bulgarien", 1),
    ("48970", "52", "Frankreich", 1),
)
NAMES = ("PLZ", "Alter", "Nationalität")
TREES: dict[str, TaxonomyBuilder] = {
    "PLZ": tree({"*": {p: sorted({r[0] for r in PEOPLE if r[0].startswith(p[:2])}) for p in ("47*", "48*")}}),
    "Alter": suppress(),
    "Nationalität": tree(
        {"*": {"Amerika": ["USA", "Kanada", "Brasilien", "Peru"], "Europa": ["Spanien", "Bulgarien", "Frankreich"]}}
    ),
}

PUBLIC = pl.DataFrame([row[:3] for row in PEOPLE], schema=NAMES, orient="row")
PRIVATE = PUBLIC.filter(pl.Series([row[3] == 1 for row in PEOPLE]))


def job(criterion: DeltaPresence, algorithm: tk.Datafly | tk.Mondrian, fixed: bool) -> tk.Job:
    """The job of the example; fixed, every column has the level it has in table 4.7."""
    levels = (1, 1) if fixed else (0, None)
    return tk.Job(
        columns=[Column(name, "quasi", "categorical", TREES[name], 1.0, None, *levels) for name in NAMES],
        criteria=[criterion],
        algorithm=algorithm,
        population=PUBLIC,
    )


def test_table_4_7_has_presence_between_a_half_and_two_thirds():
    release = job(DeltaPresence(2 / 3, 1 / 2), tk.Datafly(), fixed=True).anonymize(PRIVATE, seed=1)
    texts = release.table.cast(pl.String).rows()
    assert sorted(texts) == [("47*", "*", "Amerika")] * 3 + [("48*", "*", "Europa")] * 2
    assert release.verdicts[0].ok
    assert release.verdicts[0].reached == 2 / 3


def test_the_shares_are_exactly_those_printed():
    asked = job(DeltaPresence(1.0), tk.Datafly(), fixed=True)
    tally = check(asked, PRIVATE).tally
    grouping = asked.algorithm.decide(tally, asked.goal, rng=None)  # type: ignore[arg-type]
    plan = Plan.of(tally, asked.goal, grouping)
    assert DeltaPresence(1.0).shares(plan.stats) == (Fraction(1, 2), Fraction(2, 3))


@pytest.mark.parametrize("bounds", [(0.66, 0.5), (2 / 3, 0.51), (2 / 3, 0.6)])
def test_no_tighter_bounds_hold_at_these_levels(bounds: tuple[float, float]):
    with pytest.raises(InfeasibleError):
        job(DeltaPresence(*bounds), tk.Datafly(), fixed=True).anonymize(PRIVATE)


@pytest.mark.parametrize(("algorithm", "groups"), [(tk.Datafly(), 2), (tk.Mondrian(), 3)], ids=["SPALM", "MPALM"])
def test_the_bounds_can_be_reached(algorithm: tk.Datafly | tk.Mondrian, groups: int):
    """A full-domain search, and cuts of the public table, which keep more detail."""
    release = job(DeltaPresence(2 / 3, 1 / 2), algorithm, fixed=False).anonymize(PRIVATE, seed=1)
    assert release.n_groups == groups
    assert release.n_suppressed == 0


def test_everybody_must_stand_in_the_public_table():
    stranger = pl.concat([PRIVATE, PRIVATE.head(1)])  # two people of Canada, one in the public table
    with pytest.raises(DataError, match=r"E411 .*lacks 1 of the 6 people") as error:
        job(DeltaPresence(1.0), tk.Datafly(), fixed=False).anonymize(stranger)
    assert error.value.hint


def test_who_is_certainly_not_in_the_data_breaks_a_lower_bound():
    """Catalogue 2.5: only looking at groups with records would miss a share of 0."""
    group, count, people = np.array([0, 1]), np.array([3, 0]), np.array([6, 2])
    stats = GroupStats.from_cells(group, count, population=people)
    assert Goal([DeltaPresence(0.5)]).satisfied(stats).tolist() == [True, True]
    assert Goal([DeltaPresence(0.5, 0.1)]).satisfied(stats).tolist() == [True, False]

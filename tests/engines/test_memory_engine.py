"""The memory engine: what it counts beside the quasi-identifiers, and what it keeps to itself."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tarnkappe as tk
from grids import examples
from tarnkappe.criteria.k_map import KMap
from tarnkappe.criteria.xy_anonymity import XYAnonymity
from tarnkappe.engines import memory
from tarnkappe.errors import TarnkappeError, TaxonomyError
from tarnkappe.params import param
from tarnkappe.pipeline import check
from tarnkappe.schema import Column
from tarnkappe.tally import Domain, Tally, count_cells, with_population
from tarnkappe.taxonomy.tree import Taxonomy

FRAME = pl.DataFrame(
    {
        "age": [30, 31, 31, 40],
        "sex": ["f", "m", "m", "f"],
        "illness": ["a", "b", "a", "a"],
        "patient": ["x", "y", "y", None],
        "ward": ["1", "2", "1", "2"],
        "note": ["n1", "n2", "n1", "n1"],
    }
)


@dataclass(frozen=True)
class Aimed(tk.Mondrian):
    """An algorithm that works towards a column."""

    target: str | None = param(None, doc="The column.", refers_to="counted", kw_only=True)


def job(target: str | None = "note", **changes: Any) -> tk.Job:
    given: dict[str, Any] = {
        "quasi": {"age": tk.numeric(), "sex": tk.suppress()},
        "sensitive": ["illness"],
        "subject": "patient",
        "columns": [Column("ward", "keep", because="reviewed by the board")],
        "drop": ["note"],
        "criteria": [tk.KAnonymity(2), XYAnonymity("patient", 2)],
        "algorithm": Aimed(target=target),
    }
    return tk.Job(**{**given, **changes})


def names(tally: Tally) -> list[tuple[str, bool]]:
    return [(d.name, d.aside) for d in tally.sensitive_domains]


def test_columns_aside_follow_the_sensitive_ones():
    tally = check(job(), FRAME).tally
    assert names(tally) == [("illness", False), ("patient", True), ("note", True)]
    assert tally.sensitive_domains[1].size == 3  # the missing key is one of them
    assert tally.n_records == 4


def test_a_target_may_be_kept_sensitive_or_dropped():
    assert names(check(job("ward"), FRAME).tally) == [("illness", False), ("patient", True), ("ward", True)]
    assert names(check(job("illness"), FRAME).tally) == [("illness", False), ("patient", True)]
    rest = job("note", drop="rest")
    assert names(check(rest, FRAME).tally)[-1] == ("note", True)


@pytest.mark.parametrize("target", ["note", "ward", "illness"])
def test_only_what_its_role_allows_is_published(target: str):
    release = job(target).anonymize(FRAME, seed=1)
    assert release.table.columns == ["age", "sex", "illness", "ward"]
    assert sorted(release.table["ward"]) == ["1", "1", "2", "2"]


def test_an_unnamed_person_key_is_not_counted():
    plain = job(None, criteria=[tk.KAnonymity(2)], subject=None, identifiers=["patient"])
    assert names(check(plain, FRAME).tally) == [("illness", False)]
    assert [n.code for n in check(plain, FRAME).notices if "patient" in n.message] == ["W604"]
    assert not [n for n in check(job(None), FRAME).notices if n.code == "W604"]


def test_levels_reach_the_domains():
    columns = [
        Column("age", "quasi", "numeric", tk.intervals(5, 20), 1.0, None, 1, 9),
        Column("sex", "quasi", "categorical", tk.suppress(), 1.0, None, 0, 0),
    ]
    columns.append(Column("ward", "drop"))
    asked = job(None, quasi=None, columns=columns, algorithm=tk.Datafly(), max_suppressed=0.5)
    tally = check(asked, FRAME).tally
    age, sex = tally.quasi_domains
    assert (age.floor, age.max_level, sex.floor, sex.max_level) == (1, age.taxonomy.height, 0, 0)
    assert all("-" in label for label in age.taxonomy.leaves)  # nothing below the floor has a code


def public(frame: pl.DataFrame = FRAME, **changes: Any) -> tk.Job:
    people = frame.select("age", "sex")
    more = pl.DataFrame({"age": [31, 31, 55], "sex": ["m", "f", "f"]})
    given = {
        "criteria": [KMap(2)],
        "subject": None,
        "identifiers": ["patient"],
        "population": pl.concat([people, more]),
        **changes,
    }
    return job(None, **given)


def test_people_of_a_public_table_are_counted():
    tally = check(public(), FRAME).tally
    assert tally.population is not None
    ages, sexes = (d.taxonomy.leaves for d in tally.quasi_domains)
    cells = Counter()
    for quasi, count, people in zip(tally.quasi, tally.count, tally.population, strict=True):
        key = ages[quasi[0]], sexes[quasi[1]]
        cells[key, "records"] += int(count)
        cells[key, "people"] += int(people)
    assert {key: n for (key, what), n in cells.items() if what == "records" and n} == {
        ("30", "f"): 1,
        ("31", "m"): 2,
        ("40", "f"): 1,
    }
    assert {key: n for (key, what), n in cells.items() if what == "people"} == {
        ("30", "f"): 1,
        ("31", "f"): 1,
        ("31", "m"): 3,
        ("40", "f"): 1,
        ("55", "f"): 1,
    }


def test_a_public_table_nobody_asks_about_is_not_read():
    unread = public(criteria=[tk.KAnonymity(2)], population="does-not-exist.csv")
    assert check(unread, FRAME).tally.population is None


def test_numbers_of_both_tables_are_one_scale():
    """A file of whole numbers and one with decimals: the same ages are the same."""
    halves = pl.DataFrame({"age": [30.0, 30.5, 31.0, 31.0, 40.0], "sex": ["f", "f", "m", "m", "f"]})
    tally = check(public(population=halves), FRAME).tally
    assert tally.quasi_domains[0].taxonomy.leaves == ("30", "30.5", "31", "40")
    assert tally.population is not None
    assert tally.tuple_people.tolist() == [1, 1, 2, 1]
    assert tally.tuple_sizes.tolist() == [1, 0, 2, 1]


def test_taxonomies_must_cover_the_public_table():
    trees = {"age": tk.numeric(), "sex": tk.tree({"*": ["f", "m"]})}
    people = pl.DataFrame({"age": [30], "sex": ["x"]})
    with pytest.raises(TaxonomyError, match="E204"):
        check(public(quasi=trees, population=people), FRAME)


def test_a_public_table_without_a_quasi_identifier():
    with pytest.raises(TarnkappeError, match=r"E410 .*'sex'"):
        check(public(population=pl.DataFrame({"age": [30]})), FRAME)


def test_a_public_table_that_is_not_there():
    with pytest.raises(TarnkappeError, match="E103 k-map compares the data with a public table") as error:
        check(public(population=None), FRAME)
    assert error.value.hint == "population: {path: REGISTER.csv}"


@given(st.integers(0, 2**32 - 1), st.integers(0, 40), st.integers(0, 60))
@settings(max_examples=examples(60), deadline=None)
def test_adding_people_moves_no_record(seed: int, n: int, others: int):
    rng = np.random.default_rng(seed)
    quasi = [Domain(name, Taxonomy.scale([str(i) for i in range(size)])) for name, size in (("a", 3), ("b", 4))]
    secret = Domain("s", Taxonomy.scale(["0", "1"]))
    columns = [rng.integers(0, d.size, n) for d in (*quasi, secret)]
    records, cell = count_cells(columns[:2], columns[2:], quasi, [secret])
    people, _ = count_cells([rng.integers(0, d.size, others) for d in quasi], [], quasi, [])
    tally, moved = with_population(records, people)
    for j in range(2):
        assert tally.quasi[moved[cell], j].tolist() == columns[j].tolist()
    assert tally.sensitive[moved[cell], 0].tolist() == columns[2].tolist()
    assert np.bincount(moved[cell], minlength=tally.n_cells).tolist() == tally.count.tolist()
    rows = [(*tally.quasi[i], *tally.sensitive[i]) for i in range(tally.n_cells)]
    assert rows == sorted(rows)
    assert tally.population is not None
    assert int(tally.population.sum()) == others
    per_tuple = Counter()
    for key, persons in zip(map(tuple, tally.quasi.tolist()), tally.population.tolist(), strict=True):
        assert key not in per_tuple or persons == 0, "people stand at the first cell of a combination"
        per_tuple[key] += persons
    assert +per_tuple == Counter(dict(zip(map(tuple, people.quasi.tolist()), people.count.tolist(), strict=True)))
    assert all(tally.population[tally.count == 0] > 0)


def order(group: list[int], at_once: int, seed: int, monkeypatch: pytest.MonkeyPatch) -> tuple[int, ...]:
    """The records of these groups in the order in which they would be written, in batches of about so many."""
    monkeypatch.setattr(memory, "BATCH", at_once)
    drawn = memory._in_random_order(np.array(group, np.int32), np.random.default_rng(seed))
    return tuple(int(i) for some in drawn for i in some)


@pytest.mark.parametrize("at_once", [1, 2, 3, 9])
def test_all_orders_of_records_are_equally_likely(at_once: int, monkeypatch: pytest.MonkeyPatch):
    """Also if they are thrown into several buckets: 24 orders of four records, about 100 times each."""
    found = Counter(order([0, -1, 4, 0, -1, 2], at_once, seed, monkeypatch) for seed in range(2400))
    assert {tuple(sorted(one)) for one in found} == {(0, 2, 3, 5)}
    assert len(found) == 24
    assert sum((n - 100) ** 2 / 100 for n in found.values()) < 60  # chi-square of 23: once in 25 000


@given(st.lists(st.integers(-1, 3), max_size=200), st.integers(1, 60), st.integers(0, 99))
@settings(deadline=None)
def test_every_record_of_a_group_is_written_once(group: list[int], at_once: int, seed: int):
    with pytest.MonkeyPatch.context() as patch:
        written = order(group, at_once, seed, patch)
    assert sorted(written) == [i for i, g in enumerate(group) if g >= 0]

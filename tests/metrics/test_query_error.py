"""Query error: estimates are those of a reader, worked out record by record in plain Python."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import tarnkappe as tk
from tarnkappe.datasets import census, census_taxonomies
from tarnkappe.errors import JobError, RefusedError
from tarnkappe.metrics.query_error import QueryError, Workload, measure


def people(n=300, seed=3):
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 60, n)
    return pl.DataFrame(
        {
            "age": age,
            "area": rng.choice(["n1", "n2", "s1", "s2", "w"], n),
            "colour": rng.choice(["red", "green", "blue"], n),
            "illness": [f"i{(a // 5 + r) % 7}" for a, r in zip(age, rng.integers(0, 4, n), strict=True)],
        }
    )


QUASI = {
    "age": tk.numeric(),
    "area": tk.tree({"north": ["n1", "n2"], "south": ["s1", "s2"], "west": ["w"]}),
    "colour": tk.value_set(),
}
AREAS = {"*": 5, "north": 2, "south": 2, "west": 1}


def release(algorithm, criterion):
    job = tk.Job(quasi=QUASI, sensitive=["illness"], criteria=[criterion], algorithm=algorithm)
    return job.anonymize(people(), seed=1)


def share(column, label, wanted, values):
    """The part of a label's values that is wanted; `values` are all that the data have."""
    if column == "age":
        ends = [int(x) for x in str(label).strip("[]").split()]
        inside = [v for v in values if ends[0] <= v <= ends[-1]]
    elif column == "colour":
        inside = label.strip("{}").split(" | ") if label != "*" else values
    elif label in AREAS:
        inside = [v for v in values if label in ("*", {"n": "north", "s": "south", "w": "west"}[v[0]])]
    else:
        inside = [label]
    return sum(v in wanted for v in inside) / len(inside)


def queries(plan, workload, seed):
    """The queries that `measure` asks, as values by column."""
    from tarnkappe.metrics.query_error import _secret, random_query

    rng = np.random.default_rng(seed)
    domains = {d.name: d for d in (*plan.tally.quasi_domains, *plan.tally.sensitive_domains)}

    def value(name, text):
        return int(text) if name == "age" else text

    for _ in range(workload.queries):
        drawn = random_query(plan.tally, _secret(plan, None), workload, rng)
        yield {n: [value(n, domains[n].taxonomy.leaves[c]) for c in np.flatnonzero(w)] for n, w in drawn.items()}


WORKLOAD = Workload(queries=60, predicates=2, selectivity=0.2, sanity=0.01)


def test_boxes_are_answered_record_by_record():
    frame, made = people(), release("mondrian", tk.KAnonymity(8))
    plan = made.draft.run.plan
    found = measure(plan, WORKLOAD, np.random.default_rng(5))
    values = {name: sorted(frame[name].unique()) for name in frame.columns}
    for i, query in enumerate(queries(plan, WORKLOAD, 5)):
        actual = sum(all(row[n] in w for n, w in query.items()) for row in frame.to_dicts())
        estimate = 0.0
        for row in made.table.to_dicts():
            part = float(row["illness"] in query["illness"])
            for name in set(query) - {"illness"}:
                part *= share(name, row[name], query[name], values[name])
            estimate += part
        assert found.actual[i] == actual
        assert found.estimated[i] == pytest.approx(estimate)
        error = abs(estimate - actual) / max(actual, 3)
        assert found.relative[i] == pytest.approx(error)


def test_buckets_are_answered_like_the_query_on_the_tables():
    made = release("anatomize", tk.LDiversity("illness", 3))
    plan = made.draft.run.plan
    found = measure(plan, WORKLOAD, np.random.default_rng(5))
    for i, query in enumerate(queries(plan, WORKLOAD, 5)):
        where = " and ".join(f"{name} in ({', '.join(map(str, wanted))})" for name, wanted in query.items())
        assert found.estimated[i] == pytest.approx(made.query(f"count where {where}").value)


def test_centres_are_taken_for_values():
    job = tk.Job(
        quasi={"age": tk.numeric()}, sensitive=["illness"], drop="rest", criteria=[tk.KAnonymity(5)], algorithm="mdav"
    )
    made = job.anonymize(people(), seed=1)
    plan, workload = made.draft.run.plan, Workload(queries=40, predicates=1, selectivity=0.2)
    found = measure(plan, workload, np.random.default_rng(5))
    for i, query in enumerate(queries(plan, workload, 5)):
        low, high = min(query["age"]), max(query["age"])
        rows = made.table.to_dicts()
        assert found.estimated[i] == sum(low <= r["age"] <= high and r["illness"] in query["illness"] for r in rows)


def test_records_as_they_are_have_no_error():
    found = tk.query_error(release("mondrian", tk.KAnonymity(1)), rng=np.random.default_rng(1), queries=50)
    assert found.median == found.mean == 0


def test_torn_tables_are_asked_more_exactly_than_boxes():
    """Where quasi-identifiers are many, boxes are wide."""
    trees, frame, errors = census_taxonomies(), census(3000, seed=1), []
    for algorithm in ("mondrian", "anatomize"):
        job = tk.Job(
            quasi={"age": tk.numeric(), **{n: trees[n] for n in ("education", "native-country", "workclass")}},
            sensitive=["occupation"],
            drop="rest",
            criteria=[tk.FrequencyLDiversity("occupation", 10)],
            algorithm=algorithm,
        )
        errors.append(tk.query_error(job.anonymize(frame, seed=1), rng=np.random.default_rng(1), predicates=3))
    boxes, torn = errors
    assert np.array_equal(boxes.actual, torn.actual)  # the same queries
    assert torn.median < boxes.median / 2
    assert len(torn.relative) == 1000


def test_a_query_covers_as_many_values_as_its_selectivity_says():
    plan = release("mondrian", tk.KAnonymity(5)).draft.run.plan
    workload = Workload(queries=30, predicates=1, selectivity=0.1)
    sizes = {"age": people()["age"].n_unique(), "area": 5, "colour": 3, "illness": people()["illness"].n_unique()}
    for query in queries(plan, workload, 1):
        assert len(query) == 2
        for name, wanted in query.items():
            assert len(wanted) == int(np.ceil(sizes[name] * 0.1**0.5))
        ages = query.get("age", [])
        known = sorted(people()["age"].unique())
        assert not ages or known[known.index(ages[0]) : known.index(ages[0]) + len(ages)] == ages  # neighbours


def test_rare_counts_are_weighed_by_the_sanity_bound():
    found = QueryError(Workload(sanity=0.1), np.array([0.0, 50.0]), np.array([5.0, 40.0]), 100)
    assert found.relative.tolist() == [0.5, 0.2]
    assert (found.median, found.mean) == (0.35, 0.35)


def test_what_cannot_be_measured(tmp_path):
    made = release("mondrian", tk.KAnonymity(5))
    rng = np.random.default_rng(1)
    with pytest.raises(JobError, match="cannot ask about 4 of 3"):
        tk.query_error(made, rng=rng, predicates=4)
    with pytest.raises(JobError, match="no sensitive column"):
        tk.query_error(made, rng=rng, column="age")
    with pytest.raises(JobError, match="a workload needs"):
        tk.query_error(made, rng=rng, selectivity=0)
    with pytest.raises(RefusedError, match="original is not at hand"):
        tk.query_error(made.save(tmp_path / "out"), rng=rng)


def test_plans_with_other_taxonomies_can_be_asked_the_same():
    """Neighbours on a scale, though one of the plans knows ages as categories."""
    plans = [
        tk.decide(
            tk.Job(quasi={**QUASI, "age": age}, sensitive=["illness"], criteria=[tk.KAnonymity(4)]), people()
        ).plan
        for age in (tk.numeric(), tk.intervals(5, 10))
    ]
    scale = plans[0].tally
    asked = [measure(p, Workload(queries=50), np.random.default_rng(1), asked_of=scale).actual for p in plans]
    assert asked[0].tolist() == asked[1].tolist()
    alone = measure(plans[1], Workload(queries=50), np.random.default_rng(1)).actual
    assert alone.tolist() != asked[1].tolist()

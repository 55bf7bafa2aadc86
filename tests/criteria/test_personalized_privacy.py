from __future__ import annotations

from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_groups import guarded

import brute
import tarnkappe as tk
from strategies import parent_map
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.criteria.personalized_privacy import PersonalizedPrivacy
from tarnkappe.errors import DataError, JobError
from tarnkappe.schema import Column
from tarnkappe.taxonomy.tree import Taxonomy

ILLNESS = {
    "any illness": {
        "respiratory": {"infection": ["flu", "pneumonia"], "other": ["asthma"]},
        "digestive": ["gastritis", "ulcer"],
    }
}
TREE = Taxonomy.from_nested(ILLNESS)

records = st.tuples(st.sampled_from(TREE.leaves), st.one_of(st.none(), st.sampled_from(TREE.labels)))
groups = st.lists(st.lists(records, min_size=1, max_size=8), min_size=1, max_size=4)


@given(groups, st.sampled_from([0.2, 0.25, 0.5, 0.6, 1]))
def test_as_the_independent_checker_says(some, p_breach):
    stats = guarded(some, TREE)
    expected = [brute.breach([((), record) for record in group], 0, 1, parent_map(TREE)) for group in some]
    criterion = PersonalizedPrivacy("s", "guard", p_breach)
    assert criterion.level(stats).tolist() == [float(e) for e in expected]
    assert criterion.satisfied(stats).tolist() == [e <= Fraction(str(float(p_breach))) for e in expected]


def test_not_monotone():
    """A guarded person at 1/2, pooled with a group full of the guarded value, is at 3/4 (catalogue, section 1)."""
    stats = guarded([[("flu", "infection"), ("ulcer", None)], [("flu", None), ("flu", None)]], TREE)
    criterion = PersonalizedPrivacy("s", "guard", 0.5)
    assert criterion.satisfied(stats).all()
    assert criterion.level(stats).tolist() == [0.5, 0.0]
    union = stats.pooled(np.zeros(2, np.int32))
    assert criterion.level(union).tolist() == [0.75]
    assert not criterion.satisfied(union).any()
    assert not criterion.is_monotone


def test_everybody_is_guarded_by_their_own_node():
    group = [("flu", "respiratory"), ("asthma", "asthma"), ("gastritis", None), ("ulcer", "any illness")]
    for some, level in (([group[0]], 1), (group[:2], 1), (group[1:3], 0.5), (group[2:3], 0), (group[2:], 1)):
        assert PersonalizedPrivacy("s", "guard", 0.5).level(guarded([some], TREE)).tolist() == [level]


def test_a_guarding_node_that_does_not_exist():
    stats = guarded([[("flu", "respiratry")]], TREE)
    criterion = PersonalizedPrivacy("s", "guard", 0.5)
    message = "E412 'guard' holds 1 guarding node that the taxonomy of 's' does not have"
    with pytest.raises(DataError, match=message) as error:
        criterion.level(stats)
    assert error.value.details == ("unknown: 'respiratry' (did you mean 'respiratory'?)",)
    with pytest.raises(DataError, match=message):
        criterion.require_values({d.name: d for d in stats.joint.domains})


def patients() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "age": [str(20 + i % 8) for i in range(48)],
            "s": [TREE.leaves[(i + i // 8) % 5] for i in range(48)],
            "guard": [("infection", None, "digestive", "asthma", None)[i % 5] for i in range(48)],
        }
    )


def job(algorithm: tk.Job | None = None, **roles: str) -> tk.Job:
    return tk.Job(
        quasi={"age": tk.intervals(2, 4, 8, start=20)},
        columns=[Column("s", "sensitive", taxonomy=tk.tree(ILLNESS)), Column("guard", roles.get("guard", "drop"))],
        criteria=[KAnonymity(2), PersonalizedPrivacy("s", "guard", 0.6)],
        algorithm=algorithm or next(a for a in non_monotone()),
    )


def non_monotone():
    """Algorithms that find groups for criteria that pooling can break."""
    from tarnkappe.algorithms import all_algorithms
    from tarnkappe.params import parameters

    ready = (cls for cls in all_algorithms().values() if not any(p.required for p in parameters(cls)))
    ready = (cls for cls in ready if cls.publishes.coarsens)
    return [cls() for cls in ready if cls.handles_non_monotone and "group" in cls.scopes]


@pytest.mark.parametrize("algorithm", non_monotone(), ids=str)
def test_guards_are_not_published(algorithm):
    release = job(algorithm).anonymize(patients(), seed=1)
    assert [name for name in release.table.columns if name != release.number] == ["age", "s"]
    verdict = release.verdicts[1]
    assert verdict.ok
    assert 0 < verdict.reached <= 0.6


def test_the_guard_must_be_a_column_of_the_job():
    with pytest.raises(JobError, match="E105 personalized-privacy looks at 'guard'"):
        tk.Job(
            quasi={"age": tk.numeric()},
            sensitive=["s"],
            criteria=[PersonalizedPrivacy("s", "guard", 0.5)],
        )


def test_unknown_nodes_stop_the_job():
    wrong = patients().with_columns(guard=pl.lit("lungs"))
    with pytest.raises(DataError, match="E412 'guard' holds 1 guarding node"):
        job().check(wrong)


def test_words():
    criterion = PersonalizedPrivacy("s", "guard", 0.5)
    assert criterion.asked == "chance of a breach ≤ 0.5"
    assert criterion.columns == ("s", "guard")
    assert criterion.sensitive_column == "s"

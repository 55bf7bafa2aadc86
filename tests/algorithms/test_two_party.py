"""Parties that do not show their columns find the cuts that one holder of all columns would find."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grids import examples
from strategies import tallies
from tarnkappe.algorithms.recoding import recode
from tarnkappe.algorithms.subtree.party import Party
from tarnkappe.algorithms.subtree.specialisation import by_size, specialise
from tarnkappe.algorithms.subtree.tds import TopDownSpecialization
from tarnkappe.algorithms.subtree.two_party import Holding, specialise_together
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.criteria.l_diversity import LDiversity
from tarnkappe.errors import JobError
from tarnkappe.goal import Goal
from tarnkappe.tally import Domain, Tally
from tarnkappe.taxonomy.tree import Taxonomy


def holdings(tally: Tally, first: int) -> list[Holding]:
    """The columns of a table, dealt out to two parties."""
    return [
        Holding(tally.quasi[:, :first], tally.quasi_domains[:first]),
        Holding(tally.quasi[:, first:], tally.quasi_domains[first:]),
    ]


@settings(max_examples=examples(100))
@given(
    tallies(wildcards=False),
    st.integers(1, 5),
    st.integers(1, 2),
    st.sampled_from(["subtree", "sibling"]),
    st.sampled_from([0.0, 0.2]),
)
def test_same_cuts_as_together(tally: Tally, k: int, first: int, granularity: str, limit: float):
    if tally.n_records < k or len(tally.quasi_domains) <= first:
        return
    goal = Goal([KAnonymity(k)], limit)
    classes = tally.sensitive[:, 0], tally.sensitive_domains[0].size
    apart = specialise_together(holdings(tally, first), classes, tally.count, goal, granularity=granularity)
    (together,) = specialise_together(
        [Holding(tally.quasi, tally.quasi_domains)], classes, tally.count, goal, granularity=granularity
    )
    found = [cut for cuts in apart for cut in cuts]
    for one, two in zip(found, together, strict=True):
        assert np.array_equal(one.lo[one.part], two.lo[two.part])
        assert np.array_equal(one.hi[one.part], two.hi[two.part])
        assert np.array_equal(one.node[one.part], two.node[two.part])
    if limit == 0:
        alone = TopDownSpecialization("s0", granularity=granularity, attempts=1).decide(
            tally, goal, rng=np.random.default_rng(0)
        )
        assert np.array_equal(recode(tally, found).group, alone.group)


def test_a_party_learns_no_codes_of_the_other():
    """All that is said is in the offers and messages: scores, numbers of groups, cells and pieces."""
    rng = np.random.default_rng(2)
    codes = [rng.integers(0, 8, 200).astype(np.int32)[:, None] for _ in range(2)]
    classes = (codes[0][:, 0] + codes[1][:, 0] > 7).astype(np.int32), 2
    domain = Domain("x", Taxonomy.scale([str(i) for i in range(8)]), np.arange(8.0))
    parties = [Party(c, [domain], np.ones(200, np.int64), classes, min_size=10) for c in codes]
    heard = []

    class Listening(Party):
        def follow(self, message):
            heard.append(message)
            super().follow(message)

    parties[1].__class__ = Listening
    specialise(parties, by_size)
    assert heard
    for message in heard:
        assert set(vars(message)) == {"groups", "cell", "piece", "ok"}
    # Whoever comes apart on the way comes apart in the release: nothing finer was said.
    (mine,) = parties[0].cuts()
    published = mine.part[codes[0][:, 0]]
    for message in heard:
        for piece in np.unique(message.piece):
            inside = set(published[message.cell[message.piece == piece]])
            outside = set(published[message.cell[message.piece != piece]])
            assert len(np.unique(message.piece)) == 1 or inside != outside


def test_what_cannot_be_decided_by_sizes_is_refused():
    one = Holding(np.zeros((4, 1), np.int32), ())
    with pytest.raises(JobError, match="l-diversity"):
        specialise_together([one], (np.zeros(4, np.int32), 1), np.ones(4, np.int64), Goal([LDiversity("s", 2)]))
    with pytest.raises(JobError, match="cannot form a group of 5"):
        specialise_together([one], (np.zeros(4, np.int32), 1), np.ones(4, np.int64), Goal([KAnonymity(5)]))

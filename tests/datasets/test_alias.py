"""The alias table draws every outcome with its probability and never an impossible one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from grids import examples
from tarnkappe.datasets.alias import WORD_BITS, AliasTable

weights = hnp.arrays(
    np.float64,
    hnp.array_shapes(min_dims=2, max_dims=2, max_side=20),
    elements=st.floats(0, 1e6).map(lambda x: round(x, 3)),
).filter(lambda rows: bool((rows.sum(axis=1) > 0).all()))


def exact_shares(table: AliasTable, contexts: int, outcomes: int) -> np.ndarray:
    """The probability of every outcome, read off the slots instead of drawn."""
    slots = 1 << table.bits
    unit = 1 << (WORD_BITS - table.bits)
    kept = table.threshold.reshape(contexts, slots) / unit
    shares = kept / slots
    for context in range(contexts):
        other = table.other.reshape(contexts, slots)[context]
        np.add.at(shares[context], other, (1 - kept[context]) / slots)
    assert not shares[:, outcomes:].any()
    return shares[:, :outcomes]


@given(weights)
def test_slots_hold_exactly_the_given_shares(rows):
    expected = rows / rows.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(exact_shares(AliasTable.of(rows), *rows.shape), expected, atol=1e-8)


@settings(max_examples=examples(30))
@given(weights, st.integers(0, 2**32))
def test_an_impossible_outcome_is_never_drawn(rows, seed):
    table = AliasTable.of(rows)
    rng = np.random.default_rng(seed)
    context = rng.integers(0, len(rows), 2_000)
    words = np.concatenate([[0, 2**32 - 1], rng.integers(0, 2**32, 1_998)]).astype(np.uint32)
    drawn = table.draw(words, context)
    # Slots are split to 2**-32, so only an outcome below that resolution may be missed or rounded away.
    assert (rows[context, drawn] > 0).all()


def test_words_spread_evenly_give_the_shares():
    share = np.array([0.5, 0.3, 0.15, 0.05])
    words = np.linspace(0, 2**32 - 1, 100_000).astype(np.uint32)
    drawn = np.bincount(AliasTable.of(share).draw(words), minlength=4) / len(words)
    np.testing.assert_allclose(drawn, share, atol=1e-4)


def test_context_chooses_the_distribution():
    table = AliasTable.of([[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    context = np.array([2, 0, 1, 2])
    words = np.array([0, 2**32 - 1, 12345, 2**31], np.uint32)
    assert table.draw(words, context).tolist() == context.tolist()


@pytest.mark.parametrize("rows", [[[0.0, 0.0]], [[1.0, -0.5]], [[1.0, 1.0], [0.0, 0.0]]])
def test_weights_that_are_no_distribution_are_refused(rows):
    with pytest.raises(ValueError, match="positive sum"):
        AliasTable.of(rows)

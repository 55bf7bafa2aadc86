"""Values are found in a list of values as a dictionary would find them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarnkappe.io import lookup
from tarnkappe.io.lookup import Lookup, different_texts

texts = st.one_of(
    st.none(), st.sampled_from(["", "a", "ab", "zwölf Zeichen", "a text of more than twelve", "a text of more"])
)
numbers = st.one_of(st.none(), st.integers(-3, 3), st.sampled_from([10**12, -(10**12), 2**62]))
without_sign = st.one_of(st.none(), st.integers(0, 3), st.sampled_from([2**63 - 1, 2**63, 2**64 - 1]))
VALUES = {pl.String: texts, pl.Int64: numbers, pl.UInt64: without_sign}


@pytest.mark.parametrize("kind", VALUES)
@given(st.data())
def test_as_a_dictionary_finds_them(kind: type[pl.DataType], data):
    values = VALUES[kind]
    known = data.draw(st.lists(values, max_size=8, unique=True))
    asked = data.draw(st.lists(values, max_size=30))
    places = {value: 7 * i for i, value in enumerate(known)}
    find = Lookup(pl.Series(known, dtype=kind), np.array([*places.values()], np.int32))
    assert find(pl.Series(asked, dtype=kind)).tolist() == [places.get(value, -1) for value in asked]


@given(st.lists(texts, max_size=40), st.integers(0, 5))
def test_different_texts_stand_for_all(values, skipped):
    part = pl.Series(values, dtype=pl.String)
    column = pl.concat([part, part], rechunk=False)[skipped:]
    found = different_texts(column)
    if found is None:
        assert not len(column)
        return
    some, which = found
    assert some.gather(which).to_list() == column.to_list()


def test_very_many_texts_are_not_numbered(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(lookup, "_FEW_TEXTS", 4)
    assert different_texts(pl.Series(["a", "b", "c", "d", "a"])) is not None
    assert different_texts(pl.Series(["a", "b", "c", "d", "e"])) is None
    assert different_texts(pl.Series([1, 2])) is None


@pytest.mark.parametrize("size", [13, 15, 16, 17, 24, 40])
def test_long_texts_that_each_stand_in_a_place_of_their_own_are_numbered(monkeypatch: pytest.MonkeyPatch, size: int):
    monkeypatch.setattr(lookup, "_FEW_TEXTS", 4)
    begin, rest = "abcd", "x" * (size - 6)
    kinds = [begin + rest + "yz", begin + rest + "zy", begin + "y" + rest[1:] + "yz", None]
    values = [kinds[i % 4] for i in range(50)]
    found = different_texts(pl.Series(values))
    assert found is not None
    some, which = found
    assert some.to_list() == kinds
    assert some.gather(which).to_list() == values

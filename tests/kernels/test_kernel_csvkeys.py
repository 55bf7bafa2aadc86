"""The kernels that read numbers off keys agree with arithmetic on Python's integers."""

from __future__ import annotations

import numpy as np
import pytest

from tarnkappe.io.csvparts import key_words, place_in_key
from tarnkappe.kernels.io.csvkeys import count_numbers, look_up_numbers
from tarnkappe.kernels.io.views import append_codes


def keys_of(numbers: np.ndarray, bits: int) -> np.ndarray:
    """Keys as `number_fields` packs them: as many numbers in a word as fit, each below the one before it."""
    n, columns = numbers.shape
    per_word = 64 // bits
    out = np.zeros((n, key_words(columns, bits)), np.uint64)
    for i in range(n):
        for word in range(out.shape[1]):
            key = 0
            for number in numbers[i, word * per_word : (word + 1) * per_word].tolist():
                key = (key << bits) | number
            out[i, word] = key
    return out


@pytest.mark.parametrize(("columns", "bits"), [(1, 12), (4, 12), (5, 12), (6, 12), (11, 12), (3, 30), (64, 1), (65, 1)])
def test_numbers_are_counted_and_looked_up(columns: int, bits: int):
    rng = np.random.default_rng(columns)
    numbers = rng.integers(0, 1 << min(bits, 8), (50, columns))
    numbers[0] = (1 << bits) - 1 if bits < 20 else 7
    keys = keys_of(numbers, bits)
    size = int(numbers.max()) + 1
    counts = np.ones((columns, size), np.int64)
    count_numbers(keys, bits, counts)
    for j in range(columns):
        assert counts[j].tolist() == (1 + np.bincount(numbers[:, j], minlength=size)).tolist()
        table, out = rng.integers(0, 1000, size).astype(np.int32), np.zeros(50, np.int32)
        word, shift = place_in_key(j, bits, columns)
        look_up_numbers(keys, word, shift, np.uint64((1 << bits) - 1), table, out)
        assert out.tolist() == table[numbers[:, j]].tolist()


@pytest.mark.parametrize("listed", [True, False])
def test_codes_are_appended_to_words(listed: bool):
    rng = np.random.default_rng(1)
    words = rng.integers(0, 1 << 40, 100).astype(np.uint64)
    codes = rng.integers(0, 1 << 10, 7 if listed else 100).astype(np.uint64)
    which = rng.integers(0, 7, 100 if listed else 0).astype(np.int32)
    expected = [
        (word << 10) | code
        for word, code in zip(words.tolist(), (codes[which] if listed else codes).tolist(), strict=True)
    ]
    append_codes(words, 10, codes, which)
    assert words.tolist() == expected

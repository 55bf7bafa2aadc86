"""Check digits: which of some numbers were made by a rule, not by chance. All at once, one row of digits each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tarnkappe.arrays import Flags

#: One row per number, one column per digit.
Digits = NDArray[np.int64]

_LETTERS = np.zeros(128, np.int64)
_LETTERS[ord("0") : ord("9") + 1] = np.arange(10)
_LETTERS[ord("A") : ord("Z") + 1] = np.arange(10, 36)


def figures(texts: pl.Series) -> Digits:
    """Texts of equal length and of digits and capital letters, one row each; A is 10, Z is 35."""
    length = len(texts[0])
    codes = np.frombuffer("".join(texts.to_list()).encode("ascii"), np.uint8)
    return _LETTERS[codes].reshape(len(texts), length)


def number(digits: Digits) -> NDArray[np.int64]:
    """The number that the digits of a row are, up to 18 of them."""
    value: NDArray[np.int64] = digits @ 10 ** np.arange(digits.shape[1] - 1, -1, -1)
    return value


def weighted(digits: Digits, weights: Sequence[int]) -> NDArray[np.int64]:
    """The weighted sum of the first digits."""
    total: NDArray[np.int64] = digits[:, : len(weights)] @ np.array(weights)
    return total


def cross_sum(values: Digits) -> Digits:
    """The sum of the two digits of each number below 100."""
    return values // 10 + values % 10


def same(found: Digits, given: Digits) -> Flags:
    """Where the check digits found are those given."""
    equal: Flags = found == given
    return equal


def luhn(digits: Digits) -> Flags:
    """Luhn's rule (payment cards, IMEI, many national numbers).

    >>> luhn(figures(pl.Series(["79927398713", "79927398710"]))).tolist()
    [True, False]
    """
    doubled = np.where(np.arange(digits.shape[1])[::-1] % 2 == 1, 2, 1)
    return same(cross_sum(digits * doubled).sum(axis=1) % 10, np.zeros(len(digits), np.int64))


def mod97(digits: Digits) -> NDArray[np.int64]:
    """The remainder by 97 of numbers of any length; a letter stands for two digits.

    >>> mod97(figures(pl.Series(["3214282912345698765432161182"]))).tolist()
    [1]
    """
    rest = np.zeros(len(digits), np.int64)
    for column in digits.T:
        rest = (rest * np.where(column > 9, 100, 10) + column) % 97
    return rest


def iso_7064(digits: Digits) -> Flags:
    """The rule "mod 11, 10" of ISO 7064.

    >>> iso_7064(figures(pl.Series(["86095742719", "86095742718"]))).tolist()
    [True, False]
    """
    product = np.full(len(digits), 10)
    for column in digits[:, :-1].T:
        total = (column + product) % 10
        product = np.where(total == 0, 10, total) * 2 % 11
    return same((11 - product) % 10, digits[:, -1])


def mod11(digits: Digits, weights: Sequence[int]) -> Flags:
    """The last digit fills a weighted sum up to a multiple of 11; 11 is written 0, and 10 does not occur.

    >>> mod11(figures(pl.Series(["9434765919", "9434765918"])), range(10, 1, -1)).tolist()
    [True, False]
    """
    check = 11 - weighted(digits, weights) % 11
    return same(np.where(check == 11, 0, check), digits[:, len(weights)])


_DIHEDRAL = np.array(
    [
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
        [1, 2, 3, 4, 0, 6, 7, 8, 9, 5],
        [2, 3, 4, 0, 1, 7, 8, 9, 5, 6],
        [3, 4, 0, 1, 2, 8, 9, 5, 6, 7],
        [4, 0, 1, 2, 3, 9, 5, 6, 7, 8],
        [5, 9, 8, 7, 6, 0, 4, 3, 2, 1],
        [6, 5, 9, 8, 7, 1, 0, 4, 3, 2],
        [7, 6, 5, 9, 8, 2, 1, 0, 4, 3],
        [8, 7, 6, 5, 9, 3, 2, 1, 0, 4],
        [9, 8, 7, 6, 5, 4, 3, 2, 1, 0],
    ]
)
_TURNS = np.array([[0, 1, 2, 3, 4, 5, 6, 7, 8, 9], [1, 5, 7, 6, 2, 8, 3, 0, 9, 4]])


def verhoeff(digits: Digits) -> Flags:
    """Verhoeff's rule.

    >>> verhoeff(figures(pl.Series(["2363", "2364"]))).tolist()
    [True, False]
    """
    check, turned = np.zeros(len(digits), np.int64), np.arange(10)
    for column in digits.T[::-1]:
        check = _DIHEDRAL[check, turned[column]]
        turned = turned[_TURNS[1]]
    return same(check, np.zeros_like(check))

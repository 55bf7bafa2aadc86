"""Numbers that a state, a tax office or a health service gives to a person."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from tarnkappe.arrays import Flags
from tarnkappe.looks.base import DIGITS, Detector, Sight
from tarnkappe.looks.check_digits import (
    Digits,
    cross_sum,
    figures,
    iso_7064,
    luhn,
    mod11,
    number,
    same,
    verhoeff,
    weighted,
)


@dataclass(frozen=True)
class Scheme:
    """How one kind of number is written, once separators are removed, and what its check digits must be.

    Without a check the pattern must be strict enough by itself; it then looks at the number as it is written.
    """

    title: str
    pattern: str
    check: Callable[[Digits], Flags] | None = None

    def holds(self, written: pl.Series, bare: pl.Series) -> pl.Series:
        """Which of some values are such numbers."""
        if self.check is None:
            return written.str.contains(f"^(?:{self.pattern})$")
        fits = bare.str.contains(f"^(?:{self.pattern})$")
        found = np.zeros(len(bare), np.bool_)
        if fits.any():
            found[fits.to_numpy()] = self.check(figures(bare.filter(fits)))
        return pl.Series(found)


def _as_pair(digits: Digits, at: int) -> Digits:
    """Rows in which the letter at one place has become two digits, A being 01."""
    letter = digits[:, at] - 9
    return np.column_stack([digits[:, :at], letter // 10, letter % 10, digits[:, at + 1 :]])


def _german_pension(digits: Digits) -> Flags:
    parts = _as_pair(digits, 8)
    weights = np.array([2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1])
    return same(cross_sum(parts[:, :12] * weights).sum(axis=1) % 10, parts[:, 12])


def _german_health(digits: Digits) -> Flags:
    parts = _as_pair(digits, 0)
    return same(cross_sum(parts[:, :10] * np.array([1, 2] * 5)).sum(axis=1) % 10, parts[:, 10])


def _letter(alphabet: str, remainder: Digits, given: Digits) -> Flags:
    """Whether the remainder stands for the letter or digit that is given."""
    return same(figures(pl.Series([alphabet]))[0][remainder], given)


def _spanish(digits: Digits) -> Flags:
    first = np.where(digits[:, :1] >= 33, digits[:, :1] - 33, digits[:, :1])  # X, Y, Z stand for 0, 1, 2
    value = number(np.column_stack([first, digits[:, 1:8]]))
    return _letter("TRWAGMYFPDXBNJZSQVHLCKE", value % 23, digits[:, 8])


def _belgian(digits: Digits) -> Flags:
    birth, check = number(digits[:, :9]), number(digits[:, 9:])
    return same(97 - birth % 97, check) | same(97 - (2 * 10**9 + birth) % 97, check)


def _norwegian(digits: Digits) -> Flags:
    return mod11(digits, [3, 7, 6, 1, 8, 9, 4, 5, 2]) & mod11(digits, [5, 4, 3, 2, 7, 6, 5, 4, 3, 2])


def _brazilian(digits: Digits) -> Flags:
    first = same(weighted(digits, range(10, 1, -1)) * 10 % 11 % 10, digits[:, 9])
    second = same(weighted(digits, range(11, 1, -1)) * 10 % 11 % 10, digits[:, 10])
    return first & second & ~same(digits.min(axis=1), digits.max(axis=1))


def _turkish(digits: Digits) -> Flags:
    odd, even = digits[:, 0:9:2].sum(axis=1), digits[:, 1:8:2].sum(axis=1)
    return same((7 * odd - even) % 10, digits[:, 9]) & same(digits[:, :10].sum(axis=1) % 10, digits[:, 10])


def _chinese(digits: Digits) -> Flags:
    total = weighted(digits, [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2])
    return _letter("10X98765432", total % 11, digits[:, 17])


def _austrian(digits: Digits) -> Flags:
    return same(weighted(digits, [3, 7, 9, 0, 5, 8, 4, 2, 1, 6]) % 11, digits[:, 3])


def _portuguese(digits: Digits) -> Flags:
    check = 11 - weighted(digits, range(9, 1, -1)) % 11
    return same(np.where(check > 9, 0, check), digits[:, 8])


_MONTH, _DAY = "(?:0[1-9]|1[0-2])", "(?:0[1-9]|[12][0-9]|3[01])"

SCHEMES = (
    Scheme("US social security", "(?:00[1-9]|0[1-9][0-9]|[1-578][0-9]{2}|6[0-57-9][0-9]|66[0-57-9])-[0-9]{2}-[0-9]{4}"),
    Scheme(
        "US Medicare",
        "[1-9][AC-HJKMNP-RT-Y][0-9AC-HJKMNP-RT-Y][0-9]-?[AC-HJKMNP-RT-Y]{1}[0-9AC-HJKMNP-RT-Y][0-9]-?[AC-HJKMNP-RT-Y]{2}[0-9]{2}",
    ),
    Scheme("German tax", "[1-9][0-9]{10}", iso_7064),
    Scheme("German pension insurance", "[0-9]{8}[A-Z][0-9]{3}", _german_pension),
    Scheme("German health insurance", "[A-Z][0-9]{9}", _german_health),
    Scheme("British NHS", "[0-9]{10}", lambda d: mod11(d, range(10, 1, -1))),
    Scheme(
        "British national insurance", "(?i)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?[0-9]{2} ?[0-9]{2} ?[0-9]{2} ?[A-D]"
    ),
    Scheme("French social security", "[12][0-9]{14}", lambda d: 97 - number(d[:, :13]) % 97 == number(d[:, 13:])),
    Scheme("Spanish identity", "[0-9XYZ][0-9]{7}[A-Z]", _spanish),
    Scheme("Italian tax", "(?i)[A-Z]{6}[0-9]{2}[A-EHLMPR-T][0-9]{2}[A-Z][0-9]{3}[A-Z]"),
    Scheme("Polish PESEL", "[0-9]{11}", lambda d: weighted(d, [1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1]) % 10 == 0),
    Scheme("Dutch citizen service", "[0-9]{9}", lambda d: weighted(d, [9, 8, 7, 6, 5, 4, 3, 2, -1]) % 11 == 0),
    Scheme("Belgian national register", f"[0-9]{{2}}{_MONTH}{_DAY}[0-9]{{5}}", _belgian),
    Scheme("Swedish personal", f"[0-9]{{2}}{_MONTH}{_DAY}[0-9]{{4}}", luhn),
    Scheme("Finnish personal", f"(?i){_DAY}{_MONTH}[0-9]{{2}}[-+A-FU-Y][0-9]{{3}}[0-9A-FHJ-NPR-Y]"),
    Scheme("Danish personal", f"{_DAY}{_MONTH}[0-9]{{2}}-[0-9]{{4}}"),
    Scheme("Norwegian birth", "[0-9]{11}", _norwegian),
    Scheme("Swiss AHV", "756[0-9]{10}", lambda d: weighted(d, [1, 3] * 6 + [1]) % 10 == 0),
    Scheme("Austrian insurance", f"[1-9][0-9]{{3}}{_DAY}{_MONTH}[0-9]{{2}}", _austrian),
    Scheme("Portuguese tax", "[1-9][0-9]{8}", _portuguese),
    Scheme("Canadian social insurance", "[0-9]{9}", luhn),
    Scheme("Brazilian CPF", "[0-9]{11}", _brazilian),
    Scheme("Turkish identity", "[1-9][0-9]{10}", _turkish),
    Scheme("Indian Aadhaar", "[2-9][0-9]{11}", verhoeff),
    Scheme("Chinese identity", "[1-9][0-9]{16}[0-9X]", _chinese),
)


class NationalId(Detector):
    """Social security, tax, identity and health insurance numbers, by their check digits where they have any."""

    name: ClassVar = "national-id"
    title: ClassVar = "national identity or insurance numbers"
    evidence: ClassVar = (
        "19 of 20 of at least four different values pass one rule: "
        + ", ".join(s.title for s in SCHEMES)
        + "; or the name"
    )
    hipaa: ClassVar = (7, 9)
    phrases: ClassVar = (
        *("ssn", "social security", "national id", "nino", "nhs number", "nhs no", "passport", "tax id", "tin"),
        *("insurance number", "insurance no", "insurance id", "insured id", "policy number", "policy no"),
        *("health plan", "beneficiary id", "beneficiary number", "medicare number", "medicare id", "medicaid id"),
        *("versicherungsnummer", "versichertennummer", "sozialversicherungsnummer", "rentenversicherungsnummer"),
        *("krankenversichertennummer", "kvnr", "svnr", "ahv nummer", "steuernummer", "steuer id", "personalausweis"),
        *("ausweisnummer", "reisepass", "dni", "codice fiscale", "pesel", "bsn", "cpf", "aadhaar", "personnummer"),
    )
    enough: ClassVar = 0.95
    fewest: ClassVar = 4
    signs: ClassVar = DIGITS
    shortest: ClassVar = 9

    def share(self, sight: Sight) -> float:
        """The largest share that passes one rule."""
        if sight.rows.dtype.is_temporal() or not sight.texts.str.contains(r"[0-9]{2}").any():
            return 0.0
        bare = sight.texts.str.to_uppercase().str.replace_all(r"[ ./-]", "")
        width = bare.str.len_chars().median()
        if not 8 < float(width or 0) < 19:  # type: ignore[arg-type]
            return 0.0
        return max(float(scheme.holds(sight.texts, bare).sum()) / len(bare) for scheme in SCHEMES)

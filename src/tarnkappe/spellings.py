"""Values that are one to a person and several to a program: "HIV" and "hiv", "0" and "0.0", "NA" and an empty cell."""

from __future__ import annotations

import numpy as np
import polars as pl

from tarnkappe.arrays import Codes
from tarnkappe.errors import Notice
from tarnkappe.looks.facts import MARKERS
from tarnkappe.plan import Plan
from tarnkappe.tally import Domain, Tally

#: Texts that often stand for a missing value, as words are compared.
_MISSING = sorted({marker.lower() for marker in MARKERS})

#: Signs of a number that a float surely tells from any other of as many signs.
_TOLD_APART = 15


def notices_about_spellings(tally: Tally, plan: Plan | None = None) -> tuple[Notice, ...]:
    """Say which sensitive columns have values that differ only in how they are written; with a plan, in its release.

    A group whose records have nothing but such values looks diverse and is not. No value is named.
    """
    cells = slice(None) if plan is None else plan.grouping.cell[plan.grouping.group >= 0]
    found = {
        d.name: _alike(d, _occurring(tally.sensitive[cells, j], d.size))
        for j, d in enumerate(tally.sensitive_domains)
        if not d.aside and d.values is None
    }
    return tuple(
        Notice(
            "W615",
            f"'{name}' has {n} value{'s' if n > 1 else ''} more than it has words: some differ only in capitals, "
            "blanks, the digits of the same number or the sign of a missing value, and count as different",
            hint=f"Write the values of '{name}' alike first, or a group may look more diverse than it is.",
        )
        for name, n in found.items()
        if n
    )


def _occurring(codes: Codes, size: int) -> Codes:
    """The codes that occur, of so many."""
    occurs = np.zeros(size, np.bool_)
    occurs[codes] = True
    return np.flatnonzero(occurs).astype(np.int32)


def _alike(domain: Domain, codes: Codes) -> int:
    """How many values there are more than words, if capitals, blanks and the encoding of signs do not matter.

    Nor does it matter how many digits a number is written with, up to as many as a float tells apart, or how a missing
    value is.
    """
    leaves = domain.taxonomy.leaves
    texts = pl.Series(["" if code == domain.missing else leaves[code] for code in codes], dtype=pl.String)
    blanks = r"[\s\u{200B}\u{FEFF}]+"
    words = texts.str.normalize("NFKC").str.to_lowercase().str.replace_all(blanks, " ").str.strip_chars()
    words = words.replace(_MISSING, [""] * len(_MISSING)).unique()
    numbers = words.filter(words.str.len_chars() <= _TOLD_APART).cast(pl.Float64, strict=False).drop_nulls()
    return texts.len() - words.len() + numbers.len() - (numbers + 0.0).n_unique()

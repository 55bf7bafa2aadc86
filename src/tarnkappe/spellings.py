"""Values that are one to a person and several to a program: "HIV", "HIV " and "hiv"."""

from __future__ import annotations

import numpy as np
import polars as pl

from tarnkappe.arrays import Codes
from tarnkappe.errors import Notice
from tarnkappe.plan import Plan
from tarnkappe.tally import Domain, Tally


def notices_about_spellings(tally: Tally, plan: Plan | None = None) -> tuple[Notice, ...]:
    """Say which sensitive columns have values that differ only in how they are written; with a plan, in its release.

    A group whose records have nothing but such values looks diverse and is not. No value is named.
    """
    cells = slice(None) if plan is None else plan.grouping.cell[plan.grouping.group >= 0]
    found = {
        d.name: _alike(d, np.unique(tally.sensitive[cells, j]))
        for j, d in enumerate(tally.sensitive_domains)
        if not d.aside and d.values is None
    }
    return tuple(
        Notice(
            "W615",
            f"'{name}' has {n} value{'s' if n > 1 else ''} more than it has words: some differ only in capitals or "
            "blanks, and count as different",
            hint=f"Write the values of '{name}' alike first, or a group may look more diverse than it is.",
        )
        for name, n in found.items()
        if n
    )


def _alike(domain: Domain, codes: Codes) -> int:
    """How many values there are more than words, if capitals, blanks and the encoding of signs do not matter."""
    leaves = domain.taxonomy.leaves
    texts = pl.Series([leaves[code] for code in codes if code != domain.missing], dtype=pl.String)
    blanks = r"[\s\u{200B}\u{FEFF}]+"
    words = texts.str.normalize("NFKC").str.to_lowercase().str.replace_all(blanks, " ").str.strip_chars()
    return texts.len() - words.n_unique()

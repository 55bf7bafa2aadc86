"""Whether a taxonomy covers the values of its column, and if not, which ones and most likely why."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from tarnkappe.errors import TaxonomyError
from tarnkappe.fixes import Fix
from tarnkappe.taxonomy.labels import shown, value_texts
from tarnkappe.taxonomy.tree import Taxonomy

Values = Sequence[Any] | NDArray[Any]

#: How many values a message shows.
MOST_EXAMPLES = 5

#: Comparing by similarity is slow, so it is left out for taxonomies with more leaves than this.
_MOST_COMPARED = 2_000


def check_coverage(
    taxonomy: Taxonomy,
    values: Values,
    counts: Values | None,
    column: str,
    others: Mapping[str, Sequence[str]] | None = None,
    where: str | None = None,
    *,
    name: str | None = None,
) -> None:
    """Refuse a taxonomy that does not have every value of its column as a leaf.

    `counts` are the rows per value, `others` the values of other columns (to notice a taxonomy given to the wrong
    one), `name` what the job calls the taxonomy.

    >>> sex = Taxonomy.from_nested(["female", "male"])
    >>> check_coverage(sex, ["male", "female"], None, "sex")
    >>> check_coverage(sex, ["male", "female "], [7, 3], "sex")
    Traceback (most recent call last):
    ...
    tarnkappe.errors.TaxonomyError: E204 the taxonomy does not cover 1 of 2 values of column 'sex'
      not covered: "female " (trailing space, 3 rows)
      Fix: Set  trim: true  in the taxonomy to ignore blanks around values.
    """
    texts = value_texts(values)
    leaves = set(taxonomy.leaves)
    unknown = [i for i, text in enumerate(texts) if text not in leaves]
    if not unknown:
        return
    diagnosis = _Diagnosis(taxonomy)
    n_covered = len(texts) - len(unknown)
    details = []
    hint = "Add the values to the taxonomy, or set  on_unknown: top  to generalise them straight to its root."
    if all(texts[i].strip() in diagnosis.by_trimmed for i in unknown):
        hint = "Set  trim: true  in the taxonomy to ignore blanks around values."
    better = _better_column(leaves, n_covered / len(texts), n_covered, others or {}, column)
    if better:
        other, covered_there, n_there = better
        details.append(
            f"it covers {n_covered} of {len(texts)} values of '{column}'; "
            f"it fits column '{other}' {covered_there}/{n_there}"
        )
        if n_covered < len(texts) / 2:
            hint = f"Give it to '{other}' instead of '{column}'."
            if name:
                hint = f"Give it to that column:  {other}: {{role: quasi, taxonomy: {name}}}"
    what = f"taxonomy '{name}'" if name else "the taxonomy"
    raise not_covered(
        column,
        texts,
        unknown,
        counts,
        reason=diagnosis.reason,
        hint=hint,
        what=what,
        details=details,
        where=where,
    )


def not_covered(
    column: str,
    texts: Sequence[str],
    unknown: Sequence[int],
    counts: Values | None,
    *,
    reason: Callable[[str], str],
    hint: str | Fix,
    what: str = "the taxonomy",
    details: Sequence[str] = (),
    where: str | None = None,
) -> TaxonomyError:
    """The error that values stay uncovered, with a few of them, the most frequent first.

    `unknown` are positions in `texts`; `reason` gives a few words on why a value is not covered, or nothing.
    """
    rows = None if counts is None else [int(counts[i]) for i in unknown]
    order = range(len(unknown)) if rows is None else sorted(range(len(unknown)), key=lambda k: -rows[k])
    lines = list(details)
    for k in list(order)[:MOST_EXAMPLES]:
        text = texts[unknown[k]]
        notes = [note for note in (reason(text), _row_count(rows[k]) if rows else "") if note]
        lines.append(f"not covered: {shown(text)}" + (f" ({', '.join(notes)})" if notes else ""))
    if len(unknown) > MOST_EXAMPLES:
        lines.append(f"and {len(unknown) - MOST_EXAMPLES} more")
    return TaxonomyError(
        "E204",
        f"{what} does not cover {len(unknown)} of {len(texts)} values of column '{column}'",
        where=where,
        details=lines,
        hint=hint,
    )


def _row_count(n: int) -> str:
    return "1 row" if n == 1 else f"{n:,} rows".replace(",", " ")


class _Diagnosis:
    """Says why a value may be missing from a taxonomy."""

    def __init__(self, taxonomy: Taxonomy) -> None:
        self.leaves = taxonomy.leaves
        self.inner = set(taxonomy.labels).difference(taxonomy.leaves)
        self.by_trimmed = {leaf.strip(): leaf for leaf in taxonomy.leaves}
        self.by_folded = {leaf.strip().casefold(): leaf for leaf in taxonomy.leaves}

    def reason(self, text: str) -> str:
        """A few words on why the value is not covered, or nothing."""
        bare = text.strip()
        if bare in self.by_trimmed:
            if text == bare:
                return f"the taxonomy has {shown(self.by_trimmed[bare])} with a space"
            return "trailing space" if text.startswith(bare) else "leading space"
        if text in self.inner:
            return "a group in the taxonomy, not a value"
        if bare.casefold() in self.by_folded:
            return f"case differs from {shown(self.by_folded[bare.casefold()])}"
        if len(self.leaves) > _MOST_COMPARED:
            return ""
        close = difflib.get_close_matches(bare, self.leaves, n=1, cutoff=0.75)
        return f"close to {shown(close[0])}" if close else ""


def _better_column(
    leaves: set[str], own_share: float, n_own: int, others: Mapping[str, Sequence[str]], column: str
) -> tuple[str, int, int] | None:
    """The other column that the taxonomy fits better: its name, its covered values, all its values."""
    best = None
    for other, values in others.items():
        if other == column or len(values) == 0:
            continue
        n_covered = sum(text in leaves for text in value_texts(values))
        share = n_covered / len(values)
        # One shared value such as "other" says nothing about which column was meant.
        if share > own_share and n_covered >= max(2, n_own):
            best, own_share = (other, n_covered, len(values)), share
    return best

"""A few figures that can be read from any table of generalised values, for one tool's result beside another's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from tarnkappe.taxonomy import Taxonomy


@dataclass(frozen=True)
class Figures:
    """What a table of labels says about itself."""

    records: int
    suppressed: int
    groups: int
    smallest: int
    #: The share of detail that quasi-identifiers lost, on average; suppressed records lost all. None if unknown.
    lost: float | None


def figures_of(
    table: pl.DataFrame, n_input: int, trees: Mapping[str, Taxonomy | None], suppressed: str = "*"
) -> Figures:
    """The figures of a table with these quasi-identifiers, which came from so many records.

    Records of nothing but suppressed values count as suppressed, as ARX writes them.

    >>> tree = Taxonomy.from_paths([("34", "30-39", "*"), ("35", "30-39", "*"), ("41", "40-49", "*")])
    >>> figures_of(pl.DataFrame({"age": ["30-39", "30-39", "*"]}), 3, {"age": tree})
    Figures(records=2, suppressed=1, groups=1, smallest=2, lost=0.6666666666666666)
    """
    names = list(trees)
    texts = table.select(pl.col(name).cast(pl.String).fill_null("") for name in names)
    kept = texts.filter(~pl.all_horizontal(pl.all() == suppressed)) if names else texts
    sizes = kept.group_by(names).len() if names else pl.DataFrame({"len": [kept.height]})
    lost: list[float] = []
    for name, tree in trees.items():
        shares = {suppressed: 1.0} if tree is None else _shares(tree)
        other = 0.0 if tree is None else None  # without a tree there are only the values and what is left out
        found = kept[name].replace_strict(list(shares), list(shares.values()), default=other, return_dtype=pl.Float64)
        if not found.null_count():
            lost.append((float(found.sum()) + n_input - kept.height) / max(n_input, 1))
    return Figures(
        kept.height,
        n_input - kept.height,
        sizes.height if kept.height else 0,
        int(sizes["len"].min() or 0) if kept.height else 0,  # type: ignore[arg-type]
        sum(lost) / len(lost) if lost and len(lost) == len(trees) else None,
    )


def _shares(tree: Taxonomy) -> dict[str, float]:
    """Which share of the values each label may stand for, beyond the one that it is."""
    widest = max(tree.n_leaves - 1, 1)
    out: dict[str, float] = {}
    for label, low, high in zip(tree.labels, tree.lo.tolist(), tree.hi.tolist(), strict=True):
        out[label] = max(out.get(label, 0.0), (high - low) / widest)
    return out

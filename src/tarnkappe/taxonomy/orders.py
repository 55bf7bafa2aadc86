"""Taxonomies of values that are listed: an order, or a set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from tarnkappe.errors import TaxonomyError
from tarnkappe.fixes import one_by_one
from tarnkappe.params import param
from tarnkappe.taxonomy.base import Counts, TaxonomyBuilder, Values, texts_of
from tarnkappe.taxonomy.coverage import not_covered
from tarnkappe.taxonomy.labels import scalar_text, scale_order
from tarnkappe.taxonomy.tree import ANY, Taxonomy

#: Sets are kept as 64 bits, one of which is for the missing value.
MOST_IN_A_SET = 63


@dataclass(frozen=True)
class Order(TaxonomyBuilder):
    """Ordered values: runs of neighbours form groups, or, without `groups`, any range of them may be published.

    >>> Order(values=["low", "middle", "high", "top"], groups=[2]).build(["low"], "income").labels
    ('*', 'low to middle', 'low', 'middle', 'high to top', 'high', 'top')
    """

    kind: ClassVar[str] = "order"
    name: ClassVar[str] = kind
    ordered: ClassVar[bool] = True

    values: tuple[Any, ...] | None = param(
        None, doc="The values in their order; sorted if not given, by the numbers in them where there are any."
    )
    groups: tuple[int, ...] = param((), doc="Group sizes per level: values, then groups of the level below.", ge=2)

    def __post_init__(self) -> None:
        """Check the parameters and take the values as texts."""
        super().__post_init__()
        if self.values is not None:
            texts = tuple(scalar_text(value) for value in self.values)
            if not texts:
                raise TaxonomyError(
                    "E202", "the order has no values", hint=one_by_one("ordered", "low", "middle", "high")
                )
            if len(set(texts)) < len(texts):
                raise TaxonomyError("E201", "a value stands twice in the order", hint="Remove one of the two.")
            object.__setattr__(self, "values", texts)

    @property
    def left_to_the_data(self) -> str | None:
        """Which values there are, and the ends of ranges."""
        if self.values is None:
            return "values: [low, middle, high, top]"
        return None if self.groups else "groups: [2]"

    def build(
        self,
        values: Values,
        column: str,
        counts: Counts | None = None,
        *,
        others: Mapping[str, Sequence[str]] | None = None,
    ) -> Taxonomy:
        """The values in their order; with `values` given it may hold some that the column lacks."""
        texts = texts_of(values, column)
        order = [texts[i] for i in scale_order(texts)] if self.values is None else list(self.values)
        ranked = set(order)
        unknown = self.unknown(values, column)
        if unknown:
            raise not_covered(
                column,
                texts,
                unknown,
                counts,
                reason=lambda text: "trailing or leading space" if text.strip() in ranked else "not in the order",
                what="the order",
                hint="Add them in their place to  values: [...]  of the taxonomy.",
            )
        if not self.groups:
            return Taxonomy.scale(order)
        return self._in_runs(order)

    def unknown(self, values: Values, column: str) -> list[int]:
        """Which values are not among those that are listed."""
        if self.values is None:
            return []
        ranked = set(self.values)
        return [i for i, text in enumerate(texts_of(values, column)) if text not in ranked]

    def meaning(self, label: str) -> str | None:
        """A run is called by its ends."""
        return f"{label}, in the order of the column."

    def _in_runs(self, order: Sequence[str]) -> Taxonomy:
        rows = []
        for i, value in enumerate(order):
            row, size = [value], 1
            for group in self.groups:
                size *= group
                run = order[i // size * size : (i // size + 1) * size]
                row.append(run[0] if len(run) == 1 else f"{run[0]} to {run[-1]}")
            rows.append((*row, ANY))
        return Taxonomy.from_paths(rows)


@dataclass(frozen=True)
class Set(Order):
    """Few values without a taxonomy: a group publishes the set of those it has, such as ``{red | blue}``.

    The order of the values still matters: neighbours are pooled first, so put like beside like.

    >>> Set(values=["red", "orange", "blue"]).build(["red"], "colour").leaves
    ('red', 'orange', 'blue')
    """

    kind: ClassVar[str] = "set"
    name: ClassVar[str] = kind
    sets: ClassVar[bool] = True
    ordered: ClassVar[bool] = False
    follows_data: ClassVar[bool] = True

    groups: tuple[int, ...] = ()

    def build(
        self,
        values: Values,
        column: str,
        counts: Counts | None = None,
        *,
        others: Mapping[str, Sequence[str]] | None = None,
    ) -> Taxonomy:
        """The values in their order, of which there may be 63."""
        scale = super().build(values, column, counts, others=others)
        if scale.n_leaves > MOST_IN_A_SET:
            raise TaxonomyError(
                "E203",
                f"column '{column}' has {scale.n_leaves} values, too many for sets (at most {MOST_IN_A_SET})",
                hint=f"{column}: {{role: quasi, taxonomy: {{kind: tree, tree: ...}}}}",
            )
        return scale

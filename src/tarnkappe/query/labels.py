"""Labels to what they may stand for: read from the label, from what the codebook says about it, and from the job."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from tarnkappe.arrays import Codes, Flags
from tarnkappe.errors import TarnkappeError
from tarnkappe.publish.notation import list_values, range_ends, set_values
from tarnkappe.query.columns import Numbers, PublishedColumn, Texts
from tarnkappe.schema import Column
from tarnkappe.taxonomy.builders import File, Tree
from tarnkappe.taxonomy.orders import Order
from tarnkappe.taxonomy.tree import Taxonomy

_BOTH = re.compile(r"(.+) to (.+), both included\.")
_FROM_TO = re.compile(r"(.+) or more, and less than (.+)\.")
_LESS = re.compile(r"Less than (.+)\.")
_MORE = re.compile(r"(.+) or more\.")
_BEGINS = re.compile(r"Begins with (.+)\.", re.DOTALL)
_LIST = re.compile(r"One of: (.*?)(\.| and others\.)", re.DOTALL)
_ORDERED = "in the order of the column."
_VALUES = ("The value itself.", "This day.")

#: A number whose text says more than the number: a code such as 01234.
_CODE = r"^[+-]?0\d"
_NUMBER = r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?"


@dataclass(frozen=True)
class Meaning:
    """What one label may stand for: a few values, an interval of numbers, or anything that begins in some way."""

    values: tuple[str, ...] = ()
    span: tuple[float, float] | None = None
    open_as: str | None = None
    #: Whether a record may have no value at all.
    may_lack: bool = False


@dataclass(frozen=True, eq=False)
class Known:
    """What is known about the columns of a release beside its tables.

    `meanings` are those of the codebook, by column and label; a column without any publishes its values. `trees` and
    `orders` come from the job, which only the publisher has.
    """

    meanings: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    trees: Mapping[str, Taxonomy] = field(default_factory=dict)
    orders: Mapping[str, Sequence[str]] = field(default_factory=dict)
    decimal: str = "."
    #: Columns whose values say nothing certain about a record.
    vague: frozenset[str] = frozenset()
    #: Columns where a record with any label may have no value after all.
    may_lack: frozenset[str] = frozenset()
    #: Whether records may have no value where a label says nothing.
    some_lack: bool = True
    #: Columns where a missing value may be a label that only reads like one.
    gaps_are_open: frozenset[str] = frozenset()

    def column(self, name: str, shown: pl.Series) -> PublishedColumn:
        """A column of a published table."""
        labels, codes = _encoded(shown)
        flags = {flag: name in getattr(self, flag) for flag in ("vague", "gaps_are_open")}
        may_lack = np.full(len(labels), name in self.may_lack)
        if name not in self.meanings:
            numbers = _numbers(labels, self.decimal)
            if numbers is not None:
                ends = numbers.to_numpy()
                return Numbers(name, codes, ends, ends, may_lack, **flags)
            texts = tuple(labels.cast(pl.String).to_list())
            places = np.arange(len(texts) + 1, dtype=np.int32)
            return Texts(name, codes, texts, places[:-1], places, (None,) * len(texts), may_lack, **flags)
        meanings = [self._meaning(name, text) for text in labels.cast(pl.String).to_list()]
        may_lack |= np.array([m.may_lack and self.some_lack for m in meanings], np.bool_)
        spans = self._spans(meanings)
        if spans is not None:
            return Numbers(name, codes, spans[:, 0], spans[:, 1], may_lack, **flags)
        return self._texts(name, codes, meanings, may_lack, flags)

    def _meaning(self, name: str, label: str) -> Meaning:
        """What a label of a column may stand for; what cannot be read could be anything."""
        said = self.meanings[name].get(label)
        if said in _VALUES:
            return Meaning((label,))
        if said is None or said.startswith("Any value"):
            return Meaning(open_as="", may_lack=True)
        members = set_values(label) if said.startswith("One of:") else None
        if members is not None:
            return Meaning(tuple(members))
        below = self._leaves(name, label)
        if below is not None:
            return Meaning(below)
        if said == "0 or 1.":
            return Meaning(("0", "1"))
        if found := _BEGINS.fullmatch(said):
            return Meaning(open_as=found[1])
        if found := _LIST.fullmatch(said):
            return Meaning(tuple(list_values(found[1])), open_as=None if found[2] == "." else "")
        if said.endswith(_ORDERED):
            return self._run(name, label)
        return self._interval(said)

    def _interval(self, said: str) -> Meaning:
        for pattern, ends in ((_BOTH, (1, 2)), (_FROM_TO, (1, 2)), (_LESS, (0, 1)), (_MORE, (1, 0))):
            if found := pattern.fullmatch(said):
                given = [self.number(found[i]) if i else math.inf for i in ends]
                low, high = (-math.inf if not ends[0] else given[0]), given[1]
                if low is not None and high is not None:
                    return Meaning(span=(low, high))
        return Meaning(open_as="")

    def _leaves(self, name: str, label: str) -> tuple[str, ...] | None:
        """The values below the nodes of the job's taxonomy that are called so."""
        tree = self.trees.get(name)
        if tree is None or label not in tree.labels:
            return None
        nodes = [node for node, text in enumerate(tree.labels) if text == label]
        return tuple(dict.fromkeys(leaf for v in nodes for leaf in tree.leaves[tree.lo[v] : tree.hi[v] + 1]))

    def _run(self, name: str, label: str) -> Meaning:
        """The values from one to another in the order of a column, if that is known and the label is clear."""
        order = list(self.orders.get(name, ()))
        words = label.split(" to ")
        cuts = [(" to ".join(words[:i]), " to ".join(words[i:])) for i in range(1, len(words))]
        ends = [range_ends(label) or ("", ""), *cuts]
        fitting = [(low, high) for low, high in ends if low in order and high in order]
        if len(fitting) != 1:
            return Meaning(open_as="")
        low, high = fitting[0]
        return Meaning(tuple(order[order.index(low) : order.index(high) + 1]))

    def number(self, text: str) -> float | None:
        """The number that a text is, if it is one."""
        plain = text.replace(self.decimal, ".")
        if not re.fullmatch(_NUMBER, plain) or re.match(_CODE, plain):
            return None
        value = float(plain)
        return value if math.isfinite(value) else None

    def _spans(self, meanings: Sequence[Meaning]) -> np.ndarray[tuple[int, int], np.dtype[np.float64]] | None:
        """The intervals of a column of numbers; None if some label is none, or none says so."""
        spans = []
        for meaning in meanings:
            numbers = [self.number(value) for value in meaning.values]
            if meaning.span is not None:
                spans.append(meaning.span)
            elif meaning.open_as == "":
                spans.append((-math.inf, math.inf))
            elif meaning.open_as is None and None not in numbers:
                known = [x for x in numbers if x is not None]
                spans.append((min(known), max(known)))
            else:
                return None
        found = np.array(spans, np.float64).reshape(-1, 2)
        return found if np.isfinite(found).any() else None

    def _texts(
        self, name: str, codes: Codes, meanings: Sequence[Meaning], may_lack: Flags, flags: Mapping[str, bool]
    ) -> Texts:
        everything = [*(self.trees[name].leaves if name in self.trees else ()), *self.orders.get(name, ())]
        known = tuple(dict.fromkeys([*everything, *(v for m in meanings for v in m.values)]))
        place = {value: i for i, value in enumerate(known)}
        members, starts = [], [0]
        for meaning in meanings:
            mine = {place[v] for v in meaning.values}
            if meaning.open_as is not None:
                mine |= {i for i, value in enumerate(known) if value.startswith(meaning.open_as)}
            members += sorted(mine)
            starts.append(len(members))
        return Texts(
            name,
            codes,
            known,
            np.array(members, np.int32),
            np.array(starts, np.int32),
            tuple(m.open_as for m in meanings),
            may_lack,
            **flags,
        )


def declared(columns: Sequence[Column]) -> tuple[dict[str, Taxonomy], dict[str, Sequence[str]]]:
    """The taxonomies and the orders that a job writes down; those that values decide about are not among them."""
    trees: dict[str, Taxonomy] = {}
    orders: dict[str, Sequence[str]] = {}
    for column in columns:
        builder = column.taxonomy
        if isinstance(builder, (Tree, File)) and not builder.admits_unknown:
            try:
                trees[column.name] = builder.build([], column.name)
            except TarnkappeError:  # a file that is gone: the codebook has to do
                continue
        elif isinstance(builder, Order) and builder.values is not None:
            orders[column.name] = builder.values
    return trees, orders


def _encoded(shown: pl.Series) -> tuple[pl.Series, Codes]:
    """The distinct labels of a column in their order, and the place of every row's among them (-1: missing)."""
    if shown.dtype.is_numeric():
        shown = shown.fill_nan(None) if shown.dtype.is_float() else shown
    elif shown.dtype != pl.String:
        shown = shown.cast(pl.String)
    labels = shown.drop_nulls().unique().sort()
    if not len(labels):
        return labels.cast(pl.String), np.full(len(shown), -1, np.int32)
    codes = labels.search_sorted(shown).cast(pl.Int32)
    return labels, np.where(shown.is_null().to_numpy(), -1, codes.to_numpy()).astype(np.int32)


def _numbers(labels: pl.Series, decimal: str) -> pl.Series | None:
    """The labels as numbers; None if one of them is no number, or a code such as 01234, or there are none."""
    if not len(labels):
        return None
    if labels.dtype.is_numeric():
        return labels.cast(pl.Float64)
    if labels.str.contains(_CODE).any():
        return None
    numbers = labels.str.replace_all(decimal, ".", literal=True).cast(pl.Float64, strict=False)
    return numbers if numbers.is_finite().fill_null(value=False).all() else None

"""Kinds of columns for whole jobs: what their values are, how a job declares them, and which label covers which value.

What a label covers is decided here by plain rules on texts, not by the package's taxonomies.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from hypothesis import strategies as st

from tarnkappe.taxonomy import (
    TaxonomyBuilder,
    dates,
    frequency,
    intervals,
    ordered,
    prefix,
    suppress,
    tree,
    value_set,
)

#: Texts that have broken other programs: separators, quotes, line ends, blanks, and what labels look like.
NASTY = (
    *("a", "b", "A", " a", "a ", "é", "ß", "日本", "👩\u200d👩\u200d👧", "e\u0301", "\u200f", "x" * 300),
    *("a,b", 'a"b', '"', "a;b", "a\nb", "a\r\nb", "line\r", "\t", "'a'", "a b", "b a", "a b a", "a, b", "b, a"),
    *("*", "**", "[1 2]", "[a b]", "{a, b}", "x to y", "1-4", "≥5", "2020-01", "other", "(missing)"),
    *("0", "00", "007", "7", "1", "2", "-1", "1.0", "None", "null", "NaN", "true", "no", "~", "=1+1", "#"),
)

texts = st.one_of(
    st.sampled_from(NASTY),
    st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=4),
)

NUMBER = r"-?[0-9.]+(?:e[+-]?[0-9]+)?"


@dataclass(frozen=True)
class ColumnKind:
    """A column of texts that is published as it is, or coarsened by `taxonomy`."""

    values: tuple[str, ...]
    taxonomy: TaxonomyBuilder | None = None
    numeric: bool = False
    root: str = "*"

    def read(self, text: str | None) -> Hashable:
        """What a text of the column means: texts are themselves."""
        if text is None:
            return None
        return float(text) if self.numeric else text

    def covers(self, label: str, value: str) -> bool:
        """Whether a published label is true of an original value."""
        return label == value or label == self.root

    def order(self, published: Sequence[Hashable]) -> list[Hashable]:
        """The column's domain in its order, given the values that stand in the published table."""
        known = sorted({v for v in published if v is not None})  # type: ignore[type-var]
        return [*known, *([None] if None in published else [])]

    def parents(self, published: Sequence[Hashable]) -> dict[Hashable, Hashable]:
        """The column's tree as a mapping from each node to the one above it."""
        return dict.fromkeys(self.order(published), ("inner", self.root))


class Numbers(ColumnKind):
    """Numbers that are published as ``[min max]``, or in intervals."""

    def covers(self, label: str, value: str) -> bool:
        number = float(value)
        if label == self.root:
            return True
        if label == "0/1":
            return number in (0, 1)  # which others there might have been in the table decides nothing
        for pattern, holds in (
            (rf"\[({NUMBER}) ({NUMBER})\]", lambda a, b: a <= number <= b),
            (rf"\[({NUMBER}), ({NUMBER})\)", lambda a, b: a <= number < b),
            (rf"({NUMBER})(?:-| to )({NUMBER})", lambda a, b: a <= number <= b),
            (rf"<({NUMBER})", lambda a: number < a),
            (rf"≥({NUMBER})", lambda a: number >= a),
            (rf"({NUMBER})", lambda a: a == number),
        ):
            found = re.fullmatch(pattern, label)
            if found:
                return bool(holds(*map(float, found.groups())))
        return False


def listed(value: str, signs: str) -> str:
    """A value as it stands in a range or a set: quoted as in CSV, if it could be taken for more than one."""
    clear = value.strip() == value != "" and not any(sign in value for sign in signs + '"')
    return value if clear else '"' + value.replace('"', '""') + '"'


class Scale(ColumnKind):
    """Texts in an order, published as ranges ``[first last]``; texts may hold blanks and brackets themselves."""

    def covers(self, label: str, value: str) -> bool:
        at, shown = self.values.index(value), [listed(v, " []") for v in self.values]
        ranges = (f"[{a} {b}]" for a in shown[: at + 1] for b in shown[at:])
        return label in (value, self.root) or label in ranges

    def order(self, published: Sequence[Hashable]) -> list[Hashable]:
        return [*self.values, *([None] if None in published else [])]

    def parents(self, published: Sequence[Hashable]) -> dict[Hashable, Hashable]:
        flat: dict[Hashable, Hashable] = dict.fromkeys(self.values, ("inner", "scale"))
        return {**flat, ("inner", "scale"): ("inner", "*"), None: ("inner", "*")} if None in published else flat


class Sets(Scale):
    """Texts of which a group publishes those that it has, ``{a | b}``; texts may hold bars and braces themselves."""

    def covers(self, label: str, value: str) -> bool:
        others = [v for v in self.values if v != value]
        chosen = (kept for size in range(len(others) + 1) for kept in combinations(others, size))
        sets = (
            "{" + " | ".join(listed(v, "{|}") for v in self.values if v == value or v in kept) + "}" for kept in chosen
        )
        return label in (value, self.root) or label in sets


class Runs(ColumnKind):
    """Texts in an order, in runs of two and of four."""

    def covers(self, label: str, value: str) -> bool:
        at = self.values.index(value)
        runs = [self.values[at // size * size : (at // size + 1) * size] for size in (2, 4)]
        return label in (value, self.root, *(f"{run[0]} to {run[-1]}" for run in runs))


@dataclass(frozen=True)
class Branches(ColumnKind):
    """Texts at the leaves of a tree, possibly ragged."""

    parent: Mapping[str, str] = field(default_factory=dict)
    leaves: tuple[str, ...] = ()

    def covers(self, label: str, value: str) -> bool:
        node = value
        while node != label and node in self.parent:
            node = self.parent[node]
        return node == label

    def order(self, published: Sequence[Hashable]) -> list[Hashable]:
        return [*self.leaves, *([None] if None in published else [])]

    def parents(self, published: Sequence[Hashable]) -> dict[Hashable, Hashable]:
        inner = set(self.parent.values())
        out: dict[Hashable, Hashable] = {
            (("inner", node) if node in inner else node): ("inner", above) for node, above in self.parent.items()
        }
        return {**out, None: ("inner", self.root)} if None in published else out


class Codes(ColumnKind):
    """Codes of which a prefix of three, two or one characters stays."""

    def covers(self, label: str, value: str) -> bool:
        return label == self.root or label == value or label.rstrip("*") in {value[:n] for n in (1, 2, 3)}


class Days(ColumnKind):
    """Dates in months, quarters, years and decades."""

    def covers(self, label: str, value: str) -> bool:
        year, month = value[:4], value[:7]
        quarter = f"{year}-Q{(int(value[5:7]) + 2) // 3}"
        return label in (self.root, value, month, quarter, year, f"{year[:3]}0s")


class FewNamed(ColumnKind):
    """The commonest texts by name, the others together."""

    def covers(self, label: str, value: str) -> bool:
        return label in (value, "all the others", self.root)


@st.composite
def number_texts(draw: st.DrawFn) -> tuple[str, ...]:
    """Whole, decimal, negative and padded numbers, all different as numbers."""
    whole = st.one_of(st.integers(-3, 12), st.integers(-(10**6), 10**6)).map(str)
    decimal = st.builds(lambda n, places: f"{n / 10**places:.{places}f}", st.integers(-4000, 4000), st.integers(1, 3))
    padded = st.integers(0, 120).map(lambda n: f"{n:03d}")
    kind = draw(st.sampled_from([whole, padded, decimal, st.one_of(whole, decimal, padded)]))
    return tuple(draw(st.lists(kind, min_size=1, max_size=10, unique_by=float)))


@st.composite
def text_pool(draw: st.DrawFn, taken: frozenset[str] = frozenset(), max_size: int = 8) -> tuple[str, ...]:
    """Different texts, none of them one of those that stand for a missing value."""
    some = texts.filter(lambda text: text not in taken)
    return tuple(draw(st.lists(some, min_size=1, max_size=max_size, unique=True)))


@st.composite
def branches(draw: st.DrawFn, taken: frozenset[str]) -> Branches:
    """Trees: flat, deep, ragged, with values that the column lacks."""
    leaves = draw(text_pool(taken))
    n_inner = draw(st.integers(0, 5))
    root = draw(st.sampled_from(["*", 'All, of "them"', "[1 9]"]))
    inner = [root, *(f"Group {i}" for i in range(n_inner))]
    assume_distinct = [label for label in leaves if label not in inner]
    leaves = tuple(assume_distinct) or ("only",)
    deep = draw(st.booleans())
    parent = {inner[i]: inner[i - 1 if deep else draw(st.integers(0, i - 1))] for i in range(1, len(inner))}
    parent |= {leaf: draw(st.sampled_from(inner)) for leaf in leaves}
    children: dict[str, list[str]] = {}
    for node, above in parent.items():
        children.setdefault(above, []).append(node)

    def nested(node: str) -> dict[str, Any] | None:
        return {child: nested(child) for child in children[node]} if node in children else None

    def below(node: str) -> list[str]:
        return [leaf for child in children[node] for leaf in below(child)] if node in children else [node]

    return Branches(leaves, tree({root: nested(root)}), root=root, parent=parent, leaves=tuple(below(root)))


@st.composite
def quasi_kinds(draw: st.DrawFn, taken: frozenset[str]) -> ColumnKind:
    """Any kind of quasi-identifier."""
    kind = draw(st.sampled_from(range(10)))
    if kind == 0:
        return Numbers(draw(number_texts()), numeric=True)
    if kind == 1:
        widths = draw(st.sampled_from([(5,), (2, 10), (0.5, 1, 4)]))
        ends = draw(st.sampled_from([(None, None), (None, 40), (-2, None), (0, 9)]))
        taxonomy = intervals(*widths, start=draw(st.sampled_from([None, 1, -0.5])), bottom=ends[0], top=ends[1])
        return Numbers(draw(number_texts()), taxonomy, numeric=True)
    if kind == 2:
        return draw(branches(taken))
    if kind == 3:
        values = draw(text_pool(taken))
        return Scale(values, ordered(*values))
    if kind == 4:
        values = tuple(f"grade {i}" for i in range(draw(st.integers(1, 9))))
        return Runs(values, ordered(*values, groups=(2, 2)))
    if kind == 5:
        code = st.text("01234", min_size=1, max_size=5)
        return Codes(tuple(draw(st.lists(code, min_size=1, max_size=10, unique=True))), prefix(3, 2, 1))
    if kind == 6:
        days = draw(st.lists(st.dates().map(str), min_size=1, max_size=8, unique=True))
        return Days(tuple(days), dates())
    if kind == 7:
        return ColumnKind(draw(text_pool(taken)), suppress())
    if kind == 8:
        values = draw(text_pool(taken))
        return Sets(values, value_set(*values))
    return FewNamed(draw(text_pool(taken | {"all the others"})), frequency(top=(2,), label="all the others"))


@st.composite
def sensitive_kinds(draw: st.DrawFn, taken: frozenset[str]) -> ColumnKind:
    """Any kind of sensitive column: plain texts, a tree, an order, numbers."""
    kind = draw(st.sampled_from(range(4)))
    if kind == 0:
        return ColumnKind(draw(text_pool(taken, max_size=5)))
    if kind == 1:
        return draw(branches(taken))
    if kind == 2:
        values = draw(text_pool(taken, max_size=5))
        return Scale(values, ordered(*values))
    return Numbers(draw(number_texts()), numeric=True)

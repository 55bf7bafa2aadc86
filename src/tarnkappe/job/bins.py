"""Bins that a job fixes: which values of a column are counted together, whatever the data hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from tarnkappe.errors import JobError
from tarnkappe.taxonomy.tree import Taxonomy
from tarnkappe.wording import stated

#: Where everything goes that the job does not name, missing values too.
OTHER = "(other)"

#: Bins of one column.
_MOST_BINS = 100_000

_HOW = "[f, m]   or  {from: 0, to: 100, width: 10}   or  {tree: {north: [Kiel, Husum]}, level: 1}"


@dataclass(frozen=True)
class Bins:
    """The bins of a column: their labels, the last one for everything else, and how a value finds its bin.

    Texts find it by `of_text`; numbers by `edges`, the first of which is the lower end of the first bin.
    """

    column: str
    labels: tuple[str, ...]
    of_text: Mapping[str, int]
    edges: tuple[float, ...] = ()
    #: As the job declares it.
    declared: Any = None

    @property
    def size(self) -> int:
        """Number of bins, with the one for everything else."""
        return len(self.labels)


def bins_from(column: str, declared: Any, where: str | None = None) -> Bins:
    """The bins of a column as a job declares them: values, ranges of numbers, or the nodes of a tree at some level.

    >>> bins_from("age", {"from": 0, "to": 30, "width": 10}).labels
    ('[0 10)', '[10 20)', '[20 30)', '(other)')
    >>> bins_from("town", {"tree": {"north": ["Kiel", "Husum"], "south": ["Ulm"]}, "level": 1}).of_text
    {'Kiel': 0, 'Husum': 0, 'Ulm': 1}
    """
    try:
        if isinstance(declared, Mapping) and "tree" in declared:
            made = _tree(column, declared)
        elif isinstance(declared, Mapping):
            made = _ranges(column, declared)
        elif isinstance(declared, Sequence) and not isinstance(declared, str):
            made = _values(column, declared)
        else:
            raise ValueError("it is neither a list of values nor a range nor a tree")
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        raise JobError(
            "E110", f"the bins of '{column}' cannot be read: {error}", where=where, hint=f"{column}: {_HOW}"
        ) from error
    if made.size > _MOST_BINS:
        raise JobError(
            "E110",
            f"'{column}' has {made.size} bins, at most {_MOST_BINS} can be counted",
            where=where,
            hint=f"{column}: {_HOW}",
        )
    return made


def _values(column: str, declared: Sequence[Any]) -> Bins:
    values = tuple(_text(value) for value in declared)
    if not values or len(set(values)) < len(values):
        raise ValueError("values must be named, each once")
    return _named(column, values, {value: i for i, value in enumerate(values)}, list(declared))


def _tree(column: str, declared: Mapping[str, Any]) -> Bins:
    if set(declared) - {"tree", "level"}:
        raise ValueError("a tree has the keys tree and level")
    tree, level = Taxonomy.from_nested(declared["tree"]), declared.get("level", 0)
    if type(level) is not int or not 0 <= level <= tree.height:
        raise ValueError(f"the tree has the levels 0 to {tree.height}")
    node = tree.ancestors[level]
    used = list(dict.fromkeys(int(v) for v in node))
    labels = tuple(tree.labels[v] for v in used)
    if len(set(labels)) < len(labels):
        raise ValueError("two nodes of that level have the same name")
    return _named(column, labels, {t: used.index(int(v)) for t, v in zip(tree.leaves, node, strict=True)}, declared)


def _ranges(column: str, declared: Mapping[str, Any]) -> Bins:
    if set(declared) != {"from", "to", "width"}:
        raise ValueError("a range has the keys from, to and width")
    low, high, width = (_number(declared[key]) for key in ("from", "to", "width"))
    n = (high - low) / width
    if width <= 0 or n <= 0 or n.denominator != 1:
        raise ValueError("the range must be some whole widths long")
    if n > _MOST_BINS:
        raise ValueError(f"more than {_MOST_BINS} widths")
    ends = [low + i * width for i in range(int(n) + 1)]
    labels = tuple(f"[{_shown(a)} {_shown(b)})" for a, b in pairwise(ends))
    return Bins(column, (*labels, OTHER), {}, tuple(float(e) for e in ends), dict(declared))


def _named(column: str, labels: tuple[str, ...], of_text: Mapping[str, int], declared: Any) -> Bins:
    if OTHER in labels:
        raise ValueError(f"'{OTHER}' is what everything else is called")
    return Bins(column, (*labels, OTHER), of_text, declared=declared)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, (str, int)):
        raise TypeError("values are texts or whole numbers")
    return str(value)


def _number(value: Any) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError("from, to and width are numbers")
    return Fraction(str(value))


def _shown(end: Fraction) -> str:
    return str(end.numerator) if end.denominator == 1 else stated(float(end))

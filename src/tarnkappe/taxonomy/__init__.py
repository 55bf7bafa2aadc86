"""Taxonomies: how the values of a column may be coarsened.

The functions declare a taxonomy, which becomes a `Taxonomy` once the values of a column are known::

    {"age": intervals(5, 10, 20, top=80), "zip": prefix(4, 3, 2), "sex": suppress()}
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tarnkappe.taxonomy.base import TaxonomyBuilder
from tarnkappe.taxonomy.builders import File, Frequency, Suppress, Tree, builder_from
from tarnkappe.taxonomy.calendar import Dates
from tarnkappe.taxonomy.computed import Intervals, Prefix
from tarnkappe.taxonomy.coverage import check_coverage
from tarnkappe.taxonomy.cuts import Cuts
from tarnkappe.taxonomy.files import read_taxonomies_xml, read_taxonomy, write_taxonomy
from tarnkappe.taxonomy.orders import Order, Set
from tarnkappe.taxonomy.quantiles import Quantiles
from tarnkappe.taxonomy.show import draw, level_table
from tarnkappe.taxonomy.tree import ANY, Taxonomy

__all__ = [
    "ANY",
    "Taxonomy",
    "TaxonomyBuilder",
    "builder_from",
    "check_coverage",
    "cuts",
    "dates",
    "draw",
    "frequency",
    "from_file",
    "intervals",
    "level_table",
    "ordered",
    "prefix",
    "quantiles",
    "read_taxonomies_xml",
    "read_taxonomy",
    "suppress",
    "tree",
    "value_set",
    "write_taxonomy",
]


def intervals(
    *widths: float,
    start: float | None = None,
    bottom: float | None = None,
    top: float | None = None,
    whole: bool | None = None,
) -> Intervals:
    """Numbers in intervals of growing width, counted from `start`; below `bottom` and from `top` on one group each.

    `whole` says whether all numbers are whole ones; if not given, the values decide.

    >>> intervals(5, 10).build([21, 33], "age").labels
    ('*', '20-29', '20-24', '21', '30-39', '30-34', '33')
    """
    return Intervals(widths=widths, start=start, bottom=bottom, top=top, whole=whole)


def cuts(*at: float, whole: bool | None = None) -> Cuts:
    """Numbers in intervals between cuts of your own choice; further levels keep every second of them.

    >>> cuts(18, 67).build([17, 40, 93], "age").labels
    ('*', '<67', '<18', '17', '18-66', '40', '≥67', '≥67', '93')
    """
    return Cuts(at=at, whole=whole)


def quantiles(*parts: int) -> Quantiles:
    """Numbers in intervals that hold about as many records each, so many per level: 16, 8, 4 and 2 if none are given.

    >>> quantiles(2).build([1, 2, 3, 4], "x", [1, 1, 1, 1]).labels
    ('*', '<3', '1', '2', '≥3', '3', '4')
    """
    return Quantiles(parts=parts) if parts else Quantiles()


def value_set(*values: str) -> Set:
    """Few values without a taxonomy: groups publish sets such as ``{red | blue}``; sorted unless an order is given.

    >>> value_set("red", "blue").build(["blue"], "colour").leaves
    ('red', 'blue')
    """
    return Set(values=values or None)


def prefix(*keep: int, length: int | None = None) -> Prefix:
    """Codes of which fewer and fewer leading characters stay; `length` is that of all codes with their mask.

    >>> prefix(3).build(["22765", "22767"], "zip").labels
    ('*', '227**', '22765', '22767')
    """
    return Prefix(keep=keep, length=length)


def dates(*levels: str, format: str | None = None) -> Dates:  # noqa: A002 - the job file calls it so too
    """Dates in periods from fine to coarse: day, month, quarter, year, decade; all of them if none is named.

    >>> dates("year", format="%d.%m.%Y").build(["05.03.2020"], "birth").labels
    ('*', '2020', '05.03.2020')
    """
    return Dates(levels=levels or None, format=format)


def ordered(*values: object, groups: tuple[int, ...] = ()) -> Order:
    """Values in their order (sorted if none are given), in runs of `groups`, or freely in ranges without.

    >>> ordered("low", "middle", "high", groups=(2,)).build(["high"], "income").labels
    ('*', 'low to middle', 'low', 'middle', 'high')
    """
    return Order(values=values or None, groups=groups)


def frequency(*keep: float, top: tuple[int, ...] = (), label: str = "other") -> Frequency:
    """Rare values first: a value stays at a level if its share of the records is at least `keep`, or it is in `top`.

    >>> frequency(top=(1,)).build(["a", "b", "c"], "job", [8, 1, 1]).labels
    ('*', 'a', 'other', 'b', 'c')
    """
    return Frequency(keep=keep, top=top, label=label)


def suppress() -> Suppress:
    """A value is published or it is not.

    >>> suppress().build(["male", "female"], "sex").height
    1
    """
    return Suppress()


def tree(nested: Any, *, on_unknown: str = "error", trim: bool = False) -> Tree:
    """A tree written out as nested mappings and lists.

    >>> tree({"Married": ["civil"], "Single": ["never"]}).build(["civil"], "marital").labels
    ('*', 'Married', 'civil', 'Single', 'never')
    """
    return Tree(tree=nested, on_unknown=on_unknown, trim=trim)


def from_file(
    path: str | Path,
    *,
    delimiter: str | None = None,
    attribute: str | None = None,
    on_unknown: str = "error",
    trim: bool = False,
) -> File:
    """A tree in a file: the ARX layout ``value;level1;*``, nested YAML or XML."""
    return File(path=str(path), delimiter=delimiter, attribute=attribute, on_unknown=on_unknown, trim=trim)

"""The codebook: what every label of a release means, and how its file is read elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, fields

import numpy as np
import polars as pl

from tarnkappe.arrays import Codes
from tarnkappe.boxes import Boxes
from tarnkappe.plan import Plan
from tarnkappe.publish.notation import EITHER, set_values
from tarnkappe.schema import Column, Schema
from tarnkappe.tally import Domain

#: Values that an explanation lists.
_MOST_LISTED = 30

#: Values that fewer records share are not named.
RARE = 10


@dataclass(frozen=True)
class Entry:
    """One label of a published column, and what it means; an entry without a label is about all of them."""

    column: str
    role: str
    label: str
    meaning: str


def codebook(plan: Plan, schema: Schema, missing: str = "") -> tuple[Entry, ...]:
    """What every label of a release means, column by column; `missing` is how an empty cell is written.

    It says what the labels and the declared taxonomies say, and names no value that only few records have.
    """
    places = {domain.name: j for j, domain in enumerate(plan.tally.quasi_domains)}
    out: list[Entry] = []
    for name in schema.published:
        column = schema[name]
        if name not in places:
            out.append(Entry(name, column.role, "", "Every value is the one in the data."))
            continue
        says = _centres(plan, places[name]) if plan.grouping.centres is not None else _boxes(plan, places[name], column)
        out.extend(Entry(name, column.role, missing if label is None else label, words) for label, words in says)
    return tuple(out)


def _centres(plan: Plan, j: int) -> Iterator[tuple[str | None, str]]:
    centres, labels = plan.grouping.centres, plan.labels[j]
    assert centres is not None
    yield "", f"Every value is the {centres.operators[j]} of its group."
    if (labels.code < 0).any():
        yield None, "Missing in the whole group."


def _boxes(plan: Plan, j: int, column: Column) -> Iterator[tuple[str | None, str]]:
    """The labels in the order of the values they stand for."""
    labels, domain, boxes = plan.labels[j], plan.tally.quasi_domains[j], plan.boxes
    _, first = np.unique(labels.code, return_index=True)
    spread = boxes.publishes_range(j, domain)
    order = np.lexsort((-boxes.hi[first, j], boxes.lo[first, j]))
    named = _named(plan, j, column)
    for group in first[order]:
        if labels.code[group] < 0:
            yield None, "Missing in the data."
            continue
        label = labels.texts[labels.code[group]]
        yield label, _meaning(label, group, boxes, j, domain, column, bool(spread[group]), named)


def _meaning(
    label: str, group: int, boxes: Boxes, j: int, domain: Domain, column: Column, spread: bool, named: Codes
) -> str:
    tree, node = domain.taxonomy, int(boxes.node[group, j])
    if spread and label == EITHER:
        return "0 or 1."
    if spread and domain.sets:
        return f"One of: {', '.join(set_values(label) or ())}."
    if spread:
        ends = f"{tree.leaves[boxes.lo[group, j]]} to {tree.leaves[boxes.hi[group, j]]}, both included"
        return f"{ends}." if domain.values is not None else f"{ends}, in the order of the column."
    if node == 0:
        return "Any value: nothing is said."
    if tree.lo[node] == tree.hi[node] and not domain.floor and node == tree.leaf_nodes[tree.lo[node]]:
        return "The value itself."
    said = None if column.taxonomy is None else column.taxonomy.meaning(label)
    if said is not None:
        return said
    below = [tree.leaves[code] for code in named if tree.lo[node] <= code <= tree.hi[node]]
    if not below or domain.floor:
        return "A group of values in the taxonomy of the column."
    all_said = len(below) == tree.leaf_counts[node] and len(below) <= _MOST_LISTED
    return f"One of: {', '.join(below[:_MOST_LISTED])}{'.' if all_said else ' and others.'}"


def _named(plan: Plan, j: int, column: Column) -> Codes:
    """The values that may be named: those of the taxonomy, but for what few records have.

    Where the promise is a mechanism, records decide about nothing that is said.
    """
    domain = plan.tally.quasi_domains[j]
    known = domain.known.copy()
    if column.taxonomy is None or column.taxonomy.admits_unknown or not column.taxonomy.declares_values:
        known[:] = False
    elif not plan.goal.is_mechanism:
        records = np.bincount(plan.tally.quasi[:, j], plan.tally.count, domain.size)
        known &= (records == 0) | (records >= max(plan.goal.min_size, RARE))
    return np.flatnonzero(known).astype(np.int32)


def as_table(entries: Iterable[Entry]) -> pl.DataFrame:
    """The codebook as a table."""
    return pl.DataFrame([astuple(e) for e in entries], [f.name for f in fields(Entry)], orient="row")


def reading_lines(
    file: str, *, delimiter: str, quote: str, decimal: str, missing: Sequence[str], texts: Sequence[str]
) -> dict[str, str]:
    """A line of pandas and one of R that read a CSV release; `texts` are its columns that hold no numbers.

    >>> lines = reading_lines("a.csv", delimiter=";", quote='"', decimal=",", missing=[""], texts=["zip"])
    >>> print(lines["pandas"])
    pandas.read_csv("a.csv", sep=";", decimal=",", dtype={"zip": str}, keep_default_na=False, na_values=[""])
    >>> print(lines["R"])
    read.csv("a.csv", sep = ";", dec = ",", na.strings = "", colClasses = c("zip" = "character"), check.names = FALSE)
    """
    said = [_text(file), f"sep={_text(delimiter)}"]
    also = [_text(file), f"sep = {_text(delimiter)}"]
    if quote != '"':
        said.append(f"quotechar={_text(quote)}")
        also.append(f"quote = {_text(quote)}")
    if decimal != ".":
        said.append(f"decimal={_text(decimal)}")
    also.append(f"dec = {_text(decimal)}")
    said.append(f"dtype={{{', '.join(f'{_text(t)}: str' for t in texts)}}}")
    markers = ", ".join(map(_text, missing))
    said += ["keep_default_na=False", f"na_values=[{markers}]"]
    also.append(f"na.strings = {markers if len(missing) == 1 else f'c({markers})'}")
    if texts:
        names = ", ".join(f'{_text(t)} = "character"' for t in texts)
        also.append(f"colClasses = c({names})")
    also.append("check.names = FALSE")
    return {"pandas": f"pandas.read_csv({', '.join(said)})", "R": f"read.csv({', '.join(also)})"}


def parquet_lines(file: str) -> dict[str, str]:
    """A line of pandas and one of R that read a Parquet release."""
    return {"pandas": f"pandas.read_parquet({_text(file)})", "R": f"arrow::read_parquet({_text(file)})"}


def _text(text: str) -> str:
    """A text in quotes, as Python and R both read it."""
    return json.dumps(text, ensure_ascii=False)

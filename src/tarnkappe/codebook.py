"""The codebook: what every label of a release means, and how its file is read elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, fields

import numpy as np
import polars as pl

from tarnkappe.boxes import Boxes
from tarnkappe.plan import Plan
from tarnkappe.publish.labels import Labels
from tarnkappe.publish.notation import EITHER, set_values
from tarnkappe.schema import Column, Schema
from tarnkappe.tally import Domain

#: Values that an explanation lists.
_MOST_LISTED = 30


@dataclass(frozen=True)
class Entry:
    """One label of a published column, and what it means; an entry without a label is about all of them."""

    column: str
    role: str
    label: str
    meaning: str


def codebook(plan: Plan, schema: Schema, missing: str = "") -> tuple[Entry, ...]:
    """What every label of a release means, column by column; `missing` is how an empty cell is written.

    It says what the labels and the declared taxonomies say. Which values records have decides about nothing in it, or
    whoever knows everybody else's could tell the last one from it.
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
    """The labels in the order of the values they stand for; of their texts, if the records decide about that order."""
    labels, domain, boxes = plan.labels[j], plan.tally.quasi_domains[j], plan.boxes
    _, first = np.unique(labels.code, return_index=True)
    spread = boxes.publishes_range(j, domain)
    tree, node = domain.taxonomy, boxes.node[:, j]
    low, high = np.where(spread, boxes.lo[:, j], tree.lo[node]), np.where(spread, boxes.hi[:, j], tree.hi[node])
    order = np.lexsort((-high[first], low[first]))
    if column.taxonomy is not None and column.taxonomy.follows_data and not column.taxonomy.ordered:
        order = np.array(sorted(range(len(first)), key=lambda i: _text_of(labels, int(first[i]))), np.int64)
    for group in first[order]:
        if labels.code[group] < 0:
            yield None, "Missing in the data."
            continue
        label = labels.texts[labels.code[group]]
        yield label, _meaning(label, group, boxes, j, domain, column, bool(spread[group]))


def _text_of(labels: Labels, group: int) -> tuple[bool, str]:
    """What a group publishes, for sorting; a gap comes last."""
    code = labels.code[group]
    return bool(code < 0), "" if code < 0 else labels.texts[code]


def _meaning(label: str, group: int, boxes: Boxes, j: int, domain: Domain, column: Column, spread: bool) -> str:
    tree, node = domain.taxonomy, int(boxes.node[group, j])
    if spread and label == EITHER:
        return "0 or 1."
    if spread and domain.sets:
        return f"One of: {_enumerated(set_values(label) or ())}."
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
    if domain.floor or column.taxonomy is None or not column.taxonomy.declares_values:
        return "A group of values in the taxonomy of the column."
    below = tree.leaves[tree.lo[node] : tree.hi[node] + 1]
    return f"One of: {_enumerated(below[:_MOST_LISTED])}{'.' if len(below) <= _MOST_LISTED else ' and others.'}"


def _enumerated(values: Sequence[str]) -> str:
    """Values with commas between them; one that holds a comma stands in quotes.

    >>> print(_enumerated(["red", "white, matt"]))
    red, "white, matt"
    """
    return ", ".join(_text(value) if "," in value else value for value in values)


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

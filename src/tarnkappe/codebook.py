"""The codebook: what every label of a release means, and how its file is read elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, fields

import polars as pl

from tarnkappe.parts import PartedPlan
from tarnkappe.plan import AnyPlan, DealtPlan
from tarnkappe.publish.boxes import lowest_meanings
from tarnkappe.publish.form import Meaning
from tarnkappe.schema import Column, Schema


@dataclass(frozen=True)
class Entry:
    """One label of a published column, and what it means; an entry without a label is about all of them."""

    column: str
    role: str
    label: str
    meaning: str


def codebook(plan: AnyPlan | PartedPlan, schema: Schema, missing: str = "") -> tuple[Entry, ...]:
    """What every label of a release means, column by column; `missing` is how an empty cell is written.

    It says what the labels and the declared taxonomies say. Which values records have decides about nothing in it, or
    whoever knows everybody else's could tell the last one from it.
    """
    if isinstance(plan, DealtPlan):
        said = (
            Entry(written, schema[name].role, missing if label is None else label, words)
            for name in schema.published
            for written in plan.form.written_as(schema, name)
            for label, words in _of_dealt(plan, schema[name])
        )
        return (*said, *(Entry(name, "", "", words) for name, words in plan.form.further(schema).items()))
    places = {domain.name: j for j, domain in enumerate(plan.tally.quasi_domains)}
    out: list[Entry] = []
    for name in schema.published:
        column = schema[name]
        if name not in places:
            out.append(Entry(name, column.role, "", "Every value is the one in the data."))
            continue
        j = places[name]
        says = plan.form.meanings(j, column, plan.tally.quasi_domains[j], *plan.published_in(j))
        out.extend(Entry(name, column.role, missing if label is None else label, words) for label, words in says)
    if isinstance(plan, PartedPlan):
        return tuple(out)
    names = plan.figure_names(schema)
    out.extend(Entry(names[name], "", "", figure.meaning) for name, figure in plan.figures.items())
    return tuple(out)


def _of_dealt(plan: DealtPlan, column: Column) -> Iterator[Meaning]:
    """What the labels of a column mean; one with a lowest level has labels also where groups change no value."""
    if plan.form.coarsens or not column.min_level:
        return plan.form.meanings(column)
    names = [domain.name for domain in plan.tally.quasi_domains]
    j = names.index(column.name)
    return lowest_meanings(plan.tally.quasi[plan.published > 0, j], column, plan.tally.quasi_domains[j])


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


#: Functions of pandas and R that read the further formats of releases.
_READERS = {
    "xlsx": ("pandas.read_excel({})", "readxl::read_excel({})"),
    "arrow": ("pandas.read_feather({})", "arrow::read_feather({})"),
    "jsonl": ("pandas.read_json({}, lines=True, dtype=False)", "jsonlite::stream_in(file({}))"),
    "sav": ("pandas.read_spss({}, convert_categoricals=False)", "haven::read_sav({})"),
    "dta": ("pandas.read_stata({}, convert_categoricals=False)", "haven::read_dta({})"),
    "xml": ("pandas.read_xml({}, dtype=str)", "XML::xmlToDataFrame({})"),
}


def further_lines(file: str, format_: str) -> dict[str, str]:
    """A line of pandas and one of R that read a release of another format.

    >>> further_lines("survey.sav", "sav")["R"]
    'haven::read_sav("survey.sav")'
    """
    pandas, r = _READERS[format_]
    return {"pandas": pandas.format(_text(file)), "R": r.format(_text(file))}


def _text(text: str) -> str:
    """A text in quotes, as Python and R both read it."""
    return json.dumps(text, ensure_ascii=False)

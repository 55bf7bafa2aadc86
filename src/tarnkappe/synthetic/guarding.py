"""Made-up people have no names of real ones, and whoever has several records is not several people."""

from __future__ import annotations

from collections.abc import Mapping

from tarnkappe.errors import Notice, RefusedError
from tarnkappe.guards.identifiers import refuse_identifiers
from tarnkappe.guards.people import repeated_keys
from tarnkappe.io import Source
from tarnkappe.job.synthetic import SyntheticColumn
from tarnkappe.schema import Column
from tarnkappe.taxonomy import suppress
from tarnkappe.wording import count


def refuse_names_of_people(source: Source, columns: Mapping[str, SyntheticColumn]) -> None:
    """Stop before values that point at people are looked up in the data; those that a job writes down were looked at.

    A value that k records share is published as it is, and one person may have all of them.
    """
    looked_up = [_looked_up(name, c) for name, c in columns.items() if not c.is_declared]
    try:
        refuse_identifiers(source, looked_up)
    except RefusedError as error:
        name = next(c.name for c in looked_up if f"'{c.name}'" in error.message)
        error.message = error.message.replace(" would be published (quasi) but ", " would be drawn from, but ")
        error.details = (f"If it has to be there, write down what may be drawn:  {name}: [VALUE, VALUE]",)
        error.hint = f"columns: {{{name}: drop}}"
        error.python_hint = f'columns={{"{name}": "drop"}}'
        raise


def notices_about_several_records(source: Source, made: Mapping[str, SyntheticColumn]) -> tuple[Notice, ...]:
    """Says when people have several records: k counts records, so one person may be all that is behind a value."""
    columns = [Column(name, "sensitive" if name in made else "drop") for name in source.columns]
    return tuple(
        Notice(
            "W604",
            f"{count(source.n_rows - people)} of {count(source.n_rows)} rows repeat an earlier value of "
            + " and ".join(f"'{name}'" for name in names)
            + ": k counts rows, not people",
            hint="Give a table with one row per person.",
            internal=True,
        )
        for names, people in repeated_keys(source, columns)
    )


def _looked_up(name: str, column: SyntheticColumn) -> Column:
    """A column whose values are published where enough records share them, as those of quasi-identifiers are."""
    numeric = column.type == "numeric"
    return Column(name, "quasi", "numeric" if numeric else "categorical", None if numeric else suppress())

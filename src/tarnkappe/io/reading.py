"""How a table is read, beyond the signs of a CSV file: which sheet, which positions, which records, which columns."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field

from tarnkappe.io.dialect import CsvDialect
from tarnkappe.io.labels import Labels
from tarnkappe.params import param, parameters


@dataclass(frozen=True)
class Reading(CsvDialect):
    """What a job says about reading its data.

    >>> Reading(sheet="Patients", filter="age >= 18").sheet
    'Patients'
    """

    sheet: str | None = param(None, doc="Which sheet of a workbook; needed if it has several.", example="Sheet1")
    labels: bool = param(False, doc="Read value labels of SPSS and Stata files in place of the codes.")
    layout: str | None = param(None, doc="Metadata of a fixed-width file, as mu-ARGUS has it in .rda files.")
    positions: Mapping[str, str] = param(
        {}, doc="Columns of a fixed-width file and where they stand, counted from 1.", example={"age": "1-3"}
    )
    codes: Mapping[str, str] = param(
        {},
        doc="Code lists by column: files whose lines are CODE,LABEL; labels are then read.",
        example={"sex": "s.cdl"},
    )
    filter: str | None = param(None, doc="Which records are read, such as  age >= 18.", example="age >= 18")
    derive: Mapping[str, str] = param(
        {}, doc="Further columns, computed from those of the same record.", example={"decade": "floor(age / 10) * 10"}
    )
    #: Labels that came with the data, for whoever writes a release of them.
    known_labels: Labels = field(default_factory=Labels, compare=False, repr=False)
    #: What the sheet is called that the data stand on.
    known_sheet: str | None = field(default=None, compare=False, repr=False)

    def released(self) -> CsvDialect:
        """How a release is written and read: as the input is, but as a whole."""
        plain = file_only(self).released()
        return dataclasses.replace(
            Reading(), **plain.get_params(), known_labels=self.known_labels, known_sheet=self.known_sheet
        )


def file_only(dialect: CsvDialect) -> CsvDialect:
    """The signs of the file alone, for reading another file than the data.

    >>> file_only(Reading(delimiter=";", filter="age >= 18"))
    CsvDialect(delimiter=';', encoding=None, quote=None, decimal=None, header=None, spreadsheet_safe=False)
    """
    return CsvDialect(**{p.name: getattr(dialect, p.name) for p in parameters(CsvDialect)})


def is_selective(dialect: CsvDialect | None) -> bool:
    """Whether records or columns are to be other than those of the file."""
    return isinstance(dialect, Reading) and (dialect.filter is not None or bool(dialect.derive))

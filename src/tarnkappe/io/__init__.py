"""Read tables from files and data frames; write releases so that none is ever half written."""

from tarnkappe.io.base import Source
from tarnkappe.io.cells import Cells, RowCounter, count_rows
from tarnkappe.io.dialect import CsvDialect, detect_dialect
from tarnkappe.io.failures import translate_os_error
from tarnkappe.io.frames import frame_kind, like
from tarnkappe.io.numbers import as_numbers
from tarnkappe.io.sink import Format, TableWriter
from tarnkappe.io.source import Data, open_source
from tarnkappe.io.staging import Staging, staged
from tarnkappe.io.texts import is_text

__all__ = [
    "Cells",
    "CsvDialect",
    "Data",
    "Format",
    "RowCounter",
    "Source",
    "Staging",
    "TableWriter",
    "as_numbers",
    "count_rows",
    "detect_dialect",
    "frame_kind",
    "is_text",
    "like",
    "open_source",
    "staged",
    "translate_os_error",
]

"""Excel files with one sheet, through a reader that comes as an extra."""

from __future__ import annotations

import hashlib
import importlib.util
from functools import cached_property
from pathlib import Path

import polars as pl

from tarnkappe.errors import DataError
from tarnkappe.io.frames import FrameSource


class ExcelSource(FrameSource):
    """The only sheet of a workbook; its first row names the columns."""

    def __init__(self, path: Path, missing: tuple[str, ...]) -> None:
        """Read the sheet."""
        if importlib.util.find_spec("fastexcel") is None:
            raise DataError(
                "E408",
                f"'{path.name}' is an Excel file, and the reader for those is not installed",
                where=str(path),
                hint="pip install 'tarnkappe[excel]'   or save it as CSV.",
            )
        self._path = path
        super().__init__(_only_sheet(path), missing, path.name)

    @property
    def format(self) -> str:
        """Always Excel."""
        return "excel"

    @cached_property
    def sha256(self) -> str:
        """The SHA-256 of the bytes of the file."""
        with self._path.open("rb") as f:
            return hashlib.file_digest(f, "sha256").hexdigest()


def _only_sheet(path: Path) -> pl.DataFrame:
    import fastexcel

    try:
        names = fastexcel.read_excel(path).sheet_names
        if len(names) == 1:
            return pl.read_excel(path, engine="calamine", infer_schema_length=None)
    except pl.exceptions.NoDataError:
        raise DataError(
            "E402", f"'{path.name}' is empty", where=str(path), hint="Give a sheet with a header and rows."
        ) from None
    except (fastexcel.FastExcelError, pl.exceptions.PolarsError):
        raise DataError(
            "E408",
            f"'{path.name}' is not an Excel file, or is damaged or locked by a password",
            where=str(path),
            hint="Open it in a spreadsheet and save it again, without a password, or as CSV.",
        ) from None
    raise DataError(
        "E408",
        f"'{path.name}' has {len(names)} sheets, and one table is expected",
        where=str(path),
        hint="Save the sheet that you need as a file of its own, Excel or CSV.",
    )

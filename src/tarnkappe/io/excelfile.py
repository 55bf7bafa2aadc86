"""Spreadsheets: a sheet of a workbook as a table, and a release as a workbook."""

from __future__ import annotations

import logging
import re
import zipfile
import zlib
from datetime import datetime
from pathlib import Path
from shlex import quote
from typing import IO, Any

import polars as pl

from tarnkappe.errors import DataError, did_you_mean
from tarnkappe.io.files import LoadedSource, cannot_hold, refuse_bent, refuse_inexact, refuse_infinite
from tarnkappe.io.formats import require_extra, require_writer
from tarnkappe.io.reading import Reading

#: What a sheet and a cell of a workbook can hold.
_ROWS, _TEXT, _COLUMNS = 1_048_575, 32_767, 16_384


#: A part of a workbook may unpack to so many bytes, or to so many times its size; and it grows no more than that.
_UNPACKED, _GROWS, _DEFLATED = 256 << 20, 200, 1032

#: What a sheet may be called; "History" is a name that Excel has taken.
_SHEET = re.compile(r"(?!')[^\[\]:*?/\\]{1,31}(?<!')")

#: What unpacking a damaged or locked workbook raises.
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)


class ExcelSource(LoadedSource):
    """A sheet of a workbook; its first row names the columns."""

    kind = "excel"

    def __init__(self, path: Path, missing: tuple[str, ...], sheet: str | None = None) -> None:
        """Read the sheet, the only one if none is named."""
        require_extra("excel", path.name, str(path))
        frame, name = _sheet(path, sheet)
        #: Says what the sheet is called, so that a release is written on one of that name.
        self.dialect = Reading(known_sheet=name)
        super().__init__(path, frame, missing)


def _refuse_bomb(path: Path) -> None:
    """Refuse a workbook whose parts unpack to far more than any sheet does, before anything is unpacked into memory.

    What a part says about its own size is checked where it could be a lie: deflated data grow a thousandfold at most.
    """
    with zipfile.ZipFile(path) as book:
        for part in book.infolist():
            if part.file_size > max(_UNPACKED, _GROWS * part.compress_size):
                raise DataError(
                    "E408",
                    f"'{path.name}' would unpack to {part.file_size / 1e9:.1f} GB, which no sheet of its size does",
                    where=str(path),
                    hint="Open it in a spreadsheet and save it again, or as CSV.",
                )
            if _DEFLATED * part.compress_size > _UNPACKED:
                with book.open(part) as unpacked:
                    while unpacked.read(1 << 20):
                        pass


def _sheet(path: Path, sheet: str | None) -> tuple[pl.DataFrame, str]:
    """A sheet and its name."""
    import fastexcel

    logging.getLogger("fastexcel").setLevel(logging.ERROR)  # it says on the screen that a column is empty
    try:
        if zipfile.is_zipfile(path):
            _refuse_bomb(path)
        names = fastexcel.read_excel(path).sheet_names
        chosen = sheet if sheet is not None else names[0] if len(names) == 1 else None
        if chosen is not None and chosen in names:
            return pl.read_excel(path, sheet_name=chosen, engine="calamine", infer_schema_length=None), chosen
    except pl.exceptions.NoDataError:
        raise DataError(
            "E402", f"'{path.name}' is empty", where=str(path), hint="Give a sheet with a header and rows."
        ) from None
    except (fastexcel.FastExcelError, pl.exceptions.PolarsError, *_DAMAGED):
        raise DataError(
            "E408",
            f"'{path.name}' is not an Excel file, or is damaged or locked by a password",
            where=str(path),
            hint="Open it in a spreadsheet and save it again, without a password, or as CSV.",
        ) from None
    listed = ", ".join(names[:20])
    if sheet is None:
        raise DataError(
            "E471",
            f"'{path.name}' has {len(names)} sheets: {listed}",
            where=str(path),
            hint=f"data: {{sheet: {names[0]!r}}}   in the job, or  "
            f"tarnkappe init {quote(str(path))} --sheet {quote(names[0])}",
        )
    raise DataError(
        "E471",
        f"'{path.name}' has no sheet '{sheet}'{did_you_mean(sheet, names)}",
        where=str(path),
        hint=f"Its sheets are: {listed}.",
    )


class ExcelFile:
    """Writes a workbook with one sheet: texts as texts, never as formulas or links, and nothing about who wrote it."""

    def __init__(self, file: IO[bytes], sheet: str | None = None) -> None:
        """A workbook can only be written as a whole; its sheet is called like that of the data, if Excel lets it."""
        require_writer("xlsx")
        self._file = file
        self._sheet = sheet if sheet is not None and _SHEET.fullmatch(sheet) and sheet.lower() != "history" else "data"
        self._waiting: list[pl.DataFrame] = []
        self._rows = 0

    def append(self, frame: pl.DataFrame) -> None:
        """Keep the rows of a table until the end."""
        self._rows += frame.height
        if self._rows > _ROWS:
            raise cannot_hold("xlsx", f"has more than {_ROWS:,} rows".replace(",", " "))
        if frame.width > _COLUMNS:
            raise cannot_hold("xlsx", f"has more than {_COLUMNS} columns")
        refuse_inexact(frame, "xlsx")
        refuse_infinite(frame, "xlsx")
        for name, dtype in frame.schema.items():
            if dtype == pl.String and (frame[name].str.len_chars().max() or 0) > _TEXT:  # type: ignore[operator]
                raise cannot_hold("xlsx", f"has texts of more than {_TEXT} letters", name)
        self._waiting.append(frame)

    def close(self) -> None:
        """Write the workbook."""
        import xlsxwriter

        if not self._waiting:
            return
        frame = pl.concat(self._waiting, how="vertical_relaxed")
        plain = {"strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
        with xlsxwriter.Workbook(self._file, {**plain, "in_memory": True}) as book:
            book.set_properties({"created": datetime(2000, 1, 1)})  # the same rows, the same bytes
            sheet = book.add_worksheet(self._sheet, _exact_sheet())
            for place, name in enumerate(frame.columns):
                sheet.write_string(0, place, name)
            frame.write_excel(book, sheet, position=(1, 0), include_header=False, autofit=False, dtype_formats=_SHOWN)
        self._file.flush()
        if self._rows:  # sheets know neither microseconds nor some signs of texts
            try:
                written = ExcelSource(Path(self._file.name), ("",))
            except DataError:  # such as a column of nothing but whole numbers beyond 64 bits
                raise cannot_hold("xlsx", "has numbers beyond all bounds") from None
            refuse_bent(frame, written, "xlsx")


def _exact_sheet() -> Any:
    """A kind of sheet that writes numbers of 17 digits as they are, as Excel does; they would be rounded to 16."""
    import xlsxwriter

    class ExactSheet(xlsxwriter.Workbook.worksheet_class):  # type: ignore[misc]
        def _xml_number_element(self, number: Any, attributes: Any = ()) -> None:
            if float(f"{number:.16G}") == number:
                super()._xml_number_element(number, attributes)
                return
            told = "".join(f' {key}="{self._escape_attributes(value)}"' for key, value in attributes)
            self.fh.write(f"<c{told}><v>{float(number)!r}</v></c>")

    return ExactSheet


#: Numbers as they are, not with two decimals and signs between thousands.
_SHOWN: dict[Any, str] = {
    **dict.fromkeys((pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64), "0"),
    **dict.fromkeys((pl.Float32, pl.Float64), "General"),
}

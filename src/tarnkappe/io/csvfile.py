"""CSV files: checked once from the first to the last byte, then read by Polars as text."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tarnkappe.errors import DataError
from tarnkappe.io.base import Source
from tarnkappe.io.dialect import SAMPLE_BYTES, CsvDialect, delimiter_name, detect_dialect
from tarnkappe.io.digests import digest_of
from tarnkappe.io.formulas import each, meant
from tarnkappe.io.headers import check_columns, index_named
from tarnkappe.io.mapped import first_lines, let_go, line_parts, map_file
from tarnkappe.io.transcode import TemporaryCopy, check_utf8, packing_of
from tarnkappe.threads import map_threads

if TYPE_CHECKING:
    from tarnkappe.io.cells import Counted, Step
    from tarnkappe.io.csvcodes import Numbered
    from tarnkappe.io.csvparts import PlainCsv
    from tarnkappe.kernels.io.csvscan import Scan

_MARK = b"\xef\xbb\xbf"
_NOT_TEXT = {b"PAR1": "a Parquet file", b"PK\x03\x04": "a zip archive or spreadsheet"}

#: Bytes from which on it pays to divide the work on a file among threads, and to compile code for it.
_LARGE = 32 << 20

#: Bytes of a header that are looked at without compiled code.
_SHORT = 4096


class CsvSource(Source):
    """A CSV file whose records all have as many fields as its header.

    Every column is text: the codes ``007`` and ``7`` stay different. The file is checked when it is opened; a file
    that is not UTF-8 is copied to a temporary UTF-8 file first.
    """

    hashed_aside: ClassVar = True

    def __init__(self, path: Path, dialect: CsvDialect | None, missing: tuple[str, ...]) -> None:
        """Detect the dialect, check every record, and count the rows."""
        self._path = path
        self._copies: list[TemporaryCopy] = []
        try:
            self._open(dialect)
            header = self._check(map_file(self._text_path), path.name)
            super().__init__(path.name, header, self._n_records - bool(self.dialect.header), missing)
        except BaseException:
            self.close()
            raise

    def _open(self, dialect: CsvDialect | None) -> None:
        """Unpack the file if need be, find out how it is written, and copy it if that is not UTF-8."""
        packing = packing_of(self._path)
        if packing is not None:
            self._copies.append(TemporaryCopy.unpacked(self._path, packing))
        path = self._text_path
        self.dialect = detect_dialect(path, dialect)
        _refuse_binary(path, self._path.name, None if dialect and dialect.encoding else self.dialect.encoding)
        self.decimal = self.dialect.decimal or "."
        self.spreadsheet_safe = self.dialect.spreadsheet_safe
        encoding = self.dialect.encoding or "utf-8"
        if encoding != "utf-8":
            self._copies.append(TemporaryCopy.in_utf8(path, encoding, self._path.name))

    @property
    def format(self) -> str:
        """The dialect in a few words."""
        return self.dialect.describe()

    @cached_property
    def sha256(self) -> str:
        """The SHA-256 of the bytes of the file as it was given."""
        return digest_of(self._path)

    def line_of(self, row: int) -> int:
        """The line of the file on which data row `row` (from 1) begins."""
        from tarnkappe.kernels.io.csvscan import examine

        before = row if self.dialect.header else row - 1
        if before == 0:
            return self._lines_before + 1
        return self._lines_before + examine(map_file(self._text_path), self._start, *self._signs, before).lines + 1

    def close(self) -> None:
        """Remove the temporary copies, if there are any."""
        for copy in self._copies:
            copy.close()

    @property
    def _text_path(self) -> Path:
        return self._copies[-1].path if self._copies else self._path

    def _check(self, data: NDArray[np.uint8], name: str) -> list[str]:
        """Check encoding, header and every record; keeps what reading them again needs, and returns the header."""
        mark = len(_MARK) if data[: len(_MARK)].tobytes() == _MARK else 0
        self._start = _first_content(data, mark)
        if self._start == data.size:
            raise DataError(
                "E402", f"'{name}' is empty", where=name, hint="Give a file with a header and at least one row."
            )
        check_utf8(data, name)
        sample = data[:SAMPLE_BYTES].tobytes()
        self._eol = "\r" if b"\r" in sample and b"\n" not in sample else "\n"
        self._lines_before = int(np.count_nonzero(data[: self._start] == ord(self._eol)))
        quote = -1 if self.dialect.quote == "none" else ord(self.dialect.quote or '"')
        self._signs = (ord(self.dialect.delimiter or ","), quote, ord(self._eol))

        head = _header(data, self._start, self._signs)
        self._refuse_fault(head, name)
        first = data[self._start : head.end].tobytes().decode("utf-8")
        header = split_record(first.removesuffix(self._eol).removesuffix("\r"), self.dialect)
        if self.spreadsheet_safe:
            header = each(header, meant)
        if self.dialect.header:
            header = index_named(header)
            check_columns(header, name)
        else:  # never the values of a person as names
            header = [str(j) for j in range(1, len(header) + 1)]
        self._body = (head.end if self.dialect.header else self._start, data.size)

        self._blank_tail, self._stray_line = 0, 0
        self._n_records, self._quoted = -1, True
        if sys.byteorder == "little":
            self._n_records, self._quoted = _count_records(data, self._start, self._signs, head.fields)
        if self._n_records < 0:
            from tarnkappe.kernels.io.csvscan import examine

            scan = examine(data, self._start, *self._signs, -1)
            self._refuse_fault(scan, name)
            self._n_records, self._quoted = scan.records, scan.quoted > 0
            self._blank_tail, self._stray_line = scan.blank_tail, scan.stray_line
        self._schema = dict.fromkeys(header, pl.String)
        return header

    def _scan(self, columns: list[str]) -> pl.LazyFrame:
        return self._scan_as(columns, {})

    def _scan_as(self, columns: list[str], types: Mapping[str, pl.DataType]) -> pl.LazyFrame:
        frame = self._polars(self._text_path, schema={**self._schema, **types}).select(columns)
        if self._blank_tail:
            frame = frame.head(self.n_rows)
        return self._with_empty_texts(frame)

    def _with_empty_texts(self, frame: pl.LazyFrame) -> pl.LazyFrame:
        """Polars reads an empty field without quotes as null: here it is a text, unless it stands for a missing one."""
        return frame if "" in self.missing else frame.with_columns(pl.all().fill_null(""))

    def _polars(self, text: Path | bytes, **options: Any) -> pl.LazyFrame:
        """Lines of this file, or all of it, as Polars reads them."""
        own = {
            # Not `skip_lines`, which loses a U+FEFF at the start of the first record.
            "skip_rows": self._lines_before + bool(self.dialect.header) if isinstance(text, Path) else 0,
            "separator": self.dialect.delimiter or ",",
            "quote_char": (self.dialect.quote or '"') if self._quoted else None,
            "eol_char": self._eol,
        }
        # Our own header, because Polars renames columns and keeps doubled quotes.
        return pl.scan_csv(text, glob=False, has_header=False, **{**own, **options})

    @property
    def _is_plain(self) -> bool:
        """Whether the file is large and every line of it a record."""
        begin, end = self._body
        return not self._quoted and not self._blank_tail and self._eol == "\n" and end - begin >= _LARGE

    def sample(self, columns: Sequence[str], n: int) -> pl.DataFrame:
        """The first `n` rows of these columns; of a large file whose lines are records, no others are read."""
        if n == 0 or not self._is_plain:
            return super().sample(columns, n)
        data, begin = map_file(self._text_path), self._body[0]
        if data[begin : begin + len(_MARK)].tobytes() == _MARK:  # which Polars drops from bytes
            return super().sample(columns, n)
        lines = self._polars(first_lines(data, begin, n, ord(self._eol)), schema=self._schema)
        names = self._known(columns)
        return self._with_empty_texts(lines.select(names)).select(self.shown(c, pl.String()) for c in names).collect()

    def counted_alike(self, columns: Sequence[str]) -> Counted | None:
        """The distinct rows of these columns as they are stored, if they are all and most lines repeat others."""
        names = self._known(columns)
        if not self._is_plain or sorted(names) != sorted(self.columns):
            return None
        from tarnkappe.io.alike import count_alike, repeats

        if not repeats(map_file(self._text_path), self._body[0]):
            return None

        def fields(lines: bytes) -> pl.LazyFrame:
            return self._with_empty_texts(self._polars(lines, schema=self._schema))

        return count_alike(partial(self._polars, self._text_path), fields, names)

    def counted(self, columns: Sequence[str], step: Step | None = None) -> Counted | None:
        """The distinct rows of these columns as they are stored, if the file is large and has no quoted fields."""
        wanted = [self.columns.index(name) for name in self._known(columns)]
        plain = self._plain(wanted)
        if plain is None:
            return None
        from tarnkappe.io.csvcells import count_plain

        return count_plain(plain, wanted, "" in self.missing, step)

    def numbered(self, columns: Sequence[str]) -> Numbered | None:
        """These columns as numbers of the texts that are stored, if the file is large and has no quoted fields."""
        wanted = [self.columns.index(name) for name in self._known(columns)]
        plain = self._plain(wanted)
        if plain is None:
            return None
        from tarnkappe.io.csvcodes import number_plain

        return number_plain(plain, wanted, "" in self.missing)

    def typed(self, numbers: Sequence[str], texts: Sequence[str]) -> dict[str, pl.Series] | None:
        """Some columns as numbers and some as categories, if the file is large and has no quoted fields."""
        wanted = [self.columns.index(name) for name in self._known([*numbers, *texts])]
        if self.unquoted is None:
            return None
        from tarnkappe.io.csvtyped import read_typed

        found = read_typed(self.unquoted, wanted[: len(numbers)], wanted[len(numbers) :])
        if found is None:
            return None
        return {name: series.alias(name) for name, series in zip([*numbers, *texts], found, strict=True)}

    @cached_property
    def unquoted(self) -> PlainCsv | None:
        """Where the records are, if there are many and each is a line whose fields mean what stands in them."""
        none_odd = not self._stray_line and self.dialect.quote != "none" and not self.spreadsheet_safe
        return self._plain([0]) if none_odd and self.missing == ("",) and self.decimal == "." else None

    def _plain(self, wanted: Sequence[int]) -> PlainCsv | None:
        """Where the records are, if there are many, and every line is one."""
        begin, end = self._body
        if not self._is_plain or not wanted or sys.byteorder != "little":
            return None
        from tarnkappe.io.csvparts import PlainCsv

        delimiter, _, eol = self._signs
        return PlainCsv(self._text_path, begin, end, delimiter, eol, len(self.columns), self.n_rows)

    def unreadable(self) -> DataError:
        """The error for a file with quotes that two readers understand differently."""
        if not self._stray_line:
            return DataError("E401", f"'{self.name}' changed while it was read, or cannot be parsed", where=self.name)
        line = self._lines_before + self._stray_line
        return DataError(
            "E403",
            f"line {line} of '{self.name}' has a quote inside a field that does not begin with one",
            where=f"{self.name}:{line}",
            hint='Put the field in quotes and double the quotes inside it, such as  "5"" pipe"',
        )

    def _refuse_fault(self, scan: Scan, name: str) -> None:
        """Raise the error that belongs to what `examine` found wrong, if anything."""
        from tarnkappe.kernels.io.csvscan import FAULT_AFTER_QUOTE, FAULT_FIELDS, FAULT_NONE

        if scan.fault == FAULT_NONE:
            return
        line = self._lines_before + scan.fault_line
        where = f"{name}:{line}"
        if scan.fault == FAULT_FIELDS:
            n = scan.fault_fields
            if not n:
                raise DataError("E403", f"line {line} of '{name}' is blank", where=where, hint="Remove the line.")
            found = f"has {n} field{'s' if n != 1 else ''}"
            raise DataError(
                "E403",
                f"line {line} of '{name}' {found}, the {'header' if self.dialect.header else 'first line'} has "
                f"{scan.fields}",
                where=where,
                hint="Correct the row, put fields that contain the delimiter in quotes, or state the delimiter "
                f"if it is not {delimiter_name(self.dialect.delimiter or ',')}, such as  delimiter: ';'",
            )
        after = scan.fault == FAULT_AFTER_QUOTE
        problem = "has text after a closing quote" if after else "opens a quote that is never closed"
        raise DataError(
            "E403",
            f"line {line} of '{name}' {problem}",
            where=where,
            hint="Double the quotes inside a quoted field, or, if quotes are ordinary text in this file,  quote: none",
        )


def split_record(record: str, dialect: CsvDialect) -> list[str]:
    """The fields of a record without its line end, by the rules of `tarnkappe.kernels.io.csvscan`.

    >>> split_record('a,"b, c",5" pipe', CsvDialect(quote='"'))
    ['a', 'b, c', '5" pipe']
    """
    quote = dialect.quote
    quoted = re.compile(f"{quote}((?:[^{quote}]|{quote}{quote})*){quote}") if quote in ("'", '"') else None
    fields = []
    at = 0
    while at <= len(record):
        match = quoted.match(record, at) if quoted else None
        if match:
            fields.append(match[1].replace(f"{quote}{quote}", str(quote)))
            at = match.end() + 1
        else:
            end = record.find(dialect.delimiter or ",", at)
            end = end if end >= 0 else len(record)
            fields.append(record[at:end])
            at = end + 1
    return fields


def _header(data: NDArray[np.uint8], start: int, signs: tuple[int, int, int]) -> Scan:
    """What `examine` says about the first record; a line as short as most is not worth compiling it."""
    from tarnkappe.kernels.io.csvscan import examine

    scan: Scan = examine.py_func(data[: start + _SHORT], start, *signs, 1)
    return scan if scan.records == 1 and scan.end < start + _SHORT else examine(data, start, *signs, 1)


def _count_records(data: NDArray[np.uint8], start: int, signs: tuple[int, int, int], fields: int) -> tuple[int, bool]:
    """What `count_records` says, found part by part in threads, where no part begins or ends inside quotes."""
    from tarnkappe.kernels.io.csvscan import count_records

    def count(part: tuple[int, int]) -> tuple[int, bool]:
        begin, end = part
        found = count_records(data[:end], begin, *signs, fields)
        let_go(data, begin, end)
        return found

    parts = line_parts(data, start, signs[2])
    if len(parts) > 1:
        found = map_threads(count, parts)
        # A part that is sound began outside quotes if the one before it ended there; of others nothing is known.
        if all(n >= 0 for n, _ in found):
            return sum(n for n, _ in found), any(quoted for _, quoted in found)
    return count_records(data, start, *signs, fields)


def _first_content(data: NDArray[np.uint8], start: int) -> int:
    """The offset of the first byte that is not a line end; the size if there is none."""
    for at in range(start, data.size, SAMPLE_BYTES):
        part = data[at : at + SAMPLE_BYTES]
        content = (part != ord("\n")) & (part != ord("\r"))
        if content.any():
            return at + int(content.argmax())
    return data.size


def _refuse_binary(path: Path, name: str, guessed: str | None) -> None:
    """Refuse files that only pretend to be text."""
    with path.open("rb") as f:
        sample = f.read(SAMPLE_BYTES)
    what = next((what for magic, what in _NOT_TEXT.items() if sample.startswith(magic)), None)
    if what is None and guessed in ("cp1252", "latin-1") and 0 in sample:
        what = "a binary file"
    if what is not None:
        raise DataError(
            "E408",
            f"'{name}' is {what}, not a CSV file",
            where=name,
            hint="Unpack or export it, and give the file the suffix of its format: .csv or .parquet",
        )

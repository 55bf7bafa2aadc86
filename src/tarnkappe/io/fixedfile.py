"""Fixed-width files: every column has its place in the line, and codes have lists that say what they mean."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import polars as pl

from tarnkappe.errors import DataError
from tarnkappe.io.base import Source
from tarnkappe.io.digests import digest_of
from tarnkappe.io.mapped import map_file
from tarnkappe.io.reading import Reading
from tarnkappe.io.transcode import TemporaryCopy, check_utf8
from tarnkappe.small_files import read_small

_LINE = "line"
_EXAMPLE = 'data: {path: survey.dat, positions: {age: "1-3", sex: "4"}}'


@dataclass(frozen=True)
class Place:
    """Where a column stands in a line, from 0, and what its codes mean."""

    start: int
    width: int
    gaps: tuple[str, ...] = ()
    codes: Mapping[str, str] = field(default_factory=dict)


class FixedSource(Source):
    """A text file whose columns stand at fixed places; all of them are text, without the blanks around them.

    A field of blanks is a missing value. A code that its list does not name stays as it is.
    """

    def __init__(self, path: Path, reading: Reading, missing: tuple[str, ...]) -> None:
        """Find out where the columns stand, and that every line is long enough."""
        self._path = path
        self._places = places_of(reading, path)
        self._copy: TemporaryCopy | None = None
        encoding = reading.encoding or "utf-8"
        if encoding == "utf-8":
            check_utf8(map_file(path), path.name)
        else:
            self._copy = TemporaryCopy.in_utf8(path, encoding, path.name)
        try:
            super().__init__(path.name, list(self._places), self._checked(), missing)
        except BaseException:
            self.close()
            raise
        self.dialect = Reading(decimal=reading.decimal)
        self.decimal = reading.decimal or "."

    def _lines(self) -> pl.LazyFrame:
        path = self._copy.path if self._copy is not None else self._path
        # A separator that no text has makes every line one field.
        lines = pl.scan_csv(
            path, glob=False, has_header=False, separator="\x1f", quote_char=None, schema={_LINE: pl.String}
        )
        return lines.select(pl.col(_LINE).fill_null("").str.strip_chars_end("\r"))

    def _checked(self) -> int:
        """The number of lines, if all of them reach as far as the last column begins."""
        needed = max(place.start for place in self._places.values()) + 1
        short = pl.col(_LINE).str.len_chars() < needed
        found = self._lines().select(pl.len(), short.sum().alias("short"), short.arg_max().alias("first"))
        n, n_short, first = found.collect(engine="streaming").row(0)
        if n == 0:
            raise DataError(
                "E402", f"'{self._path.name}' is empty", where=str(self._path), hint="Give a file with rows."
            )
        if n_short:
            raise DataError(
                "E472",
                f"line {first + 1} of '{self._path.name}' ends before column {needed}, where a field begins"
                f"{f', and so do {n_short - 1} more' if n_short > 1 else ''}",
                where=f"{self._path.name}:{first + 1}",
                hint=f"{_EXAMPLE}   with the right positions, counted from 1; or remove the line.",
            )
        return int(n)

    @property
    def format(self) -> str:
        """Always of fixed width."""
        return "fixed width"

    @cached_property
    def sha256(self) -> str:
        """The SHA-256 of the bytes of the file."""
        return digest_of(self._path)

    def line_of(self, row: int) -> int:
        """Every row is a line."""
        return row

    def _scan(self, columns: list[str]) -> pl.LazyFrame:
        return self._lines().select(_value(self._places[name]).alias(name) for name in columns)

    def close(self) -> None:
        """Remove the temporary copy, if there is one."""
        if self._copy is not None:
            self._copy.close()


def _value(place: Place) -> pl.Expr:
    text = pl.col(_LINE).str.slice(place.start, place.width).str.strip_chars(" \t")
    known = pl.when(~text.is_in(["", *place.gaps])).then(text)
    return known.replace(dict(place.codes)) if place.codes else known


def places_of(reading: Reading, path: Path) -> dict[str, Place]:
    """Where the columns of a fixed-width file stand, by the job or the metadata that it names.

    >>> places_of(Reading(positions={"age": "1-3", "sex": "4"}), Path("survey.dat"))["age"].width
    3
    """
    places = {} if reading.layout is None else _layout(Path(reading.layout))
    for name, text in reading.positions.items():
        found = re.fullmatch(r"\s*(\d+)\s*(?:-\s*(\d+)\s*)?", text)
        first, last = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
        if not 1 <= first <= last:
            raise DataError(
                "E472",
                f"the position of '{name}' must be two numbers counted from 1, such as 1-3, got {text!r}",
                where=str(path),
                hint=_EXAMPLE,
            )
        places[name] = Place(first - 1, last - first + 1)
    if not places:
        raise DataError(
            "E472", f"nothing says where the columns of '{path.name}' stand", where=str(path), hint=_EXAMPLE
        )
    for name, file in reading.codes.items():
        if name not in places:
            raise DataError(
                "E472",
                f"there is a code list for '{name}', but no such column",
                where=str(path),
                hint=f"codes: {{{next(iter(places))}: {file}}}   or another of its columns:  {', '.join(places)}",
            )
        places[name] = Place(places[name].start, places[name].width, places[name].gaps, code_list(Path(file)))
    return places


def code_list(path: Path) -> dict[str, str]:
    """The labels of codes: lines of a code, a comma and a label."""
    out = {}
    for number, line in enumerate(_text(path).splitlines(), start=1):
        code, comma, label = line.partition(",")
        if not line.strip():
            continue
        if not comma or not code.strip() or not label.strip():
            raise DataError(
                "E472",
                f"line {number} of the code list '{path.name}' is not a code, a comma and a label",
                where=f"{path}:{number}",
                hint="Write it like this:  1,male",
            )
        out[code.strip().strip('"')] = label.strip().strip('"')
    return out


def _layout(path: Path) -> dict[str, Place]:
    """The columns of a mu-ARGUS file of metadata: a line with name, first position, length and codes for gaps each.

    Lines in angle brackets say more about the column before; of those, code lists are read.
    """
    out: dict[str, Place] = {}
    last = ""
    for number, line in enumerate(_text(path).splitlines(), start=1):
        words = line.split()
        if not words:
            continue
        if words[0].startswith("<"):
            told = words[0].upper()
            if told == "<SEPARATOR>":
                raise DataError(
                    "E472",
                    f"'{path.name}' describes a file with separators, not one of fixed width",
                    where=f"{path}:{number}",
                    hint="Such a file is read as CSV: give it the suffix .csv, and take  layout  out of the job.",
                )
            if told == "<CODELIST>" and last and len(words) > 1:
                place, file = out[last], line.split(None, 1)[1].strip().strip('"')
                beside = _beside(path.parent, file)
                out[last] = Place(place.start, place.width, place.gaps, code_list(beside))
            continue
        if len(words) < 3 or not (words[1].isdigit() and words[2].isdigit() and int(words[1]) and int(words[2])):
            raise DataError(
                "E472",
                f"line {number} of '{path.name}' is not a name, a first position and a length",
                where=f"{path}:{number}",
                hint="Write it like this:  AGE 1 3 999   (999 stands for a missing value)",
            )
        last = words[0]
        out[last] = Place(int(words[1]) - 1, int(words[2]), tuple(words[3:]))
    return out


def _beside(folder: Path, name: str) -> Path:
    """A file in a folder; mu-ARGUS does not mind in which case its name is written."""
    plain = name.replace("\\", "/").rsplit("/", 1)[-1]
    found = [p for p in folder.iterdir() if p.name.lower() == plain.lower()] if folder.is_dir() else []
    return found[0] if found else folder / plain


def _text(path: Path) -> str:
    try:
        content = read_small(path)
    except OSError as error:
        raise DataError(
            "E401",
            f"'{path.name}' cannot be read: {error.strerror or 'it cannot be opened'}",
            where=str(path),
            hint=f"Look what is there:  ls {path.parent}",
        ) from None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", errors="replace")

"""Tables as XML: one element per record, and in it one element or attribute per column.

    <records>
      <record><age>34</age><sex>m</sex></record>
      <record age="35" sex="f"/>
    </records>

What the elements are called does not matter. A column whose name is no name of XML stands in an element with the
attribute ``name``. A missing value is an element with ``xsi:nil="true"``, or none at all.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import IO
from xml.parsers import expat

import polars as pl

from tarnkappe.errors import DataError
from tarnkappe.io.files import LoadedSource, cannot_hold, refuse_empty
from tarnkappe.io.formats import not_of_its_kind
from tarnkappe.io.texts import as_text

_NIL = "xsi:nil"
_NAME = r"[A-Za-z_][\w.-]*"
_CHUNK = 1 << 20

_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<records xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">\n'

#: What no XML document can hold, however it is written.
_FORBIDDEN = r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]"


class XmlSource(LoadedSource):
    """A file with one XML element per record; every column is text."""

    kind = "xml"

    def __init__(self, path: Path, missing: tuple[str, ...]) -> None:
        """Read the records; declarations of entities are refused, so nothing can grow or be fetched."""
        super().__init__(path, _read(path), missing)


def _read(path: Path) -> pl.DataFrame:
    refuse_empty(path)
    parser = expat.ParserCreate()
    parser.buffer_text = True
    records = _Records(parser, path)
    try:
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                parser.Parse(chunk, False)
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise not_of_its_kind(path, "xml", f"or is damaged: line {error.lineno} is not well-formed") from None
    except ValueError:  # an encoding that Python does not know
        raise not_of_its_kind(path, "xml", "or its encoding is not known") from None
    return records.table()


class _Records:
    """Collects the columns while the parser walks through the file."""

    def __init__(self, parser: expat.XMLParserType, path: Path) -> None:
        self._parser, self._path = parser, path
        self._depth, self._n = 0, 0
        self._columns: dict[str, list[str | None]] = {}
        self._field: str | None = None
        self._text: list[str] = []
        self._nil = False
        parser.StartDoctypeDeclHandler = self._doctype
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters

    def _wrong(self, what: str, hint: str) -> DataError:
        line = self._parser.CurrentLineNumber
        return DataError("E470", f"line {line} of '{self._path.name}' {what}", where=f"{self._path}:{line}", hint=hint)

    def _doctype(self, *_: object) -> None:
        raise self._wrong("declares a document type, which is not allowed", "Remove the  <!DOCTYPE ...>  declaration.")

    def _start(self, element: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth == 2:
            self._n += 1
            for name, value in attributes.items():
                self._put(name, value)
        elif self._depth == 3:
            self._field = attributes.get("name", element)
            self._nil = attributes.get(_NIL) in ("true", "1")
            self._text = []
        elif self._depth > 3:
            raise self._wrong("has elements inside the field of a record", "Make one element per value of a record.")

    def _characters(self, text: str) -> None:
        if self._depth == 3:
            self._text.append(text)
        elif text.strip():
            raise self._wrong("has text outside the fields of records", "Put every value into an element of its own.")

    def _end(self, element: str) -> None:
        if self._depth == 3 and self._field is not None and not self._nil:
            self._put(self._field, "".join(self._text))
        elif self._depth == 3 and self._field is not None:
            self._columns.setdefault(self._field, [])
        self._depth -= 1

    def _put(self, name: str, value: str) -> None:
        column = self._columns.setdefault(name, [])
        if len(column) == self._n:
            raise self._wrong(f"has '{name}' twice in one record", "Give every field of a record a name of its own.")
        column.extend([None] * (self._n - 1 - len(column)))
        column.append(value)

    def table(self) -> pl.DataFrame:
        """What was collected; fields that a record lacks are missing."""
        for column in self._columns.values():
            column.extend([None] * (self._n - len(column)))
        return pl.DataFrame(self._columns, schema=dict.fromkeys(self._columns, pl.String))


class XmlFile:
    """Writes records as elements, batch by batch."""

    def __init__(self, file: IO[bytes]) -> None:
        """The root is opened with the first records."""
        self._file = file
        self._begun = False

    def append(self, frame: pl.DataFrame) -> None:
        """Append the rows of a table."""
        if not self._begun:
            self._file.write(_HEAD.encode())
            self._begun = True
        if not frame.height:
            return
        texts = frame.select(as_text(pl.col(name), dtype) for name, dtype in frame.schema.items())
        for name in frame.columns:
            if texts[name].str.contains(_FORBIDDEN).any() or re.search(_FORBIDDEN, name):
                raise cannot_hold("xml", "has control characters", name)
        fields = [_element(name) for name in frame.columns]
        lines = texts.select(pl.concat_str(pl.lit("<record>"), *fields, pl.lit("</record>\n"))).to_series()
        self._file.write(lines.str.join("").item().encode())

    def close(self) -> None:
        """Close the root."""
        if self._begun:
            self._file.write(b"</records>\n")


def _element(name: str) -> pl.Expr:
    """The field of a record as an element."""
    plain = re.fullmatch(_NAME, name, re.ASCII) and not name.lower().startswith("xml")
    begin, end = (f"<{name}", f"</{name}>") if plain else (f'<field name="{_escaped(name)}"', "</field>")
    value = pl.col(name)
    for sign, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("\r", "&#13;")):
        value = value.str.replace_all(sign, entity, literal=True)
    known = pl.concat_str(pl.lit(begin + ">"), value, pl.lit(end))
    return pl.when(pl.col(name).is_null()).then(pl.lit(f'{begin} {_NIL}="true"/>')).otherwise(known)


def _escaped(text: str) -> str:
    for sign, entity in (("&", "&amp;"), ("<", "&lt;"), ('"', "&quot;"), ("\n", "&#10;"), ("\t", "&#9;")):
        text = text.replace(sign, entity)
    return text

"""How a CSV file is written: encoding, delimiter, quotes and decimal sign, stated or detected."""

from __future__ import annotations

import codecs
import contextlib
import csv
import dataclasses
import io
import itertools
import re
from dataclasses import dataclass
from pathlib import Path

from tarnkappe.errors import JobError
from tarnkappe.fixes import Fix
from tarnkappe.io.transcode import beginning
from tarnkappe.params import Declared, param

#: How much of a file is looked at.
SAMPLE_BYTES = 1 << 20
#: How many records of the sample are compared.
SAMPLE_RECORDS = 1000

_DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe", " ": "space"}
_QUOTES = {'"': "double", "'": "single", "none": "none"}
_DECIMALS = {".": "point", ",": "comma"}
_CANDIDATES = (",", ";", "\t", "|")
# The longest mark comes first: a UTF-32 mark begins with the UTF-16 one.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_ENCODING_NAMES = {"utf-8-sig": "utf-8", "iso8859-1": "latin-1"}


@dataclass(frozen=True)
class CsvDialect(Declared):
    """How a CSV file is written; what is not stated is detected.

    >>> CsvDialect(delimiter="semicolon", encoding="UTF8", quote='"', decimal=",").describe()
    'utf-8, semicolon, decimal comma'
    """

    delimiter: str | None = param(None, doc="Sign between two fields, such as ';' or the word tab.")
    encoding: str | None = param(None, doc="Text encoding, such as utf-8 or cp1252.")
    quote: str | None = param(None, doc="Sign around fields that contain a delimiter: \" or ' or the word none.")
    decimal: str | None = param(None, doc="Decimal sign of numbers: . or ,")
    header: bool | None = param(None, doc="Whether the first record names the columns; else they are 1, 2, …")
    spreadsheet_safe: bool = param(
        False, doc="Whether texts that a spreadsheet would run as formulas have an apostrophe before them."
    )

    def __post_init__(self) -> None:
        """Accept signs and their names, and refuse what no CSV file can use."""
        super().__post_init__()
        object.__setattr__(self, "delimiter", _sign(self.delimiter, _DELIMITERS))
        object.__setattr__(self, "quote", _sign(self.quote, _QUOTES))
        object.__setattr__(self, "decimal", _sign(self.decimal, _DECIMALS))
        if self.encoding is not None:
            object.__setattr__(self, "encoding", _encoding_name(self.encoding))
        d = self.delimiter
        if d is not None and (len(d) != 1 or not d.isascii() or d.isalnum() or d in "\r\n\0\"'."):
            raise JobError(
                "E110",
                f"'delimiter' must be one sign such as , or ; or the word tab, got {d!r}",
                hint="delimiter: ';'",
            )
        if self.quote is not None and self.quote not in _QUOTES:
            raise JobError("E110", f"'quote' must be \" or ' or none, got {self.quote!r}", hint="quote: '\"'")
        if self.decimal is not None and self.decimal not in _DECIMALS:
            raise JobError("E110", f"'decimal' must be . or , got {self.decimal!r}", hint="decimal: ','")

    def released(self) -> CsvDialect:
        """How a release is written whose input is written like this: always in UTF-8, and with a sign for quotes."""
        return dataclasses.replace(
            self,
            delimiter=self.delimiter or ",",
            encoding="utf-8",
            quote="'" if self.quote == "'" else '"',
            decimal=self.decimal or ".",
            header=True,
        )

    def describe(self) -> str:
        """The dialect in one line for the screen; what is usual is not mentioned."""
        parts = []
        if self.encoding is not None:
            parts.append(self.encoding)
        if self.delimiter is not None:
            parts.append(delimiter_name(self.delimiter))
        if self.quote == "'":
            parts.append("single quotes")
        if self.quote == "none":
            parts.append("no quotes")
        if self.decimal == ",":
            parts.append("decimal comma")
        if self.header is False:
            parts.append("no header")
        return ", ".join(parts)


def delimiter_name(delimiter: str) -> str:
    """What to call a delimiter on the screen.

    >>> delimiter_name(";")
    'semicolon'
    """
    return _DELIMITERS.get(delimiter, f"delimiter {delimiter}")


def _sign(value: str | None, names: dict[str, str]) -> str | None:
    """The sign that is meant by a sign or its name."""
    if value is None:
        return None
    if value == "\\t":  # what a shell passes on
        return "\t"
    by_name = {name: sign for sign, name in names.items()}
    return by_name.get(value.strip().lower(), value)


def _encoding_name(name: str) -> str:
    """The usual name of a text encoding."""
    try:
        info = codecs.lookup(name)
        "".encode(info.name)
    except (LookupError, ValueError, UnicodeError):
        raise JobError(
            "E110",
            f"'encoding' is not a text encoding Python knows, got {name!r}",
            hint=Fix("encoding: utf-8   (--encoding utf-8)", 'encoding="utf-8"'),
        ) from None
    return _ENCODING_NAMES.get(info.name, info.name)


def detect_dialect(path: Path, given: CsvDialect | None = None) -> CsvDialect:
    """Complete `given` by looking at the beginning of the file; what is given is never changed."""
    given = given or CsvDialect()
    with path.open("rb") as f:
        sample = f.read(SAMPLE_BYTES)
        whole = not f.read(1)
    encoding = given.encoding or _detect_encoding(sample, whole)
    text = _decode(sample, encoding)
    quote = given.quote or _detect_quote(text)
    delimiter = given.delimiter
    if delimiter is None:
        delimiter = _detect_delimiter(text, quote, whole, _usual_delimiter(path))
    decimal = given.decimal or _detect_decimal(text, delimiter, quote)
    header = _detect_header(_records(text, delimiter, quote)) if given.header is None else given.header
    return dataclasses.replace(
        given, delimiter=delimiter, encoding=encoding, quote=quote, decimal=decimal, header=header
    )


def stated_dialect(given: CsvDialect, file: Path | None = None) -> CsvDialect:
    """Complete `given` without a look at any record: by the usual, and the delimiter by the header of a CSV file.

    A single record can mislead whoever finds out a dialect from all of them. So whether a file has a header is not
    found out: a first line that holds numbers may be a record, and the job has to say it.

    >>> stated_dialect(CsvDialect(delimiter=";")).describe()
    'utf-8, semicolon'
    """
    encoding, quote, delimiter = given.encoding or "utf-8", given.quote or '"', given.delimiter
    usual = _usual_delimiter(file) if file is not None else ","
    if file is not None and given.header is not False:
        line = _first_line(file, encoding)
        delimiter = delimiter or _detect_delimiter(line, quote, True, usual)
        if given.header is None and any(map(_NUMBER.fullmatch, itertools.chain(*_records(line, delimiter, quote)))):
            raise JobError(
                "E111",
                f"the first line of '{file.name}' holds numbers, and records must not decide whether it is a header",
                details=["Under differential privacy nothing is found out from records that the job can state."],
                hint=Fix(
                    "data: {header: true}   if it names the columns, else  data: {header: false}",
                    "data=DataSettings(dialect=CsvDialect(header=True))   if it names the columns, else  header=False",
                ),
            )
    return dataclasses.replace(
        given,
        delimiter=delimiter or usual,
        encoding=encoding,
        quote=quote,
        decimal=given.decimal or ".",
        header=given.header is not False,
    )


def _usual_delimiter(path: Path) -> str:
    """The delimiter that the name of a file speaks of."""
    return "\t" if ".tsv" in (suffix.lower() for suffix in path.suffixes[-2:]) else ","


def _first_line(path: Path, encoding: str) -> str:
    """The first line of a file that is not blank, without what follows it."""
    text = _decode(beginning(path, SAMPLE_BYTES), encoding)
    return re.split("[\r\n]", text.lstrip("\r\n"), maxsplit=1)[0]


def _detect_encoding(sample: bytes, whole: bool) -> str:
    for mark, encoding in _MARKS:
        if sample.startswith(mark):
            return encoding
    # UTF-16 without a mark: every other byte of western text is zero.
    if len(sample) >= 4 and sample.count(0) > len(sample) // 4:
        if sample[1::2].count(0) > 0.8 * (len(sample) // 2):
            return "utf-16-le"
        if sample[0::2].count(0) > 0.8 * (len(sample) // 2):
            return "utf-16-be"
    for encoding in ("utf-8", "cp1252"):
        try:
            codecs.getincrementaldecoder(encoding)().decode(sample, final=whole)
        except UnicodeDecodeError:
            continue
        return encoding
    return "latin-1"


def _decode(sample: bytes, encoding: str) -> str:
    """The sample as text; bytes that do not fit do not matter here, and a mark at the start is dropped."""
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    return decoder.decode(sample, final=False).removeprefix("\ufeff")


def _records(text: str, delimiter: str, quote: str) -> list[list[str]]:
    """The first records of the text as lists of fields."""
    if "\n" in text:
        text = text.replace("\r", "")  # part of a line end, or text that does not matter here
    lines = io.StringIO(text, newline="")
    if quote == "none":
        reader = csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE)
    else:
        reader = csv.reader(lines, delimiter=delimiter, quotechar=quote)
    records: list[list[str]] = []
    with contextlib.suppress(csv.Error):  # a field longer than the csv module takes
        records.extend(record for record in itertools.islice(reader, SAMPLE_RECORDS) if record)
    return records


def _detect_quote(text: str) -> str:
    """Single quotes only if whole fields are wrapped in them throughout; a stray apostrophe is text."""
    between = r"(?:^|(?<=[,;\t|\n\r]))"
    if "'" not in text or ('"' in text and re.search(between + '"', text)):
        return '"'
    opened = len(re.findall(between + "'", text))
    wrapped = len(re.findall(between + r"'(?:[^'\r\n]|'')*'(?=[,;\t|\r\n]|$)", text))
    n_lines = text.count("\n") or text.count("\r") or 1
    return "'" if opened == wrapped and wrapped >= n_lines / 2 else '"'


def _detect_delimiter(text: str, quote: str, whole: bool, first: str) -> str:
    """The sign that splits most records into as many fields as the header; for a single column, one that is absent."""
    order = [first, *(d for d in _CANDIDATES if d != first)]
    best, best_score = None, (0.0, 0)
    absent = None
    for delimiter in order:
        counts = [len(record) for record in _records(text, delimiter, quote)]
        if not whole and 1 < len(counts) < SAMPLE_RECORDS:
            counts.pop()  # the sample ends in the middle of this record
        if not counts:
            continue
        agreeing = counts.count(counts[0]) / len(counts)
        if counts[0] > 1 and (agreeing, counts[0]) > best_score:
            best, best_score = delimiter, (agreeing, counts[0])
        if counts[0] == 1 and agreeing == 1.0 and absent is None:
            absent = delimiter
    if best is None and _is_split_by_blanks(_records(text, " ", quote)):
        return " "
    return best or absent or first


def _is_split_by_blanks(records: list[list[str]]) -> bool:
    """Whether blanks split all records into as many fields, some of them numbers throughout; texts have blanks, too."""
    if len(records) < 3 or len({len(record) for record in records[:-1]}) > 1 or len(records[0]) < 2:
        return False
    columns = zip(*records[1:-1], strict=True)
    return any(all(_NUMBER.fullmatch(value) for value in column) for column in columns)


def _detect_decimal(text: str, delimiter: str, quote: str) -> str:
    """A comma if the delimiter is another sign and more values look like 3,14 than like 3.14."""
    if delimiter == ",":
        return "."
    values = [value.strip() for record in _records(text, delimiter, quote) for value in record]
    commas = sum(re.fullmatch(r"[+-]?\d*,\d+", value) is not None for value in values)
    points = sum(re.fullmatch(r"[+-]?\d*\.\d+", value) is not None for value in values)
    return "," if commas > points else "."


_NUMBER = re.compile(r"\s*[+-]?(\d+[.,]?\d*|[.,]\d+)\s*")


def _detect_header(records: list[list[str]]) -> bool:
    """No if the first record is like the others: numbers where they have numbers, and a text that they have, too.

    A header may hold numbers, such as years. Where there are only numbers, fractions and repeated values tell that they
    are no names.

    >>> _detect_header([["39", "State-gov"], ["50", "Private"], ["38", "State-gov"]])
    False
    >>> _detect_header([["country", "2019"], ["Kenya", "3.5"]]), _detect_header([["age"], ["3"]])
    (True, True)
    """
    first, others = records[0] if records else [], [r for r in records[1:] if len(r) == len(records[0])]
    numeric = [i for i, value in enumerate(first) if _NUMBER.fullmatch(value)]
    if not numeric or not others:
        return True
    columns = list(zip(*others, strict=True))
    numbers = [all(_NUMBER.fullmatch(v) or not v.strip() for v in column) for column in columns]
    if any(not numbers[i] for i in numeric) or any(numbers[i] and i not in numeric for i in range(len(first))):
        return True  # a number above texts, or a name above numbers
    texts = [i for i in range(len(first)) if i not in numeric]
    if texts:
        return not any(first[i].strip() and first[i] in columns[i] for i in texts)
    repeated = len({v.strip() for v in first}) < len(first)
    return not (repeated or any("." in v or "," in v for v in first))

"""Files of SPSS, Stata and SAS: codes with their labels, and gaps of every kind."""

from __future__ import annotations

import contextlib
import mmap
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import polars.selectors as cs

from tarnkappe.io.files import LoadedSource, cannot_hold, refuse_bent, refuse_inexact
from tarnkappe.io.formats import BY_SUFFIX, not_of_its_kind, require_extra, require_writer
from tarnkappe.io.labels import Labels
from tarnkappe.io.reading import Reading
from tarnkappe.io.texts import as_text

#: Which function of pyreadstat reads a suffix.
_READERS = {
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".dta": "read_dta",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}

#: What the packages allow as the name of a column.
_NAMES = {"sav": r"[A-Za-z@#$_\u0080-\uffff][\w.@#$]{0,63}", "dta": r"[A-Za-z_\u0080-\uffff]\w{0,31}"}


class StatisticsSource(LoadedSource):
    """A file of a statistics package: codes as they are stored, or their labels if `labels` is true.

    Gaps of the system and values that the file declares as missing are missing values, and so are empty texts, for
    which SPSS and Stata have no other sign.
    """

    def __init__(
        self, path: Path, missing: tuple[str, ...], *, labels: bool = False, suffix: str | None = None
    ) -> None:
        """Read the table and its labels; `suffix` says what it is if its name does not."""
        suffix = suffix or path.suffix.lower()
        self.kind = BY_SUFFIX[suffix]  # type: ignore[misc]
        require_extra(self.kind, path.name, str(path))
        import pyreadstat

        try:
            frame, meta = getattr(pyreadstat, _READERS[suffix])(path, output_format="polars")
        except Exception:  # it raises exceptions of many kinds, whose words may quote values
            raise not_of_its_kind(path, self.kind) from None
        if suffix == ".xpt" and _transport_is_cut_off(path, frame.height):
            raise not_of_its_kind(path, self.kind)
        known = Labels(
            {name: text for name, text in meta.column_names_to_labels.items() if text},
            dict(meta.variable_value_labels),
        )
        frame = frame.with_columns(_whole(cs.by_name(name), frame[name]) for name in frame.select(cs.float()).columns)
        frame = frame.with_columns(pl.when(cs.string() != "").then(cs.string()))
        if labels:
            frame = frame.with_columns(_labelled(frame[name], texts) for name, texts in known.values.items())
        super().__init__(path, frame, missing)
        self.dialect = Reading(known_labels=known)

    @property
    def labels(self) -> Labels:
        """What columns and values are called."""
        return self.dialect.known_labels


def _transport_is_cut_off(path: Path, n_rows: int) -> bool:
    """Whether a transport file of SAS ends too early, which its reader takes for the end of the table.

    Such files consist of records of 80 bytes, and since version 8 they say how many rows they hold.
    """
    if path.stat().st_size % 80:
        return True
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        at = content.find(b"HEADER RECORD*******OBSV8   HEADER RECORD!!!!!!!")
        told = content[at + 48 : at + 80].strip() if at >= 0 else b""
    return told.isdigit() and n_rows < int(told)


def _whole(column: pl.Expr, values: pl.Series) -> pl.Expr:
    """A column of codes as whole numbers: SPSS and SAS keep every number as floating point."""
    whole = bool(((values == values.round()) & (values.abs() < 1 << 53)).all())  # gaps are left out
    return column.cast(pl.Int64) if whole else column


def _labelled(values: pl.Series, texts: Mapping[Any, str]) -> pl.Series:
    """The labels of codes; a code without one stays as it is."""
    codes = pl.Series(list(texts)).cast(values.dtype, strict=False)
    return values.replace_strict(codes, list(texts.values()), default=values.cast(pl.String), return_dtype=pl.String)


class StatisticsFile:
    """Writes a file of SPSS or Stata, with the labels of columns and of those values that occur."""

    def __init__(self, path: Path, format_: str, labels: Labels) -> None:
        """Such a file can only be written as a whole."""
        require_writer(format_)
        self._path, self._format, self._labels = path, format_, labels
        self._waiting: list[pl.DataFrame] = []

    def append(self, frame: pl.DataFrame) -> None:
        """Keep the rows of a table until the end."""
        wrong = next((name for name in frame.columns if not re.fullmatch(_NAMES[self._format], name)), None)
        if wrong is not None:
            raise cannot_hold(self._format, "has a name that SPSS and Stata do not allow", wrong)
        refuse_inexact(frame, self._format)
        self._waiting.append(frame)

    def close(self) -> None:
        """Write the file, without the time of day in it."""
        import pyreadstat

        if not self._waiting:
            return
        given = pl.concat(self._waiting, how="vertical_relaxed")
        frame = given.with_columns(
            cs.boolean().cast(pl.Int8), (cs.categorical() | cs.enum()).cast(pl.String), as_text(cs.time(), pl.Time())
        )
        told: dict[str, Any] = {
            "column_labels": self._labels.of_columns(frame.columns) or None,
            "variable_value_labels": self._labels.in_use(frame) or None,
        }
        version = {} if self._format == "sav" else {"version": 14}
        try:
            getattr(pyreadstat, f"write_{self._format}")(frame, self._path, **told, **version)
        except pyreadstat.ReadstatError:  # its words say neither where nor what
            raise cannot_hold(self._format, "has numbers or texts beyond all bounds") from None
        if self._format == "sav":
            _overwrite(self._path, 84, b"01 Jan 0000:00:00")
        else:
            with self._path.open("rb") as file:
                head = file.read(4096)
            with contextlib.suppress(ValueError):
                _overwrite(self._path, head.index(b"<timestamp>") + 12, b"01 Jan 2000 00:00")
        if given.height:  # SPSS drops blanks at the end of texts and what is less than a second; neither knows NUL
            refuse_bent(given, StatisticsSource(self._path, ("",), suffix=f".{self._format}"), self._format)


def _overwrite(path: Path, at: int, text: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        file.write(text)

"""Date shift, the same for all dates of a person."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import ClassVar

import numpy as np
import polars as pl

from tarnkappe.arrays import Counts
from tarnkappe.io.texts import plain_texts
from tarnkappe.masks.base import ByValue, Chance, ColumnsMask, Fitted, Kept, MaskCard, unfit
from tarnkappe.masks.columns import Columns
from tarnkappe.masks.hashing import keyed_words
from tarnkappe.masks.keys import key_from
from tarnkappe.params import param


@dataclass(frozen=True)
class DateShift(ColumnsMask):
    r"""All dates of a person move by the same number of days, which is drawn for each person.

    .. math:: d' = d + s(person), \quad 0 < |s| \le m

    where m are the days at most. The shift follows from the person and a secret: the key in a file, so that it is the
    same in all tables and releases, or the seed of the run. Order and distances within a person stay. A record
    without a person is somebody of its own: its shift follows from its dates. O(records).

    References
    ----------
    .. [HMLM16] Hripcsak, Mirhaji, Low, Malin. "Preserving temporal relations in clinical data while maintaining
       privacy." Journal of the American Medical Informatics Association 2016.
    """

    name: ClassVar = "date-shift"
    title: ClassVar = "date shift by person"
    secrets: ClassVar = ("key",)
    card: ClassVar = MaskCard(
        changes="all dates of a person move by the same number of days, another one for each person.",
        keeps="order of and days between the dates of each person.",
        does_not="hide a pattern of dates that is rare by itself, nor seasons and weekdays reliably.",
        not_for="data where the calendar matters, such as epidemics or prices.",
    )

    person: str = param(doc="The column that tells whose dates they are.", example="NAME")
    max_days: int = param(doc="Days by which dates move at most.", ge=1, le=36500, example=180)
    key: str | None = param(None, doc="File with a secret key in hexadecimal digits; the seed of the run if not given.")
    format: str = param("%Y-%m-%d", doc="How dates are written, if they are texts.")

    @property
    def looks_at(self) -> tuple[str, ...]:
        """The key of the person."""
        return (self.person,)

    @property
    def compares_with(self) -> tuple[str, ...]:
        """Nothing: whose dates they are is asked of the original, so a person may have a pseudonym."""
        return ()

    @property
    def reads(self) -> tuple[str, ...]:
        """None: values are changed as they come."""
        return ()

    @property
    def done(self) -> str:
        """In words."""
        return f"dates moved by up to {self.max_days} days, all of a person by the same"

    @property
    def keeps(self) -> tuple[str, ...]:
        """In words."""
        return (f"order and distances of {', '.join(self.columns)} within a person",)

    def fit(self, data: Columns, chance: Chance) -> Fitted:
        """Read the key; dates move as they come."""
        secret = chance.secret if self.key is None else key_from(self.key, self.name)
        types = data.types(self.columns)
        for name, dtype in types.items():
            self._require_dates(data, name, dtype)

        def change(given: pl.DataFrame) -> list[pl.Series]:
            days = pl.Series(self._shift(secret, self._whose(given)))
            return [self._moved(given[name], types[name], days) for name in self.columns]

        return ByValue(types, (*self.columns, self.person), change)

    def _whose(self, given: pl.DataFrame) -> pl.Series:
        """Whom each record is about: itself alone if it has no person, or one known date would tell all others."""
        dates = [plain_texts(given[name]).alias(name) for name in self.columns]
        nobody = pl.concat_str(pl.lit(""), *self.columns, separator="\0", ignore_nulls=True)
        frame = pl.DataFrame([plain_texts(given[self.person]).alias(" "), *dates])
        return frame.select(pl.coalesce(pl.col(" "), nobody)).to_series()

    def _shift(self, secret: bytes, person: pl.Series) -> Counts:
        """From -max_days to max_days, but not 0."""
        words = keyed_words(secret, person)[:, 0].astype(np.int64)
        drawn = words % (2 * self.max_days) - self.max_days
        return np.where(drawn >= 0, drawn + 1, drawn)

    def _moved(self, dates: pl.Series, dtype: pl.DataType, days: pl.Series) -> pl.Series:
        frame = pl.DataFrame({"d": dates, "s": days})
        if dtype == pl.String:
            read = pl.col("d").str.strptime(pl.Date, self.format)
            moved = (read + pl.duration(days=pl.col("s"))).dt.strftime(self.format)
        else:
            moved = pl.col("d") + pl.duration(days=pl.col("s"))
        return frame.select(moved.cast(dtype).alias(dates.name)).to_series()

    def _require_dates(self, data: Columns, name: str, dtype: pl.DataType) -> None:
        values = data.values(name)
        if isinstance(dtype, (pl.Date, pl.Datetime)):
            dates = values.cast(pl.Date)
        elif dtype != pl.String:
            raise unfit(self, f"'{name}' does not hold dates", data.source, "Leave it out of  columns.")
        else:
            dates = values.str.strptime(pl.Date, self.format, strict=False)
            if (
                dates.null_count() > values.null_count()
                or not (dates.dt.strftime(self.format) == values).fill_null(True).all()
            ):
                hint = f"format: '%d.%m.%Y'   (as they are written in '{name}')"
                raise unfit(self, f"'{name}' has texts that are no dates of the form {self.format}", data.source, hint)
        room = timedelta(days=self.max_days)
        if not dates.drop_nulls().is_between(date.min + room, date.max - room).all():
            what = f"'{name}' has dates so near to the year 1 or 9999 that they cannot be moved"
            said = "say so:  missing: ['', '9999-12-31']" if dtype == pl.String else "make them missing in the data."
            raise unfit(self, what, data.source, f"If they stand for no date, {said}")

    def kept(self, before: Columns, after: Columns) -> Iterator[Kept]:
        """As many dates are missing."""
        for name in self.columns:
            one, other = before.values(name).null_count(), after.values(name).null_count()
            yield Kept(f"missing values of {name}", abs(one - other))

    def kept_by_record(self, before: Columns, after: Columns) -> Iterator[Kept]:
        """All dates of a person move by the same number of days, and by no more than is allowed."""
        person = before.values(self.person).cast(pl.String)
        row = pl.Series(np.arange(len(person)))
        whose = pl.DataFrame({"person": person, "record": pl.select(pl.when(person.is_null()).then(row)).to_series()})
        moved = []
        for name in self.columns:
            one, other = (self._dates(columns.values(name)) for columns in (before, after))
            days = (other - one).dt.total_seconds() / 86400
            moved.append(whose.with_columns(days=days).drop_nulls("days"))
        every = pl.concat(moved)
        several = every.group_by("person", "record").agg(pl.col("days").n_unique()).filter(pl.col("days") > 1).height
        yield Kept("all dates of a person move by the same", several)
        far = every.select(((pl.col("days").abs() > self.max_days) | (pl.col("days") == 0)).sum()).item()
        yield Kept(f"dates move, by at most {self.max_days} days", int(far))

    def _dates(self, values: pl.Series) -> pl.Series:
        return values.str.strptime(pl.Date, self.format) if values.dtype == pl.String else values

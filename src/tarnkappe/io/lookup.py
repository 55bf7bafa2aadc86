"""Where the values of a column stand in a list of values, for as many values as a table has."""

from __future__ import annotations

import numpy as np
import polars as pl

from tarnkappe.arrays import Codes
from tarnkappe.io.texts import is_text, texts_as_views

#: So many different texts of a batch are looked up once each, and so wide a range of whole numbers is a table.
_FEW_TEXTS, _NARROW = 1 << 14, 1 << 20

#: A column of our own beside that of a table.
_PLACE = " "


class Lookup:
    """Finds the place that every value was given; -1 if it is not among the values known.

    Whole numbers of a narrow range are looked up in a table, which takes a nanosecond or two for a value; anything else
    is joined. Of texts, only those that differ need to be looked up (see `different_texts`).

    >>> Lookup(pl.Series(["b", "a", None]), np.array([0, 1, 2], np.int32))(pl.Series(["a", "c", None])).tolist()
    [1, -1, 2]
    >>> Lookup(pl.Series([40, 20]), np.array([0, 1], np.int32))(pl.Series([20, 40, 10])).tolist()
    [1, 0, -1]
    """

    def __init__(self, values: pl.Series, places: Codes) -> None:
        """Each value is listed once."""
        self.dtype = values.dtype
        self._known = pl.DataFrame([values.alias("value"), pl.Series(_PLACE, places.astype(np.int32))])
        self._low = None
        absent = values.is_null().to_numpy()
        self._null = int(places[absent][0]) if absent.any() else -1
        listed = values.drop_nulls()
        numbers = listed.cast(pl.Int64, strict=False) if values.dtype.is_integer() else listed.clear()
        if len(numbers) and not numbers.null_count():  # whole numbers without a sign may be beyond that
            known = numbers.to_numpy()
            low, high = int(known.min()), int(known.max())
            if high - low < _NARROW:
                self._low = low
                self._table = np.full(high - low + 1, -1, np.int32)
                self._table[known - low] = places[~absent]

    def __call__(self, values: pl.Series) -> Codes:
        """The place of every value."""
        if self._low is not None and values.dtype.is_integer():
            return self._of_numbers(values, self._low)
        found = values.alias("value").to_frame().cast(self._known.schema["value"])
        joined = found.join(self._known, on="value", how="left", nulls_equal=True, maintain_order="left")[_PLACE]
        return joined.fill_null(-1).to_numpy()

    def _of_numbers(self, values: pl.Series, low: int) -> Codes:
        numbers = values.cast(pl.Int64, strict=False)
        at = numbers.fill_null(low).to_numpy() - low
        outside = (at < 0) | (at >= len(self._table))
        out: Codes = self._table[np.where(outside, 0, at)]
        out[outside] = -1
        if numbers.null_count():
            out[numbers.is_null().to_numpy()] = -1  # beyond 64 bits with a sign, if it is not missing
            out[values.is_null().to_numpy()] = self._null
        return out


def different_texts(values: pl.Series) -> tuple[pl.Series, Codes] | None:
    """Some texts of a column among which is every other one, and which of them it is; None if there are very many.

    A text may be listed several times.

    >>> texts, which = different_texts(pl.Series(["b", "a", None, "b"]))
    >>> texts.to_list(), which.tolist()
    (['b', 'a', None], [0, 1, 2, 0])
    """
    from tarnkappe.kernels.io.views import number_texts

    if not is_text(values.dtype) or not len(values):
        return None
    column = values.cast(pl.String).rechunk()
    views, buffers, _owner = texts_as_views(column)
    given = views.view(np.uint64), views, buffers
    valid = column.is_not_null().to_numpy() if column.null_count() else np.zeros(0, np.bool_)
    which = np.empty(len(column), np.int32)
    for look in (False, True):  # a reader may have put equal texts into one place, or each into its own
        slots, first = np.full(4 * _FEW_TEXTS, -1, np.int32), np.empty(_FEW_TEXTS, np.int32)
        n = number_texts(*given, valid, slots, first, which, look)
        if n >= 0:
            return column.gather(first[:n]), which
    return None

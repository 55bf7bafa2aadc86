"""The distinct rows of some columns of a table and how often each occurs, counted in one pass and little memory.

Polars reads texts as categories; the codes of all columns are packed into a few integers per row, and those are
grouped. What a value means (a missing marker, a number) is asked once per distinct value, not once per row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tarnkappe.enumerated import text_column
from tarnkappe.io.lookup import different_texts
from tarnkappe.io.packing import Layout, Packed, added_up, bits_for, distinct
from tarnkappe.kernels.io.views import append_codes
from tarnkappe.threads import map_threads, share_evenly

if TYPE_CHECKING:
    from tarnkappe.io.base import Source

#: Rows per batch that Polars hands over.
BATCH = 1 << 20

#: Words that wait before their rows are grouped; they take eight bytes each.
_WAITING = 1 << 24

#: Called with the rows dealt with so far, and how many there are.
Step = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Cells:
    """Distinct rows: code ``codes[i, j]`` stands for value ``values[j][code]``, and `count` rows look like row ``i``.

    The first value of every column is the missing one, whether it occurs or not.
    """

    names: tuple[str, ...]
    values: tuple[pl.Series, ...]
    codes: NDArray[np.int32]
    count: NDArray[np.int64]

    def column(self, name: str) -> pl.Series:
        """The values of one column, row by row."""
        return self.at(name, np.arange(len(self.count)))

    def at(self, name: str, rows: NDArray[np.integer]) -> pl.Series:
        """The values of one column in some of the distinct rows; texts of which there are few as categories."""
        j = self.names.index(name)
        codes, values = self.codes[rows, j], self.values[j]
        if values.dtype == pl.String:
            return text_column(codes - np.int32(1), values[1:]).alias(name)
        return values.gather(codes).alias(name)

    def frame(self) -> pl.DataFrame:
        """The distinct rows as a table, without their counts."""
        return pl.DataFrame([self.column(name) for name in self.names])

    @classmethod
    def of_rows(cls, rows: pl.DataFrame) -> Cells:
        """The rows of a table, each by itself, even if others look like it.

        >>> Cells.of_rows(pl.DataFrame({"a": ["x", None, "x"]})).codes.tolist()
        [[1], [0], [1]]
        """
        codes, values = np.zeros((rows.height, rows.width), np.int32), []
        for j, column in enumerate(rows):
            listed = column.unique(maintain_order=True).drop_nulls()
            known = pl.DataFrame({"value": listed, "code": np.arange(1, len(listed) + 1, dtype=np.int32)})
            found = column.alias("value").to_frame().join(known, on="value", how="left", maintain_order="left")
            codes[:, j] = found["code"].fill_null(0).to_numpy()
            values.append(pl.concat([pl.Series([None], dtype=listed.dtype), listed]).alias(column.name))
        return cls(tuple(rows.columns), tuple(values), codes, np.ones(rows.height, np.int64))

    def only(self, some: NDArray[np.bool_]) -> Cells:
        """Some of the rows."""
        return Cells(self.names, self.values, self.codes[some], self.count[some])

    def used(self, name: str) -> tuple[pl.Series, NDArray[np.int32]]:
        """The values of a column that occur, and which of them every row has."""
        j = self.names.index(name)
        codes, values = self.codes[:, j], self.values[j]
        occurs = np.zeros(len(values), np.bool_)
        occurs[codes] = True
        return values.filter(pl.Series(occurs)), (np.cumsum(occurs, dtype=np.int32) - np.int32(1))[codes]


@dataclass(frozen=True, eq=False)
class Counted:
    """Distinct rows as they are stored: code 0 is a missing value, code ``i`` of column ``j`` ``values[j][i - 1]``."""

    values: tuple[pl.Series, ...]
    codes: NDArray[np.int32]
    count: NDArray[np.int64]


def count_rows(source: Source, columns: Sequence[str], step: Step | None = None, *, swift: bool = False) -> Cells:
    """Count the distinct rows of these columns; missing markers are missing values. On `swift` see `RowCounter`."""
    return RowCounter(source, columns, step, swift=swift, once=True).cells


class RowCounter:
    """Counts the distinct rows of some columns, and finds them again in a second pass over the same source.

    Polars reads the rows, unless a `swift` count is asked for and the source has a way of its own. Whoever checks
    what others have counted should not ask for it. Counted `once`, rows are not found again.
    """

    def __init__(
        self,
        source: Source,
        columns: Sequence[str],
        step: Step | None = None,
        *,
        swift: bool = False,
        once: bool = False,
    ) -> None:
        """Count."""
        self._once, self._packed = once, pl.DataFrame()
        self.source, self._step = source, step
        names = tuple(dict.fromkeys(columns))
        try:
            codes, count = self._counted(names, swift)
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
            raise source.unreadable() from None  # their own words may quote values
        if int(count.sum()) != source.n_rows:
            raise source.unreadable()
        found = map_threads(lambda j: self._settled(names[j], codes[:, j]), range(len(names)))
        self._row = np.arange(len(count), dtype=np.int32)
        if any(alike for _, alike in found):
            codes, count, self._row = _merged(codes, count)
        #: The distinct rows.
        self.cells = Cells(names, tuple(values for values, _ in found), codes, count)

    def _settled(self, name: str, codes: NDArray[np.int32]) -> tuple[pl.Series, bool]:
        """The values that occur in a column, whose codes are changed to fit, and whether some of them were the same.

        Several texts may stand for a missing value; then codes that were different are the same.
        """
        known = self.source.cleaned(self._coding.values(name))
        occurs = np.zeros(len(known) + 1, np.bool_)  # Polars also lists texts that it only compared with
        occurs[codes] = True
        is_value = known.is_not_null().to_numpy()
        alike = bool(np.any(occurs[1:] & ~is_value))
        is_value &= occurs[1:]
        distinct = known.filter(is_value)
        if not is_value.all():
            place = np.append(0, np.where(is_value, np.cumsum(is_value), 0))
            codes[:] = place.astype(np.int32)[codes]
        return pl.concat([pl.Series([None], dtype=distinct.dtype), distinct]).alias(name), alike

    def _counted(self, names: tuple[str, ...], swift: bool) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The codes of the distinct rows, and how often each occurs."""
        source = self.source
        counted = source.counted(names, self._step) if swift else None
        if self._once and not swift:
            counted = source.counted_alike(names)
        if counted is not None:
            self._coding = Coding(source, names, dict(zip(names, counted.values, strict=True)))
            codes, count = counted.codes, counted.count
            if not self._once:
                self._packed = self._coding.layout.pack(codes)
        else:
            self._coding = Coding(source, names)
            self._packed, count = self._count()
            codes = self._coding.layout.unpack(self._packed)
            if self._once:
                self._packed = pl.DataFrame()
        return codes, count

    def _count(self) -> tuple[pl.DataFrame, NDArray[np.int64]]:
        """The distinct packed rows and how often each occurs.

        Rows are grouped whenever enough of them wait, and what has been grouped is grouped again when it has doubled.
        """
        coding = self._coding
        parts: list[Packed] = []
        counted: list[Packed] = []
        waiting = done = known = 0
        for batch in self.source.batches(coding.names, {}, [pl.col(coding.names)]):
            packed = coding.packed(batch)
            parts.append(packed)
            waiting += packed.words.height * packed.words.width
            done += packed.words.height
            if waiting >= _WAITING:
                counted.append(distinct(parts, coding.layout))
                parts, waiting = [], 0
                if sum(part.words.height for part in counted) > 2 * known + _WAITING // 4:
                    counted = [added_up(counted, coding.layout)]
                    known = counted[0].words.height
            if self._step is not None:
                self._step(done, self.source.n_rows)
        if parts:
            counted.append(distinct(parts, coding.layout))
        return added_up(counted, coding.layout).counted(coding.layout)

    def again(self, further: Sequence[str]) -> Iterator[tuple[NDArray[np.int32], pl.DataFrame]]:
        """Go over the source once more: which of the distinct rows each row is, and what it has in further columns."""
        assert not self._once, "the rows were to be counted once"
        self._coding.recall()
        source, words, names = self.source, self._coding.words(), self._coding.layout.titles
        known = self._packed.with_columns(pl.Series("row", self._row))
        columns = [f"column{i}" for i in range(len(further))]  # names of our own, whatever the columns are called
        types = source.types(further)
        carried = [source.shown(name, types[name]).alias(alias) for name, alias in zip(further, columns, strict=True)]
        asked = [*dict.fromkeys([*self._coding.names, *further])]
        done = 0
        for batch in source.batches(asked, self._coding.types, [*words, *carried]):
            found = batch.select(names).join(known, on=names, how="left", maintain_order="left")["row"]
            if found.null_count():
                raise source.unreadable()
            yield found.to_numpy(), batch.select(pl.col(a).alias(n) for a, n in zip(columns, further, strict=True))
            done += batch.height
            if self._step is not None:
                self._step(done, source.n_rows)


def _merged(
    codes: NDArray[np.int32], count: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int32]]:
    """Rows with the same codes become one; also which one every row became."""
    names = [f"c{j}" for j in range(codes.shape[1])]
    frame = pl.DataFrame(codes, schema=names, orient="row").with_columns(pl.Series("n", count))
    frame = frame.with_columns(pl.struct(names).rank("dense").alias("row") - 1)
    merged = frame.group_by("row").agg(pl.col(names).first(), pl.col("n").sum()).sort("row")
    return (
        merged.select(names).to_numpy().astype(np.int32),
        merged["n"].to_numpy().astype(np.int64),
        frame["row"].to_numpy().astype(np.int32),
    )


class Coding:
    """How the values of each column become codes from 1 on (0: missing), and codes of a row become a few words.

    Texts are coded as they come, by Polars' categories. Other values are listed first.
    """

    def __init__(self, source: Source, names: Sequence[str], known: Mapping[str, pl.Series] | None = None) -> None:
        """Look at the types, and list the values that are not texts.

        If all values are known already, their order decides their codes.
        """
        self.names = tuple(names)
        types = source.types(names)
        self._categories = {name: pl.Categories.random() for name in names if types[name] == pl.String}
        # Polars forgets categories that no column has any more, even between two batches.
        self._alive = [pl.Series(dtype=t) for t in self.types.values()]
        others = [name for name in names if name not in self._categories]
        self._listed = _distinct(source, others) if known is None else {name: known[name] for name in others}
        self._known = known
        #: Columns get more bits as more values turn up.
        self.layout = Layout(dict.fromkeys(self.names, 0))
        self._make_room()

    def recall(self) -> None:
        """Let Polars meet the known texts in their order, before it meets them in the order of a file."""
        if self._known is not None:
            self._alive = [self._known[name].cast(t) for name, t in self.types.items()]

    @property
    def types(self) -> Mapping[str, pl.DataType]:
        """How the text columns are to be read."""
        return {name: pl.Categorical(categories) for name, categories in self._categories.items()}

    def words(self) -> list[pl.Expr]:
        """The packed codes of a row."""
        out: list[pl.Expr] = []
        for names in self.layout.words:
            packed: pl.Expr = pl.lit(0, pl.UInt64)
            for name in names:
                packed = packed * (1 << self.layout.bits[name]) + self._code(name)
            out.append(packed)
        return [word.alias(name) for word, name in zip(out, self.layout.titles, strict=True)]

    def packed(self, batch: pl.DataFrame) -> Packed:
        """The packed codes of rows as they are stored; of few texts each is looked up once."""
        coded = dict(zip(self.names, map_threads(lambda name: self._looked_up(batch[name]), self.names), strict=True))
        self._make_room()
        words = {}
        for title, names in zip(self.layout.titles, self.layout.words, strict=True):
            words[title] = word = np.zeros(batch.height, np.uint64)
            parts = [(self.layout.bits[name], *coded[name]) for name in names]
            share_evenly(partial(_append, word, parts), batch.height)
        return Packed(self.layout, pl.DataFrame(words))

    def _make_room(self) -> None:
        """See that every column has as many bits as its values need; if one has not, texts get some to spare, too."""
        needed = {name: bits_for(len(self.values(name))) for name in self.names}
        if any(self.layout.bits[name] < bits for name, bits in needed.items()):
            self.layout = Layout.with_room(needed, spare=[*self._categories])

    def _looked_up(self, column: pl.Series) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
        """Some codes of a column, and which of them every row has; all of them in order if `which` is empty."""
        few = different_texts(column) if column.name in self._categories else None
        listed, which = few or (column, np.zeros(0, np.int32))
        if column.name in self._categories:
            listed = listed.cast(pl.String).cast(self.types[column.name])
        return listed.alias(column.name).to_frame().select(self._code(column.name)).to_series().to_numpy(), which

    def _code(self, name: str) -> pl.Expr:
        column = pl.col(name)
        if name in self._categories:
            code = column.to_physical()
        else:
            listed = self._listed[name]
            code = column.replace_strict(listed, pl.Series(np.arange(len(listed))), default=None)
        return (code.cast(pl.UInt64) + 1).fill_null(0)

    def values(self, name: str) -> pl.Series:
        """What the codes from 1 on stand for."""
        if self._known is not None:
            return self._known[name]
        return self._listed[name] if name in self._listed else self._categories[name].to_series()


def _append(
    word: NDArray[np.uint64], parts: list[tuple[int, NDArray[np.uint64], NDArray[np.int32]]], begin: int, end: int
) -> None:
    """Append to some words the codes of several columns: in how many bits, the codes, and which of them rows have."""
    for bits, codes, which in parts:
        if which.size:
            append_codes(word[begin:end], bits, codes, which[begin:end])
        else:
            append_codes(word[begin:end], bits, codes[begin:end], which)


def _distinct(source: Source, names: list[str]) -> dict[str, pl.Series]:
    """The distinct values of columns that are not texts, in ascending order."""
    if not names:
        return {}
    found = source.scan(names).select(pl.col(name).unique().implode() for name in names).collect(engine="streaming")
    return {name: found[name].explode().drop_nulls().sort() for name in names}

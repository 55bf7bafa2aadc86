"""Files with many lines that are alike: Polars finds the different lines, and reads the fields of each of them once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tarnkappe.io.cells import Counted
from tarnkappe.threads import map_threads

#: Bytes that are looked at, in so many places, to see whether lines repeat.
_WINDOW, _PLACES = 1 << 20, 4

#: Lines repeat if at most one in so many is new.
_OFTEN = 4

_LINE, _COUNT = "line", "n"

#: A sign that no table has in it; what has it is read in another way.
_NEVER = "\x1f"


def repeats(data: NDArray[np.uint8], begin: int) -> bool:
    """Whether few lines from an offset on are new, as far as some places tell."""
    places = np.unique(np.linspace(begin, max(data.size - _WINDOW, begin), _PLACES, dtype=np.int64))
    lines = [line for at in places for line in data[at : at + _WINDOW].tobytes().split(b"\n")[1:-1]]
    return len(lines) > _OFTEN * len(set(lines)) > 0


def count_alike(
    lines: Callable[..., pl.LazyFrame], fields: Callable[[bytes], pl.LazyFrame], columns: Sequence[str]
) -> Counted | None:
    """The distinct rows of a file with all its columns, and how often each occurs.

    `lines` reads the file with these options, `fields` the columns of lines that it is given. Nothing if lines are not
    records, which is left to whoever reads them one by one.
    """
    whole = lines(schema={_LINE: pl.String}, separator=_NEVER, quote_char=None)
    try:
        found = whole.group_by(_LINE).agg(pl.len().cast(pl.Int64).alias(_COUNT)).collect(engine="streaming")
        line = pl.col(_LINE)
        # What stands first is taken for the mark of a byte order if it looks like one, and any line may stand first.
        odd = line.is_null() | line.str.contains("\r", literal=True) | line.str.starts_with("\ufeff")
        if found.select(odd.any()).item():
            return None
        rows = fields((found[_LINE].str.join("\n").item() + "\n").encode()).collect()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        return None
    if rows.height != found.height:
        return None

    def coded(name: str) -> tuple[pl.Series, NDArray[np.int32]]:
        distinct = rows[name].drop_nulls().unique(maintain_order=True)
        place = rows[name].cast(pl.Enum(distinct)).to_physical().cast(pl.Int32)
        return distinct, (place + 1).fill_null(0).to_numpy()

    values, codes = zip(*map_threads(coded, columns), strict=True)
    return Counted(values, np.column_stack(codes), found[_COUNT].to_numpy())

"""Write a Parquet file batch by batch, with nothing in it that is not in its rows."""

from __future__ import annotations

from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tarnkappe.kernels.engines.dealing import gathered, occurrences

#: Rows of a row group; small batches are collected until there are so many.
ROW_GROUP = 1 << 18

#: So many rows show that a column goes up; fewer may do so by chance.
_SOME = 64


class ParquetFile:
    """Collects tables until there are enough rows for a row group."""

    def __init__(self, file: IO[bytes]) -> None:
        """Nothing is written before the first table says what the columns are."""
        self._file = file
        self._waiting: list[pa.Table] = []
        self._writer: pq.ParquetWriter | None = None

    def append(self, table: pa.Table) -> None:
        """Append the rows of a table."""
        table = _neutral(table)
        if self._writer is None:
            self._schema = table.schema
            # Without the Arrow schema readers see plain text, not categories, and nothing of the frame it came from.
            # Statistics of categories take longer to make than everything else. Of numbers that go up, only the steps
            # are stored: a list of all of them would be as long as the column.
            rising = [name for name in table.column_names if _rises(table[name])]
            self._writer = pq.ParquetWriter(
                self._file,
                self._schema,
                compression="zstd",
                store_schema=False,
                write_statistics=False,
                use_dictionary=[name for name in table.column_names if name not in rising],
                column_encoding=dict.fromkeys(rising, "DELTA_BINARY_PACKED") or None,
            )
        self._waiting.append(table.cast(self._schema))
        if sum(t.num_rows for t in self._waiting) >= ROW_GROUP:
            self._flush()

    def close(self) -> None:
        """Write what is still waiting, and the end of the file."""
        self._flush()
        if self._writer is not None:
            self._writer.close()

    def _flush(self) -> None:
        if self._waiting and self._writer is not None:
            self._writer.write_table(pa.concat_tables(self._waiting).combine_chunks(), row_group_size=ROW_GROUP)
            self._waiting = []


def _neutral(table: pa.Table) -> pa.Table:
    """The table without metadata, its text categories reduced to those in use."""
    columns = [_only_used(column) if pa.types.is_dictionary(column.type) else column for column in table.columns]
    return pa.table(columns, names=table.column_names)


def _rises(column: pa.ChunkedArray) -> bool:
    """Whether a column holds whole numbers, all known, in ascending order, and not always the same."""
    if not pa.types.is_integer(column.type) or column.null_count or len(column) < _SOME:
        return False
    numbers = column.to_numpy()
    return bool(numbers[0] < numbers[-1]) and bool(np.all(numbers[1:] >= numbers[:-1]))


def _only_used(column: pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """A category column whose list holds the values that occur, and no others; other categories are written out."""
    kind = column.type.value_type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return column.cast(kind)
    array = column.combine_chunks()
    if isinstance(array, pa.ChunkedArray):  # what older versions of PyArrow give for a column without chunks
        array = array.chunk(0) if array.num_chunks else pa.array([], column.type)
    n = len(array.dictionary)
    codes = array.indices.cast(pa.int32()).fill_null(n).to_numpy(zero_copy_only=False)
    used = np.flatnonzero(occurrences(codes, n + 1)[:n])
    values = array.dictionary.cast(pa.large_string()).take(pa.array(used))
    # Sorted: the order in which they stood would tell that of the input.
    order = pc.sort_indices(values).to_numpy()
    new_code = np.full(n + 1, -1, np.int32)
    new_code[used[order]] = np.arange(used.size, dtype=np.int32)
    if not np.array_equal(new_code[:n], np.arange(n)):
        codes = gathered(new_code, codes)
    absent = array.is_null().to_numpy(zero_copy_only=False) if array.null_count else None
    return pa.DictionaryArray.from_arrays(pa.array(codes, mask=absent), values.take(pa.array(order)))

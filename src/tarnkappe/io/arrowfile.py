"""Arrow files, which are Feather files of version 2: read as they lie on disk, written batch by batch."""

from __future__ import annotations

from pathlib import Path
from typing import IO, Any

import polars as pl

from tarnkappe.io.files import FileSource, refuse_empty


class ArrowSource(FileSource):
    """An Arrow file; its columns keep their types."""

    kind = "arrow"

    def __init__(self, path: Path, missing: tuple[str, ...]) -> None:
        """Read the schema and the number of rows."""
        refuse_empty(path)
        self._open(path, missing, pl.scan_ipc(path, glob=False, hive_partitioning=False))


class ArrowFile:
    """Writes tables to an Arrow file, compressed, with nothing in it that is not in the rows."""

    def __init__(self, file: IO[bytes]) -> None:
        """Nothing is written before the first table says what the columns are."""
        self._file = file
        self._writer: Any = None

    def append(self, frame: pl.DataFrame) -> None:
        """Append the rows of a table; categories are written out, because a list of them may name other values."""
        import pyarrow as pa

        texts = frame.with_columns(pl.selectors.categorical().cast(pl.String), pl.selectors.enum().cast(pl.String))
        table = texts.to_arrow(compat_level=pl.CompatLevel.oldest())
        if self._writer is None:
            options = pa.ipc.IpcWriteOptions(compression="zstd")
            self._schema = table.schema
            self._writer = pa.ipc.new_file(self._file, self._schema, options=options)
        self._writer.write_table(table.cast(self._schema))

    def close(self) -> None:
        """Write the end of the file."""
        if self._writer is not None:
            self._writer.close()

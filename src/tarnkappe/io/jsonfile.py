"""JSON Lines: one object per line, read and written line by line."""

from __future__ import annotations

from pathlib import Path
from typing import IO

import polars as pl

from tarnkappe.io.files import FileSource, cannot_hold, refuse_empty, refuse_infinite
from tarnkappe.io.formats import not_of_its_kind


class JsonSource(FileSource):
    """A file of JSON objects; a key that an object lacks is a missing value."""

    kind = "jsonl"
    fault = "or is damaged, or a key has values of several kinds, such as 1 and true"

    def __init__(self, path: Path, missing: tuple[str, ...]) -> None:
        """Look at every line once: what types the keys have, and that no line is broken."""
        refuse_empty(path)
        with path.open("rb") as file:
            if not file.read(4096).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
                raise not_of_its_kind(path, self.kind, "whose lines begin with {")
        self._open(path, missing, pl.scan_ndjson(path, infer_schema_length=None), every_row=True)


class JsonFile:
    """Writes one object per row; moments as texts, a missing value as null."""

    def __init__(self, file: IO[bytes]) -> None:
        """The file is open already."""
        self._file = file

    def append(self, frame: pl.DataFrame) -> None:
        """Append the rows of a table."""
        refuse_infinite(frame, "jsonl")
        for name, dtype in frame.schema.items():
            if dtype == pl.UInt64 and (frame[name] >= 1 << 63).any():
                raise cannot_hold("jsonl", "has whole numbers from 2^63 on", name)
        frame.write_ndjson(self._file)

    def close(self) -> None:
        """Nothing is held back."""

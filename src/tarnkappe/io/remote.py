"""Tables in object stores, through the file systems that Arrow speaks: ``s3://``, ``gs://``, ``hdfs://``, ``file://``.

An object is copied to a temporary file that only its owner can read, and removed when the source is closed. Then every
format works, and no pass over the data depends on the network. Keys come from where the store's own tools look for
them, such as ``AWS_ACCESS_KEY_ID``; they have no place in a job file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from tarnkappe.errors import DataError, TarnkappeError
from tarnkappe.io.base import Source
from tarnkappe.io.transcode import TemporaryCopy, private_file
from tarnkappe.io.views import SourceView

if TYPE_CHECKING:
    from tarnkappe.io.cells import Counted, Step


def open_remote(address: str, open_one: Callable[[Path], Source]) -> Source:
    """The table at an address."""
    scheme, _, rest = address.partition("://")
    path = rest.partition("?")[0].rpartition("@")[2]
    shown = f"{scheme}://{path}"  # without keys or passwords
    if scheme == "file":
        return open_one(Path(path))
    if scheme in ("http", "https"):
        raise DataError(
            "E476",
            f"'{shown}' is a page of the web, not a file or an object store",
            where=shown,
            hint=f"Fetch it first:  curl -O {shown}",
        )
    name = Path(path).name or "table"
    copy = TemporaryCopy(lambda target: _fetch(address, shown, target), "".join(Path(name).suffixes[-2:]))
    try:
        return _FetchedSource(open_one(copy.path), copy, name)
    except BaseException as error:
        copy.close()
        if isinstance(error, TarnkappeError):
            error.message = error.message.replace(copy.path.name, name)
            error.where = shown
            error.args = (error.message,)
        raise


class _FetchedSource(SourceView):
    """A source on a temporary copy, under the name of the original."""

    def __init__(self, inner: Source, copy: TemporaryCopy, name: str) -> None:
        super().__init__(inner, name=name)
        self._copy = copy

    def _scan(self, columns: list[str]) -> pl.LazyFrame:
        return self.inner._scan(columns)

    def _scan_as(self, columns: list[str], types: Mapping[str, pl.DataType]) -> pl.LazyFrame:
        return self.inner._scan_as(columns, types)

    def counted(self, columns: Sequence[str], step: Step | None = None) -> Counted | None:
        return self.inner.counted(columns, step)

    def line_of(self, row: int) -> int | None:
        return self.inner.line_of(row)

    def close(self) -> None:
        super().close()
        self._copy.close()


def _patient(address: str) -> str:
    """An address with a limit of time: Google's client tries for a quarter of an hour, and cannot be interrupted.

    >>> _patient("gs://lake/people.csv"), _patient("s3://lake/people.csv")
    ('gs://lake/people.csv?retry_limit_seconds=30', 's3://lake/people.csv')
    """
    if not address.startswith(("gs://", "gcs://")) or "retry_limit_seconds=" in address:
        return address
    return f"{address}{'&' if '?' in address else '?'}retry_limit_seconds=30"


def _fetch(address: str, shown: str, target: Path) -> None:
    """Copy an object to a file."""
    import pyarrow as pa
    from pyarrow import fs

    try:
        system, path = fs.FileSystem.from_uri(_patient(address))
        with system.open_input_stream(path) as stream, private_file(target) as file:
            while chunk := stream.read(1 << 22):
                file.write(chunk)
    except (OSError, pa.ArrowException, ImportError) as error:
        # Arrow's own words may hold keys that stand in the address.
        reason = "there is no such object" if isinstance(error, FileNotFoundError) else "the store does not answer"
        raise DataError(
            "E476",
            f"'{shown}' cannot be read: {reason}, or the keys to it are wrong",
            where=shown,
            hint="Check the address, and the keys in the environment, such as  AWS_ACCESS_KEY_ID  and  "
            "AWS_ENDPOINT_URL.",
        ) from None

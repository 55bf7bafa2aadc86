"""Sources that show another source differently."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from tarnkappe.io.base import Source


class SourceView(Source):
    """Another source with other records, columns or values, or under another name; it is closed with the view."""

    def __init__(
        self, inner: Source, *, name: str | None = None, columns: Sequence[str] | None = None, n_rows: int | None = None
    ) -> None:
        """Look like the other source, but for what is given."""
        self.inner = inner
        self.decimal, self.spreadsheet_safe = inner.decimal, inner.spreadsheet_safe
        self.may_misdate = inner.may_misdate
        self.dialect = getattr(inner, "dialect", None)
        super().__init__(
            inner.name if name is None else name,
            inner.columns if columns is None else list(columns),
            inner.n_rows if n_rows is None else n_rows,
            inner.missing,
        )

    @property
    def format(self) -> str:
        """That of the other source."""
        return self.inner.format

    @cached_property
    def sha256(self) -> str:
        """That of the other source as a whole."""
        return self.inner.sha256

    def close(self) -> None:
        """Close the other source."""
        self.inner.close()

"""How much memory cells take, from counting them to a verified release; measured, see bench/RESULTS.md."""

from __future__ import annotations

#: What a process takes before it has read anything, and what one batch may take, in bytes.
BASE = 600 << 20

#: Bytes that a cell takes until the release is verified, and more of them per column.
_PER_CELL, _PER_CODE = 230, 16

#: Bytes that a record takes which is dealt to a numbered group: its cell, twice while records are mixed, and its share
#: of what is known about groups.
_PER_DEALT = 12


def memory_for(n_cells: int, n_columns: int, n_dealt: int = 0) -> int:
    """The bytes that a process needs to decide about so many cells of so many columns, and to deal so many records."""
    return BASE + n_cells * (_PER_CELL + _PER_CODE * n_columns) + n_dealt * _PER_DEALT


def cells_within(memory: int, n_columns: int) -> int:
    """How many cells a process may decide about in so many bytes; 0 if it cannot even start.

    >>> memory_for(cells_within(1_000_000_000, 8), 8) <= 1_000_000_000
    True
    """
    return max(memory - BASE, 0) // (_PER_CELL + _PER_CODE * n_columns)

"""Opening a leak: which column is which, and which label each text stands for."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from tarnkappe.errors import DataError
from tarnkappe.fingerprint.reading import UNKNOWN, Leak
from tarnkappe.fingerprint.scheme import Scheme
from tarnkappe.io import open_source

#: A column under another name is recognised if at least this share of its texts are labels of one column.
_LEAST_KNOWN = 0.5

#: Texts of a column that are looked at to recognise it.
_MOST_TEXTS = 10_000

_WORDS = re.compile(r"[^\W_]+(?:\.\d+)?")


@dataclass(frozen=True, eq=False)
class Opened:
    """The rows of a leak, and what was recognised in it: the column of the copies behind each of its columns."""

    leak: Leak
    columns: Mapping[str, str]
    #: The share of cells whose text is a label of its column, by column of the copies.
    understood: Mapping[str, float]

    @property
    def n_rows(self) -> int:
        """Rows of the leak."""
        return self.leak.n_rows


def plain(text: str) -> str:
    """A text without what changes when labels are written in another way: case, spaces, brackets and dashes.

    >>> plain("[20, 40["), plain("20-40"), plain("Never_Married")
    ('20 40', '20 40', 'never married')
    """
    return " ".join(_WORDS.findall(text.casefold()))


def open_leak(data: Any, scheme: Scheme, labels: Mapping[str, Mapping[str, str]] | None = None) -> Opened:
    """Read a leak: any table with some of the columns, in any order, under any name.

    A text is a label if it reads the same, or the same but for case, spaces and brackets. `labels` says what other
    names stand for, by column: ``{"sex": {"1": "Male"}}``.
    """
    source = open_source(data)
    distinct = {name: _texts(source.read([name]).to_series()) for name in source.columns}
    known = [_lookup(scheme, j, (labels or {}).get(name, {})) for j, name in enumerate(scheme.columns.names)]
    found = _recognised(distinct, scheme, known)
    if not found:
        raise DataError(
            "E410",
            "the leak has no column of the copies",
            where=str(data) if isinstance(data, (str, Path)) else None,
            hint="The copies have  " + ", ".join(scheme.columns.names),
        )
    frame = source.read(list(found)).select(pl.all().cast(pl.String)).group_by(pl.all()).len("\0rows")
    count = frame["\0rows"].to_numpy().astype(np.float64)
    node = np.full((frame.height, len(scheme.columns.names)), UNKNOWN, np.int32)
    understood = {}
    for name, j in found.items():
        meaning = {text: known[j](text) for text in distinct[name]}
        codes = frame[name].replace_strict(meaning, default=UNKNOWN, return_dtype=pl.Int32)
        node[:, j] = codes.to_numpy()
        understood[scheme.columns.names[j]] = float(count[node[:, j] >= 0].sum() / max(count.sum(), 1))
    return Opened(Leak(node, count), {n: scheme.columns.names[j] for n, j in found.items()}, understood)


class _lookup:  # noqa: N801  a function with a memory
    """The node of a text of one column, or -1."""

    def __init__(self, scheme: Scheme, j: int, given: Mapping[str, str]) -> None:
        self.exact = scheme.node_of[j]
        self.given = given
        alike: dict[str, set[int]] = {}
        for text, node in self.exact.items():
            alike.setdefault(plain(text), set()).add(node)
        self.alike = {text: nodes.pop() for text, nodes in alike.items() if len(nodes) == 1 and text}
        gaps = [v for v, text in enumerate(scheme.texts[j]) if text is None]
        self.gap = gaps[0] if gaps else UNKNOWN

    def __call__(self, text: str | None) -> int:
        """The node that a text stands for."""
        if text is None:
            return self.gap
        text = self.given.get(text, text)
        found = self.exact.get(text)
        return self.alike.get(plain(text), UNKNOWN) if found is None else found


def _texts(series: pl.Series) -> list[str | None]:
    return series.cast(pl.String).unique(maintain_order=True).to_list()


def _recognised(
    distinct: Mapping[str, Sequence[str | None]], scheme: Scheme, known: Sequence[_lookup]
) -> dict[str, int]:
    """The column of the copies behind each column of a leak: by name if its texts fit, or by what stands in it.

    Names alone are not believed, for they are changed with a few words; only what fits nowhere is what it is called.
    """
    names = scheme.columns.names
    called = {name: names.index(name) for name in distinct if name in names}
    for name in distinct:
        same = [j for j, own in enumerate(names) if plain(own) == plain(name) and j not in called.values()]
        if name not in called and len(same) == 1:
            called[name] = same[0]

    def share(name: str, j: int) -> float:
        texts = distinct[name][:_MOST_TEXTS]
        return sum(t is not None and known[j](t) >= 0 for t in texts) / max(len(texts), 1)

    found = {name: j for name, j in called.items() if share(name, j) >= _LEAST_KNOWN}
    others = set(range(len(names))) - set(found.values())
    fits = sorted((-share(name, j), name, j) for name in distinct if name not in found for j in others)
    for less, name, j in fits:
        if -less >= _LEAST_KNOWN and name not in found and j not in found.values():
            found[name] = j
    free = {name: j for name, j in called.items() if name not in found and j not in found.values()}
    return found | free

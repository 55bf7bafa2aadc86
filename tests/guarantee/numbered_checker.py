"""Checks releases whose groups have numbers from outside: reads the tables with other libraries, in plain Python.

Nothing here uses the package's readers or its groups. A failed check is an `AssertionError`.
"""

from __future__ import annotations

import csv
import hashlib
import json
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq

Row = tuple[str | None, ...]


@dataclass(frozen=True)
class Tables:
    """The tables of a release folder as texts, by name, with their columns; and the public manifest."""

    columns: dict[str, list[str]]
    rows: dict[str, list[Row]]
    manifest: dict

    def column(self, table: str, name: str) -> list[str | None]:
        at = self.columns[table].index(name)
        return [row[at] for row in self.rows[table]]

    def numbers(self, table: str) -> list[int]:
        return [int(text) for text in self.column(table, self.manifest["reading"]["number"])]


def read_tables(folder: Path, delimiter: str = ",", missing: tuple[str, ...] = ("",)) -> Tables:
    """Read all tables that the manifest names; each must have the checksum that it tells."""
    manifest = json.loads((folder / "public/manifest.json").read_text("utf-8"))
    columns, rows = {}, {}
    files = set()
    for table in manifest["tables"]:
        path = folder / "public" / table["file"]
        files.add(path.name)
        assert table["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
        if path.suffix == ".parquet":
            read = pq.read_table(path)
            names = read.column_names
            texts = [[None if v is None else str(v) for v in column.to_pylist()] for column in read]
            found = list(zip(*texts, strict=True))
        else:
            with path.open(encoding="utf-8", newline="") as file:
                names, *found = csv.reader(file, delimiter=delimiter, strict=True)
        found = [tuple(None if v is None or v in missing else v for v in row) for row in found]
        assert names == table["columns"]
        assert len(found) == table["rows"]
        columns[table["name"]], rows[table["name"]] = names, found
    assert {p.name for p in (folder / "public").iterdir()} == files | {"codebook.csv", "manifest.json", "report.html"}
    return Tables(columns, rows, manifest)


def check_buckets(tables: Tables, originals: list[dict[str, str | None]], quasi: list[str], secret: str) -> dict:
    """Check two tables of buckets against the records they were made from; how often each value is in each group.

    Groups are the same in both tables; no record is invented; numbers are in order; and for everybody who is there,
    some group can be theirs: it has their quasi-identifiers here and their sensitive value there.
    """
    here = tables.numbers("")
    there = tables.numbers("secrets")
    assert here == sorted(here)
    assert there == sorted(there)
    values: dict[int, Counter] = defaultdict(Counter)
    for number, value, records in zip(
        there, tables.column("secrets", secret), tables.column("secrets", "records"), strict=True
    ):
        assert value not in values[number]
        values[number][value] += int(records)
    assert Counter(here) == {number: sum(found.values()) for number, found in values.items()}
    people = list(zip(*(tables.column("", name) for name in quasi), strict=True))
    known = Counter(tuple(record[name] for name in quasi) for record in originals)
    assert not Counter(people) - known
    assert not sum((Counter(found) for found in values.values()), Counter()) - Counter(r[secret] for r in originals)
    # Records of the same kind must find places: as many as groups have of their people, and of their values.
    of_group: dict[tuple, Counter] = defaultdict(Counter)
    for person, number in zip(people, here, strict=True):
        of_group[person][number] += 1
    suppressed = len(originals) - len(people)
    short = 0
    for (person, value), n in Counter((tuple(r[q] for q in quasi), r[secret]) for r in originals).items():
        short += max(n - sum(min(m, values[number][value]) for number, m in of_group[person].items()), 0)
    assert short <= suppressed
    return values

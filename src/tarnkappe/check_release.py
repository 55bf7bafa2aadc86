"""Check a release without Tarnkappe: this file and Python 3.10 or newer are all it takes, and no network.

    python3 check_release.py [MANIFEST]

It reads the manifest beside it (or the one named) and the tables that the manifest describes. It compares their
checksums, finds the groups by what stands in the tables, and measures every group anew: k-anonymity, the kinds of
l-diversity, and t-closeness with the equal and the ordered distance. All comparisons are made in whole numbers and
fractions. What it cannot check it says.

Exit code 0: all that was promised was checked, and holds. 1: something does not hold. 2: something could not be
checked, or the files cannot be read.

CSV tables need nothing else; a Parquet table needs the package pyarrow. This file shares no code with the program that
made the release; whoever doubts it can read it in a quarter of an hour.
"""

from __future__ import annotations

import csv
import hashlib
import json
import math
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, Union

#: A value as it stands in a table; None is a missing one.
Value = Union[str, None]  # noqa: UP007 (needed when this file runs)
#: What a group reaches, and whether that is enough.
Level = tuple[Union[Fraction, float], bool]  # noqa: UP007

csv.field_size_limit(1 << 30)

#: Rounding slack of entropies, which are logarithms.
SLACK = 1e-12

#: Signs of an exponent; of larger numbers the digits could not be written down.
LONGEST_EXPONENT = 5


class CannotCheckError(Exception):
    """What stands in the way of a check."""


# --- tables ----------------------------------------------------------------------------------------------------------


def rows_of(
    path: Path, manifest: Mapping[str, Any], wanted: Sequence[str], known: Sequence[str]
) -> Iterator[tuple[Value, ...]]:
    """The values of some of the known columns, record by record; a missing one is None."""
    if path.suffix.lower() in (".parquet", ".pq"):
        yield from parquet_rows(path, wanted, known)
        return
    if path.suffix.lower() in (".xlsx", ".arrow", ".jsonl", ".sav", ".dta", ".xml"):
        raise CannotCheckError(f"{path.name} is neither CSV nor Parquet; tarnkappe verify reads it")
    told = manifest.get("csv") or {}
    gaps = set(told.get("missing") or [""])
    quote = told.get("quote") or '"'
    reading: dict[str, Any] = {"delimiter": told.get("delimiter") or ","}
    reading.update({"quoting": csv.QUOTE_NONE} if quote == "none" else {"quotechar": quote})
    encoding = told.get("encoding") or "utf-8"
    with path.open(encoding="utf-8-sig" if encoding == "utf-8" else encoding, newline="") as file:
        records = (record for record in csv.reader(file, **reading) if record)
        first = next(records, [])
        header = told.get("header", True) is not False
        names = first if header else [str(j) for j in range(1, len(first) + 1)]
        places = places_of(names, wanted, known, path)
        if not header:
            yield tuple(None if first[j] in gaps else first[j] for j in places)
        for record in records:
            if len(record) != len(names):
                raise CannotCheckError(f"{path.name} has a record with {len(record)} fields instead of {len(names)}")
            yield tuple(None if record[j] in gaps else record[j] for j in places)


def parquet_rows(path: Path, wanted: Sequence[str], known: Sequence[str]) -> Iterator[tuple[Value, ...]]:
    """The same of a Parquet file."""
    try:
        from pyarrow import parquet
    except ImportError:
        raise CannotCheckError(f"{path.name} is a Parquet file, which needs the package pyarrow") from None
    file = parquet.ParquetFile(path)
    places_of(file.schema_arrow.names, wanted, known, path)
    for batch in file.iter_batches(columns=list(wanted)):
        columns = [batch.column(name).to_pylist() for name in wanted]
        yield from zip(
            *([None if value is None else str(value) for value in column] for column in columns), strict=True
        )


def places_of(names: Sequence[str], wanted: Sequence[str], known: Sequence[str], path: Path) -> list[int]:
    """Where columns stand; there must be no others than those known."""
    absent = [name for name in wanted if name not in names]
    if len(set(names)) < len(names) or not set(names) <= set(known):
        raise CannotCheckError(f"{path.name} has a column more than once, or one that the manifest does not name")
    if absent:
        raise CannotCheckError(f"{path.name} has no column {absent[0]!r}")
    return [names.index(name) for name in wanted]


def number(text: str, decimal: str) -> Fraction | None:
    """A text as a number, or None if it is none, or one that no computer holds."""
    if len(text.lower().partition("e")[2]) > LONGEST_EXPONENT:
        return None
    try:
        value = Fraction(text.strip().replace(decimal, "."))
    except (ValueError, ZeroDivisionError):
        return None
    return None if "/" in text else value


def records_in(text: Value) -> int:
    """How many records a row of counted values stands for."""
    n = int(text or 0)
    if n < 1:
        raise CannotCheckError("a row stands for less than one record")
    return n


# --- criteria: each gets the counts of the sensitive values of a group, largest first, and says whether it holds ------


def meant(threshold: float) -> Fraction:
    """The number that a person meant: the decimal as it is written, or the simple fraction that it stands for."""
    simple = Fraction(threshold).limit_denominator(1000)
    return simple if float(simple) == float(threshold) else Fraction(str(threshold))


def l_diversity(counts: Sequence[int], asked: Mapping[str, Any]) -> Level:
    """At least l different values."""
    return len(counts), len(counts) >= asked["l"]


def frequency_l_diversity(counts: Sequence[int], asked: Mapping[str, Any]) -> Level:
    """No value has more than 1/l of the group."""
    share = Fraction(counts[0], sum(counts))
    return share, share * Fraction(str(asked["l"])) <= 1


def entropy_l_diversity(counts: Sequence[int], asked: Mapping[str, Any]) -> Level:
    """As uncertain as l equally likely values."""
    size = sum(counts)
    effective = math.exp(math.log(size) - sum(c * math.log(c) for c in counts) / size)
    return effective, effective >= asked["l"] * (1 - SLACK)


def recursive_cl_diversity(counts: Sequence[int], asked: Mapping[str, Any]) -> Level:
    """The commonest value stays below c times the values from the l-th on."""
    tail = sum(counts[asked["l"] - 1 :])
    level = Fraction(counts[0], tail) if tail else math.inf
    return level, asked["l"] == 1 or counts[0] < Fraction(str(asked["c"])) * tail


DIVERSITIES: dict[str, Callable[[Sequence[int], Mapping[str, Any]], Level]] = {
    "l-diversity": l_diversity,
    "frequency-l-diversity": frequency_l_diversity,
    "entropy-l-diversity": entropy_l_diversity,
    "recursive-cl-diversity": recursive_cl_diversity,
}

#: Of which criteria a larger level is a better one.
LARGER_IS_BETTER = ("k-anonymity", "l-diversity", "entropy-l-diversity", "k-e-anonymity")


def k_e_anonymity(group: Counter[Value], asked: Mapping[str, Any], decimal: str) -> Level:
    """At least k different numbers that are at least e apart; missing values count for nothing."""
    read = {number(text, decimal) for text in group if text is not None}
    numbers = {x for x in read if x is not None}
    if len(numbers) < len(read):
        raise CannotCheckError("a value is no number")
    if len(numbers) < max(asked["k"], 1):
        return -math.inf, asked["k"] < 1
    apart = max(numbers) - min(numbers)
    return apart, apart >= meant(asked["e"])


def equal_distance(group: Counter[Value], table: Counter[Value]) -> Fraction:
    """How far the mix of a group is from that of the table, if any two values are 1 apart."""
    size, total = sum(group.values()), sum(table.values())
    excess = sum(max(n * total - table[value] * size, 0) for value, n in group.items())
    return Fraction(excess, size * total)


def ordered_distance(group: Counter[Value], table: Counter[Value], order: Sequence[Value]) -> Fraction:
    """The same if values are apart by their ranks."""
    size, total = sum(group.values()), sum(table.values())
    moved = work = 0
    for value in order[:-1]:
        moved += group[value] * total - table[value] * size
        work += abs(moved)
    return Fraction(work, size * total * max(len(order) - 1, 1))


def in_order(table: Counter[Value], decimal: str) -> list[Value]:
    """The values of a column in the order of their numbers, a missing one last."""
    numbers = {value: number(value, decimal) for value in table if value is not None}
    if None in numbers.values():
        raise CannotCheckError("an order that is not that of numbers is known to the publisher only")
    if len(set(numbers.values())) < len(numbers):
        raise CannotCheckError("some numbers are written in several ways")
    return [*sorted(numbers, key=lambda value: numbers[value] or 0), *([None] if None in table else [])]


# --- the release -----------------------------------------------------------------------------------------------------


class Release:
    """The tables of a manifest, and how their groups are found."""

    def __init__(self, path: Path) -> None:
        self.folder = path.parent
        self.manifest = json.loads(path.read_text(encoding="utf-8"))
        if "database" in self.manifest:
            raise CannotCheckError("its table is in a database; Tarnkappe checks it there:  tarnkappe verify FOLDER")
        main = {"name": "", "file": self.manifest["file"], "sha256": self.manifest["sha256"]}
        listed = self.manifest.get("tables") or [main]
        self.tables = {str(t["name"]): t for t in listed}
        # Joined tables have no first one; promises about records are about a table that is named so.
        told = self.tables[""] if "criteria" in self.manifest else self.tables.get("", main)
        if len(self.tables) < len(listed) or any(told[key] != main[key] for key in ("file", "sha256")):
            raise CannotCheckError("the manifest says two things about a table")
        self.reading = self.manifest.get("reading")
        if self.reading is not None and self.reading.get("hidden"):
            raise CannotCheckError("which rows were drawn together is known to the publisher only")
        self.decimal = (self.manifest.get("csv") or {}).get("decimal") or "."
        for table in self.tables.values():
            if Path(table["file"]).name != table["file"]:
                raise CannotCheckError("the manifest names a file that is not in its folder")

    def rows(self, table: str, wanted: Sequence[str]) -> Iterator[tuple[Value, ...]]:
        """The values of some columns of a table, which must have the columns that the manifest names."""
        told = self.tables[table]
        known = told.get("columns") or self.manifest["columns"]
        return rows_of(self.folder / told["file"], self.manifest, wanted, known)

    def changed(self) -> list[str]:
        """Tables that are not those which the manifest describes."""
        found = []
        for table in self.tables.values():
            path = self.folder / table["file"]
            if not path.is_file():
                raise CannotCheckError(f"{table['file']} is not a file beside the manifest")
            digest = hashlib.sha256()
            with path.open("rb") as file:
                for block in iter(lambda: file.read(1 << 20), b""):
                    digest.update(block)
            if digest.hexdigest() != table["sha256"]:
                found.append(table["file"])
        return found

    def sizes(self) -> Counter[tuple[Value, ...]]:
        """The records of every group that looks alike to whoever knows the quasi-identifiers."""
        alike = self.manifest["quasi_identifiers"] if self.reading is None else self.reading.get("alike")
        if not alike:
            raise CannotCheckError("its groups have numbers, and their people are not hidden among each other")
        if not set(self.manifest["quasi_identifiers"]) & set(self.tables[""].get("columns") or ()) <= set(alike):
            raise CannotCheckError("the manifest finds groups by some of its quasi-identifiers only")
        return Counter(self.rows("", alike))

    def groups(self, column: str) -> Mapping[tuple[Value, ...], Counter[Value]]:
        """How often every group has which value of a sensitive column."""
        found: dict[tuple[Value, ...], Counter[Value]] = defaultdict(Counter)
        if self.reading is None:
            quasi = self.manifest["quasi_identifiers"]
            for *key, value in self.rows("", [*quasi, column]):
                found[tuple(key)][value] += 1
            return found
        beside = (self.reading.get("beside") or {}).get(column) or []
        key_columns, count = [self.reading["number"], *beside], self.reading.get("count")
        wanted = [*key_columns, column, *([count] if count else [])]
        for row in self.rows(self.reading.get("secrets") or "", wanted):
            value, n = (row[-2], records_in(row[-1])) if count else (row[-1], 1)
            found[row[: len(key_columns)]][value] += n
        return found

    def same_numbers(self) -> bool:
        """Whether all tables with people or secrets have the same numbers with as many records each."""
        if self.reading is None:
            return True
        number_column, count = self.reading["number"], self.reading.get("count")
        secrets = self.reading.get("secrets") or ""
        summed = {summary["sheet"] for summary in self.reading.get("summaries") or ()} - {"", secrets}
        each = []
        for name in self.tables:
            if name in summed:
                continue
            sizes: Counter[Value] = Counter()
            counted = [count] if count and name == secrets else []
            for row in self.rows(name, [number_column, *counted]):
                sizes[row[0]] += records_in(row[1]) if counted else 1
            each.append(sizes)
        return all(sizes == each[0] for sizes in each)


def check(release: Release, criterion: Mapping[str, Any]) -> tuple[Fraction | float, int]:
    """What the worst group reaches, and how many groups break the criterion."""
    name = criterion["name"]
    if criterion.get("know_others") or criterion.get("quasi_identifiers"):
        raise CannotCheckError("it makes assumptions about the attacker that this file does not know")
    levels: list[Level]
    if name == "k-anonymity":
        levels = [(size, size >= criterion["k"]) for size in release.sizes().values()]
    elif name in DIVERSITIES:
        measured = DIVERSITIES[name]
        groups = release.groups(criterion["column"]).values()
        levels = [measured(sorted(group.values(), reverse=True), criterion) for group in groups]
    elif name == "k-e-anonymity":
        groups = release.groups(criterion["column"]).values()
        levels = [k_e_anonymity(group, criterion, release.decimal) for group in groups]
    elif name == "t-closeness":
        levels = closeness(release, criterion)
    else:
        raise CannotCheckError("this file does not know the criterion")
    if not levels:
        raise CannotCheckError("there are no records")
    worst = (min if name in LARGER_IS_BETTER else max)(level for level, _ in levels)
    return worst, sum(not holds for _, holds in levels)


def closeness(release: Release, criterion: Mapping[str, Any]) -> list[Level]:
    """The distance of every group from the whole table."""
    groups = release.groups(criterion["column"]).values()
    table: Counter[Value] = sum(groups, Counter())
    limit = meant(criterion["t"])
    if criterion.get("distance", "equal") == "equal":
        far = [equal_distance(group, table) for group in groups]
    elif criterion["distance"] == "ordered":
        order = in_order(table, release.decimal)
        far = [ordered_distance(group, table, order) for group in groups]
    else:
        raise CannotCheckError("the taxonomy of the column is known to the publisher only")
    return [(distance, distance <= limit) for distance in far]


def main(arguments: Sequence[str]) -> int:
    """Check, and say what was found, line by line."""
    path = Path(arguments[0]) if arguments else Path(__file__).resolve().with_name("manifest.json")
    path = path / "manifest.json" if path.is_dir() else path
    broken, unknown = 0, 0
    try:
        release = Release(path)
        changed = release.changed()
        for name in changed:
            print(f"NO       {name} is not the file that the manifest describes")
        broken += len(changed)
        if not release.same_numbers():
            broken += 1
            print("NO       the tables do not have the same numbers with as many records each")
        if "criteria" not in release.manifest:
            unknown += 1
            print("UNKNOWN  promises about sets of items, or about joined tables: this file does not know them")
        elif not release.manifest["criteria"]:
            raise CannotCheckError("it promises nothing")
        for criterion in release.manifest.get("criteria", ()):
            asked = ", ".join(f"{key} = {value}" for key, value in criterion.items() if key != "name")
            try:
                worst, violating = check(release, criterion)
            except CannotCheckError as reason:
                unknown += 1
                print(f"UNKNOWN  {criterion['name']} ({asked}): {reason}")
                continue
            broken += violating > 0
            answer = f"NO       {violating} groups break" if violating else "yes     "
            print(f"{answer} {criterion['name']} ({asked}): the worst group reaches {float(worst):.6g}")
    except Exception as problem:  # whatever a forged file leads to, it was not checked
        print(f"UNKNOWN  {path.name}: {type(problem).__name__}: {problem}")
        return 1 if broken else 2
    print("The release", "DOES NOT KEEP" if broken else "keeps", end=" ")
    print("what its manifest promises" + ("." if broken or not unknown else ", as far as this file could check it."))
    return 1 if broken else 2 if unknown else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

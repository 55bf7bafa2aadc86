"""Jobs at random about several tables and about sets of items, checked from outside in plain Python."""

from __future__ import annotations

import random
import sys
import tempfile
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from checker import IN_MEMORY, is_true
from column_kinds import Branches, ColumnKind, branches, quasi_kinds, texts
from hypothesis import strategies as st
from numbered_jobs import Strand, matched
from whole_jobs import ROW, Case, Field, rows_of

from tarnkappe import KAnonymity, Mondrian
from tarnkappe.baskets import anonymize_items, audit_items
from tarnkappe.errors import InfeasibleError
from tarnkappe.job import numeric
from tarnkappe.multirelational import MultiJob, Relation, run_multirelational

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "baskets"))

from plain import keeps

PEOPLE, KEY = "people", "key"


@st.composite
def columns_of_a_table(draw: st.DrawFn, fewest: int = 0) -> tuple[Field, ...]:
    """The columns of a table beside its key."""
    none: frozenset[str] = frozenset({""})
    quasi = [Field(f"q{i}", "quasi", draw(quasi_kinds(none))) for i in range(draw(st.integers(fewest, 2)))]
    return (*quasi, Field("s", "sensitive", ColumnKind(("flu", "cold", "gout", "a,b"))))


@st.composite
def joined_jobs(draw: st.DrawFn) -> dict[str, Any]:
    """A table of persons whose rows can be told apart, up to two tables about them, and what is asked."""
    rng = random.Random(draw(st.integers(0, 2**32 - 1)))
    gaps = draw(st.sampled_from([0.0, 0.0, 0.2]))
    n = draw(st.integers(1, 60))
    fields = {PEOPLE: (*draw(columns_of_a_table(1)), Field(ROW, "sensitive", ColumnKind(("row 0",))))}
    tables = {PEOPLE: _rows(fields[PEOPLE], n, rng, gaps)}
    owner = {PEOPLE: list(range(n))}
    for i in range(draw(st.integers(0, 2))):
        fields[f"t{i}"] = draw(columns_of_a_table())
        owner[f"t{i}"] = [person for person in range(n) for _ in range(rng.choice([0, 1, 1, 2]))] or [0]
        tables[f"t{i}"] = _rows(fields[f"t{i}"], len(owner[f"t{i}"]), rng, gaps)
    return {
        "fields": fields,
        "tables": tables,
        "owner": owner,
        "k": draw(st.integers(1, 5)),
        "l": draw(st.sampled_from([None, None, 1.5, 2])),
        "limit": draw(st.sampled_from([0.0, 0.1, 0.5, 1.0])),
        "rows": draw(st.sampled_from(["set", "multiset"])),
        "frames": draw(st.booleans()),
        "gaps": gaps,
    }


def _rows(fields: tuple[Field, ...], n: int, rng: random.Random, gaps: float) -> list[tuple[str | None, ...]]:
    nulls = {f.name: gaps if f.role == "quasi" else 0.0 for f in fields}
    return list(rows_of(fields, n, rng, rng.choice(["skewed", "dependent", "distinct"]), nulls))


def run_joined(asked: dict[str, Any]) -> str:
    """Run a job about several tables and check what was written; how it ended."""
    fields: dict[str, tuple[Field, ...]] = asked["fields"]
    relations = [
        Relation(
            name,
            {f.name: f.kind.taxonomy or numeric() for f in columns if f.role == "quasi"},
            {f.name: asked["l"] if f.name == "s" else None for f in columns if f.role == "sensitive"},
            rows="multiset" if name == PEOPLE else asked["rows"],
        )
        for name, columns in fields.items()
    ]
    job = MultiJob(KEY, relations[0], relations[1:], asked["k"], asked["limit"], "own-value" if asked["gaps"] else None)
    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as parent:
        data: dict[str, Any] = {}
        for name, columns in fields.items():
            table = _arrow(columns, asked["tables"][name], asked["owner"][name])
            data[name] = pl.from_arrow(table) if asked["frames"] else Path(parent, f"data-{name}.parquet")
            if not asked["frames"]:
                pq.write_table(table, data[name])
        out = Path(parent, "out")
        try:
            run_multirelational(job, data, out, seed=5)
        except InfeasibleError:
            assert not out.exists()
            return "no solution"
        check_joined(asked, job, out)
    return "release, several tables"


def _arrow(fields: tuple[Field, ...], rows: list[tuple[str | None, ...]], owner: list[int]) -> pa.Table:
    case = Case(fields, tuple(rows), (KAnonymity(1),), Mondrian())
    columns = [pa.array([f"person {i}" for i in owner]), *(case._typed(f) for f in fields)]
    return pa.table(columns, names=[KEY, *(f.name for f in fields)])


def check_joined(asked: dict[str, Any], job: MultiJob, out: Path) -> None:
    """Everybody looks like k - 1 others in all tables, no value is too common, and every row is true of its person."""
    fields, n = asked["fields"], len(asked["tables"][PEOPLE])
    written = {name: pq.read_table(out / "public" / f"{name}.parquet").to_pylist() for name in fields}
    row_of = {row[KEY]: str(row[ROW]) for row in written[PEOPLE]}
    assert len(row_of) == len(set(row_of.values())) == len(written[PEOPLE]), "keys and persons are one to one"
    suppressed = n - len(row_of)
    assert suppressed <= Fraction(str(asked["limit"])) * n
    person_of = {f"row {i}": i for i in range(n)}
    seen: dict[Any, list[Any]] = {key: [] for key in row_of}
    values: dict[tuple[str, Any], set[Any]] = defaultdict(set)
    for relation in job.relations:
        name, columns = relation.name, fields[relation.name]
        quasi = [f for f in columns if f.role == "quasi"]
        case = Case(columns, tuple(asked["tables"][name]), (KAnonymity(1),), Mondrian(), missing_rule="own-value")
        rows: dict[Any, list[dict[str, Any]]] = defaultdict(list)
        given: dict[int, list[tuple[str | None, ...]]] = defaultdict(list)
        for row in written[name]:
            rows[row[KEY]].append(row)
        for owner, record in zip(asked["owner"][name], asked["tables"][name], strict=True):
            given[owner].append(record)
        assert rows.keys() <= row_of.keys(), "a row without a person"
        for key, row in row_of.items():
            kinds = Counter(tuple(r[f.name] for f in quasi) for r in rows[key])
            seen[key].append(frozenset(kinds if relation.rows == "set" else kinds.items()))
            values[name, key] = {r["s"] for r in rows[key]}
            labels = [tuple(None if r[f.name] is None else str(r[f.name]) for f in columns) for r in rows[key]]
            originals: list[Any] = given[person_of[row]]
            strand = Strand(name, tuple(f.name for f in columns), columns, coarse=True)
            if relation.rows == "set":
                alike = [
                    [
                        all(_true(case, c, lab, v) for c, lab, v in zip(columns, label, record, strict=True))
                        for label in labels
                    ]
                    for record in originals
                ]
                assert all(map(any, alike)), "a row of somebody is not there"
                assert all(map(any, zip(*alike, strict=True))), "a row that nobody has"
            else:
                assert matched(case, strand, labels, originals), "rows are not true of their person"
    groups = defaultdict(list)
    for key, parts in seen.items():
        groups[tuple(parts)].append(key)
    assert min(map(len, groups.values())) >= asked["k"]
    for relation in job.relations:
        if relation.diversity:
            for members in groups.values():
                common = Counter(v for key in members for v in values[relation.name, key])
                assert all(Fraction(c, len(members)) <= 1 / Fraction(str(asked["l"])) for c in common.values())


def _true(case: Case, field: Field, label: str | None, value: str | None) -> bool:
    return label == value if field.role == "sensitive" else is_true(case, field, label, value)


@st.composite
def item_jobs(draw: st.DrawFn) -> dict[str, Any]:
    """Sets of odd items, with a taxonomy or without, or disassociated."""
    how = draw(st.sampled_from(["remove", "taxonomy", "both", "disassociation"]))
    separator = draw(st.sampled_from([";", "|", " & "]))
    if how in ("taxonomy", "both"):
        kind = draw(branches(frozenset({""})))
    else:
        names = draw(st.lists(texts.map(str.strip), min_size=1, max_size=8, unique=True))
        kind = ColumnKind(tuple(names))
    clear = [v for v in kind.values if v and v == v.strip() and separator not in v]
    sets = draw(st.lists(st.sets(st.sampled_from(clear or ["a"]), max_size=5), min_size=2, max_size=40))
    return {
        "how": how if clear else "remove",
        "kind": kind,
        "separator": separator,
        "sets": sets,
        "k": draw(st.integers(2, 4)),
        "m": draw(st.integers(1, 3)),
        "key": draw(st.booleans()),
        "cluster": draw(st.sampled_from([None, 5, 12])),
    }


def run_items(asked: dict[str, Any]) -> str:
    """Run a job about sets of items and check what was written; how it ended."""
    sets, separator, how, key = asked["sets"], asked["separator"], asked["how"], asked["key"]
    rng = random.Random(1)
    if key:
        rows = [(f"p{i}", item) for i, s in enumerate(sets) for item in sorted(s)]
        rng.shuffle(rows)
        frame = pl.DataFrame(rows, schema={"who": pl.String, "basket": pl.String}, orient="row")
        sets = [s for s in sets if s]
    else:
        frame = pl.DataFrame({"basket": [separator.join(sorted(s)) for s in sets]})
    more: dict[str, Any] = {"algorithm": "disassociation", "cluster": asked["cluster"]}
    if how != "disassociation":
        more = {"remove": how == "both", "taxonomy": asked["kind"].taxonomy if how in ("taxonomy", "both") else None}
    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as parent:
        data, out = Path(parent, "data.parquet"), Path(parent, "out")
        frame.write_parquet(data)
        try:
            anonymize_items(
                data,
                "basket",
                k=asked["k"],
                m=asked["m"],
                separator=separator,
                key="who" if key else None,
                because="random words",
                folder=out,
                seed=3,
                **more,
            )
        except InfeasibleError:
            assert not out.exists()
            possible = how == "taxonomy" and sum(map(bool, sets)) >= asked["k"]
            assert not possible, "gave up, although the root of the taxonomy would do"
            return "no solution"
        check_items(asked, sets, out)
        assert audit_items(out).ok
    return "release, items"


def check_items(asked: dict[str, Any], sets: list[set[str]], out: Path) -> None:
    """Known items fit enough people, and published sets are those of the people, item by item."""
    name, separator = "data", asked["separator"]
    if asked["how"] == "disassociation":
        parts = {}
        for part in ("", "-terms", "-clusters"):
            file = out / "public" / f"{name}{part}.parquet"
            parts[part] = pq.read_table(file).to_pylist() if file.exists() else []
        check_chunks(asked, sets, parts)
        return
    rows = pq.read_table(out / "public" / f"{name}.parquet").to_pylist()
    if asked["key"]:
        owned: dict[Any, set[str]] = defaultdict(set)
        for row in rows:
            owned[row["who"]].add(row["basket"])
        after = list(owned.values())
    else:
        after = [set(filter(None, (row["basket"] or "").split(separator))) for row in rows]
        assert len(after) == len(sets)
    assert keeps(after, asked["k"], asked["m"])
    assert is_recoding(asked, sets, after)


def is_recoding(asked: dict[str, Any], before: list[set[str]], after: list[set[str]]) -> bool:
    """Whether there is one way to recode items, the same for everybody, that makes the one of the other."""
    kind = asked["kind"]
    items, shown = sorted(set().union(*before)), set().union(*after)
    removable = items if asked["how"] in ("remove", "both") else []
    expected = Counter(frozenset(s) for s in after if s)

    def label(item: str) -> str | None:
        if not isinstance(kind, Branches):
            return item if item in shown else None
        node: str | None = item
        while node is not None and node not in shown:
            node = kind.parent.get(node)
        return node

    for size in range(len(removable) + 1):
        for gone in combinations(removable, size):
            of = {item: None if item in gone else label(item) for item in items}
            if any(of[item] is None and item not in gone for item in items):
                continue
            made = (frozenset(of[item] for item in s if of[item] is not None) for s in before)
            if Counter(s for s in made if s) == expected:
                return True
    return False


def check_chunks(asked: dict[str, Any], sets: list[set[str]], parts: dict[str, list[dict[str, Any]]]) -> None:
    """The conditions of the page on disassociation, and every row is part of what somebody has."""
    separator = asked["separator"]
    size = {r["cluster"]: int(r["records"]) for r in parts["-clusters"]}
    terms: dict[Any, set[str]] = {c: set() for c in size}
    chunks: dict[Any, dict[Any, list[set[str]]]] = {c: defaultdict(list) for c in size}
    for r in parts["-terms"]:
        terms[r["cluster"]].add(r["basket"])
    rows = [(r["cluster"], r["chunk"], set(r["basket"].split(separator))) for r in parts[""]]
    for cluster, chunk, items in rows:
        chunks[cluster][chunk].append(items)
        assert any(items <= s for s in sets), "a row that nobody has"
    assert sum(size.values()) == sum(map(bool, sets))
    k, m = asked["k"], asked["m"]
    for cluster, n in size.items():
        domains = [*(set().union(*part) for part in chunks[cluster].values()), terms[cluster]]
        assert sum(map(len, domains)) == len(set().union(*domains)), "an item stands in two chunks"
        rows_of_all = sum(map(len, chunks[cluster].values()))
        assert terms[cluster] or rows_of_all >= n + k * (min(m, len(chunks[cluster])) - 1)
        assert n >= k
        assert all(keeps(part, k, m) and len(part) <= n for part in chunks[cluster].values())
    published = Counter(item for _, _, items in rows for item in items)
    given = Counter(item for s in sets for item in s)
    assert published <= given
    some = set(published).union(*terms.values())
    assert some == set(given), "an item is lost, or was never there"

"""Whole jobs whose groups have numbers, and what their tables must be: kept promises, and true of the records.

Where a job is *linked*, one column tells the records apart, so that the group of every record can be read from the
tables and all that they say about a group is held to its records. Nothing here uses the package's readers.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from checker import check_verdict, is_true, keeps, meaning, shown
from column_kinds import ColumnKind, Numbers, number_texts, sensitive_kinds
from hypothesis import strategies as st
from numbered_checker import Row, Tables, read_tables
from whole_jobs import ROW, Case, Field, cases, criteria

import brute
from tarnkappe import Anatomize, Angel, KAnonymity, KEPermutation, LDiversity, Slicing
from tarnkappe.algorithms import Algorithm
from tarnkappe.criteria import Criterion
from tarnkappe.taxonomy import suppress

ALGORITHMS: tuple[Algorithm, ...] = (
    *(Anatomize(), Angel(), Angel(bucket_size=1), Angel(bucket_size=4)),
    *(KEPermutation(), KEPermutation("max"), Slicing(), Slicing(3)),
    *(Anatomize(alike=True), Angel(alike=False)),
)

#: The names that the tables of each form have beside the one of the people.
FURTHER = {"anatomize": {"secrets"}, "angel": {"batches"}, "k-e-permutation": {"groups"}, "slicing": set()}

Values = tuple[Hashable, ...]


@st.composite
def numbered_cases(draw: st.DrawFn, algorithm: Algorithm | None = None, max_rows: int = 60) -> Case:
    """Any job of an algorithm that deals records to numbered groups; most of them can be done."""
    chosen = algorithm or draw(st.sampled_from(ALGORITHMS))
    no_marker = frozenset({"", "NA", "?", "-"})
    some = [sensitive_kinds(no_marker)] * draw(st.integers(0, 1))
    if chosen.name == "k-e-permutation":
        some.insert(draw(st.integers(0, len(some))), number_texts().map(lambda values: Numbers(values, numeric=True)))
    else:
        some.append(sensitive_kinds(no_marker))
    kept = ("keep",) if draw(st.integers(0, 30)) == 0 else ()
    case = draw(cases(chosen, max_rows, linked=False, roles=(*kept, "drop", "identifier"), secrets=st.just(some)))
    secret = tuple(case.having("sensitive"))
    case = replace(case, criteria=draw(promises(secret, chosen)))
    if draw(st.booleans()):
        case = draw(linked(case))
    if draw(st.booleans()):
        case = replace(case, algorithm=draw(with_columns(case)))
    return case


@st.composite
def promises(draw: st.DrawFn, secret: tuple[Field, ...], algorithm: Algorithm) -> tuple[Criterion, ...]:
    """One or two criteria that the algorithm can promise, now and then any."""
    some = draw(st.lists(criteria(secret), min_size=1, max_size=6))
    if draw(st.integers(0, 15)) == 0:
        return tuple(some[:2])
    good = [c for c in some if can_promise(algorithm, c)]
    if algorithm.name in ("anatomize", "k-e-permutation") and good:  # they look at one column
        good = [c for c in good if c.sensitive_column == good[0].sensitive_column]
    if not any("secret" in c.protects for c in good):
        numbers = [f.name for f in secret if f.kind.numeric] or [secret[0].name]
        good = [LDiversity(numbers[0], draw(st.integers(1, 3))), *good]
    if algorithm.name == "angel" and draw(st.booleans()):
        good.insert(1, KAnonymity(draw(st.integers(1, 5))))
    return tuple(good[:2])


def can_promise(algorithm: Algorithm, criterion: Criterion) -> bool:
    """Whether the algorithm's page says that it takes such a criterion."""
    if criterion.others_known:
        return False
    if algorithm.name == "anatomize":
        return criterion.enough_different is not None and "secret" in criterion.protects
    if algorithm.name == "k-e-permutation":
        return criterion.enough_apart is not None and "secret" in criterion.protects
    if algorithm.name == "angel" and not criterion.columns:
        return criterion.protects == {"identity"}
    return criterion.protects == {"secret"}


@st.composite
def linked(draw: st.DrawFn, case: Case) -> Case:
    """The case with a column that tells the records apart: a secret where quasi-identifiers are coarsened."""
    role = "sensitive" if case.algorithm.name == "angel" else "quasi"
    at = draw(st.integers(0, len(case.fields)))
    field = Field(ROW, role, ColumnKind(("row 0",), suppress() if role == "quasi" else None))
    rows = tuple((*row[:at], f"row {i}", *row[at:]) for i, row in enumerate(case.rows))
    return replace(case, fields=(*case.fields[:at], field, *case.fields[at:]), rows=rows)


@st.composite
def with_columns(draw: st.DrawFn, case: Case) -> Algorithm:
    """The algorithm of a case, told which columns stay together or have a table of their own, where it can be."""
    quasi, secret = ([f.name for f in case.having(role)] for role in ("quasi", "sensitive"))
    if case.algorithm.name == "slicing":
        strands: list[list[str]] = [[name] for name in secret]
        strands += [[] for _ in range(draw(st.integers(int(len(secret) == 1), 2)))]
        for name in quasi:
            for i in draw(st.lists(st.integers(0, len(strands) - 1), min_size=1, max_size=2, unique=True)):
                strands[i].insert(0, name)
        return Slicing(strands=tuple(tuple(strand) for strand in strands if strand))
    if case.algorithm.name == "angel":
        some = st.lists(st.sampled_from(quasi), min_size=1, max_size=3, unique=True)
        marginals = draw(st.lists(some, max_size=2, unique_by=frozenset))
        return Angel(case.algorithm.get_params()["bucket_size"], marginals=tuple(map(tuple, marginals)))
    return case.algorithm


@dataclass(frozen=True)
class Strand:
    """Columns of one table that stay together: their names there, the fields they hold, and how rows are counted."""

    table: str
    columns: tuple[str, ...]
    fields: tuple[Field, ...]
    count: str | None = None
    coarse: bool = False


def check_numbered(case: Case, folder: Path) -> Tables:
    """Check everything that a release of numbered groups promises, on the written files."""
    tables = read_tables(folder, case.delimiter if case.source == "csv" else ",", case.missing)
    reading, name = tables.manifest["reading"], case.algorithm.name
    marginals = {f"marginal-{i + 1}" for i in range(len(getattr(case.algorithm, "marginals", ())))}
    assert set(tables.rows) == {"", *FURTHER[name], *marginals}
    suppressed = case.n - len(tables.rows[""])
    assert 0 <= suppressed <= case.budget, f"{suppressed} records suppressed, {case.budget} allowed"
    assert tables.manifest["records"] == len(tables.rows[""])
    assert tables.manifest["suppressed"] == suppressed
    assert reading["number"] not in [f.name for f in case.published]
    strands = strands_of(case, tables)
    groups = {i: by_number(case, tables, strand) for i, strand in enumerate(strands)}
    sizes = Counter(tables.numbers(""))
    assert set(sizes) == set(range(1, len(sizes) + 1)), "numbers are those of the groups, without gaps"
    for i, strand in enumerate(strands):
        found = {number: sum(rows.values()) for number, rows in groups[i].items()}
        assert found == sizes, f"{strand.columns} has other groups than the people"
        if strand.table in ("secrets", "batches"):
            assert len(tables.rows[strand.table]) == sum(map(len, groups[i].values())), "a combination stands twice"
        numbers = tables.numbers(strand.table)
        assert numbers == sorted(numbers)
    for criterion, verdict in zip(case.criteria, tables.manifest["verdicts"], strict=True):
        rows = as_rows(case, tables, strands, groups, criterion)
        assert keeps(case, criterion, rows), f"the written tables violate {criterion}"
        check_verdict(case, criterion, verdict, rows)
    check_true(case, strands, groups)
    if name == "k-e-permutation":
        check_figures(case, tables, strands, groups)
    return tables


def strands_of(case: Case, tables: Tables) -> list[Strand]:
    """Which columns stay together, as the page of each algorithm says; of slices, as the manifest says."""
    quasi, secret = (tuple(f for f in case.published if f.role == role) for role in ("quasi", "sensitive"))
    number, count = tables.manifest["reading"]["number"], tables.manifest["reading"]["count"]
    by_name = {f.name: f for f in case.published}

    def plain(table: str, fields: tuple[Field, ...], counted: bool = False, coarse: bool = False) -> Strand:
        return Strand(table, tuple(f.name for f in fields), fields, count if counted else None, coarse)

    if case.algorithm.name == "slicing":
        told = tables.manifest["strands"]
        out = [Strand("", tuple(s["columns"]), tuple(by_name[name] for name in s["names"])) for s in told]
        asked = case.algorithm.get_params()["strands"]
        assert not asked or [tuple(s["names"]) for s in told] == [tuple(strand) for strand in asked]
        held = Counter(f.name for strand in out for f in strand.fields)
        assert set(held) == set(by_name)
        assert all(held[f.name] == 1 for f in secret)
        assert tables.columns[""] == [*(column for strand in out for column in strand.columns), number]
        return out
    if case.algorithm.name == "k-e-permutation":
        assert tables.columns[""] == [*by_name, number]
        return [plain("", quasi), plain("", secret)]
    further = "secrets" if case.algorithm.name == "anatomize" else "batches"
    assert tables.columns[""] == [*(f.name for f in quasi), number]
    assert tables.columns[further] == [number, *(f.name for f in secret), count]
    coarse = case.algorithm.name == "angel"
    out = [plain("", quasi, coarse=coarse), plain(further, secret, counted=True)]
    for i, names in enumerate(getattr(case.algorithm, "marginals", ()), 1):
        fields = tuple(by_name[name] for name in names)
        assert tables.columns[f"marginal-{i}"] == [*(f.name for f in fields), number]
        out.append(plain(f"marginal-{i}", fields, coarse=True))
    return out


def by_number(case: Case, tables: Tables, strand: Strand) -> dict[int, Counter[Values]]:
    """How often each combination of a strand stands under each number; labels are texts, other values are values."""
    columns: list[Sequence[Hashable]] = []
    for column, field in zip(strand.columns, strand.fields, strict=True):
        texts = tables.column(strand.table, column)
        columns.append(
            [shown(case, field, text) for text in texts]
            if strand.coarse
            else [meaning(case, field, text) for text in texts]
        )
    times = [1] * len(tables.rows[strand.table])
    if strand.count is not None:
        times = [int(text) for text in tables.column(strand.table, strand.count) if text is not None]
    out: dict[int, Counter[Values]] = defaultdict(Counter)
    for number, row, n in zip(tables.numbers(strand.table), zip(*columns, strict=True), times, strict=True):
        assert n > 0
        out[number][row] += n
    return out


def as_rows(
    case: Case,
    tables: Tables,
    strands: Sequence[Strand],
    groups: dict[int, dict[int, Counter[Values]]],
    criterion: Criterion,
) -> list[brute.Row]:
    """The people of the tables with what somebody knows about them, and the secrets that may be theirs."""
    column = criterion.sensitive_column
    if column is None:  # people are hidden among those who look alike
        labels = [f.name for f in case.having("quasi")]
        looks: list[Row] = list(zip(*(tables.column("", name) for name in labels), strict=True))
        return [(look, ()) for look in looks]
    place = next(i for i, strand in enumerate(strands) if column in [f.name for f in strand.fields])
    fields = strands[place].fields
    known = [i for i, f in enumerate(fields) if f.role == "quasi"]
    secret = [fields.index(f) if f in fields else None for f in case.having("sensitive")]
    return [
        ((number, *(row[i] for i in known)), tuple(None if i is None else row[i] for i in secret))
        for number, rows in groups[place].items()
        for row in rows.elements()
    ]


def check_true(case: Case, strands: Sequence[Strand], groups: dict[int, dict[int, Counter[Values]]]) -> None:
    """What stands under a number is what its records have; without a link, what some records could have."""
    names = [f.name for f in case.fields]

    def original(strand: Strand, row: Row) -> Values:
        values = (row[names.index(f.name)] for f in strand.fields)
        pairs = zip(strand.fields, values, strict=True)
        return tuple(value if strand.coarse else f.kind.read(value) for f, value in pairs)

    for i, strand in enumerate(strands):
        given = Counter(original(strand, row) for row in case.rows)
        released = sum(groups[i].values(), Counter())
        if not strand.coarse:
            assert released <= given, f"{strand.columns} has values that no record has"
            assert released == given or released.total() < case.n
        else:
            for labels in released:
                assert any(covered(case, strand, labels, values) for values in given), f"{labels} is true of nobody"
    if ROW not in names:
        return
    link = next(i for i, s in enumerate(strands) if ROW in [f.name for f in s.fields] and not s.coarse)
    at = [f.name for f in strands[link].fields].index(ROW)
    of_row = dict(zip(case.column(ROW), case.rows, strict=True))
    for number, rows in groups[link].items():
        members = [of_row[str(row[at])] for row in rows.elements()]
        for i, strand in enumerate(strands):
            expected = [original(strand, row) for row in members]
            if strand.coarse:
                labels = [*groups[i][number].elements()]
                assert matched(case, strand, labels, expected), f"{strand.columns} of group {number} is untrue"
            else:
                assert groups[i][number] == Counter(expected), f"{strand.columns} of group {number} is untrue"


def covered(case: Case, strand: Strand, labels: Values, values: Values) -> bool:
    """Whether all labels are true of the values."""
    return all(
        is_true(case, f, None if label is None else str(label), None if value is None else str(value))
        for f, label, value in zip(strand.fields, labels, values, strict=True)
    )


def matched(case: Case, strand: Strand, labels: list[Values], records: list[Values]) -> bool:
    """Whether the labels of a group can be given to its records, each once, so that all are true."""
    holder: dict[int, int] = {}

    def placed(record: int, tried: set[int]) -> bool:
        for i, row in enumerate(labels):
            if i not in tried and covered(case, strand, row, records[record]):
                tried.add(i)
                if i not in holder or placed(holder[i], tried):
                    holder[i] = record
                    return True
        return False

    return len(labels) == len(records) and all(placed(record, set()) for record in range(len(records)))


def check_figures(
    case: Case, tables: Tables, strands: Sequence[Strand], groups: dict[int, dict[int, Counter[Values]]]
) -> None:
    """The table that sums up groups says how many records they have and what their numbers come to."""
    (summary,) = tables.manifest["reading"]["summaries"]
    numbers = tables.numbers("groups")
    assert numbers == sorted(groups[0])
    assert [int(str(n)) for n in tables.column("groups", summary["records"])] == [
        groups[0][number].total() for number in numbers
    ]
    fields = strands[1].fields
    measured = [f.name for f in fields if f.kind.numeric and f.kind.taxonomy is None]
    assert {(f["of"], f["what"]) for f in summary["figures"]} == {
        (name, what) for name in measured for what in ("min", "max", "sum", "mean")
    }
    for figure in summary["figures"]:
        at = [f.name for f in fields].index(figure["of"])
        for number, text in zip(numbers, tables.column("groups", figure["column"]), strict=True):
            values = [Fraction(v) for row in groups[1][number].elements() if (v := row[at]) is not None]  # type: ignore[arg-type]
            if not values:
                assert text is None
                continue
            what = {"min": min(values), "max": max(values), "sum": sum(values), "mean": sum(values) / len(values)}
            if text is None:  # a figure that reads like a marker of a missing value
                continue
            told = meaning(case, fields[at], text)
            assert isinstance(told, float)
            room = float(sum(map(abs, values)))
            assert math.isclose(told, what[figure["what"]], rel_tol=1e-9, abs_tol=1e-9 * room), figure

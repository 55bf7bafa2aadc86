"""Checks a release from outside: reads what was written with other libraries, regroups it in plain Python, compares.

Nothing here uses the package's readers, its groups or its taxonomies. A failed check is an `AssertionError`.
"""

from __future__ import annotations

import csv
import hashlib
import json
import math
import os
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TypeVar

import pyarrow.parquet as pq
import pytest
from column_kinds import Numbers
from whole_jobs import ROW, Case, Field

import brute
import twins
from tarnkappe.criteria import Criterion
from tarnkappe.criteria.personalized_privacy import PersonalizedPrivacy
from tarnkappe.errors import InfeasibleError, JobError, TarnkappeError
from tarnkappe.pipeline import run_job

PUBLIC = {"codebook.csv", "manifest.json", "report.html"}
INTERNAL = {"manifest.json", "report.html", "job.yaml", "groups.parquet"}
#: What is kept beside it where criteria look at more than the released columns.
EVIDENCE = {"witness.parquet", "population.parquet", "originals.parquet"}

#: Thousands of small releases are written faster to memory, where there is such a folder; None is the usual one.
IN_MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None

Cells = tuple[str | None, ...]

T = TypeVar("T")


@dataclass(frozen=True)
class Written:
    """A release folder as it lies on the disk: the table as texts, and the manifests."""

    names: list[str]
    rows: list[Cells]
    public: dict[str, object]
    private: dict[str, object]
    path: Path


def read_release(folder: Path, missing: tuple[str, ...] = ("",), delimiter: str = ",") -> Written:
    """Read a release folder; it must hold exactly the files it should."""
    public = json.loads((folder / "public/manifest.json").read_text("utf-8"))
    private = json.loads((folder / "do-not-share/manifest.json").read_text("utf-8"))
    path = folder / "public" / str(public["file"])
    assert {p.name for p in (folder / "public").iterdir()} == PUBLIC | {path.name}
    assert {p.name for p in (folder / "do-not-share").iterdir()} - EVIDENCE == INTERNAL
    assert {p.name for p in folder.iterdir()} == {"public", "do-not-share"}
    assert public["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest(), "the manifest has another hash"
    if path.suffix == ".parquet":
        table = pq.read_table(path)
        names, columns = table.column_names, [[None if v is None else str(v) for v in c.to_pylist()] for c in table]
        rows = list(zip(*columns, strict=True))
    else:
        with path.open(encoding="utf-8", newline="") as file:
            names, *rows = csv.reader(file, delimiter=delimiter, strict=True)
        rows = [tuple(row) or ("",) for row in rows]  # a blank line is a record of one empty cell
        assert all(len(row) == len(names) for row in rows), "records of different lengths"
    rows = [tuple(None if v is None or v in missing else v for v in row) for row in rows]
    return Written(names, rows, public, private, path)


def meaning(case: Case, field: Field, text: str | None) -> Hashable:
    """A cell as a value that can be compared across formats: numbers as numbers, the rest as text."""
    if text is not None and field.kind.numeric and case.delimiter == ";":
        text = text.replace(",", ".")
    return field.kind.read(text)


def rows_by_role(case: Case, written: Written) -> list[brute.Row]:
    """Released records as (quasi texts, sensitive values)."""
    at = {name: i for i, name in enumerate(written.names)}
    quasi = [at[f.name] for f in case.having("quasi")]
    sensitive = [(f, at[f.name]) for f in case.having("sensitive")]
    return [
        (tuple(row[i] for i in quasi), tuple(meaning(case, f, row[i]) for f, i in sensitive)) for row in written.rows
    ]


def with_guards(case: Case, criterion: Criterion, written: Written) -> list[brute.Row]:
    """Released records as `rows_by_role` gives them, each with its guarding node, which is not released."""
    rows = rows_by_role(case, written)
    if not isinstance(criterion, PersonalizedPrivacy):
        return rows
    guard = dict(zip(case.column(ROW), case.column(criterion.guard), strict=True))
    keys = [row[written.names.index(ROW)] for row in written.rows]
    return [(quasi, (*values, guard[key])) for (quasi, values), key in zip(rows, keys, strict=True)]


def keeps(case: Case, criterion: Criterion, rows: list[brute.Row]) -> bool:
    """Whether rows keep the promise of a criterion, in exact arithmetic; a guarding node is their last value."""
    asked = criterion.get_params()
    name = asked.pop("column", None)
    if "guard" in asked:
        asked["guard"] = -1
    if name is None:
        return brute.meets(rows, criterion.name, **asked)
    fields = case.having("sensitive")
    column = [f.name for f in fields].index(name)
    if twins.own_tests(criterion.name) is not None:
        return twins.keeps(criterion, rows, column)
    values = [sensitive[column] for _, sensitive in rows]
    kind = fields[column].kind
    return brute.meets(rows, criterion.name, column, order=kind.order(values), parent=kind.parents(values), **asked)


def reached(case: Case, criterion: Criterion, rows: list[brute.Row]) -> float:
    """The level of the most exposed class, as a criterion's verdict states it."""
    if criterion.name in ("k-anonymity", "k-indistinguishability"):
        return brute.k(rows)
    if criterion.name == "max-risk":
        return 1 / brute.k(rows)
    fields = case.having("sensitive")
    asked = criterion.get_params()
    column = [f.name for f in fields].index(asked["column"])
    if twins.own_tests(criterion.name) is not None:
        return twins.reached(criterion, rows, column)
    values, kind, others = [s[column] for _, s in rows], fields[column].kind, asked.get("know_others", False)
    classes, whole = brute.histograms(rows, column, others), brute.table(rows, column)
    if criterion.name == "alpha-k-anonymity":
        return float(max(brute.alpha(h, asked["value"]) for h in classes))
    if criterion.name == "confidence-bounding":
        return float(max(brute.filled(h, asked["bounds"], asked["bound"]) for h in classes))
    if criterion.name == "k-e-anonymity":
        return float(min(brute.spread(h, asked["k"]) for h in classes))
    if criterion.name == "epsilon-m-anonymity":
        return float(max(brute.proximity(h, asked["epsilon"], asked["relative"]) for h in classes))
    if criterion.name == "beta-likeness":
        return float(max(brute.gain(h, whole, asked["beta"], asked["form"]) for h in classes))
    if criterion.name == "delta-disclosure":
        base = {"binary": 2, "natural": math.e, "decimal": 10}[asked["logarithm"]]
        return max(math.log(brute.ratio(h, whole, asked["absent"]), base) for h in classes)
    if criterion.name == "personalized-privacy":
        return float(brute.breach(rows, column, -1, kind.parents(values)))
    if criterion.name == "l-diversity":
        return brute.distinct_l(rows, column, others)
    if criterion.name == "entropy-l-diversity":
        return brute.entropy_l(rows, column, others)
    if criterion.name == "frequency-l-diversity":
        return float(brute.largest_share(rows, column, others))
    if criterion.name == "recursive-cl-diversity":
        return float(brute.recursive_infimum(rows, column, asked["l"], others))
    order, parents = kind.order(values), kind.parents(values)
    return float(brute.t(rows, column, asked["distance"], order, parents, others))


def check_release(case: Case, folder: Path) -> Written:
    """Check everything that a release promises, on the written files."""
    written = read_release(folder, case.missing, case.delimiter if case.source == "csv" else ",")
    assert written.names == [f.name for f in case.published], "columns"
    suppressed = case.n - len(written.rows)
    assert 0 <= suppressed <= case.budget, f"{suppressed} records suppressed, {case.budget} allowed"
    assert written.public["records"] == len(written.rows)
    assert written.public["suppressed"] == suppressed
    for criterion in case.criteria:
        assert keeps(case, criterion, with_guards(case, criterion, written)), f"the written table violates {criterion}"
    _check_verdicts(case, written)
    _check_carried(case, written)
    if ROW in written.names:
        if case.algorithm.scheme == "microaggregation":
            _check_centres(case, written)
        else:
            _check_labels(case, written)
    return written


def _check_verdicts(case: Case, written: Written) -> None:
    """The verdicts tell the truth; what was reached in columns that are not published only the publisher is told."""
    verdicts = written.private["verdicts"]
    told = [{**v, "reached": None} for v in written.public["verdicts"]]
    assert told == [{**v, "reached": None} for v in verdicts]
    assert isinstance(verdicts, list)
    assert len(verdicts) == len(case.criteria)
    for verdict, criterion in zip(verdicts, case.criteria, strict=True):
        check_verdict(case, criterion, verdict, with_guards(case, criterion, written))


def check_verdict(case: Case, criterion: Criterion, verdict: dict[str, object], rows: list[brute.Row]) -> None:
    """A verdict says that a criterion is met, and how far."""
    assert verdict["ok"] is True
    if getattr(criterion, "l", 0) == 1 and criterion.name == "recursive-cl-diversity":
        return  # satisfied by definition, whatever the level
    truth = reached(case, criterion, rows)
    same = math.isclose(float(verdict["reached"]), truth, rel_tol=1e-9, abs_tol=1e-12)  # type: ignore[arg-type]
    assert same, f"{criterion} is said to reach {verdict['reached']}, in truth {truth}"


def _check_carried(case: Case, written: Written) -> None:
    """Sensitive and kept values are those of the input, record by record, but for what was suppressed."""
    carried = [f for f in case.published if f.role != "quasi"]
    at = [written.names.index(f.name) for f in carried]
    inputs = [[f.name for f in case.fields].index(f.name) for f in carried]
    released = Counter(
        tuple(meaning(case, f, row[i]) for f, i in zip(carried, at, strict=True)) for row in written.rows
    )
    given = Counter(tuple(f.kind.read(row[i]) for f, i in zip(carried, inputs, strict=True)) for row in case.rows)
    assert released <= given, "a released record has values that no record of the input has"
    if len(written.rows) == case.n:
        assert released == given


def _check_labels(case: Case, written: Written) -> None:
    """Every record is published under labels that are true of it."""
    original = dict(zip(case.column(ROW), case.rows, strict=True))
    names = [f.name for f in case.fields]
    for row in written.rows:
        values = original[row[written.names.index(ROW)]]
        for field in case.having("quasi"):
            label, value = shown(case, field, row[written.names.index(field.name)]), values[names.index(field.name)]
            assert is_true(case, field, label, value), f"{field.name!r}: {value!r} is published as {label!r}"


#: How exact means are.
_DIGITS = Fraction(1, 10**15)


def _check_centres(case: Case, written: Written) -> None:
    """Every group is published with the means of its numbers, and else with a value that one of its records has."""
    original = dict(zip(case.column(ROW), case.rows, strict=True))
    names = [f.name for f in case.fields]
    quasi = case.having("quasi")
    groups = defaultdict(list)
    for row in written.rows:
        label = tuple(row[written.names.index(f.name)] for f in quasi)
        groups[label].append(original[row[written.names.index(ROW)]])
    for labels, members in groups.items():
        for field, written_label in zip(quasi, labels, strict=True):
            label = shown(case, field, written_label)
            values = [v for m in members if (v := m[names.index(field.name)]) is not None]
            if not values:
                assert label is None
            elif isinstance(field.kind, Numbers) and field.kind.taxonomy is None:
                mean = sum(map(Fraction, values)) / len(values)
                assert label is not None
                if case.algorithm.name != "secure-k-ward":
                    # Means have two places and fifteen digits, as their page says.
                    off = max(Fraction(1, 100), abs(mean) * _DIGITS)
                    assert abs(Fraction(label) - mean) <= off, f"{field.name!r}: {label} is not {values}"
            else:
                assert any(field.kind.covers(str(label), v) for v in values), f"{field.name!r}: {label} not in {values}"


def shown(case: Case, field: Field, label: str | None) -> str | None:
    """A label of numbers with decimal points: it is written with the decimal sign of the data."""
    if label is None or not field.kind.numeric or case.delimiter != ";":
        return label
    return label.replace(",", ".").replace(";", ",")


def is_true(case: Case, field: Field, label: str | None, value: str | None) -> bool:
    """Whether a label may be published for a value."""
    if value is None:
        # A column of nothing but missing values needs no taxonomy, whose root it would be called by.
        at, gaps = case.fields.index(field), {None, *case.missing}
        root = field.kind.root if any(row[at] not in gaps for row in case.rows) else "*"
        return case.missing_rule == "wildcard" or label in (None, root)
    return label is not None and field.kind.covers(label, value)


def together(case: Case, criterion: Criterion) -> list[brute.Row]:
    """The input as if all records were in one group."""
    guard = getattr(criterion, "guard", None)
    looked_at = [*case.having("sensitive"), *(f for f in case.fields if f.name == guard)]
    fields = [(f, [g.name for g in case.fields].index(f.name)) for f in looked_at]
    return [((), tuple(f.kind.read(row[i]) for f, i in fields)) for row in case.rows]


def run_and_check(case: Case, seed: int = 1, check: Callable[[Case, Path], T] = check_release) -> T | None:  # type: ignore[assignment]
    """Run a job into a folder and check what is there; None if there is no release, and rightly so.

    What is refused for another reason than `Case.refused` knows goes on as its error. Nothing may be left behind.
    """
    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as parent:
        folder = Path(parent, "release")
        data = case.write(Path(parent))
        if case.refused:
            with pytest.raises(JobError, match="E111"):
                run_job(case.job(), data, folder, seed=seed)
        else:
            try:
                run_job(case.job(), data, folder, seed=seed)
            except InfeasibleError:
                possible = all(keeps(case, c, together(case, c)) for c in case.criteria)
                possible &= not getattr(case.algorithm, "strands", ())  # columns that must stay together may tell
                assert not possible, "gave up, although all records in one group satisfy the goal"
            except TarnkappeError:
                _nothing_left(Path(parent))
                raise
            else:
                return check(case, folder)
        _nothing_left(Path(parent))
        return None


def _nothing_left(parent: Path) -> None:
    left = [p.name for p in parent.iterdir() if not p.name.startswith("data.")]
    assert left == [], f"no release, but {left} is left behind"

"""Whole jobs: a random table, what each of its columns is, and a goal, written out as a file that a job can read."""

from __future__ import annotations

import csv
import math
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from column_kinds import Branches, ColumnKind, Numbers, quasi_kinds, sensitive_kinds, text_pool
from hypothesis import strategies as st

from strategies import quick_values
from tarnkappe import (
    EntropyLDiversity,
    FrequencyLDiversity,
    Job,
    KAnonymity,
    LDiversity,
    RecursiveCLDiversity,
    TCloseness,
)
from tarnkappe.algorithms import Algorithm, all_algorithms
from tarnkappe.criteria import Criterion
from tarnkappe.criteria.alpha_k_anonymity import AlphaKAnonymity
from tarnkappe.criteria.beta_likeness import BetaLikeness
from tarnkappe.criteria.confidence_bounding import ConfidenceBounding
from tarnkappe.criteria.delta_disclosure import DeltaDisclosure
from tarnkappe.criteria.epsilon_m_anonymity import EpsilonMAnonymity
from tarnkappe.criteria.k_e_anonymity import KEAnonymity
from tarnkappe.criteria.k_indistinguishability import KIndistinguishability
from tarnkappe.criteria.max_risk import MaxRisk
from tarnkappe.criteria.personalized_privacy import PersonalizedPrivacy
from tarnkappe.engines.encode import MISSING_LABEL
from tarnkappe.io import CsvDialect
from tarnkappe.job.places import DataSettings, OutputSettings
from tarnkappe.params import parameters
from tarnkappe.publish.numbered import Numbered
from tarnkappe.schema import Column
from tarnkappe.taxonomy import suppress, tree
from twins import written

#: A column that names the row of the input each released record comes from, declared harmless.
ROW = "row id"


def algorithm_variants(target: str | None = None) -> list[Algorithm]:
    """Every registered algorithm with every choice of its parameters.

    Those that must be told a target are among them only if one is given; those that are mechanisms, or that
    deal records to numbered groups, never.
    """
    out: list[Algorithm] = []
    for cls in all_algorithms().values():
        declared = parameters(cls)
        needed = {p.name: target for p in declared if p.required}
        if (needed and target is None) or "group" not in cls.scopes:
            continue
        if issubclass(cls.publishes, Numbered):  # releases of several tables: test_numbered_release
            continue
        # Methods of microaggregation have choices by the dozen: the laws of `testing` are checked for them.
        chosen = [p for p in declared if p.choices and cls.scheme != "microaggregation"]
        given = needed | quick_values(declared)
        if any(p.name == "radii" for p in declared):  # further columns: tests of r-gather
            given |= {"radii": False}
        for values in product(*(p.choices or () for p in chosen)):
            out.append(cls(**given, **dict(zip((p.name for p in chosen), values, strict=True))))
    return out


def usual_algorithms(target: str | None = None) -> list[Algorithm]:
    """One of the variants of each algorithm, for grids that would be too large otherwise."""
    return list({a.name: a for a in reversed(algorithm_variants(target))}.values())[::-1]


@dataclass(frozen=True)
class Field:
    """One column of a case."""

    name: str
    role: str
    kind: ColumnKind
    weight: float = 1.0


@dataclass(frozen=True)
class Case:
    """A table and what is asked of it. Rows hold texts, None where a value is missing."""

    fields: tuple[Field, ...]
    rows: tuple[tuple[str | None, ...], ...]
    criteria: tuple[Criterion, ...]
    algorithm: Algorithm
    limit: float = 0.0
    missing_rule: str | None = None
    missing: tuple[str, ...] = ("",)
    source: str = "csv"
    output: str | None = None
    delimiter: str = ","
    engine: str = "memory"

    def __repr__(self) -> str:
        names = [f"{f.name!r}: {f.role}, {type(f.kind).__name__}, {f.kind.taxonomy!r}" for f in self.fields]
        shown = ("criteria", "algorithm", "limit", "missing_rule", "missing", "engine")
        settings = {k: getattr(self, k) for k in shown}
        return f"Case({names}, {settings}, {self.source} to {self.output}, rows={self.rows!r})"

    @property
    def n(self) -> int:
        return len(self.rows)

    @property
    def budget(self) -> int:
        return math.floor(Fraction(str(self.limit)) * self.n)

    @property
    def published(self) -> list[Field]:
        return [f for f in self.fields if f.role in ("quasi", "sensitive", "keep")]

    def having(self, role: str) -> list[Field]:
        return [f for f in self.fields if f.role == role]

    def column(self, name: str) -> list[str | None]:
        at = [f.name for f in self.fields].index(name)
        return [row[at] for row in self.rows]

    @property
    def refused(self) -> bool:
        """Whether the algorithm says itself that it cannot do this."""
        missing = any(None in self.column(f.name) for f in self.having("quasi"))
        wildcards = missing and self.missing_rule == "wildcard"
        breakable = not all(c.is_monotone for c in self.criteria)
        able = self.algorithm
        return (
            (wildcards and not able.handles_wildcards)
            or (breakable and not able.handles_non_monotone)
            or not all(c.decided_on in able.scopes for c in self.criteria)
        )

    def job(self) -> Job:
        decimal = "," if self.delimiter == ";" else "."
        dialect = CsvDialect(delimiter=self.delimiter, encoding="utf-8", quote='"', decimal=decimal)
        return Job(
            columns=[
                Column(
                    f.name,
                    f.role,  # type: ignore[arg-type]
                    "numeric" if f.kind.numeric else "categorical",
                    f.kind.taxonomy if f.role in ("quasi", "sensitive") else None,
                    f.weight,
                    because="random values",
                )
                for f in self.fields
            ],
            criteria=self.criteria,
            max_suppressed=self.limit,
            algorithm=self.algorithm,
            missing_rule=self.missing_rule,  # type: ignore[arg-type]
            data=DataSettings(dialect=dialect, missing=self.missing),
            output=OutputSettings(format=self.output),
            engine=self.engine,
        )

    def write(self, folder: Path) -> Any:
        """The table as a file in a folder, or as a data frame; what `run_job` takes as data."""
        names = [f.name for f in self.fields]
        if self.source == "csv":
            path = folder / "data.csv"
            with path.open("w", encoding="utf-8", newline="") as file:
                # Without quotes a carriage return at the end of a line belongs to the line end.
                quoting = (
                    csv.QUOTE_ALL if any("\r" in (v or "") for row in self.rows for v in row) else csv.QUOTE_MINIMAL
                )
                writer = csv.writer(file, delimiter=self.delimiter, lineterminator="\n", quoting=quoting)
                writer.writerow(names)
                writer.writerows([self._cell(f, v) for f, v in zip(self.fields, row, strict=True)] for row in self.rows)
            return path
        table = pa.table([self._typed(f) for f in self.fields], names=names)
        if self.source == "frame":
            return pl.from_arrow(table)
        pq.write_table(table, folder / "data.parquet")
        return folder / "data.parquet"

    def _cell(self, field: Field, value: str | None) -> str:
        if value is None:
            return self.missing[-1]
        return value.replace(".", ",") if field.kind.numeric and self.delimiter == ";" else value

    def _typed(self, field: Field) -> pa.Array:
        """Numbers as numbers, the rest as text."""
        values = self.column(field.name)
        if not field.kind.numeric:
            return pa.array(values, pa.string())
        whole = all(v is None or set(v).isdisjoint(".e") for v in values)
        return pa.array([None if v is None else int(v) if whole else float(v) for v in values])


@st.composite
def criteria(draw: st.DrawFn, sensitive: tuple[Field, ...], non_monotone: bool = False) -> Criterion:
    """Any criterion with parameters that small tables have a chance to satisfy."""
    kinds = ["k", *(["distinct", "entropy", "recursive", "frequency", "t", "t", "other", "other"] if sensitive else [])]
    kind = draw(st.sampled_from(kinds))
    if kind == "k":
        return draw(st.one_of(st.builds(KAnonymity, st.integers(1, 9)), st.builds(MaxRisk, decimals(0.1, 0.3, 0.5, 1))))
    field = draw(st.sampled_from(sensitive))
    know = draw(st.sampled_from([False, False, True]))
    if kind == "other":
        return draw(other_criteria(field, know, non_monotone))
    if kind == "distinct":
        return LDiversity(field.name, draw(st.integers(1, 3)), know_others=know)
    if kind == "recursive":
        c = draw(st.sampled_from([0.75, 1.1, 1.5, 2, 4]))
        return RecursiveCLDiversity(field.name, c, draw(st.integers(1, 3)), know_others=know)
    if kind == "t":
        how = field.kind.taxonomy
        ordered = field.kind.numeric if how is None else how.ordered  # texts have no order that nobody stated
        distances = ["equal", *(["ordered"] if ordered else []), *(["hierarchical"] if how else [])]
        t = draw(st.sampled_from([0.05, 0.1, 0.2, 0.25, 0.3, 0.5, 0.7]))
        return TCloseness(field.name, t, draw(st.sampled_from(distances)), know_others=know)
    l = draw(st.sampled_from([1, 1.2, 1.5, 2, 2.5, 3]))  # noqa: E741
    cls = EntropyLDiversity if kind == "entropy" else FrequencyLDiversity
    return cls(field.name, l, know_others=know)


def decimals(*numbers: float) -> st.SearchStrategy[float]:
    """One of some numbers."""
    return st.sampled_from(numbers)


def other_criteria(field: Field, know_others: bool, non_monotone: bool) -> st.SearchStrategy[Criterion]:
    """Criteria about shares, about the whole table and about numbers, on one sensitive column."""
    about = {"column": st.just(field.name), "know_others": st.just(know_others)}
    named: list[str] = [*field.kind.values] if field.kind.taxonomy is not None and not field.kind.numeric else []
    named = [value for value in named if value != MISSING_LABEL]  # it may name a missing value, as test_one_value says
    bounds = st.dictionaries(st.sampled_from(named), decimals(0.3, 0.5, 0.9), max_size=3) if named else st.just({})
    value = st.sampled_from([None, *named])
    absent = st.sampled_from(["violates", "skipped"] if non_monotone else ["violates"])
    logarithm = st.sampled_from(["binary", "natural", "decimal"])
    form = st.sampled_from(["basic", "enhanced"])
    out: list[st.SearchStrategy[Criterion]] = [
        st.builds(AlphaKAnonymity, **about, alpha=decimals(0.4, 0.5, 0.75, 1), k=st.integers(1, 5), value=value),
        st.builds(ConfidenceBounding, **about, bounds=bounds, bound=decimals(0.5, 0.7, 0.95)),
        st.builds(BetaLikeness, **about, beta=decimals(0.1, 0.5, 1, 4), form=form),
        st.builds(DeltaDisclosure, **about, delta=decimals(0.3, 1, 2), absent=absent, logarithm=logarithm),
    ]
    if field.kind.numeric:
        out.append(st.builds(KEAnonymity, **about, k=st.integers(1, 3), e=decimals(0, 0.2, 1, 7, 1000)))
    if field.kind.numeric and non_monotone:
        near = {"epsilon": decimals(0, 0.2, 0.5, 0.9), "m": st.integers(1, 3), "relative": st.booleans()}
        out.append(st.builds(EpsilonMAnonymity, **about, **near))
    return st.one_of(out)


def rows_of(
    fields: tuple[Field, ...], n: int, rng: random.Random, shape: str, nulls: dict[str, float]
) -> tuple[tuple[str | None, ...], ...]:
    """Records in which values are skewed and depend on each other, all equal, or as different as the values allow."""
    if shape == "equal":
        return (tuple(rng.choice(f.kind.values) if rng.random() >= nulls[f.name] else None for f in fields),) * n
    skew = {f.name: [rng.random() ** 3 + 0.01 for _ in f.kind.values] for f in fields}
    rows: list[tuple[str | None, ...]] = []
    for i in range(n):
        row: list[str | None] = []
        hidden = rng.random()
        for f in fields:
            values = f.kind.values
            if f.name == ROW:
                row.append(f"row {i}")
            elif rng.random() < nulls[f.name]:
                row.append(None)
            elif shape == "distinct":
                row.append(values[(i // (1 + len(row))) % len(values)])
            elif shape == "dependent":
                row.append(values[min(int((hidden + rng.random() / 5) * len(values)), len(values) - 1)])
            else:
                row.append(rng.choices(values, skew[f.name] if shape == "skewed" else None)[0])
        rows.append(tuple(row))
    return tuple(rows)


def _names(prefix: str, draw: st.DrawFn) -> Iterator[str]:
    """Names of columns, some of them awkward, none of them twice."""
    awkward = ["records", "_records", "_quasi0", "_value0", 'say "x", y', "two\nlines", "é;", "*x", "literal", "0"]
    taken: set[str] = set()
    i = 0
    while True:
        name = draw(st.sampled_from([f"{prefix}{i}"] * 4 + [f"{prefix} {a}" for a in awkward] + awkward))
        i += 1
        if name not in taken:
            taken.add(name)
            yield name


@st.composite
def cases(
    draw: st.DrawFn,
    algorithm: Algorithm | None = None,
    max_rows: int = 60,
    linked: bool | None = None,
    roles: tuple[str, ...] = ("keep", "drop", "identifier"),
    secrets: st.SearchStrategy[list[st.SearchStrategy[ColumnKind]]] | None = None,
) -> Case:
    """Any job there may be, on a small table; `roles` are those of further columns, `secrets` how those may be."""
    missing = draw(st.sampled_from([("",), ("",), ("",), ("NA",), ("", "NA"), ("?", "-")]))
    taken = frozenset(missing)
    names = _names("q", draw)
    fields = [
        Field(next(names), "quasi", draw(quasi_kinds(taken)), draw(st.sampled_from([1.0, 1.0, 0.1, 7.5])))
        for _ in range(draw(st.integers(1, 4)))
    ]
    kinds = [sensitive_kinds(taken)] * draw(st.integers(0, 2)) if secrets is None else draw(secrets)
    secret = [Field(next(names), "sensitive", draw(kind)) for kind in kinds]
    fields += secret
    for role in roles:
        if draw(st.integers(0, 2)) == 0:
            fields.append(Field(next(names), role, ColumnKind(draw(text_pool(taken)))))
    if draw(st.integers(0, 4)) > 0 if linked is None else linked:
        fields.append(Field(ROW, "keep", ColumnKind(("row 0",))))
    fields = draw(st.permutations(fields))
    rule = draw(st.sampled_from([None, "own-value", "own-value", "wildcard"]))
    gaps = st.sampled_from([0.0, 0.0, 0.0, 0.1, 0.5, 1.0])
    nulls = {f.name: 0.0 if f.name == ROW or (f.role == "quasi" and rule is None) else draw(gaps) for f in fields}
    n = draw(st.one_of(st.integers(1, max_rows), st.integers(min(15, max_rows), max_rows)))
    shape = draw(st.sampled_from(["skewed", "skewed", "dependent", "dependent", "distinct", "equal"]))
    if shape == "equal":
        fields = [f for f in fields if f.name != ROW]
    rng = random.Random(draw(st.integers(0, 2**32 - 1)))
    chosen = algorithm or draw(st.sampled_from(algorithm_variants()))
    asked = criteria(tuple(secret), chosen.handles_non_monotone)
    source = draw(st.sampled_from(["csv", "csv", "parquet", "frame"]))
    return Case(
        tuple(fields),
        rows_of(tuple(fields), n, rng, shape, nulls),
        tuple(draw(st.lists(asked, min_size=1, max_size=3))),
        chosen,
        draw(st.sampled_from([0.0, 0.0, 0.02, 0.1, 0.29, 0.5, 0.5, 1.0])),
        rule,
        missing,
        source,
        draw(st.sampled_from([None, "csv", "parquet"])),
        draw(st.sampled_from([",", ",", ";", "\t"])) if source == "csv" else ",",
        draw(st.sampled_from(["memory", "streaming"])),
    )


REGIONS = {"North": ("Kiel", "Lübeck", "Husum"), "South": ("Ulm", "Passau"), "Abroad": ("Basel",)}
ILLNESSES = {"Lungs": ("asthma", "bronchitis"), "Heart": ("infarct", "angina", "arrhythmia"), "none": ()}


def hospital(
    criteria: tuple[Criterion, ...], algorithm: Algorithm, n: int = 150, seed: int = 0, **settings: Any
) -> Case:
    """A table of patients that many criteria can be asked of, always the same for a seed."""
    rng = random.Random(seed)
    fields = (
        Field("age", "quasi", Numbers(tuple(str(a) for a in range(20, 80)), numeric=True)),
        Field("town", "quasi", _tree(REGIONS)),
        Field("sex", "quasi", ColumnKind(("f", "m"), suppress())),
        Field("illness", "sensitive", _tree(ILLNESSES)),
        Field("income", "sensitive", Numbers(("1000", "1500.5", "2200", "4000"), numeric=True)),
        Field("note", "keep", ColumnKind(("x", "y, z"))),
        Field(ROW, "keep", ColumnKind(("row 0",))),
        Field("name", "identifier", ColumnKind(("Ada", "Alan"))),
    )
    rows = rows_of(fields, n, rng, "even", dict.fromkeys((f.name for f in fields), 0.0))
    return Case(fields, rows, criteria, algorithm, **settings)


def _tree(branches: dict[str, tuple[str, ...]]) -> Branches:
    """A tree of two levels; a branch without values is a value itself."""
    parent = dict.fromkeys(branches, "*") | {leaf: b for b, leaves in branches.items() for leaf in leaves}
    leaves = tuple(leaf for branch, below in branches.items() for leaf in below or (branch,))
    nested = {"*": {branch: list(below) or None for branch, below in branches.items()}}
    return Branches(leaves, tree(nested), parent=parent, leaves=leaves)


#: Criteria that need more than the groups of one table, in `test_beyond_groups`, where each of them also lies once.
BEYOND_GROUPS = {
    "key-anonymity",
    "average-risk",
    "delta-presence",
    "k-map",
    "lkc-privacy",
    "n-t-closeness",
    "xy-anonymity",
    "xy-linkability",
    "xy-privacy",
}

#: Criteria that lie in `test_values_that_tell`, `test_surveys` and `test_mask`.
LIE_ELSEWHERE = {
    "estimated-k-map",
    "ff-anonymity",
    "individual-risk",
    "m-confidentiality",
    "quasi-sensitive",
    "weighted-k-map",
}

#: Criteria that single groups decide, beyond the classics, with parameters that `guarded_hospital` can satisfy.
GROUP_CRITERIA: dict[str, Criterion] = {
    "alpha-k": AlphaKAnonymity("illness", 0.5, 4),
    "alpha-k, one value": AlphaKAnonymity("illness", 0.3, 3, "angina"),
    "confidence": ConfidenceBounding("illness", {"angina": 0.25, "asthma": 0.35}),
    "confidence, all": ConfidenceBounding("illness", {"angina": 0.3}, 0.5),
    "k-e": KEAnonymity("income", 3, 2499.5),
    "beta": BetaLikeness("illness", 1.5),
    "basic beta": BetaLikeness("illness", 1.5, "basic"),
    "delta": DeltaDisclosure("income", 1),
    "risk": MaxRisk(0.2),
    "indistinguishable": KIndistinguishability(5),
    "epsilon-m": EpsilonMAnonymity("income", 400, 2),
    "relative epsilon-m": EpsilonMAnonymity("income", 0.3, 2, relative=True),
    "delta, absent skipped": DeltaDisclosure("illness", 1.5, "skipped"),
    "personalized": PersonalizedPrivacy("illness", "guard", 0.6),
    **written(),
}


def guarded_hospital(criteria: tuple[Criterion, ...], algorithm: Algorithm, **settings: Any) -> Case:
    """The patients, and what each of them wants to keep secret; this is not published."""
    case = hospital(criteria, algorithm, **settings)
    nodes = ("Lungs", "angina", None, "Heart", None)
    guard = Field("guard", "drop", ColumnKind(tuple(node for node in nodes if node)))
    rows = tuple((*row, nodes[i % len(nodes)]) for i, row in enumerate(case.rows))
    return replace(case, fields=(*case.fields, guard), rows=rows)

"""Masked tables at random, checked from outside in plain Python: record by record, and what masks say they keep."""

from __future__ import annotations

import csv
import math
import random
import re
import tempfile
from collections import Counter
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from checker import IN_MEMORY, is_true, shown
from column_kinds import ColumnKind, Numbers, number_texts, text_pool
from hypothesis import strategies as st
from odd_jobs import EXTREME
from whole_jobs import ROW, Case, Field, rows_of

import tarnkappe as tk
from tarnkappe.io import CsvDialect
from tarnkappe.job.masking import MaskingJob
from tarnkappe.job.places import DataSettings
from tarnkappe.masking import run_masking
from tarnkappe.masks import Mask
from tarnkappe.taxonomy import suppress

#: Numbers are compared as doubles that went through text and some arithmetic.
NEAR = 1e-9

WHY = "random values, about nobody"


@st.composite
def masked_jobs(draw: st.DrawFn) -> tuple[Case, tuple[Mask, ...]]:
    """A table of numbers, texts, dates and keys, and masks for some of its columns; now and then groups as well."""
    missing = draw(st.sampled_from([("",), ("",), ("NA",), ("", "NA")]))
    taken = frozenset(missing)
    rng = random.Random(draw(st.integers(0, 2**32 - 1)))
    days = st.dates(date(1, 4, 30), date(9998, 1, 1)) if draw(st.integers(0, 4)) == 0 else st.dates(date(1900, 1, 1))
    extreme = st.lists(st.sampled_from(EXTREME), min_size=1, max_size=6, unique_by=float).map(tuple)
    numbers = [draw(extreme if draw(st.integers(0, 15)) == 0 else number_texts()) for _ in range(2)]
    kinds = {
        "n0": Numbers(numbers[0], numeric=True),
        "n1": Numbers(numbers[1], numeric=True),
        "c0": ColumnKind(draw(text_pool(taken))),
        "c1": ColumnKind(draw(text_pool(taken))),
        "c2": ColumnKind(("f", "m")),
        "day": ColumnKind(tuple(draw(st.lists(days.map(str), min_size=1, max_size=6, unique=True)))),
        "key": ColumnKind(tuple(f"{rng.choice('ABÄ')}{rng.randrange(10**6):06d}-{i}" for i in range(12))),
        ROW: ColumnKind(("row 0",)),
    }
    if draw(st.integers(0, 2)) == 0:
        kinds |= {"age": Numbers(draw(number_texts()), numeric=True), "town": ColumnKind(draw(text_pool(taken)))}
    roles = {"key": "identifier", "age": "quasi", "town": "quasi"}
    fields = tuple(Field(name, roles.get(name, "keep"), kind) for name, kind in kinds.items())
    gaps = st.sampled_from([0.0, 0.0, 0.0, 0.1, 0.1, 0.5, 1.0])
    nulls = {f.name: 0.0 if f.name == ROW else draw(gaps) for f in fields}
    shape = draw(st.sampled_from(["skewed", "dependent", "distinct", "uniform"]))
    rows = rows_of(fields, draw(st.integers(1, 60)), rng, shape, nulls)
    masks = [draw(st.sampled_from(several)) for several in draw(mask_kinds())]
    case = Case(
        fields,
        rows,
        (tk.KAnonymity(draw(st.integers(1, 5))),),
        tk.Mondrian(),
        missing=missing,
        missing_rule="own-value",
        source=draw(st.sampled_from(["csv", "csv", "parquet"])),
        delimiter=draw(st.sampled_from([",", ",", ";"])),
    )
    return case, tuple(masks)


@st.composite
def mask_kinds(draw: st.DrawFn) -> list[list[Mask]]:
    """Choices of masks, those of one list for the same columns."""
    share = draw(st.sampled_from([0.01, 0.3, 1.0]))
    percent = draw(st.sampled_from([1, 10, 50]))
    base = draw(st.sampled_from([0.1, 0.5, 3, 1000]))
    keyed = {"key": "KEY"}
    every: list[list[Mask]] = [
        [
            tk.AdditiveNoise(["n0"], variance_share=share),
            tk.AdditiveNoise(["n0"], variance_share=share, corrected=True),
            tk.AdditiveNoise(["n0"], variance_share=share, lower=-10, upper=50),
            tk.MultiplicativeNoise(["n0"], most_percent=percent, least_percent=percent / 2),
            tk.Rounding("n0", base=base),
            tk.TopBottomCoding("n0", top=10, bottom=-2),
            tk.TopBottomCoding("n0", top_percent=percent, by="mean"),
            tk.TopBottomCoding("n0", bottom_percent=percent),
        ],
        [
            tk.RankSwapping(["n1"], window_percent=percent),
            tk.RankSwapping(["n1"], window_percent=percent, tails="bounded"),
            tk.Shuffling(["n1"]),
            tk.Rounding("n1", base=base),
        ],
        [
            tk.DataSwapping("c0", beside=["c1", "c2"]),
            tk.RecordSwapping("c0", share=share, match=["c1"]),
            tk.RecordSwapping("c0", share=share),
            tk.Pram("c0", stay_share=1 - share),
            tk.Pram("c0", stay_share=1 - share, by=["c1"]),
        ],
        [tk.DateShift(["day"], person="key", max_days=draw(st.sampled_from([1, 30, 400])))],
        [
            tk.Pseudonyms("key", **keyed),
            tk.Pseudonyms("key", form="same", reversal_key="KEY"),
            tk.IdentifierMasking(["key"], keep_first=1),
        ],
    ]
    return draw(st.lists(st.sampled_from(every), min_size=1, max_size=4, unique_by=id))


def run_masked(asked: tuple[Case, tuple[Mask, ...]]) -> str:
    """Mask a table and check what was written; how it ended."""
    case, masks = asked
    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as parent:
        key = Path(parent, "secret.key")
        key.write_text("7f" * 32, "utf-8")
        given = [with_key(mask, str(key)) for mask in masks]
        changed = {name for mask in masks for name in mask.changes}
        folder, out = Path(parent, "in"), Path(parent, "out")
        folder.mkdir()
        data = case.write(folder)
        try:
            if case.having("quasi"):
                tk.run_job(grouping_job(case, given), data, out)
            else:
                run_masking(masking_job(case, given), data, out)
        finally:
            left = sorted(p.name for p in Path(parent).iterdir())
            assert left in (["in", "secret.key"], ["in", "out", "secret.key"]), left
        rows = read_back(case, out, [f.name for f in case.fields if f.name != "key" or "key" in changed])
        check_masked(case, masks, rows)
        check_groups(case, rows)
    return "release, masks"


def settings(case: Case) -> DataSettings:
    """How the table is written."""
    decimal = "," if case.delimiter == ";" else "."
    dialect = CsvDialect(delimiter=case.delimiter, encoding="utf-8", quote='"', decimal=decimal)
    return DataSettings(dialect=dialect, missing=case.missing)


def masking_job(case: Case, masks: Sequence[Mask]) -> MaskingJob:
    """Values are changed, and nothing else."""
    columns = tuple(tk.Column(f.name, f.role, because=WHY) for f in case.fields)  # type: ignore[arg-type]
    return MaskingJob(columns, tuple(masks), data=settings(case), seed=3)


def grouping_job(case: Case, masks: Sequence[Mask]) -> tk.Job:
    """Values of some columns are changed, and others are coarsened."""
    return tk.Job(
        quasi={f.name: tk.numeric() if f.kind.numeric else suppress() for f in case.having("quasi")},
        columns=[tk.Column(f.name, f.role, because=WHY) for f in case.fields if f.role != "quasi"],  # type: ignore[arg-type]
        criteria=case.criteria,
        algorithm=case.algorithm,
        masks=masks,
        missing_rule="own-value",
        data=settings(case),
        seed=3,
    )


def check_groups(case: Case, rows: list[dict[str, str | None]]) -> None:
    """Nobody is alone with the published values of quasi-identifiers, and all of them are true."""
    quasi = case.having("quasi")
    if not quasi:
        return
    k = case.criteria[0].get_params()["k"]
    assert min(Counter(tuple(row[f.name] for f in quasi) for row in rows).values()) >= k
    assert all(
        is_true(case, f, shown(case, f, row[f.name]), value)
        for f in quasi
        for row, value in zip(rows, case.column(f.name), strict=True)
    )


def with_key(mask: Mask, path: str) -> Mask:
    """The mask with the file that its key is in."""
    told = {name: path for name in mask.secrets if getattr(mask, name) is not None}
    return type(mask)(**{**mask.get_params(), **told}) if told else mask


def read_back(case: Case, out: Path, names: Sequence[str]) -> list[dict[str, str | None]]:
    """The written records in the order of the original, cell by cell as text."""
    if case.source == "parquet":
        columns = pq.read_table(out / "public" / "data.parquet").to_pydict()
        assert sorted(columns) == sorted(names), list(columns)
        rows = [
            dict(zip(columns, (None if v is None else str(v) for v in row), strict=True))
            for row in zip(*columns.values(), strict=True)
        ]
    else:
        with (out / "public" / "data.csv").open(encoding="utf-8", newline="") as file:
            head, *cells = csv.reader(file, delimiter=case.delimiter, strict=True)
        assert sorted(head) == sorted(names), head
        rows = [dict(zip(head, (None if v in case.missing else v for v in row), strict=True)) for row in cells]
    by_row = {row[ROW]: row for row in rows}
    assert len(rows) == len(by_row) == case.n, "records were lost or doubled"
    return [by_row[name] for name in case.column(ROW)]


def number(case: Case, text: str | None) -> float | None:
    """A cell of numbers."""
    comma = case.source == "csv" and case.delimiter == ";"
    return None if text is None else float(text.replace(",", ".") if comma else text)


def check_masked(case: Case, masks: tuple[Mask, ...], rows: list[dict[str, str | None]]) -> None:
    """Columns without a mask are as they were in every record, and masks keep what they say."""
    touched = {name: mask for mask in masks for name in mask.changes}
    for field in case.fields:
        name = field.name
        if field.role == "quasi" or (name == "key" and name not in touched):
            continue
        before, after = case.column(name), [row[name] for row in rows]
        if field.kind.numeric:
            x = [None if v is None else float(v) for v in before]
            z = [number(case, v) for v in after]
            if name not in touched:
                assert x == z, name
            else:
                check_numbers(touched[name], x, z)
        elif name not in touched:
            assert before == after, name
        else:
            check_texts(case, touched[name], name, before, after)


def check_numbers(mask: Mask, x: list[float | None], z: list[float | None]) -> None:
    """What a mask of numbers keeps, and that it did what it says."""
    asked = mask.get_params()
    if isinstance(mask, tk.RankSwapping | tk.Shuffling):
        assert Counter(x) == Counter(z), "other values"
        return
    assert [v is None for v in x] == [v is None for v in z], "others are missing"
    pairs = [(a, b) for a, b in zip(x, z, strict=True) if a is not None and b is not None]
    assert all(math.isfinite(b) for _, b in pairs)
    whole = all(a.is_integer() for a, _ in pairs)
    for a, b in pairs:
        size = max(abs(a), abs(b))
        if isinstance(mask, tk.Rounding):
            base = asked["base"]
            assert abs(a - b) <= base / 2 * (1 + 1e-6) + NEAR * size, (a, b)
            assert abs(b / base - round(b / base)) <= 1e-6 * max(1, abs(b / base)), (a, b)
        elif isinstance(mask, tk.MultiplicativeNoise):
            slack = (2 if whole else 0) + NEAR * size
            assert abs(a) * asked["least_percent"] / 100 - slack <= abs(a - b), (a, b)
            assert abs(a - b) <= abs(a) * asked["most_percent"] / 100 + slack, (a, b)
        elif isinstance(mask, tk.AdditiveNoise):
            low, high = asked["lower"], asked["upper"]
            assert low is None or b >= low or whole, (a, b)
            assert high is None or b <= high or whole, (a, b)
        elif isinstance(mask, tk.TopBottomCoding) and asked["by"] == "threshold" and asked["top"] is not None:
            assert b == min(max(a, asked["bottom"]), asked["top"]), (a, b)
    if isinstance(mask, tk.TopBottomCoding) and asked["by"] == "mean" and pairs:
        large = max(abs(a) for a, _ in pairs)
        assert abs(math.fsum(a / large - b / large for a, b in pairs)) <= 1e-6 * len(pairs) if large else True


def check_texts(case: Case, mask: Mask, name: str, before: list[str | None], after: list[str | None]) -> None:
    """What a mask of texts keeps, and that it did what it says."""
    asked = mask.get_params()
    if isinstance(mask, tk.DataSwapping):
        for other in asked["beside"]:
            beside = case.column(other)
            assert Counter(zip(before, beside, strict=True)) == Counter(zip(after, beside, strict=True)), "2-way table"
    elif isinstance(mask, tk.RecordSwapping):
        match = list(zip(*(case.column(m) for m in asked["match"]), strict=True)) or [()] * case.n
        assert Counter(zip(before, match, strict=True)) == Counter(zip(after, match, strict=True)), "regions by match"
    elif isinstance(mask, tk.Pram):
        by = list(zip(*(case.column(m) for m in asked["by"]), strict=True)) or [()] * case.n
        assert set(zip(after, by, strict=True)) <= set(zip(before, by, strict=True)), "a value that nobody has"
    elif isinstance(mask, tk.DateShift):
        moved: dict[Any, set[int]] = {}
        for i, (a, b, person) in enumerate(zip(before, after, case.column("key"), strict=True)):
            assert (a is None) == (b is None)
            if a is not None and b is not None:
                shift = (date.fromisoformat(b) - date.fromisoformat(a)).days
                moved.setdefault(person or i, set()).add(shift)
        for shifts in moved.values():
            assert len(shifts) == 1, "not all dates of a person move alike"
            assert 0 < abs(min(shifts)) <= asked["max_days"]
    elif isinstance(mask, tk.Pseudonyms):
        assert [v is None for v in before] == [v is None for v in after]
        pairs = {(a, b) for a, b in zip(before, after, strict=True) if a is not None}
        assert len({a for a, _ in pairs}) == len({b for _, b in pairs}) == len(pairs), "not one for one"
        assert all(a != b for a, b in pairs)
    elif isinstance(mask, tk.IdentifierMasking):
        for a, b in zip(before, after, strict=True):
            assert (a is None) == (b is None)
            if a is not None and b is not None:
                assert a[:1] == b[:1], "the first sign was to stay"
                assert re.sub(r"\d", "0", a[1:]) == re.sub(r"\d", "0", b[1:]), "another form"

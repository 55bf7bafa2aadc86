"""What lies in a release folder keeps every promise, for any table, algorithm and goal there may be."""

from __future__ import annotations

import datetime as dt
import tempfile
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from itertools import combinations, cycle, pairwise
from pathlib import Path

import polars as pl
import pytest
from checker import IN_MEMORY, Written, check_release, read_release, rows_by_role, run_and_check
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from whole_jobs import (
    BEYOND_GROUPS,
    GROUP_CRITERIA,
    LIE_ELSEWHERE,
    ROW,
    Case,
    algorithm_variants,
    cases,
    hospital,
    usual_algorithms,
)

import tarnkappe as tk
from grids import fewer, grid, in_turn, one_of_each, some
from tarnkappe import (
    EntropyLDiversity,
    FrequencyLDiversity,
    Job,
    KAnonymity,
    LDiversity,
    RecursiveCLDiversity,
    TCloseness,
    run_job,
)
from tarnkappe.algorithms import Algorithm, all_algorithms
from tarnkappe.criteria import Criterion, all_criteria
from tarnkappe.errors import InfeasibleError
from tarnkappe.publish.numbered import Numbered
from tarnkappe.schema import Column
from twins import with_twins

ALGORITHMS = algorithm_variants()
USUAL = usual_algorithms()

#: One criterion of each kind that a table like `hospital` can satisfy in several groups.
CRITERIA: dict[str, Criterion] = {
    "k": KAnonymity(4),
    "distinct": LDiversity("illness", 3),
    "entropy": EntropyLDiversity("illness", 2.5),
    "recursive": RecursiveCLDiversity("illness", 2, 2),
    "frequency": FrequencyLDiversity("illness", 2),
    "t-equal": TCloseness("illness", 0.4),
    "t-ordered": TCloseness("income", 0.25, "ordered"),
    "t-hierarchical": TCloseness("illness", 0.3, "hierarchical"),
}

#: The same with an attacker who knows the other sensitive column.
OTHERS_KNOWN: dict[str, Criterion] = {
    "distinct": LDiversity("illness", 2, know_others=True),
    "entropy": EntropyLDiversity("illness", 1.5, know_others=True),
    "recursive": RecursiveCLDiversity("illness", 4, 2, know_others=True),
    "frequency": FrequencyLDiversity("illness", 1.5, know_others=True),
    "t-equal": TCloseness("illness", 0.7, know_others=True),
    "t-ordered": TCloseness("income", 0.5, "ordered", know_others=True),
    "t-hierarchical": TCloseness("illness", 0.6, "hierarchical", know_others=True),
}


def examples(n: int) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Hypothesis settings for whole jobs, which take some time each."""
    return settings(max_examples=n, deadline=None, suppress_health_check=list(HealthCheck), report_multiple_bugs=False)


def n_groups(case: Case, written: Written) -> int:
    """How many groups a reader sees."""
    return len({quasi for quasi, _ in rows_by_role(case, written)})


def test_all_that_is_registered_is_tested():
    targeted = {a.name for a in algorithm_variants(target="note")} - {a.name for a in ALGORITHMS}  # test_group_criteria
    numbered = {name for name, cls in all_algorithms().items() if issubclass(cls.publishes, Numbered)}  # test_numbered
    assert {a.name for a in ALGORITHMS} | targeted | numbered | {"sdgs", "individual-sorting"} == set(all_algorithms())
    elsewhere = BEYOND_GROUPS | {c.name for c in GROUP_CRITERIA.values()} | {"differential-privacy", "security-ratio"}
    elsewhere |= set(with_twins()) | LIE_ELSEWHERE  # test_group_criteria; their own files
    assert {c.name for c in CRITERIA.values()} | elsewhere == set(all_criteria())


@pytest.mark.parametrize("algorithm", one_of_each(ALGORITHMS))
def test_any_job(algorithm: Algorithm):
    @examples(2)
    @given(cases(algorithm))
    def check(case: Case) -> None:
        run_and_check(case)

    check()


@pytest.mark.full
@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=str)
def test_any_job_many_times(algorithm: Algorithm):
    @examples(50)
    @given(cases(algorithm))
    def check(case: Case) -> None:
        run_and_check(case)

    check()


#: Each alone, and a secret's beside k-anonymity; all other pairs are for the long run.
SOME_TOGETHER = [*combinations(CRITERIA, 1), *(("k", name) for name in CRITERIA if name != "k")]


@pytest.mark.parametrize(
    ("algorithm", "names"), fewer(grid(USUAL, SOME_TOGETHER, ["+".join(n) for n in SOME_TOGETHER]), every=2)
)
def test_criteria_together(algorithm: Algorithm, names: tuple[str, ...]):
    case = hospital(tuple(CRITERIA[name] for name in names), algorithm, limit=0.1)
    written = run_and_check(case)
    assert written is not None
    if algorithm.scheme != "full-domain":
        assert n_groups(case, written) > 1


@pytest.mark.parametrize(("algorithm", "name"), fewer(grid(USUAL, OTHERS_KNOWN), every=4))
def test_others_known(algorithm: Algorithm, name: str):
    case = hospital((KAnonymity(3), OTHERS_KNOWN[name]), algorithm, n=300, limit=0.1)
    written = run_and_check(case)
    assert written is not None
    if algorithm.scheme != "full-domain":
        assert n_groups(case, written) > 1


#: Any two or more of them, of which each algorithm tries its share.
TOGETHER = [names for size in range(2, 9) for names in combinations(CRITERIA, size)]
SHARES = 16


@pytest.mark.full
@pytest.mark.parametrize("known", [CRITERIA, CRITERIA | OTHERS_KNOWN], ids=["plain", "others known"])
@pytest.mark.parametrize(("algorithm", "share"), in_turn(USUAL, range(SHARES)))
def test_all_criteria_together(algorithm: Algorithm, known: dict[str, Criterion], share: int):
    for names, limit in zip(TOGETHER[share::SHARES], cycle((0.0, 0.3)), strict=False):
        run_and_check(hospital(tuple(known[name] for name in names), algorithm, limit=limit))


@examples(12)
@given(cases(max_rows=30), st.integers(0, 2**64), st.integers(0, 2**64))
def test_seeds(case: Case, seed: int, other: int):
    """The same seed gives the same bytes; another one the same groups in another order."""
    if case.refused:
        return
    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as parent:
        data = case.write(Path(parent))
        folders = [Path(parent, name) for name in ("one", "two", "three")]
        try:
            for folder, s in zip(folders, (seed, seed, other), strict=True):
                run_job(case.job(), data, folder, seed=s)
        except InfeasibleError:
            return
        one, two, three = (check_release(case, folder) for folder in folders)
        assert one.path.read_bytes() == two.path.read_bytes()
        assert Counter(rows_by_role(case, one)) == Counter(rows_by_role(case, three))


@examples(12)
@given(cases(max_rows=30))
def test_made_again_from_what_the_publisher_keeps(case: Case):
    """The job file and the seed in the internal folder give the same table again."""
    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as parent:
        data = case.write(Path(parent))
        first, again = Path(parent, "first"), Path(parent, "again")
        if case.refused:
            return
        try:
            run_job(case.job(), data, first)
        except InfeasibleError:
            return
        written = check_release(case, first)
        seed = written.private["seed"]
        assert isinstance(seed, int)
        run_job(Job.from_yaml(first / "do-not-share/job.yaml"), data, again, seed=seed)
        assert check_release(case, again).path.read_bytes() == written.path.read_bytes()


@examples(12)
@given(cases(max_rows=30))
def test_in_memory_as_on_disk(case: Case):
    """A release that is only a data frame is the one that would have been written."""
    if case.refused:
        return
    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as parent:
        data = case.write(Path(parent))
        try:
            run_job(case.job(), data, Path(parent, "release"), seed=7)
        except InfeasibleError:
            with pytest.raises(InfeasibleError):
                case.job().anonymize(data, seed=7)
            return
        written = check_release(case, Path(parent, "release"))
        release = case.job().anonymize(data, seed=7)
        frame: pl.DataFrame = release.table
        assert frame.columns == written.names
        at = [written.names.index(f.name) for f in case.published if not f.kind.numeric or f.role == "quasi"]
        sign = "," if case.delimiter == ";" and case.source == "csv" else "."
        texts = [tuple(_as_written(row[i], sign) for i in at) for row in frame.rows()]
        assert texts == [tuple(row[i] for i in at) for row in written.rows]


def _as_written(value: object, decimal: str) -> str | None:
    """A value of a frame as a file has it."""
    text = None if value is None else str(value)
    return text.replace(".", decimal) if text is not None and isinstance(value, float) else text


@pytest.mark.parametrize("algorithm", some(USUAL, every=3))
def test_records_are_shuffled(algorithm: Algorithm, tmp_path: Path):
    """Neither the order of the input nor that of the groups can be seen."""
    case = hospital((KAnonymity(3),), algorithm, n=300)
    run_job(case.job(), case.write(tmp_path), tmp_path / "release", seed=3)
    written = check_release(case, tmp_path / "release")
    places = [int(str(row[written.names.index(ROW)]).removeprefix("row ")) for row in written.rows]
    stayed = sum(place == i for i, place in enumerate(places))
    followed = sum(b == a + 1 for a, b in pairwise(places))
    assert stayed < 10
    assert followed < 10
    rising = sum(b > a for a, b in pairwise(places))
    assert 0.4 * len(places) < rising < 0.6 * len(places)
    quasi = [q for q, _ in rows_by_role(case, written)]
    together = sum(a == b for a, b in pairwise(quasi))
    assert together < 0.3 * len(quasi) or n_groups(case, written) < 4


def test_typed_columns(tmp_path: Path):
    """Dates, truth values, categories and decimals of a data frame are published as truly as texts."""
    n = 60
    frame = pl.DataFrame(
        {
            "born": [dt.date(1950 + i % 30, 1 + i % 12, 1 + i % 28) for i in range(n)],
            "member": [i % 3 == 0 for i in range(n)],
            "city": pl.Series([("Kiel", "Ulm", "Rom")[i % 3] for i in range(n)], dtype=pl.Categorical),
            "size": pl.Series([Decimal(i % 7) / 4 for i in range(n)], dtype=pl.Decimal(10, 2)),
            "level": pl.Series([i % 5 for i in range(n)], dtype=pl.UInt8),
            "secret": pl.Series([("a", "b")[i % 2] for i in range(n)], dtype=pl.Enum(["a", "b", "never used"])),
            "when": [dt.datetime(2024, 1, 1, i % 24) for i in range(n)],
            "at": list(range(n)),
        }
    )
    job = Job(
        quasi={
            "born": tk.dates(),
            "member": tk.suppress(),
            "city": tk.suppress(),
            "size": tk.numeric(),
            "level": tk.numeric(),
        },
        sensitive=["secret"],
        columns=[
            Column("when", "keep", because="made up for a test"),
            Column("at", "keep", because="made up for a test"),
        ],
        criteria=[KAnonymity(4), LDiversity("secret", 2)],
    )
    run_job(job, frame, tmp_path / "release", seed=1)
    written = read_release(tmp_path / "release")
    rows = [(row[:5], row[5:6]) for row in written.rows]
    assert min(Counter(quasi for quasi, _ in rows).values()) >= 4
    originals = frame.rows()
    for row in written.rows:
        born, member, city, size, level, secret, when, _ = originals[int(str(row[7]))]
        assert row[5:7] == (secret, str(when))
        assert row[0] == "*" or str(born)[:3] == str(row[0])[:3]
        assert row[1] in ("*", str(member).lower())
        assert row[2] in ("*", city)
        for label, value in ((row[3], size), (row[4], level)):
            low, *high = str(label).strip("[]").split(" ")
            assert float(low) <= float(value) <= float(high[0] if high else low)
    assert b"never used" not in written.path.read_bytes()

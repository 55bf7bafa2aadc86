"""Examples that once went wrong, each as small as it could be made."""

from __future__ import annotations

import contextlib
import hashlib
from pathlib import Path

import polars as pl
import pytest
from checker import read_release

import brute
import tarnkappe as tk
from tarnkappe.errors import InfeasibleError, TarnkappeError
from tarnkappe.io import CsvDialect
from tarnkappe.job.places import DataSettings, OutputSettings
from tarnkappe.schema import Column


def test_frequency_l_with_many_digits(tmp_path: Path):
    """10/3 has so many digits that counting in 64 bits overflows: a group of one value passed for a diverse one."""
    frame = pl.DataFrame({"town": ["Kiel"] * 1500, "illness": ["flu"] * 1500})
    job = tk.Job(
        quasi={"town": tk.suppress()}, sensitive=["illness"], criteria=[tk.FrequencyLDiversity("illness", 10 / 3)]
    )
    with pytest.raises(InfeasibleError):
        tk.run_job(job, frame, tmp_path / "release")


@pytest.mark.parametrize(("c", "head", "tail"), [(1.12, 28, 25), (2.24, 56, 25), (1.1, 55, 50)])
def test_recursive_c_as_it_is_written(tmp_path: Path, c: float, head: int, tail: int):
    """28 is not below 1.12 times 25, although floats say so."""
    frame = pl.DataFrame({"town": ["Kiel"] * (head + tail), "illness": ["flu"] * head + ["gout"] * tail})
    assert not brute.meets([((), (v,)) for v in frame["illness"]], "recursive-cl-diversity", c=c, l=2)
    job = tk.Job(
        quasi={"town": tk.suppress()}, sensitive=["illness"], criteria=[tk.RecursiveCLDiversity("illness", c, 2)]
    )
    with pytest.raises(InfeasibleError):
        tk.run_job(job, frame, tmp_path / "release")


def test_ordered_values_that_are_suppressed_entirely(tmp_path: Path):
    """Whoever reads the release sees two values, not three, so their distance is 1, not 1/2: the plan must know."""
    frame = pl.DataFrame({"town": ["a", "c", "b", "a"], "level": ["1", "2", "3", "1"]})
    job = tk.Job(
        quasi={"town": tk.suppress()},
        sensitive=["level"],
        criteria=[tk.TCloseness("level", 0.5, "ordered")],
        algorithm=tk.Datafly(),
        max_suppressed=0.5,
    )
    tk.run_job(job, frame, tmp_path / "release")
    rows = [(row[:1], row[1:]) for row in read_release(tmp_path / "release").rows]
    assert brute.t(rows, 0, "ordered", sorted({s[0] for _, s in rows})) <= 0.5


def test_tree_of_frequencies_that_suppression_changes(tmp_path: Path):
    """Frequencies in the release make another tree of a sensitive column; plan and check must use the same one."""
    town, illness = ["b", "a", "a", "b", "c", "a"], ["v", "x", "u", "v", "u", "x"]
    job = tk.Job(
        quasi={"town": tk.suppress()},
        sensitive={"illness": tk.frequency(top=(1,))},
        criteria=[tk.KAnonymity(2), tk.TCloseness("illness", 0.5, "hierarchical")],
        algorithm=tk.Datafly(),
        max_suppressed=0.5,
    )
    with contextlib.suppress(InfeasibleError):
        tk.run_job(job, pl.DataFrame({"town": town, "illness": illness}), tmp_path / "release")


def test_column_called_records(tmp_path: Path):
    """Names that the package uses itself are names like any other."""
    frame = pl.DataFrame({"_records": ["a", "a", "b", "b"], "records": ["1", "1", "2", "2"]})
    job = tk.Job(quasi={"_records": tk.suppress(), "records": tk.suppress()}, criteria=[tk.KAnonymity(2)])
    tk.run_job(job, frame, tmp_path / "release")
    groups = pl.read_parquet(tmp_path / "release/do-not-share/groups.parquet")
    assert groups.width == 3, "the sizes of the groups are gone"


def test_decimal_commas_to_parquet(tmp_path: Path):
    """Numbers that the input writes with a comma are numbers in the release too."""
    data = tmp_path / "data.csv"
    data.write_text("town;income\nKiel;1,5\nKiel;2,5\n", encoding="utf-8")
    job = tk.Job(
        columns=[Column("town", "quasi", taxonomy=tk.suppress()), Column("income", "sensitive", "numeric")],
        criteria=[tk.LDiversity("income", 2)],
        data=DataSettings(dialect=CsvDialect(delimiter=";", decimal=",")),
        output=OutputSettings(format="parquet"),
    )
    tk.run_job(job, data, tmp_path / "release")


def test_value_called_missing(tmp_path: Path):
    """A text that the package uses inside may be a value, next to real gaps."""
    frame = pl.DataFrame({"town": ["(missing)", "(missing)", None, None]})
    job = tk.Job(quasi={"town": tk.suppress()}, criteria=[tk.KAnonymity(2)], missing_rule="own-value")
    tk.run_job(job, frame, tmp_path / "release")
    rows = read_release(tmp_path / "release").rows
    assert sorted(rows, key=str) == [("(missing)",), ("(missing)",), (None,), (None,)]


def test_label_that_stands_for_a_missing_value(tmp_path: Path):
    """If * stands for a missing value, what was coarsened to * cannot be told from it, and both are one group."""
    frame = pl.DataFrame({"town": ["a", "b", "*", "*", "c", "c"]})
    job = tk.Job(
        quasi={"town": tk.suppress()},
        criteria=[tk.KAnonymity(2)],
        missing_rule="own-value",
        data=DataSettings(missing=("*",)),
        output=OutputSettings(format="csv"),
    )
    tk.run_job(job, frame, tmp_path / "release")
    rows = read_release(tmp_path / "release", ("*",)).rows
    assert brute.k([(row, ()) for row in rows]) >= 2


def test_missing_texts_in_memory():
    """The texts that stand for a missing value are the same when a release in memory is checked."""
    frame = pl.DataFrame({"town": ["Kiel", "Kiel"], "illness": ["", "NA"]})
    job = tk.Job(
        quasi={"town": tk.suppress()},
        sensitive=["illness"],
        criteria=[tk.LDiversity("illness", 2)],
        data=DataSettings(missing=("NA",)),
    )
    assert job.anonymize(frame).n_published == 2


def test_seed_below_zero(tmp_path: Path):
    """A seed that cannot be used is an error of the job, and leaves nothing behind."""
    job = tk.Job(quasi={"town": tk.suppress()}, criteria=[tk.KAnonymity(2)])
    with pytest.raises(TarnkappeError):
        tk.run_job(job, pl.DataFrame({"town": ["a", "a"]}), tmp_path / "release", seed=-1)
    assert list(tmp_path.iterdir()) == []


def test_hash_is_that_of_the_file(tmp_path: Path):
    """The hash in the manifest is that of the bytes that are published."""
    job = tk.Job(quasi={"town": tk.suppress()}, criteria=[tk.KAnonymity(2)])
    release = tk.run_job(job, pl.DataFrame({"town": ["a", "a"]}), tmp_path / "release")
    file = tmp_path / "release/public" / release.public_manifest["file"]
    assert release.public_manifest["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()


def test_means_of_small_numbers_beside_a_very_large_one():
    """Sums were taken around the mean of the column, beside which the numbers of most groups were nothing."""
    large = 9_007_199_254_740_993
    frame = pl.DataFrame({"pay": [0, 0, 1, 1, 1, 1, large, large, large]})
    job = tk.Job(quasi={"pay": tk.numeric()}, criteria=[tk.KAnonymity(3)], algorithm="mdav", seed=1)
    assert job.anonymize(frame).table["pay"].sort().to_list()[:6] == [1 / 3, 1 / 3, 1 / 3, 1, 1, 1]

"""`verify` reads every release: the manifest tells how the file is written, whatever its columns are called."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

import tarnkappe as tk
from tarnkappe.audit import audit
from tarnkappe.io import CsvDialect
from tarnkappe.job.places import DataSettings
from tarnkappe.pipeline import run_job

ODD = ["q0;ü", 'say "x", y', "two\nlines", "a|b\tc", "'", "=1+1", " blank ", "1;2;3;4"]


def release(folder: Path, delimiter: str, name: str, missing: tuple[str, ...] = ("",)) -> Path:
    with (folder / "data.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        writer.writerow([name, "level"])
        writer.writerows([[town, level] for town in ("a;b|c", "x,y", missing[0]) for level in ("1", "2", missing[0])])
    job = tk.Job(
        quasi={name: tk.suppress()},
        sensitive=["level"],
        criteria=[tk.KAnonymity(3), tk.LDiversity("level", 3)],
        missing_rule="own-value",
        data=DataSettings(dialect=CsvDialect(delimiter=delimiter), missing=missing),
        seed=1,
    )
    run_job(job, folder / "data.csv", folder / "release")
    return folder / "release"


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("name", ODD)
def test_every_release_is_read(delimiter: str, name: str, tmp_path: Path):
    made = release(tmp_path, delimiter, name)
    told = json.loads((made / "public/manifest.json").read_text("utf-8"))
    assert told["csv"] == {
        "delimiter": delimiter,
        "encoding": "utf-8",
        "quote": '"',
        "decimal": told["csv"]["decimal"],
        "header": True,
        "missing": [""],
    }
    table = made / "public/data.csv"
    for found in (audit(made), audit(table), audit(table, quasi=[name], criteria=[tk.KAnonymity(3)])):
        assert found.ok
        assert found.quasi == (name,)
        assert found.found.n_records == 9


def test_gaps_are_read_as_they_were_written(tmp_path: Path):
    """A marker that reads like a value is none: three people without a level have one secret, not two."""
    made = release(tmp_path, ";", "town", missing=("NA",))
    assert (made / "public/data.csv").read_text("utf-8").count("NA") >= 3
    found = audit(made / "public/data.csv")
    assert found.ok
    assert found.found.verdicts[1].reached == 3


def test_a_manifest_that_was_changed_by_hand_does_no_harm(tmp_path: Path):
    made = release(tmp_path, ";", "town")
    manifest = made / "public/manifest.json"
    told = json.loads(manifest.read_text("utf-8"))
    for odd in ("x", {"delimiter": "long", "missing": "NA"}, {"delimiter": 3, "missing": []}, None):
        manifest.write_text(json.dumps({**told, "csv": odd}), "utf-8")
        assert audit(made / "public/data.csv").ok

"""Under differential privacy nothing that can be seen depends on any one record, however odd it is.

The same job runs with and without one record. Chance decides which records are published, so the tables are made such
that every ordinary row is published in any case; then everything else that a reader gets must be the same.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq
import pytest

import tarnkappe as tk
from grids import grid, some
from tarnkappe.errors import JobError, RefusedError, TarnkappeError
from tarnkappe.io import CsvDialect
from tarnkappe.job.places import DataSettings, OutputSettings
from tarnkappe.schema import Column

COLUMNS = ("zip", "age", "birth", "job", "grade", "status", "sex", "illness")
ORDINARY = [
    ("22765", "34", "1990-05-01", "baker", "low", "single", "f", "flu"),
    ("22767", "41", "1983-02-11", "nurse", "high", "civil", "m", "none"),
    ("10115", "34", "1990-07-30", "clerk", "middle", "church", "f", "none"),
]
COPIES = 120

#: What one record may be like; each stands for a value in its column and is ordinary otherwise.
ODD = {
    "an ordinary one": {},
    "a longer code": {"zip": "2276512345"},
    "a shorter code": {"zip": "1"},
    "a code as long as a prefix": {"zip": "2276"},
    "a code that looks masked": {"zip": "22***"},
    "a number with decimals": {"age": "29.5"},
    "a number with many decimals": {"age": "29.123456789"},
    "a negative number": {"age": "-3"},
    "a huge number": {"age": "100000000000000000000000"},
    "a number in other words": {"age": "1e2"},
    "a number above the top": {"age": "97"},
    "a very old date": {"birth": "1801-01-01"},
    "an unknown job": {"job": "astronaut"},
    "a job called like a group": {"job": "office"},
    "another sex": {"sex": "x"},
    "a star": {"sex": "*"},
    "an illness that nobody else has": {"illness": "a very rare one"},
    "an illness like a number": {"illness": "7"},
    "a delimiter in the text": {"illness": "a, b; c"},
    "more delimiters than columns": {"illness": "a;b;c;d;e;f;g;h;i"},
    "tabs in the text": {"illness": "a\tb\tc\td\te\tf\tg\th\ti"},
    "a quote in the text": {"illness": 'so "called"'},
    "an apostrophe around the text": {"illness": "'x'"},
    "a line break in the text": {"illness": "one\ntwo"},
    "a letter beyond ASCII": {"illness": "Ménière 漢"},
    "a missing marker": {"illness": "NA"},
    "an illness that is an address": {"illness": "ada.lovelace@example.org"},
    "no number": {"age": "unknown"},
    "a number that nothing can be computed with": {"age": "1e300"},
    "no date": {"birth": "in May"},
    "a day that does not exist": {"birth": "1990-02-31"},
    "a grade that does not exist": {"grade": "top"},
    "a status that the tree lacks": {"status": "widowed"},
    "a long text": {"illness": "x" * 5000},
    **{f"no {name}": {name: ""} for name in COLUMNS},
}

QUASI = {
    "zip": tk.prefix(4, 2, length=5),
    "age": tk.intervals(1, 10, top=90, whole=False),
    "birth": tk.dates("year", "decade", format="%Y-%m-%d"),
    "job": tk.tree({"manual": ["baker"], "office": ["nurse", "clerk"]}, on_unknown="top"),
    "grade": tk.ordered("low", "middle", "high", groups=(2,)),
    "status": tk.tree({"married": ["civil", "church"], "unmarried": ["single"]}),
    "sex": tk.suppress(),
}
LEVELS = {"zip": 1, "age": 2, "birth": 1, "job": 1, "grade": 1, "status": 1, "sex": 0}


def job(**settings: object) -> tk.Job:
    settings = {"engine": "memory", "quasi": QUASI, "sensitive": ["illness"], "levels": LEVELS, **settings}
    return tk.Job(
        criteria=[tk.DifferentialPrivacy(epsilon=3.0, delta=0.01)],
        algorithm=tk.Sdgs(levels=settings.pop("levels")),
        max_suppressed=1.0,
        **settings,
    )


def job_without_names(**settings: object) -> tk.Job:
    """The same job for a file that has no header: columns are called by their number."""
    number = {name: str(i) for i, name in enumerate(COLUMNS, 1)}
    return job(
        quasi={number[name]: taxonomy for name, taxonomy in QUASI.items()},
        levels={number[name]: level for name, level in LEVELS.items()},
        sensitive=[number["illness"]],
        data=DataSettings(dialect=CsvDialect(header=False)),
        **settings,
    )


def table(odd: dict[str, str] | None, at: int) -> pl.DataFrame:
    """Ordinary people, and one record more at some place."""
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in ORDINARY * COPIES]
    if odd is not None:
        rows.insert(at, {**dict(zip(COLUMNS, ORDINARY[0], strict=True)), **odd})
    return pl.DataFrame(rows, schema=COLUMNS)


def seen(folder: Path, file: Path, engine: str, format_: str, job: Callable[..., tk.Job] = job) -> dict:
    """Everything a reader can see of a release, but for what chance decides."""
    asked = job(engine=engine, output=OutputSettings(format=format_))
    release = tk.run_job(asked, file, folder, seed=3)
    public = folder / "public"
    manifest = json.loads((public / "manifest.json").read_text())
    told = release.as_dict()
    for facts in (manifest, told):
        for by_chance in ("made", "sha256", "records", "folder"):
            facts.pop(by_chance, None)
        for table in facts["tables"]:
            table.pop("sha256", None)
            table.pop("rows", None)
        for verdict in facts["verdicts"]:
            assert verdict.pop("reached") >= release.job.goal.criteria[0].k
    name = f"people.{format_}"
    codebook = (public / "codebook.csv").read_text("utf-8")
    files = sorted(p.name for p in public.iterdir())
    assert not [f for f in files if f not in (name, "codebook.csv", "manifest.json")], "a file that is not compared"
    out = {"files": files, "manifest": manifest, "told": told, "codebook": codebook}
    if format_ == "csv":
        text = (public / name).read_text("utf-8")
        return {**out, "rows": sorted(set(text.splitlines())), "header": text.split("\n", 1)[0]}
    with pq.ParquetFile(public / name) as written:
        columns = [written.metadata.row_group(0).column(i) for i in range(written.metadata.num_columns)]
        kinds = [(c.path_in_schema, str(c.physical_type), c.encodings, c.statistics) for c in columns]
        rows = sorted(set(map(str, written.read().to_pylist())))
        return {**out, "rows": rows, "schema": str(written.schema_arrow), "kinds": kinds}


@pytest.fixture(scope="module")
def without(tmp_path_factory) -> dict:
    """What is seen if the record is not there, by engine and format."""
    folder, found = tmp_path_factory.mktemp("without"), {}
    table(None, 0).write_csv(folder / "people.csv")
    for engine in ("memory", "streaming"):
        for format_ in ("csv", "parquet"):
            found[engine, format_] = seen(folder / f"{engine}-{format_}", folder / "people.csv", engine, format_)
    assert len(found["memory", "csv"]["rows"]) == len(ORDINARY) + 1
    return found


#: Engine and format, and where the record stands.
WAYS = list(product(("memory", "streaming"), ("csv", "parquet"), (0, 100)))


@pytest.mark.parametrize(("odd", "way"), grid(ODD, WAYS))
def test_one_record_changes_nothing(odd: str, way: tuple[str, str, int], without: dict, tmp_path: Path):
    engine, format_, at = way
    table(ODD[odd], at).write_csv(tmp_path / "people.csv")
    assert seen(tmp_path / "out", tmp_path / "people.csv", engine, format_) == without[engine, format_]


@pytest.fixture(scope="module")
def without_names(tmp_path_factory) -> dict:
    """What is seen of a file that has no header if the record is not there."""
    folder = tmp_path_factory.mktemp("without_names")
    table(None, 0).write_csv(folder / "people.csv", include_header=False)
    found = seen(folder / "out", folder / "people.csv", "memory", "csv", job_without_names)
    assert len(found["rows"]) == len(ORDINARY) + 1
    return found


@pytest.mark.parametrize("odd", some(ODD, every=2))
def test_one_record_changes_nothing_where_it_is_the_first_line(odd: str, without_names: dict, tmp_path: Path):
    table(ODD[odd], 0).write_csv(tmp_path / "people.csv", include_header=False)
    assert seen(tmp_path / "out", tmp_path / "people.csv", "memory", "csv", job_without_names) == without_names


@pytest.mark.parametrize("odd", ["an ordinary one", "more delimiters than columns", "a letter beyond ASCII"])
@pytest.mark.parametrize("end", ["\n", "\r"])
@pytest.mark.parametrize("packed", [False, True])
def test_one_record_changes_nothing_in_files_of_other_kinds(odd: str, end: str, packed: bool, tmp_path: Path):
    """The delimiter is found out from the header alone, also if it is packed, or lines end as on old machines."""
    found = []
    for name, rows in {"without": table(None, 0), "with": table(ODD[odd], 0)}.items():
        file = tmp_path / name / f"people.csv{'.gz' if packed else ''}"
        file.parent.mkdir()
        written = rows.write_csv(separator=";").replace("\n", end).encode()
        file.write_bytes(gzip.compress(written) if packed else written)
        found.append(seen(tmp_path / name / "out", file, "memory", "csv"))
    assert found[0] == found[1]
    assert ";" in found[0]["header"]


@pytest.mark.parametrize("header", [None, True, False])
@pytest.mark.parametrize("odd", ["", "x,4\n"], ids=["without", "with"])
def test_records_do_not_decide_whether_there_is_a_header(odd: str, header: bool | None, tmp_path: Path):
    """One record that is no number made a first line of numbers the header, and was none without it."""
    file = tmp_path / "people.csv"
    file.write_text("1.5,2.5\n" + odd + "3,4\n" * 300)
    names = ["1", "2"] if header is False else ["1.5", "2.5"]
    asked = job(
        quasi={names[0]: tk.suppress()},
        sensitive=[names[1]],
        levels={names[0]: 0},
        data=DataSettings(dialect=CsvDialect(header=header)),
    )
    if header is None:
        with pytest.raises(JobError, match="first line") as refused:
            tk.run_job(asked, file, tmp_path / "out")
        assert refused.value.code == "E111"
        assert not {"1.5", "2.5"} & set(str(refused.value).split())
    else:
        tk.run_job(asked, file, tmp_path / "out", seed=1)
        assert pl.read_csv(tmp_path / "out" / "public" / "people.csv", infer_schema=False).columns == names


def test_what_a_column_cannot_hold_is_told_to_whoever_made_the_release(tmp_path: Path):
    release = job().anonymize(table({"age": "unknown"}, 5), seed=3)
    assert [n.message for n in release.notices if n.code == "W630"] == [
        "'age' is missing in 1 of 361 records, or is no number, no date or not in its taxonomy there"
    ]
    assert "W630" not in {n.code for n in release.for_readers().notices}


@pytest.mark.parametrize("n", [1, 400])
def test_whoever_has_an_address_for_an_illness_does_not_decide_whether_there_is_a_release(n: int):
    """A column that points at people is known by its name; what its values are, only those know who have the data."""
    some = [f"somebody.{i}@example.org" for i in range(n)]
    people = pl.DataFrame({"sex": ["f"] * (n + 300), "illness": [*some, *["flu"] * 300]})
    asked = job(quasi={"sex": tk.suppress()}, levels={"sex": 0})
    assert set(asked.anonymize(people, seed=1).table["illness"]) == {"flu"}
    named = job(quasi={"sex": tk.suppress()}, levels={"sex": 0}, sensitive=["e-mail"])
    with pytest.raises(RefusedError, match="E604"):
        named.anonymize(people.rename({"illness": "e-mail"}))


def test_numbers_that_are_sensitive_may_be_anything(tmp_path: Path):
    """They are published as the texts that they are, if enough people have them."""
    people = pl.DataFrame({"sex": ["f"] * 601, "visits": ["1"] * 300 + ["1.0"] * 300 + ["some"]})
    columns = [Column("sex", "quasi", taxonomy=tk.suppress()), Column("visits", "sensitive", "numeric")]
    people.write_csv(tmp_path / "people.csv")
    asked = job(quasi={}, sensitive=(), columns=columns, levels={"sex": 0})
    tk.run_job(asked, tmp_path / "people.csv", tmp_path / "out", seed=1)
    written = pl.read_csv(tmp_path / "out" / "public" / "people.csv", infer_schema=False)
    assert set(written["visits"]) == {"1", "1.0"}


def test_blanks_cannot_be_trimmed():
    trimmed = {**QUASI, "status": tk.tree({"married": ["civil", "church"], "unmarried": ["single"]}, trim=True)}
    with pytest.raises(JobError, match=r"E111 .*cannot trim"):
        job(quasi=trimmed).anonymize(table(None, 0))


def test_bytes_of_another_encoding_do_not_change_how_others_are_read(tmp_path: Path):
    """One such byte made a whole file be read as cp1252, and everybody's é became Ã©."""
    lines = ["sex,illness", *["f,Ménière"] * 300]
    file = tmp_path / "people.csv"
    asked = tk.Job(
        quasi={"sex": tk.suppress()},
        sensitive=["illness"],
        criteria=[tk.DifferentialPrivacy(3.0, 0.01)],
        algorithm=tk.Sdgs(share=0.0),
        max_suppressed=1.0,
    )
    file.write_bytes("\n".join(lines).encode() + b"\nf,Caf\xe9\n")
    with pytest.raises(TarnkappeError):
        tk.run_job(asked, file, tmp_path / "out")
    file.write_bytes("\n".join(lines).encode())
    assert tk.run_job(asked, file, tmp_path / "out").n_groups == 1


@pytest.mark.parametrize("engine", ["memory", "streaming"])
def test_without_a_sensitive_column(engine: str, tmp_path: Path):
    table(None, 0).drop("illness").write_csv(tmp_path / "people.csv")
    release = tk.run_job(job(sensitive=[], engine=engine), tmp_path / "people.csv", tmp_path / "out", seed=1)
    written = pl.read_csv(tmp_path / "out" / "public" / "people.csv", infer_schema=False)
    assert release.verdicts[0].reached == written.group_by(written.columns).len()["len"].min()
    assert release.verdicts[0].ok


def numbers_in(told: Any) -> Iterator[float]:
    """Every number told, also those within texts; the time of day is no figure about the data."""
    if isinstance(told, dict):
        for name, part in told.items():
            if name != "made":
                yield from numbers_in(part)
    elif isinstance(told, list | tuple):
        for part in told:
            yield from numbers_in(part)
    elif isinstance(told, str):
        yield from map(float, re.findall(r"\d+(?:\.\d+)?", told))
    elif isinstance(told, int | float):
        yield told


def test_what_is_told_does_not_carry_the_size_of_the_input():
    release = job().anonymize(table(None, 0), seed=1)
    assert release.n_suppressed > 0
    numbers = set(numbers_in(release.as_dict()))
    assert len(numbers) > 5
    assert numbers.isdisjoint({release.n_input, release.n_suppressed})
    assert "W606" in {n.code for n in release.notices}  # for whoever made it
    assert [asdict(n) for n in release.job.notices()] == release.as_dict()["notices"]


def test_several_records_per_person_are_refused():
    people = table(None, 0).with_row_index("patient").with_columns(pl.col("patient") // 4)
    with pytest.raises(JobError, match="several") as refused:
        job(subject="patient").anonymize(people)
    assert refused.value.code == "E111"


def test_categories_of_a_parquet_file_do_not_tell_in_which_order_the_input_had_them(tmp_path: Path):
    secrets = ["none", "flu", "cold"]
    orders = []
    for first in (secrets, secrets[::-1]):
        people = pl.DataFrame({"sex": ["f"] * 300, "illness": first * 100})
        asked = tk.Job(quasi={"sex": tk.suppress()}, sensitive=["illness"], criteria=[tk.KAnonymity(5)])
        tk.run_job(asked, people, tmp_path / "out", overwrite=True, seed=1)
        written = pq.read_table(tmp_path / "out" / "public" / "release.parquet", read_dictionary=["illness"])
        orders.append(written["illness"].combine_chunks().dictionary.to_pylist())
    assert orders[0] == orders[1] == sorted(secrets)


@pytest.mark.parametrize("odd", [None, 2.5])
@pytest.mark.parametrize("kind", ["frame", "parquet"])
def test_one_fraction_does_not_make_floats_of_everybody(odd: float | None, kind: str, tmp_path: Path):
    """Whoever counted 1 was published as 1.0 if somebody had 2.5: now nothing is published then."""
    counted = pl.DataFrame({"sex": ["f"] * 301, "visits": [1] * 300 + [1 if odd is None else odd]}, strict=False)
    data = tmp_path / "people.parquet" if kind == "parquet" else counted
    counted.write_parquet(tmp_path / "people.parquet")
    asked = job(quasi={"sex": tk.suppress()}, sensitive=["visits"], levels={"sex": 0})
    if odd is None:
        assert tk.run_job(asked, data, tmp_path / "out", seed=1).n_groups == 1
        return
    with pytest.raises(JobError, match=r"E111 .*cannot publish 'visits' as floats"):
        tk.run_job(asked, data, tmp_path / "out", seed=1)

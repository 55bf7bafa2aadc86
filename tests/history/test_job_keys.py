"""Earlier releases, pooling, batches and editions as job files: what people write, and what the written files say."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import tarnkappe as tk
from tarnkappe.cli.app import app as main
from tarnkappe.errors import DataError, JobError
from tarnkappe.history.ledger import Ledger
from tarnkappe.job.batches import load_batch_job
from tarnkappe.job.editions import load_editions_job

COLUMNS = """
columns:
  id: {role: identifier}
  age: {role: quasi, type: numeric}
  sex: {role: quasi, taxonomy: {kind: suppress}}
  ill: {role: sensitive}
criteria:
  - k-anonymity: {k: 4}
seed: 1
"""


def people(n: int, seed: int = 1, first: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "id": [f"p{i}" for i in range(first, first + n)],
            "age": rng.integers(20, 80, n),
            "sex": rng.choice(["f", "m"], n),
            "ill": rng.choice(list("abcde"), n),
        }
    )


def write_job(place: Path, name: str, data: pl.DataFrame, more: str = "", columns: str = COLUMNS) -> Path:
    data.write_csv(place / f"{name}.csv")
    text = f"data: {{path: {name}.csv}}\noutput: {{folder: {name}}}\n{columns}{more}"
    (place / f"{name}.yaml").write_text(text)
    return place / f"{name}.yaml"


def run(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str]:
    with pytest.raises(SystemExit) as ended:
        main(["run", *map(str, words)])
    out = capsys.readouterr()
    return int(ended.value.code or 0), out.out + out.err


def table(folder: Path) -> pl.DataFrame:
    return next(
        pl.read_csv(file, infer_schema=False) for file in (folder / "public").glob("*.csv") if file.stem != "codebook"
    )


def joint_k(one: Path, other: Path) -> int:
    """The fewest people who are in the same groups of two written files, by rows that say whose they are."""
    both = table(one).join(table(other), on="row", suffix=" other")
    return int(both.group_by("age", "sex", "age other", "sex other").len()["len"].min())  # type: ignore[arg-type]


def _group_of(groups: list[tuple[str, str]], age: int, sex: str) -> int:
    def fits(label: str) -> bool:
        low, *high = label.strip("[]").replace("-", " ").split()
        return label == "*" or int(low) <= age <= int(high[0] if high else low)

    (found,) = [i for i, (a, s) in enumerate(groups) if fits(a) and s in ("*", sex)]
    return found


#: Other groups of the same people.
OTHER = "algorithm: ola\n"
WIDER = COLUMNS.replace("type: numeric", "type: numeric, taxonomy: {kind: intervals, widths: [11, 33]}")
HISTORY = "history: {{ledger: private/ledger.jsonl, subject: id{}}}\n"


@pytest.mark.parametrize("change", ["insertions", "deletions", "both"])
def test_earlier_releases_without_a_ledger_are_entered_and_counted(tmp_path, capsys, change: str):
    everybody = people(160)
    before, now = {
        "insertions": (everybody[:120], everybody),
        "deletions": (everybody, everybody[:120]),
        "both": (everybody[:140], everybody[20:]),
    }[change]
    unseeded = COLUMNS.replace("seed: 1\n", "")  # nobody thought of a ledger then, nor of a seed
    assert run(capsys, write_job(tmp_path, "r1", before, columns=unseeded))[0] == 0
    refused = write_job(tmp_path, "r2", now, HISTORY.format(", earlier: [r1]"))
    code, said = run(capsys, refused)
    assert code != 0
    assert "E440" in said
    assert not (tmp_path / "r2").exists()
    (line,) = Ledger.read(tmp_path / "private/ledger.jsonl").lines
    assert (line.folder, line.people) == (str(tmp_path / "r1"), before.height), "entered, although it appeared long ago"
    code, said = run(capsys, refused, "--set", "history.because=nobody has both")
    assert code == 0, said
    stayed = before.join(now, on="id", how="semi")
    assert f"{stayed.height} people are in earlier releases too" in said


def test_pooled_until_all_releases_together_keep_the_goal(tmp_path, capsys):
    data = people(160).with_columns(pl.col("id").alias("row"))
    columns, wider = (
        c.replace("criteria:", "  row: {role: keep, because: a test looks at it}\ncriteria:") for c in (COLUMNS, WIDER)
    )
    assert run(capsys, write_job(tmp_path, "r1", data, columns=columns))[0] == 0
    assert run(capsys, write_job(tmp_path, "alone", data, OTHER, wider))[0] == 0
    assert joint_k(tmp_path / "r1", tmp_path / "alone") < 4, "else there is nothing to pool"
    more = OTHER + HISTORY.format(", earlier: [r1], together: pool")
    code, said = run(capsys, write_job(tmp_path, "r2", data, more, wider))
    assert code == 0, said
    assert joint_k(tmp_path / "r1", tmp_path / "r2") >= 4
    assert len(Ledger.read(tmp_path / "private/ledger.jsonl").lines) == 2


def test_pooling_with_xy_privacy_over_the_join(tmp_path, capsys):
    """What Wang and Fung meant: no value of one column goes with few values of the other in the join of releases."""
    data = people(200)
    first = WIDER.replace("  ill: {role: sensitive}", "  ill: {role: drop}").replace("k: 4", "k: 12")
    assert run(capsys, write_job(tmp_path, "r1", data, OTHER, first))[0] == 0
    # One column, so that boxes of pooled groups do not overlap and everybody's group can be read from the file.
    xy = (
        WIDER.replace("[11, 33]", "[9, 27]")
        .replace("sex: {role: quasi, taxonomy: {kind: suppress}}", "sex: {role: drop}")
        .replace(
            "  - k-anonymity: {k: 4}",
            "  - k-anonymity: {k: 4}\n  - xy-linkability: {y: ill, value: a, h: 0.6}",
        )
    )
    second = write_job(tmp_path, "r2", data, OTHER + HISTORY.format(", earlier: [r1], together: pool"), xy)
    code, said = run(capsys, second)
    assert code == 0, said
    joint: dict[tuple[int, int], list[str]] = {}
    one = table(tmp_path / "r1").select("age", "sex").unique().rows()
    two = table(tmp_path / "r2").select("age", pl.lit("*")).unique().rows()
    for row in data.iter_rows(named=True):
        at = _group_of(one, row["age"], row["sex"]), _group_of(two, row["age"], row["sex"])
        joint.setdefault(at, []).append(row["ill"])
    assert max(values.count("a") / len(values) for values in joint.values()) <= 0.6


def test_earlier_releases_that_do_not_belong(tmp_path, capsys):
    data = people(80)
    job = write_job(tmp_path, "r2", data, HISTORY.format(", earlier: [r1]"))
    code, said = run(capsys, job)
    assert code != 0
    assert "E448" in said
    assert "no folder of a release" in said
    assert run(capsys, write_job(tmp_path, "r1", data))[0] == 0
    table = tmp_path / "r1/public/r1.csv"
    published = table.read_bytes()
    table.write_bytes(published[:-20])  # not the table that comes of its job
    code, said = run(capsys, job)
    assert code != 0
    assert "E448  the earlier release was changed since it was published" in said
    table.write_bytes(published)
    data.with_columns(age=pl.col("age") + 1).write_csv(tmp_path / "r1.csv")  # not the data it was made from
    code, said = run(capsys, job)
    assert code != 0
    assert "cannot be made once more" in said
    (tmp_path / "r1.csv").unlink()
    code, said = run(capsys, job)
    assert code != 0
    assert "E448" in said
    assert not (tmp_path / "r2").exists()
    assert Ledger.read(tmp_path / "private/ledger.jsonl").lines == ()
    with pytest.raises(DataError, match="not in the ledger"):  # the pipeline itself enters nothing
        tk.Job.from_yaml(job).anonymize(data)


def test_history_keys_survive_the_job_file(tmp_path):
    job = tk.Job.from_yaml(write_job(tmp_path, "r2", people(8), HISTORY.format(", earlier: [r0, r1], together: pool")))
    assert job.history is not None
    assert job.history.earlier == (str(tmp_path / "r0"), str(tmp_path / "r1"))
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "again.yaml").write_text(job.to_yaml(tmp_path / "deep"))
    again = tk.Job.from_yaml(tmp_path / "deep" / "again.yaml").history
    assert again is not None
    assert [Path(p).resolve() for p in again.earlier] == [tmp_path / "r0", tmp_path / "r1"]
    assert again.together == "pool"
    for harm in ("earlier: r1", "together: never", "earlier: [3]"):
        with pytest.raises(JobError):
            tk.Job.from_yaml(write_job(tmp_path, "bad", people(8), HISTORY.format(f", {harm}")))


def test_batches_as_job_files(tmp_path, capsys):
    assert run(capsys, write_job(tmp_path, "s0", people(60), HISTORY.format("")))[0] == 0
    for i in (1, 2):
        batch = write_job(tmp_path, f"s{i}", people(30, i, 100 * i), HISTORY.format("") + f"append_to: s{i - 1}\n")
        code, said = run(capsys, batch)
        assert code == 0, said
        assert "Appended" in said
        assert f"s{i}.csv · 30 rows" in said, "what was read is told, not what both were made into"
    tables = [table(tmp_path / f"s{i}") for i in range(3)]
    for one, other in pairwise(tables):
        left = (
            other.group_by(pl.all()).len().join(one.group_by(pl.all()).len(), on=one.columns, how="full", coalesce=True)
        )
        grown = left.with_columns(n=pl.col("len").fill_null(0) - pl.col("len_right").fill_null(0))
        assert grown["n"].min() >= 0, "rows that are out stay as they are"
        new = grown.filter(pl.col("n") > 0).group_by("age", "sex").agg(pl.col("n").sum())
        assert new["n"].min() >= 4, "whoever takes the old rows away is left with groups that keep the goal"
    assert tables[2].group_by("age", "sex").len()["len"].min() >= 4
    book = Ledger.read(tmp_path / "private/ledger.jsonl")
    assert [line.people for line in book.lines] == [60, 90, 120], "a release holds those of the batches before, too"


def test_a_batch_with_people_who_are_there_already_or_withdrew(tmp_path, capsys):
    history = HISTORY.format("")
    assert run(capsys, write_job(tmp_path, "s0", people(60), history))[0] == 0
    code, said = run(capsys, write_job(tmp_path, "s1", people(30, 2, 50), history + "append_to: s0\n"))
    assert code != 0
    assert "10 people of the batch are in the earlier release already" in said
    main_history(tmp_path, capsys, "--withdraw", "p3")
    code, said = run(capsys, write_job(tmp_path, "s2", people(30, 2, 100), history + "append_to: s0\n"))
    assert code != 0
    assert "E447" in said, "rows of somebody who withdrew are not published once more"
    assert not (tmp_path / "s1").exists()
    assert not (tmp_path / "s2").exists()


def main_history(place: Path, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    with pytest.raises(SystemExit) as ended:
        main(["history", str(place / "private/ledger.jsonl"), *words])
    assert not ended.value.code
    return capsys.readouterr().out


def test_a_person_is_found_in_every_release_of_a_stream(tmp_path, capsys):
    history = HISTORY.format("")
    assert run(capsys, write_job(tmp_path, "s0", people(60), history))[0] == 0
    assert run(capsys, write_job(tmp_path, "s1", people(30, 2, 100), history + "append_to: s0\n"))[0] == 0
    told = json.loads(main_history(tmp_path, capsys, "--person", "p3", "--json"))
    assert [Path(r["folder"]).name for r in told["releases"]] == ["s0", "s1"]
    told = json.loads(main_history(tmp_path, capsys, "--withdraw", "p101", "--json"))
    assert [Path(r["folder"]).name for r in told["reissue"]] == ["s1"]


EDITIONS = """
editions:
  on-site: {}
  researcher: {criteria: [{k-anonymity: {k: 10}}]}
  open: {criteria: [{k-anonymity: {k: 40}}, {l-diversity: {column: ill, l: 3}}]}
"""


def test_editions_as_a_job_file(tmp_path, capsys):
    job = write_job(tmp_path, "e", people(200), EDITIONS)
    code, said = run(capsys, job, "--dry-run")
    assert code == 0, said
    assert not (tmp_path / "e").exists()
    code, said = run(capsys, job)
    assert code == 0, said
    sizes = []
    for name, k in (("on-site", 4), ("researcher", 10), ("open", 40)):
        (file,) = [f for f in (tmp_path / "e" / name / "public").glob("*.csv") if f.stem != "codebook"]
        read = pl.read_csv(file, infer_schema=False)
        sizes.append(read.group_by("age", "sex").len()["len"].min())
        assert sizes[-1] >= k
    assert read.group_by("age", "sex").agg(pl.col("ill").n_unique())["ill"].min() >= 3
    code, said = run(capsys, job, "--json", "--overwrite", "--quiet")
    assert list(json.loads(said)["editions"]) == ["open", "researcher", "on-site"]


@pytest.mark.parametrize(
    ("more", "word"),
    [
        ("editions: {only: {}}\n", "at least two"),
        ("editions: [a, b]\n", "at least two"),
        ("editions: {a: {}, b: {}}\n", "criteria of its own"),
        (
            "editions: {a: {criteria: [{k-anonymity: {k: 2}}]}, b: {criteria: [{k-anonymity: {k: 9}}]}}\n",
            "none of its own",
        ),
        ("editions: {a: {}, ../b: {criteria: [{k-anonymity: {k: 9}}]}}\n", "like a folder"),
        ("editions: {a: {}, public: {criteria: [{k-anonymity: {k: 9}}]}}\n", "no edition is called 'public'"),
        ("editions: {Do-Not-Share: {}, b: {criteria: [{k-anonymity: {k: 9}}]}}\n", "no edition is called 'Do-Not"),
        ("editions: {a: {}, b: {k: 9}}\n", "nothing else"),
        ("editions: {a: {}, b: {criteria: [{l-diversity: {column: nil, l: 2}}]}}\n", "nil"),
    ],
)
def test_bad_editions(tmp_path, more: str, word: str):
    with pytest.raises(JobError, match=word):
        load_editions_job(write_job(tmp_path, "e", people(8), more))


@pytest.mark.parametrize(
    "more", ["append_to:\n", "append_to: [a]\n", "append_to: a\nmasks: [{rounding: {column: age, base: 5}}]\n"]
)
def test_bad_batches(tmp_path, more: str):
    with pytest.raises(JobError):
        load_batch_job(write_job(tmp_path, "b", people(8), more))
    for command in ("check", "advise"):
        with pytest.raises(SystemExit) as end:
            main([command, str(tmp_path / "b.yaml")])
        assert end.value.code

"""The codebook explains every label in the written file, names no rare value, and its lines read the file."""

import csv
import html
import json
import random
from pathlib import Path

import pandas
import pytest

import tarnkappe as tk
from tarnkappe.codebook import reading_lines
from tarnkappe.schema import Column
from tarnkappe.taxonomy import value_set

JOBS = {"care": ["nurse", "porter", "falconer"], "desk": ["clerk", "admin"]}


def people(path: Path, delimiter: str = ",", decimal: str = ".", missing: str = "") -> list[dict[str, str]]:
    draw = random.Random(4)
    rows = [
        {
            "age": str(draw.randint(18, 90)),
            "weight": f"{draw.randint(40, 99)}{decimal}{draw.randint(0, 9)}",
            "zip": f"0{draw.randint(1000, 1999)}",
            "job": "falconer" if i == 0 else draw.choice(["nurse", "porter", "clerk", "admin"]),
            "born": f"19{draw.randint(50, 99)}-0{draw.randint(1, 9)}-10",
            "colour": draw.choice(["red, matt", "blue", "green | dark"]) if i % 9 else missing,
            "code": f"00{draw.randint(1, 5)}",
            "cost": f"{draw.randint(1, 99)}{decimal}5",
        }
        for i in range(150)
    ]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)
    return rows


def job(algorithm=None, columns=(), **more) -> tk.Job:
    given = {c.name for c in columns}
    quasi = {
        "age": tk.numeric(),
        "weight": tk.intervals(2.5, 10, 50),
        "zip": tk.prefix(3, 2),
        "job": tk.tree(JOBS),
        "born": tk.dates("month", "quarter", "year", "decade"),
        "colour": value_set(),
    }
    return tk.Job(
        quasi={name: how for name, how in quasi.items() if name not in given},
        columns=[*columns, Column("code", "sensitive"), Column("cost", "sensitive", "numeric")],
        criteria=[tk.KAnonymity(3)],
        algorithm=algorithm,
        missing_rule="own-value",
        **more,
    )


def read(folder: Path, name: str, delimiter: str = ",") -> list[dict[str, str]]:
    with (folder / "public" / name).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter=delimiter))


@pytest.mark.parametrize(
    "algorithm", [tk.Mondrian(), tk.Flash(), tk.TopDownSpecialization("code"), tk.MDAV(), tk.Hilb()]
)
def test_every_label_of_the_written_file_is_explained(tmp_path, algorithm):
    people(tmp_path / "people.csv")
    tk.run_job(job(algorithm, max_suppressed=0.2), tmp_path / "people.csv", tmp_path / "out", seed=1)
    rows, book = read(tmp_path / "out", "people.csv"), read(tmp_path / "out", "codebook.csv")
    assert list(book[0]) == ["column", "role", "label", "meaning"]
    assert list(dict.fromkeys(entry["column"] for entry in book)) == list(rows[0])
    assert all(entry["meaning"] for entry in book)
    explained = {(entry["column"], entry["label"]) for entry in book}
    about_all = {entry["column"] for entry in book if entry["meaning"].startswith("Every value")}
    for row in rows:
        for column, label in row.items():
            assert (column, label) in explained or column in about_all
    for column, label in explained:  # and nothing that is not in the file
        assert column in about_all or any(row[column] == label for row in rows)


def test_meanings_are_true_and_plain(tmp_path):
    people(tmp_path / "people.csv")
    release = tk.run_job(job(), tmp_path / "people.csv", tmp_path / "out", seed=1)
    said = {(e.column, e.label): e.meaning for e in release.codebook}
    for (column, label), meaning in said.items():
        if label.startswith("[") and column == "age":
            low, high = label[1:-1].split(" ")
            assert meaning == f"{low} to {high}, both included."
        if label.startswith("[") and column == "weight":
            low, high = label[1:-1].split(", ")
            assert meaning == f"{low} or more, and less than {high}."
        if column == "zip" and label.startswith("01"):
            assert meaning == f"Begins with {label.rstrip('*')}."
        if label == "*":
            assert meaning == "Any value: nothing is said."
    assert said["job", "desk"] == "A category in the taxonomy of the column."
    assert said["colour", '{blue | "green | dark"}'] == "One of: blue, green | dark."
    both = [words for (_, label), words in said.items() if "red, matt" in label and label.startswith("{")]
    assert both
    assert all('"red, matt"' in words for words in both), "a comma inside a value looks like one between values"


def test_no_value_is_named_that_only_the_data_have(tmp_path):
    people(tmp_path / "people.csv")
    hierarchy = "".join(f"{v};{up};*\n" for up, values in JOBS.items() for v in values)
    (tmp_path / "jobs.csv").write_text(hierarchy, encoding="utf-8")
    few = {"care": ["nurse", "porter"], "desk": ["clerk", "admin"]}
    for number, taxonomy in enumerate((tk.from_file(tmp_path / "jobs.csv"), tk.tree(few, on_unknown="top"))):
        out = tmp_path / str(number)
        tk.run_job(job(columns=[Column("job", "quasi", taxonomy=taxonomy)]), tmp_path / "people.csv", out, seed=1)
        care = [e["meaning"] for e in read(out, "codebook.csv") if (e["column"], e["label"]) == ("job", "care")]
        assert care == ["A category in the taxonomy of the column."]
        for name in ("codebook.csv", "report.html", "manifest.json"):
            assert "falconer" not in (out / "public" / name).read_text("utf-8")


def test_the_codebook_says_nothing_about_single_records(tmp_path):
    """Two tables that differ in one value of one record and give the same release have the same codebook."""
    books = []
    for last in ("nurse", "falconer"):
        rows = ["job,age"] + ["nurse,30"] * 5 + ["porter,30"] * 5 + [f"{last},30"]
        (tmp_path / "jobs.csv").write_text("\n".join(rows), encoding="utf-8")
        asked = tk.Job(
            columns=[Column("job", "quasi", taxonomy=tk.tree(JOBS), min_level=0), Column("age", "quasi", "numeric")],
            criteria=[tk.KAnonymity(11)],
        )
        tk.run_job(asked, tmp_path / "jobs.csv", tmp_path / last, seed=1)
        books.append((tmp_path / last / "public" / "codebook.csv").read_text("utf-8"))
    assert "falconer" not in books[0], "a value that few have, or nobody"
    assert books[0] == books[1]


@pytest.mark.parametrize("algorithm", [tk.Mondrian(), tk.MDAV()])
@pytest.mark.parametrize(("delimiter", "decimal"), [(",", "."), (";", ","), ("\t", ".")])
def test_the_line_of_pandas_reads_the_release(tmp_path, monkeypatch, algorithm, delimiter, decimal):
    people(tmp_path / "people.csv", delimiter, decimal)
    tk.run_job(job(algorithm), tmp_path / "people.csv", tmp_path / "out", seed=1)
    public = tmp_path / "out" / "public"
    line = json.loads((public / "manifest.json").read_text("utf-8"))["read"]["pandas"]
    monkeypatch.chdir(public)
    frame = eval(line, {"pandas": pandas, "str": str})
    rows = read(tmp_path / "out", "people.csv", delimiter)
    assert frame["code"].tolist() == [row["code"] for row in rows]  # 001 is not 1
    assert frame["zip"].tolist() == [row["zip"] for row in rows]
    assert frame["cost"].tolist() == [float(row["cost"].replace(",", ".")) for row in rows]
    if algorithm.name == "mdav":
        assert frame["age"].dtype.kind in "if"
    assert frame["colour"].isna().sum() == sum(row["colour"] == "" for row in rows)


def test_parquet_too(tmp_path, monkeypatch):
    people(tmp_path / "people.csv")
    output = tk.job.model.OutputSettings(format="parquet")
    release = tk.run_job(job(output=output), tmp_path / "people.csv", tmp_path / "out", seed=1)
    monkeypatch.chdir(tmp_path / "out" / "public")
    assert len(eval(release.public_manifest["read"]["pandas"], {"pandas": pandas})) == release.n_published


def test_lines_quote_what_is_odd():
    lines = reading_lines('a "b".csv', delimiter="\t", quote="'", decimal=".", missing=["NA", "-"], texts=["ü;1"])
    assert lines["pandas"].startswith('pandas.read_csv("a \\"b\\".csv", sep="\\t", quotechar="\'"')
    assert 'na.strings = c("NA", "-")' in lines["R"]
    assert 'colClasses = c("ü;1" = "character")' in lines["R"]


def test_texts_are_read_as_texts_although_their_column_was_renamed_for_spreadsheets(tmp_path, monkeypatch):
    rows = "".join(f"{20 + i % 4},0{i % 3}\n" for i in range(60))
    (tmp_path / "people.csv").write_text(f"age,=code\n{rows}", encoding="utf-8")
    output = tk.job.model.OutputSettings(spreadsheet_safe=True)
    coded = tk.Job(quasi={"age": tk.numeric()}, sensitive=["=code"], criteria=[tk.KAnonymity(3)], output=output)
    release = tk.run_job(coded, tmp_path / "people.csv", tmp_path / "out", seed=1)
    monkeypatch.chdir(tmp_path / "out" / "public")
    found = eval(release.public_manifest["read"]["pandas"], {"pandas": pandas})
    assert set(found["'=code"]) == {"00", "01", "02"}
    assert '"\'=code" = "character"' in release.public_manifest["read"]["R"]


def test_a_table_that_is_called_codebook(tmp_path):
    people(tmp_path / "codebook.csv")
    release = tk.run_job(job(), tmp_path / "codebook.csv", tmp_path / "out", seed=1)
    assert len(read(tmp_path / "out", "codebook.csv")) == release.n_published
    assert read(tmp_path / "out", release.public_manifest["codebook"])[0]["column"] == "age"


def test_both_reports_explain_the_labels_and_say_how_to_read_the_file(tmp_path):
    people(tmp_path / "people.csv")
    release = tk.run_job(job(), tmp_path / "people.csv", tmp_path / "out", seed=1)
    for edition in ("public", "do-not-share"):
        page = html.unescape((tmp_path / "out" / edition / "report.html").read_text("utf-8"))
        assert "sets of values {a | b} per group" in page
        assert "A category in the taxonomy of the column." in page
        assert all(line in page for line in release.public_manifest["read"].values())

"""Labels can be read back without a doubt: sets, ranges, numbers with a comma, and columns of 0 and 1."""

import csv
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tarnkappe as tk
from tarnkappe.publish.label_reader import LabelReader
from tarnkappe.publish.notation import range_ends, range_text, set_text, set_values
from tarnkappe.schema import Column
from tarnkappe.tally import Domain
from tarnkappe.taxonomy.tree import Taxonomy

texts = st.text(alphabet=' |"{}[],ab1', max_size=6)


@given(st.lists(texts, min_size=1, max_size=5))
def test_a_set_can_be_read_back(values):
    assert set_values(set_text(values)) == values


@given(texts, texts)
def test_a_range_can_be_read_back(low, high):
    assert range_ends(range_text(low, high)) == (low, high)


@given(st.lists(texts, min_size=1, max_size=4), st.lists(texts, min_size=1, max_size=4))
def test_different_sets_have_different_labels(one, other):
    assert (set_text(one) == set_text(other)) == (one == other)


def test_plain_values_are_not_quoted():
    assert set_text(["red", "dark blue"]) == "{red | dark blue}"
    assert range_text("-1.5", "2e-05") == "[-1.5 2e-05]"


def release(folder: Path, table: str, quasi, algorithm=None, **more) -> list[dict[str, str]]:
    (folder / "data.csv").write_text(table, encoding="utf-8")
    job = tk.Job(quasi=quasi, criteria=[tk.KAnonymity(3)], algorithm=algorithm, **more)
    tk.run_job(job, folder / "data.csv", folder / "out", seed=1)
    with (folder / "out" / "public" / "data.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter=";"))


def weights() -> str:
    rows = [f"{i // 33},{3 * i % 100:02};{'mf'[i % 2]}" for i in range(33)]
    return "weight;sex\n" + "\n".join(rows) + "\n"


NUMBER = r"\d+(,\d+)?"


@pytest.mark.parametrize(
    ("algorithm", "how", "pattern"),
    [
        (tk.Mondrian(), tk.numeric(), rf"\[{NUMBER} {NUMBER}\]|{NUMBER}"),
        (tk.Mondrian(), tk.intervals(0.05, 0.25), rf"\[{NUMBER}; {NUMBER}\)|\*"),
        (tk.Flash(), tk.numeric(), rf"\[{NUMBER}; {NUMBER}\)|[<≥]{NUMBER}"),
        (tk.MDAV(), tk.numeric(), NUMBER),
    ],
    ids=["ranges", "intervals", "quantiles", "centres"],
)
def test_a_file_with_decimal_commas_has_labels_with_decimal_commas(tmp_path, algorithm, how, pattern):
    rows = release(tmp_path, weights(), {"weight": how, "sex": tk.suppress()}, algorithm)
    labels = {row["weight"] for row in rows}
    assert any("," in label for label in labels)
    assert all(re.fullmatch(pattern, label) for label in labels), labels
    assert not any("." in label for label in labels)


def test_what_the_steward_calls_a_group_of_numbers_stays(tmp_path):
    table = "dose;sex\n" + "0,5;m\n1,5;f\n" * 6
    rows = release(
        tmp_path,
        table,
        {"sex": tk.suppress()},
        columns=[
            Column("dose", "quasi", "numeric", tk.tree({"at most 1.0 mg": ["0.5"], "more": ["1.5"]}), min_level=1)
        ],
    )
    assert {row["dose"] for row in rows} == {"at most 1.0 mg", "more"}


def test_zero_and_one_are_zero_or_one(tmp_path):
    rows = [f"{i % 2};{i // 2 * 10}" for i in range(5)]
    found = release(tmp_path, "smoker;age\n" + "\n".join(rows), {"smoker": tk.numeric(), "age": tk.numeric()})
    assert "0/1" in {row["smoker"] for row in found}
    assert not any(row["smoker"].startswith("[") for row in found)


def test_a_reader_of_labels_knows_them_all():
    scale = Taxonomy.scale(["very good", "so so", "bad"])
    read = LabelReader(Domain("grade", scale))
    assert read.leaves('["very good" "so so"]').tolist() == [0, 1]
    assert read.leaves("[very good]") is None
    assert LabelReader(Domain("x", scale, sets=True)).leaves("{very good | bad}").tolist() == [0, 2]

"""The attacks that a lecture (University of Hamburg, 2016) and a thesis describe, carried out on their own tables."""

from __future__ import annotations

import polars as pl
import pytest

import tarnkappe as tk

QUASI = ["G.jahr", "PLZ"]


def printed(rows: list[tuple[str, ...]], columns: tuple[str, ...] = ("G.jahr", "PLZ", "Erkrankung")) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=list(columns), orient="row")


HOMOGENEOUS = printed([("1970", "21***", f"Hepatitis {x}") for x in "XYZY"] + [("1975", "21***", "Hepatitis X")] * 4)
BACKGROUND = printed(
    [("1970", "21***", f"Hepatitis {x}") for x in "XYZY"] + [("1975", "21***", f"Hepatitis {x}") for x in "XXYY"]
)
SIMILAR = printed(
    [("1970", "21***", d) for d in ("Diabetes", "Syphilis", "Gicht")]
    + [("1975", "21***", d) for d in ("Tripper", "Syphilis", "Chlamydien")]
)
VENEREAL, METABOLIC = ["Tripper", "Syphilis", "Chlamydien"], ["Diabetes", "Gicht"]
ILLNESSES = tk.tree({"Geschlechtskrankheit": VENEREAL, "Stoffwechsel": METABOLIC})


def attack(name: object, table: pl.DataFrame, **more: object) -> object:
    return tk.attack(name, table, quasi=QUASI, **{"sensitive": ["Erkrankung"], **more})[0]


def test_homogeneity():
    """Everybody of 1975 has Hepatitis X: four of eight people."""
    found = attack("homogeneity", HOMOGENEOUS)
    assert (found.successes, found.trials, found.rate, found.baseline) == (4, 8, 0.5, 0)
    assert found.beats_baseline
    assert "50.0 %" in found.sentence
    assert "Hepatitis" not in found.sentence, "no value of a person is told"


def test_background_knowledge():
    """Hepatitis X is ruled out for a woman of 1975, and Hepatitis Y is left; of 1970 two others are left."""
    found = attack("background-knowledge", BACKGROUND)
    assert (found.successes, found.trials, found.baseline) == (4, 8, 0)
    assert attack(tk.BackgroundKnowledge(excluded=2), BACKGROUND).rate == 1


def test_similarity():
    """Whoever was born in 1975 has a venereal disease, whichever it is."""
    found = attack("similarity", SIMILAR, sensitive={"Erkrankung": ILLNESSES})
    assert (found.successes, found.trials, found.baseline) == (3, 6, 0)
    assert attack("homogeneity", SIMILAR).rate == 0, "it is 3-diverse"


def test_skewness():
    """One in a hundred is ill, one half of a 2-diverse block."""
    rows = [("1970", "21***", "krank"), ("1970", "21***", "gesund")]
    rows += [("1975", "21***", "krank")] + [("1975", "21***", "gesund")] * 197
    found = attack(tk.Skewness(value="krank"), printed(rows))
    assert (found.rate, found.baseline) == (0.5, 0.01)
    assert found.figures["times as likely"] == pytest.approx(50)


ZIPS = pl.DataFrame({"G.jahr": ["1970-80"] * 12, "PLZ": ["21985", "21986", "21724", "21725"] * 3})
YEARS = pl.DataFrame(
    {
        "G.jahr": [year for year in ("1970", "1975", "1980") for _ in range(4)],
        "PLZ": ["2198*", "2198*", "2172*", "2172*"] * 3,
        "Erkrankung": [f"Hepatitis {x}" for x in "XYZXYZXYZXYZ"],
    }
)


def test_unsorted_matching():
    """Two tables of twelve people in the same order: all rows fit; in a random order every second would."""
    found = attack("unsorted-matching", YEARS, others=[ZIPS])
    assert (found.successes, found.trials, found.baseline) == (12, 12, 0.5)
    assert found.beats_baseline


def test_unsorted_matching_fails_after_shuffling():
    rates = []
    for seed in range(20):
        mixed = YEARS.sample(fraction=1, shuffle=True, seed=seed)
        found = attack("unsorted-matching", mixed, others=[ZIPS])
        assert found.baseline == 0.5
        rates.append(found.rate)
    assert abs(sum(rates) / 20 - 0.5) < 0.1


def test_proximity_against_k_e_anonymity():
    """(3, 5000)-anonymous, and still four of five incomes are within 100 of each other."""
    incomes = [1000, 1030, 1060, 1090, 9000]
    table = pl.DataFrame({"age": ["[20 29]"] * 5 + ["[30 39]"] * 5, "income": incomes + [x + 20000 for x in incomes]})
    income = tk.Column("income", "sensitive", "numeric")
    assert tk.verify(table, [tk.KEAnonymity("income", k=3, e=5000)], ["age"], [income]).ok
    found = tk.attack(tk.Proximity(within=100), table, quasi=["age"], sensitive=["income"])[0]
    assert (found.rate, found.baseline) == (0.8, 0.4)


def test_linkage_of_medical_data_with_a_list_of_voters():
    """The overlap of both tables is birth date, sex and postcode, which is unique for the one who is looked for."""
    voters = pl.DataFrame(
        {
            "name": ["Weld", "Adams", "Brown", "Clark"],
            "birth": ["1945-07-31", "1945-07-31", "1950-01-02", "1950-01-02"],
            "sex": ["m", "f", "m", "m"],
            "zip": ["02138", "02138", "02138", "02138"],
        }
    )
    medical = pl.DataFrame(
        {
            "birth": ["1945-07-31", "1950-01-02", "1950-01-02"],
            "sex": ["m", "m", "m"],
            "zip": ["02138"] * 3,
            "diagnosis": ["faint", "flu", "cold"],
        }
    )
    columns = ["birth", "sex", "zip"]
    found = tk.attack(tk.RecordLinkage(complete="people"), medical, quasi=columns, known=voters)[0]
    assert (found.successes, found.trials, found.baseline) == (1, 3, 1 / 4)


SALARIES = pl.DataFrame(
    {
        "PLZ": ["476**"] * 3 + ["4790*"] * 3 + ["476**"] * 3,
        "Alter": ["2*"] * 3 + ["≥40"] * 3 + ["3*"] * 3,
        "Gehalt": [3, 4, 5, 6, 11, 8, 7, 9, 10],
        "Erkrankung": [
            "Magengeschwür",
            "Gastritis",
            "Magenkrebs",
            "Gastritis",
            "Grippe",
            "Bronchitis",
            "Bronchitis",
            "Lungenentzündung",
            "Magenkrebs",
        ],
    }
)


def test_the_thesis_table_that_is_3_diverse_and_says_too_much():
    """Whoever is in the first group earns little and has a disease of the stomach."""
    kinds = tk.tree(
        {"Magen": ["Magengeschwür", "Gastritis", "Magenkrebs"], "Atem": ["Grippe", "Bronchitis", "Lungenentzündung"]}
    )
    known = {"quasi": ["PLZ", "Alter"]}
    assert tk.attack("homogeneity", SALARIES, sensitive=["Gehalt", "Erkrankung"], **known).ok
    assert tk.attack("similarity", SALARIES, sensitive={"Erkrankung": kinds}, **known)[0].rate == 3 / 9
    assert tk.attack(tk.Similarity(within=2), SALARIES, sensitive=["Gehalt"], **known)[0].rate == 3 / 9


def test_labels_of_the_thesis_are_read():
    """476** and 2* are masks of codes and of ages, ≥40 is an interval."""
    people = pl.DataFrame({"PLZ": ["47677", "47905", "47605"], "Alter": [29, 43, 36]})
    found = tk.attack("record-linkage", SALARIES, quasi=["PLZ", "Alter"], known=people)[0]
    assert found.figures["fit no record"] == 0
    assert found.figures["fewest records that fit somebody"] == 3

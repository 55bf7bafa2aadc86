"""The probability model of the synthetic census: which column depends on which, and how strongly.

::

    age ──▶ sex ──▶ marital-status (with age) ──▶ relationship (with sex, age)
     │
     └──▶ education ◀── native-country ──▶ race
              ├──▶ occupation (with sex, age) ──▶ workclass (with age) ──▶ hours-per-week (with sex, age)
              └──▶ capital-gain (with age)

The figures are in ``data/``; tables by age give some ages and are interpolated between them. They are rough
and rounded, made to resemble the working people of the United States around the year 2000. No record of a
real person went into them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

from tarnkappe.datasets.alias import AliasTable, Codes, Words
from tarnkappe.datasets.census_values import rows_of, values_of

FloatArray = NDArray[np.float64]

AGES = np.arange(16, 96)
#: The first age of each age band.
BAND_STARTS = np.array([16, 20, 25, 35, 45, 55, 65])
BAND_OF_AGE: Codes = np.searchsorted(BAND_STARTS, AGES, side="right") - 1
#: An age that stands for each band.
BAND_AGES = np.array([18, 22, 30, 40, 50, 60, 70])
BANDS = len(BAND_STARTS)

HOURS = np.arange(1, 100)
#: Amounts of capital gain: none, and 63 others on a logarithmic scale with two significant digits.
GAINS = np.concatenate([[0], [int(float(f"{x:.1e}")) for x in np.geomspace(110, 99_000, 63)]])
#: Random words that one record consumes (an even number: they are cut from 64-bit words).
WORDS_PER_RECORD = 12

#: Flattens the Zipf shares inside a major group, so that no occupation exceeds 2.5 % of all.
ZIPF_OFFSET = 1.5
#: How far (in steps of education, in years of age) people stray from what is usual in their occupation.
SCHOOLING_SPREAD = 1.5
AGE_SPREAD = 11.0


@dataclass(frozen=True)
class CensusModel:
    """One alias table per drawn column, and what links them."""

    age: AliasTable
    sex: AliasTable
    place: AliasTable
    race: AliasTable
    education: AliasTable
    marital: AliasTable
    relationship: AliasTable
    occupation: AliasTable
    workclass: AliasTable
    gain: AliasTable
    hours: AliasTable
    born_abroad: Codes
    sector: Codes
    schooling_tier: Codes

    def draw(self, words: Words) -> dict[str, Codes]:
        """One record per column of `words`: codes into `values_of`, numbers for the numeric columns."""
        age = self.age.draw(words[0])
        band = BAND_OF_AGE.take(age)
        sex = self.sex.draw(words[1], age)
        place = self.place.draw(words[2])
        race = self.race.draw(words[3], place)
        education = self.education.draw(words[4], _joint(self.born_abroad.take(place), age, len(AGES)))
        marital = self.marital.draw(words[5], _joint(sex, age, len(AGES)))
        status = _joint(sex, marital, len(values_of("marital-status")))
        relationship = self.relationship.draw(words[6], _joint(status, age, len(AGES)))
        occupation = self.occupation.draw(words[7], _joint(_joint(education, sex, 2), band, BANDS))
        workclass = self.workclass.draw(words[8], _joint(self.sector.take(occupation), age, len(AGES)))
        gain = self.gain.draw(words[9], _joint(self.schooling_tier.take(education), band, BANDS))
        hours = self.hours.draw(words[10], _joint(_joint(workclass, sex, 2), band, BANDS))
        return {
            "age": AGES.take(age),
            "workclass": workclass,
            "education": education,
            "marital-status": marital,
            "occupation": occupation,
            "relationship": relationship,
            "race": race,
            "sex": sex,
            "capital-gain": GAINS.take(gain),
            "hours-per-week": HOURS.take(hours),
            "native-country": place,
        }


@cache
def census_model() -> CensusModel:
    """The model, built once per process from the tables in ``data/``."""
    sectors = sorted({row["sector"] for row in rows_of("occupation_groups.csv")})
    sector_of_minor = {row["minor"]: sectors.index(row["sector"]) for row in rows_of("occupation_groups.csv")}
    return CensusModel(
        age=AliasTable.of(age_shares()),
        sex=AliasTable.of(given_age("sex")),
        place=AliasTable.of(place_shares()),
        race=AliasTable.of(_race_given_place()),
        education=AliasTable.of(given_age("education", {"born": ("USA", "abroad")})),
        marital=AliasTable.of(given_age("marital-status", {"sex": values_of("sex")})),
        relationship=AliasTable.of(
            given_age("relationship", {"sex": values_of("sex"), "marital-status": values_of("marital-status")})
        ),
        occupation=AliasTable.of(occupation_given()),
        workclass=AliasTable.of(given_age("workclass", {"sector": sectors})),
        gain=AliasTable.of(_gain_given_schooling_and_age()),
        hours=AliasTable.of(_hours_given_work_sex_and_age()),
        born_abroad=_born_abroad(),
        sector=np.array([sector_of_minor[row["minor"]] for row in rows_of("occupation.csv")]),
        schooling_tier=_schooling_tier(),
    )


def _joint(first: Codes, second: Codes, sizes: int) -> Codes:
    """The code of a pair, where the second code has `sizes` values."""
    return first * sizes + second


def _shares(weights: FloatArray) -> FloatArray:
    scaled: FloatArray = weights / weights.sum()
    return scaled


def given_age(column: str, others: dict[str, Sequence[str]] | None = None) -> FloatArray:
    """The distribution of a column for every combination of `others` and every single age, one row each."""
    others = others or {}
    outcomes = values_of(column)
    anchors: dict[tuple[str, ...], list[tuple[float, FloatArray]]] = {}
    for row in rows_of(f"{column}_given.csv"):
        weights = np.array([float(row[value]) for value in outcomes])
        key = tuple(row[name] for name in others)
        anchors.setdefault(key, []).append((float(row["age"]), _shares(weights)))
    blocks = []
    for key in product(*others.values()):
        ages = [age for age, _ in anchors[key]]
        shares = np.array([share for _, share in anchors[key]])
        blocks.append(np.column_stack([np.interp(AGES, ages, column) for column in shares.T]))
    return np.concatenate(blocks)


def age_shares() -> FloatArray:
    """The share of every single age."""
    anchors = rows_of("age_weights.csv")
    weights = np.interp(AGES, [float(r["age"]) for r in anchors], [float(r["weight"]) for r in anchors])
    return _shares(weights)


def place_shares() -> FloatArray:
    """The share of every state and country."""
    return _shares(np.array([float(row["per_million"]) for row in rows_of("native-country.csv")]))


def _born_abroad() -> Codes:
    return np.array([int(row["country"] != "USA") for row in rows_of("native-country.csv")])


def _race_given_place() -> FloatArray:
    """One row per place: its own if the table has one, else that of the smallest area around it."""
    given = {row["place"]: [float(row[race]) for race in values_of("race")] for row in rows_of("race_given.csv")}
    areas = ("value", "country", "region", "continent")
    return np.array([next(given[row[a]] for a in areas if row[a] in given) for row in rows_of("native-country.csv")])


def _schooling_tier() -> Codes:
    schools = list(dict.fromkeys(row["school"] for row in rows_of("education.csv")))
    return np.array([schools.index(row["school"]) for row in rows_of("education.csv")])


def occupation_shares() -> FloatArray:
    """The share of every occupation among all: Zipf-like inside its major group.

    The first occupations of the minor groups come first, then the second ones, and so on.
    """
    groups = {row["minor"]: row for row in rows_of("occupation_groups.csv")}
    rows = rows_of("occupation.csv")
    seen: dict[str, int] = {}
    place_in_minor = []
    for row in rows:
        place_in_minor.append(seen.get(row["minor"], 0))
        seen[row["minor"]] = place_in_minor[-1] + 1
    weights = np.zeros(len(rows))
    for major in dict.fromkeys(row["major"] for row in rows):
        members = [i for i, row in enumerate(rows) if row["major"] == major]
        members.sort(key=lambda i: place_in_minor[i])
        zipf = 1.0 / (np.arange(1, len(members) + 1, dtype=np.float64) + ZIPF_OFFSET)
        weights[members] = float(groups[rows[members[0]]["minor"]]["share"]) * _shares(zipf)
    return _shares(weights)


def person_shares() -> FloatArray:
    """The share of every (education, sex, age band), the context an occupation is drawn in."""
    ages, sex = age_shares(), given_age("sex")
    schooling = given_age("education", {"born": ("USA", "abroad")}).reshape(2, len(AGES), -1)
    abroad = float(place_shares() @ _born_abroad())
    education = (1 - abroad) * schooling[0] + abroad * schooling[1]
    by_age = ages[:, None, None] * education[:, :, None] * sex[:, None, :]
    shares = np.zeros((education.shape[1], sex.shape[1], BANDS))
    for band in range(BANDS):
        shares[:, :, band] = by_age[band == BAND_OF_AGE].sum(axis=0)
    return shares.ravel()


def occupation_given() -> FloatArray:
    """The distribution of occupations for every (education, sex, age band), one row each.

    Each minor group has a usual schooling, a usual age and a share of women. How well a person fits is
    scaled, by rows and by columns in turn (iterative proportional fitting), until the whole population
    shows the `occupation_shares`.
    """
    groups = {row["minor"]: row for row in rows_of("occupation_groups.csv")}
    minor = [groups[row["minor"]] for row in rows_of("occupation.csv")]
    schooling = np.array([float(g["schooling"]) for g in minor])
    usual_age = np.array([float(g["age"]) for g in minor])
    female = np.array([float(g["female"]) for g in minor])
    steps = np.arange(len(values_of("education")))
    by_schooling = np.exp(-0.5 * ((steps[:, None] - schooling) / SCHOOLING_SPREAD) ** 2)
    by_age = np.exp(-0.5 * ((BAND_AGES[:, None] - usual_age) / AGE_SPREAD) ** 2)
    by_sex = np.array([female if sex == "Female" else 1 - female for sex in values_of("sex")])
    fit = by_schooling[:, None, None] * by_sex[None, :, None] * by_age[None, None]
    joint = fit.reshape(-1, len(minor))
    # People who do not occur (a doctor of sixteen) need a distribution too, or their row would be 0 / 0.
    people, shares = np.maximum(person_shares(), 1e-12), occupation_shares()
    for _ in range(200):
        joint *= shares / joint.sum(axis=0)
        joint *= (people / joint.sum(axis=1))[:, None]
    given: FloatArray = joint / joint.sum(axis=1, keepdims=True)
    return given


def occupation_information() -> float:
    """How many bits (education, sex, age band) tell about the occupation: their mutual information.

    >>> round(occupation_information(), 2)
    1.18
    """
    given = occupation_given()
    people = person_shares()
    everybody = people @ given
    ratio = np.where(given > 0, given / everybody, 1.0)
    return float(people @ (given * np.log2(ratio)).sum(axis=1))


def _gain_given_schooling_and_age() -> FloatArray:
    """Mostly nothing; gains are likelier and larger with schooling and age."""
    likelihood = np.array([0.02, 0.05, 0.10, 0.18])[:, None] * np.interp(
        BAND_AGES, [16, 30, 50, 70], [0.1, 0.5, 1.0, 1.6]
    )
    usual = np.log([1_200, 2_000, 4_000, 8_000])
    amounts = np.exp(-0.5 * ((np.log(GAINS[1:]) - usual[:, None]) / 1.3) ** 2)
    amounts /= amounts.sum(axis=1, keepdims=True)
    some = likelihood[:, :, None] * amounts[:, None, :]
    return np.concatenate([1 - likelihood[:, :, None], some], axis=2).reshape(-1, len(GAINS))


def _hours_given_work_sex_and_age() -> FloatArray:
    """A mixture of part-time, full-time and long weeks, one row per (workclass, sex, age band)."""
    profiles = {name: np.zeros(len(HOURS)) for name in ("part", "full", "long")}
    for name, first, last in (("part", 1, 34), ("full", 35, 45), ("long", 44, 99)):
        profiles[name][first - 1 : last] = 0.2  # every number of hours occurs
    for row in rows_of("hours_profiles.csv"):
        profiles[row["profile"]][int(row["hours"]) - 1] += float(row["weight"])
    part_odds = np.interp(BAND_AGES, [16, 20, 25, 45, 60, 70], [5.0, 1.0, 0.16, 0.11, 0.2, 0.9])
    long_odds = {"Self-emp-inc": 0.9, "Self-emp-not-inc": 0.55, "Private-profit": 0.25, "Without-pay": 0.25}
    by_sex = {"Female": (1.6, 0.55), "Male": (0.6, 1.3)}
    rows = []
    for work, sex, band in product(values_of("workclass"), values_of("sex"), range(BANDS)):
        part, long = by_sex[sex]
        odds = (part * part_odds[band], 1.0, long * long_odds.get(work, 0.17))
        mixed = [o * _shares(p) for o, p in zip(odds, profiles.values(), strict=True)]
        rows.append(np.sum(mixed, axis=0))
    return np.array(rows)

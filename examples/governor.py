"""A governor's stay in hospital: how a commission gave away diagnoses without names, and what would have prevented it.

In 1997 a student bought the voter list of Cambridge for twenty dollars and joined it with such a file. Six voters had
the governor's date of birth, three of them were men, one lived at his postcode. Here all people are made up: a city of
voters, the hospital stays of some of them, and a join of both.
Run it:  python examples/governor.py
"""

import numpy as np
import polars as pl

import tarnkappe as tk

KNOWN = ["birth", "sex", "zip"]
POSTCODES = [f"0213{i}" for i in range(2, 10)]


def voters(n: int = 20_000, seed: int = 1997) -> pl.DataFrame:
    """The list that anybody can buy; the governor is somewhere on it."""
    rng = np.random.default_rng(seed)
    days = pl.Series(rng.integers(-8000, 365 * 20, n)).cast(pl.Int32).cast(pl.Date).cast(pl.String)
    people = pl.DataFrame(
        {
            "name": ["the governor", *(f"voter {i}" for i in range(1, n))],
            "birth": days,
            "sex": rng.choice(["f", "m"], n),
            "zip": rng.choice(POSTCODES, n),
        }
    )
    # As it was then: six with his date of birth, three of them men, and he alone at his postcode.
    six, three = pl.int_range(n) < 6, pl.int_range(n) < 3
    people = people.with_columns(
        birth=pl.when(six).then(pl.lit("1945-07-31")).otherwise("birth"),
        sex=pl.when(six).then(pl.when(three).then(pl.lit("m")).otherwise(pl.lit("f"))).otherwise("sex"),
        zip=pl.when(pl.int_range(n) == 0).then(pl.lit("02138")).when(six).then(pl.lit("02139")).otherwise("zip"),
    )
    return people.sample(fraction=1, shuffle=True, seed=seed)


def stays(people: pl.DataFrame, n: int = 2_000, seed: int = 1) -> pl.DataFrame:
    """What the commission gave to researchers: no names, so it was thought to be anonymous."""
    rng = np.random.default_rng(seed)
    governor = people.filter(pl.col("name") == "the governor")
    ill = pl.concat([governor, people.filter(pl.col("name") != "the governor").sample(n - 1, seed=seed)])
    return ill.with_columns(
        diagnosis=pl.Series(rng.choice(["faint", "flu", "fracture", "asthma"], n, p=[0.2, 0.4, 0.2, 0.2]))
    ).sample(fraction=1, shuffle=True, seed=seed)


def main() -> None:
    """Replay the case, then publish the stays so that it fails."""
    register = voters()
    given_away = stays(register)
    anonymous = given_away.drop("name")

    governor = register.filter(pl.col("name") == "the governor")
    same_day = register.filter(pl.col("birth") == governor["birth"][0])
    men_or_women = same_day.filter(pl.col("sex") == governor["sex"][0])
    nearby = men_or_women.filter(pl.col("zip") == governor["zip"][0])
    print(
        f"voters born on his day {same_day.height}, of his sex {men_or_women.height}, at his postcode {nearby.height}"
    )

    linking = tk.RecordLinkage(complete="people")  # the register lists everybody who could be meant
    found = tk.attack(linking, anonymous, quasi=KNOWN, known=register)[0]
    print(f"stays that point at one voter: {found.rate:.0%} of {found.trials}")
    risk = tk.risk(
        register.drop("name"),
        quasi={"birth": tk.dates("month", "year", "decade"), "zip": tk.prefix(4), "sex": tk.suppress()},
        grid=("birth", "zip"),
    )
    assert risk.grid is not None
    print("voters who are unique, by levels of both columns (0: as they are):")
    print(risk.grid.table)

    job = tk.Job(
        quasi={"birth": tk.dates("year", "decade"), "sex": tk.suppress(), "zip": tk.prefix(4)},
        sensitive=["diagnosis"],
        identifiers=["name"],
        criteria=[tk.KAnonymity(5), tk.LDiversity("diagnosis", 2)],
        attacks=[tk.RecordLinkage()],  # no release unless this fails
    )
    release = job.anonymize(given_away, seed=1)
    after = tk.attack(linking, release, known=register)[0]
    print(f"after anonymisation: {after.rate:.0%} point at one voter, groups of at least {release.smallest_group}")
    assert (same_day.height, men_or_women.height, nearby.height) == (6, 3, 1)
    assert after.successes == 0 < found.successes


if __name__ == "__main__":
    main()

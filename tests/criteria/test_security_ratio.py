"""The security ratio of centres: promised by every algorithm that publishes them, read off the written files."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import tarnkappe as tk
from tarnkappe.audit import audit
from tarnkappe.cli.app import app
from tarnkappe.criteria.security_ratio import SecurityRatio
from tarnkappe.distances import Distances
from tarnkappe.errors import JobError, VerificationError
from tarnkappe.groups import GroupStats
from tarnkappe.testing import check_criterion


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    """Incomes in tight clusters: the mean of near records tells all of them."""
    rng = np.random.default_rng(1)
    n = 240
    return pl.DataFrame(
        {
            "id": [f"p{i}" for i in range(n)],
            "income": (rng.integers(0, 12, n) * 1000 + rng.integers(0, 3, n)).astype(float),
            "age": [None if i % 50 == 0 else a for i, a in enumerate(rng.integers(18, 90, n).tolist())],
            "illness": rng.choice(["flu", "angina"], n),
        }
    )


def job(algorithm: str | dict, *criteria: tk.SecurityRatio, **settings) -> tk.Job:
    return tk.Job(
        quasi={"income": tk.numeric(), "age": tk.numeric()},
        sensitive=["illness"],
        drop=["id"],
        criteria=[tk.KAnonymity(4), *criteria],
        algorithm=algorithm,
        missing_rule="own-value",
        seed=3,
        **settings,
    )


def plain_ratio(rows, epsilon: float) -> Fraction:
    """The smallest ratio over groups; `rows` has what is published for a record, then its number."""
    groups = defaultdict(list)
    for *label, before in rows:
        groups[tuple(label)].append((label[0], before))
    return min(Fraction(sum(abs(x - b) >= epsilon for x, b in g), len(g)) for g in groups.values())


def test_it_obeys_the_laws():
    check_criterion(SecurityRatio("income", 5.0, 0.5))


def test_level_by_hand():
    """Two of three records are 2 or more away; in the other group nobody is."""
    distances = Distances(np.array([0, 0, 1]), np.array([3.0, 1.0, 0.5]), np.array([2, 1, 4]))
    stats = GroupStats(np.array([3, 4]), {}, distances={"income": distances})
    found = SecurityRatio("income", 2.0, 0.5)
    assert found.level(stats).tolist() == pytest.approx([2 / 3, 0.0])
    assert found.satisfied(stats).tolist() == [True, False]
    assert SecurityRatio("income", 2.0, 2 / 3).satisfied(stats).tolist() == [True, False]
    assert found.level(stats.kept(np.array([False, True]))).tolist() == [0.0]


def test_whoever_chooses_centres_can_promise_it(people: pl.DataFrame):
    chosen = {"name": "auto", "publish": "centres"}
    release = job(chosen, SecurityRatio("income", 5.0, 0.5), max_suppressed=0.0).anonymize(people, seed=3)
    assert all(v.ok for v in release.verdicts)


@pytest.mark.parametrize("separator", [";", ","])
def test_in_a_file_with_decimal_commas(people: pl.DataFrame, tmp_path, separator: str):
    """What is read back from the file is what was meant, however numbers are written."""
    comma = separator == ";"
    income = people["income"].round(1).cast(pl.String)
    table = people.with_columns((income.str.replace(".", ",", literal=True) if comma else income).alias("income"))
    table.write_csv(tmp_path / "people.csv", separator=separator)
    asked = job("mdav", SecurityRatio("income", 5.0, 0.5), data=str(tmp_path / "people.csv"))
    release = tk.run_job(asked, folder=tmp_path / "release")
    assert all(v.ok for v in release.verdicts)
    assert audit(tmp_path / "release").ok


@pytest.mark.parametrize("algorithm", ["mdav", "v-mdav", "tarn", "k-ward", "condensation", "kanonymeans"])
def test_every_centroid_release_can_promise_it(people: pl.DataFrame, algorithm: str, tmp_path):
    """Without it some group tells its records' incomes; with it, none does: counted in what was written and kept."""
    bare = job(algorithm).anonymize(people, seed=3)
    assert bare.table is not None
    asked = SecurityRatio("income", 5.0, 0.5)
    release = job(algorithm, asked).anonymize(people, seed=3).save(tmp_path / "release")
    written = pl.read_parquet(next((tmp_path / "release/public").glob("*.parquet")))
    told = pl.read_parquet(tmp_path / "release/do-not-share/originals.parquet")
    records = told.columns[0]
    spread = told.select(pl.exclude(records).repeat_by(records).explode())
    assert sorted(spread["income (original)"].to_list()) == sorted(people["income"].to_list())
    rows = spread.select("income", "age", "income (original)").rows()
    shown = written.select("income", "age").rows()
    assert sorted(map(str, shown)) == sorted(str(row[:2]) for row in rows)
    assert plain_ratio(rows, 5.0) >= Fraction(1, 2)
    verdict = next(v for v in release.verdicts if v.criterion == "security-ratio")
    assert verdict.ok
    assert verdict.reached == pytest.approx(float(plain_ratio(rows, 5.0)))
    assert audit(tmp_path / "release").ok
    moved = float(written["income"].mean() - people["income"].mean())
    assert abs(moved) < 5


def test_readers_are_not_told_how_near_it_was(people: pl.DataFrame, tmp_path):
    release = job("mdav", SecurityRatio("income", 5.0, 0.5)).anonymize(people, seed=3).save(tmp_path / "release")
    told = [v for v in release.public_manifest["verdicts"] if v["criterion"] == "security-ratio"]
    assert len(told) == 1
    assert np.isnan(told[0]["reached"]) or told[0]["reached"] is None
    assert "originals" not in "".join(p.name for p in (tmp_path / "release/public").iterdir())


def test_a_changed_file_is_found_out(people: pl.DataFrame, tmp_path):
    job("mdav", SecurityRatio("income", 5.0, 0.5)).anonymize(people, seed=3).save(tmp_path / "release")
    kept = tmp_path / "release/do-not-share/originals.parquet"
    told = pl.read_parquet(kept)
    told.with_columns(pl.col("income").alias("income (original)")).write_parquet(kept)
    found = audit(tmp_path / "release")
    assert not found.ok
    assert next(v.reached for v in found.found.verdicts if v.criterion == "security-ratio") == 0.0
    told.head(10).write_parquet(kept)
    with pytest.raises(VerificationError, match="E505"):
        audit(tmp_path / "release")
    kept.unlink()
    without = audit(tmp_path / "release")
    assert not without.ok
    assert without.unchecked


def test_a_foreign_table_with_its_original(tmp_path):
    before = pl.DataFrame({"income": [10.0, 11.0, 12.0, 50.0, 60.0, 70.0], "sex": ["f"] * 6})
    after = before.with_columns(pl.Series("income", [11.0] * 3 + [60.0] * 3))
    found = tk.verify(after, [SecurityRatio("income", 1.0, 0.6)], ["income", "sex"], witness=before)
    assert found.ok
    assert found.verdicts[0].reached == pytest.approx(2 / 3)
    assert not tk.verify(after, [SecurityRatio("income", 5.0, 0.6)], ["income", "sex"], witness=before).ok
    with pytest.raises(JobError, match="nothing says which numbers"):
        tk.verify(after, [SecurityRatio("income", 1.0)], ["income", "sex"])
    before.write_csv(tmp_path / "before.csv")
    after.write_csv(tmp_path / "after.csv")
    words = ["verify", str(tmp_path / "after.csv"), "--quasi", "income,sex", "--witness", str(tmp_path / "before.csv")]
    for epsilon, code in ((1, 0), (5, 5)):
        asked = ["--criterion", f"security-ratio:column=income,epsilon={epsilon},gamma=0.6"]
        shown = CliRunner().invoke(app, [*words, *asked])
        assert shown.exit_code == code, shown.output


@pytest.mark.parametrize(
    ("algorithm", "criterion", "code"),
    [
        ("mondrian", SecurityRatio("income", 5.0), "E111"),
        ("mdav", SecurityRatio("incme", 5.0), "E105"),
    ],
)
def test_what_cannot_be_promised(people: pl.DataFrame, algorithm: str, criterion: SecurityRatio, code: str):
    with pytest.raises(JobError, match=code):
        job(algorithm, criterion).anonymize(people, seed=3)


def test_almost_equal_groups_are_worth_a_word(people: pl.DataFrame):
    """MDAV puts clusters together, whose centre is then everybody's income; who asks for a ratio hears nothing."""
    told = [n for n in job("mdav").anonymize(people, seed=3).notices if n.code == "W629"]
    assert len(told) == 1
    assert "income" in told[0].message
    assert told[0].internal
    asked = job("mdav", SecurityRatio("income", 5.0, 0.5)).anonymize(people, seed=3)
    assert not [n for n in asked.notices if n.code == "W629"]

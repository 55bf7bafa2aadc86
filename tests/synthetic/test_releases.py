"""Whole releases of made-up people: the written files are read by plain code, and what is told depends on nobody."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import tarnkappe as tk
from tarnkappe.cli.app import app
from tarnkappe.datasets import census
from tarnkappe.datasets.generate import generate_table
from tarnkappe.errors import TarnkappeError, VerificationError
from tarnkappe.job.files import load_job
from tarnkappe.job.synthetic import load_synthetic_job, synthetic_json_schema
from tarnkappe.synthetic import Budget, audit_synthetic, domains, model, release
from tarnkappe.synthetic.quality import Tried, exposure

RUN = CliRunner()
COLUMNS = {
    "age": {"low": 16, "high": 95, "width": 10},
    "sex": ["Female", "Male"],
    "race": tk.tree({"White": ["White"], "Others": ["Black", "Asian", "Other-race"]}),
}
METHODS = {
    "trees": {"k": 6},
    "copula": {"k": 6},
    "marginals": {"epsilon": 1.0},
    "diffgen": {"epsilon": 1.0, "target": "sex", "steps": 3},
    "alpha-beta": {"d": 0.01, "gamma": 0.3},
}
MECHANISMS = ("marginals", "diffgen", "alpha-beta")
PEOPLE = census(900, 5).select("age", "sex", "race", "education")


def made(method: str, data: object = PEOPLE, **more: object) -> tk.synthetic.SyntheticRelease:  # type: ignore[name-defined]
    return tk.synthesize(data, method, columns=COLUMNS, rest="drop", seed=3, **{**METHODS[method], **more})


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("format_", ["csv", "parquet"])
def test_what_is_written_is_what_was_promised(method: str, format_: str, tmp_path: Path):
    file = tmp_path / f"people.{format_}"
    (PEOPLE.write_csv if format_ == "csv" else PEOPLE.write_parquet)(file)
    found = made(method, file, folder=tmp_path / "out")
    public = tmp_path / "out" / "public"
    read = pl.read_csv if format_ == "csv" else pl.read_parquet
    table = read(public / file.name)
    assert table.columns == ["age", "sex", "race"]
    assert set(table["sex"].drop_nulls()) <= {"Female", "Male"}
    told = json.loads((public / "manifest.json").read_text())
    assert told["tables"][0]["rows"] == table.height > 0
    assert told["synthetic"]["method"] == method
    assert all(v["ok"] for v in told["verdicts"])
    if method in ("trees", "copula"):
        bins = [np.asarray(d.encode(t[d.name])) for t in (PEOPLE, table) for d in _domains()]
        people, rows = (list(zip(*(b.tolist() for b in part), strict=True)) for part in (bins[:3], bins[3:]))
        held = {row: people.count(row) for row in set(people)}
        assert all(held.get(row, 6) >= 6 for row in set(rows))
    if method == "marginals":
        assert table["age"].drop_nulls().is_between(16, 95).all()
        assert abs(table.height - 900) < 120
    if method == "alpha-beta":
        assert table.n_unique() == table.height
    assert found.folder == tmp_path / "out"
    assert audit_synthetic(tmp_path / "out").ok
    again = made(method, file, folder=tmp_path / "again")
    assert (tmp_path / "again" / "public" / file.name).read_bytes() == (public / file.name).read_bytes()
    assert again.verdicts == found.verdicts


def _domains() -> list[domains.Coded]:
    specs = {name: release.column_from(given, name) for name, given in COLUMNS.items()}
    return [
        domains.declared(n, s) if s.type == "categorical" else domains.found(n, PEOPLE[n].cast(pl.Float64), s, 6, 50)
        for n, s in specs.items()
    ]


@pytest.mark.parametrize("method", METHODS)
def test_frames_of_every_kind_and_without_a_trace_of_names(method: str):
    found = made(method, PEOPLE.to_arrow())
    assert type(found.table).__module__.startswith("pyarrow")
    shown = found._repr_html_() + json.dumps(found.as_dict())
    assert "people" not in found.for_readers().private_manifest
    assert found.for_readers().likeness is None
    assert "900" not in shown or method not in MECHANISMS


def test_what_was_not_drawn_is_noticed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Sabotage: one value changed on its way into the file, one row too many, a value that nobody may have."""
    real = model.Model.decode

    def changed(how):
        def decode(self, codes, rng):
            return how(real(self, codes, rng))

        return decode

    def put(name, value):
        seventh = pl.int_range(pl.len()) == 7
        return lambda t: t.with_columns(pl.when(seventh).then(pl.lit(value)).otherwise(name).alias(name))

    wrong = {
        "another value": put("age", 16),
        "a row more": lambda t: pl.concat([t, t[:1]]),
        "a stranger": put("sex", "x"),
        "a number outside": lambda t: t.with_columns(pl.col("age") + 200),
    }
    for how in wrong.values():
        monkeypatch.setattr(model.Model, "decode", changed(how))
        with pytest.raises(VerificationError, match="E501"):
            made("marginals", folder=tmp_path / "out")
        assert list(tmp_path.iterdir()) == []


def test_copies_that_slip_through_are_noticed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(model.Copied, "draw_apart", lambda self, n, people, rng: people.copy())
    with pytest.raises(VerificationError, match="copies of fewer than 6"):
        made("copula", folder=tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


ODD = {
    "an ordinary one": {},
    "a number above the top": {"age": "1e300"},
    "no number": {"age": "unknown"},
    "a fraction": {"age": "29.5"},
    "another sex": {"sex": "x"},
    "delimiters in the text": {"race": "a;b;c;d\t,"},
    "a quote": {"race": 'so "called"'},
    "beyond ASCII": {"race": "Ménière 漢"},
    "nothing": {"age": "", "sex": "", "race": ""},
}


@pytest.mark.parametrize("method", MECHANISMS)
def test_one_record_changes_nothing_that_is_told(method: str, tmp_path: Path):
    """Only rows may differ, which chance decides about; the rest is compared word by word."""
    seen = {}
    plain = PEOPLE.with_columns(pl.col("age").cast(pl.String))
    for name, odd in {"without": None, **ODD}.items():
        rows = [] if odd is None else [{**plain.row(0, named=True), **odd}]
        data = pl.concat([pl.DataFrame(rows, plain.schema), plain]) if rows else plain
        folder = tmp_path / name
        folder.mkdir()
        data.write_csv(folder / "people.csv")
        made(method, folder / "people.csv", folder=folder / "out", audit=False)
        public = folder / "out" / "public"
        told = json.loads((public / "manifest.json").read_text())
        for by_chance in ("made", "sha256"):
            told.pop(by_chance)
        for table in told["tables"]:
            table.pop("sha256")
            table.pop("rows")
        if method == "diffgen":  # which labels there are is drawn too
            told["synthetic"].pop("columns")
        header = (public / "people.csv").read_text().split("\n", 1)[0]
        files = sorted(p.name for p in public.iterdir())
        assert set(files) <= {"people.csv", "manifest.json", "report.html", "codebook.csv"}
        report = re.sub("<style.*?</style>", "", (public / "report.html").read_text("utf-8"), flags=re.DOTALL)
        seen_rows = pl.read_csv(public / "people.csv", infer_schema=False).height
        dates = r"20\d\d-\d\d-\d\d[^<]*"
        report = re.sub(rf"[0-9a-f]{{64}}|{dates}|(?<![\d.]){seen_rows}(?!\d)", "", report)
        seen[name] = (told, header, files, "" if method == "diffgen" else report)
    for name, what in seen.items():
        assert what[:3] == seen["without"][:3], name
        assert what[3].splitlines() == seen["without"][3].splitlines(), name


def test_noise_for_other_people_is_other_noise():
    """One seed for two tables that differ in one person: what differs must not be that person alone."""
    tables = [made("marginals", data, records=300).table for data in (PEOPLE, PEOPLE[1:])]
    assert sum(a != b for a, b in zip(*(t.rows() for t in tables), strict=True)) > 100


def test_what_is_not_declared_is_told_to_whoever_made_the_release():
    found = made("marginals", PEOPLE.with_columns(sex=pl.lit("x")))
    assert "'sex' is missing in 900 of 900 records" in " ".join(n.message for n in found.notices)
    assert "W630" not in {n.code for n in found.for_readers().notices}


def test_budgets_add_up_over_releases(tmp_path: Path):
    budget = {"file": str(tmp_path / "budget.jsonl"), "dataset": "census", "epsilon": 1.0}
    for epsilon in (0.3, 0.5):
        made("marginals", epsilon=epsilon, budget=budget, folder=tmp_path / f"out{epsilon}")
    kept = Budget(tmp_path / "budget.jsonl", "census", 1.0)
    assert kept.spent() == pytest.approx(0.8)
    with pytest.raises(TarnkappeError, match=r"E452 .*0.2 left"):
        made("marginals", epsilon=0.3, budget=budget, folder=tmp_path / "more")
    assert not (tmp_path / "more").exists()
    made("diffgen", epsilon=0.2, budget=budget)
    with pytest.raises(TarnkappeError, match="E452"):
        made("marginals", epsilon=0.1, budget=budget)
    made("marginals", epsilon=0.1, budget={**budget, "dataset": "others"})
    lines = (tmp_path / "budget.jsonl").read_text().splitlines()
    assert [json.loads(x)["epsilon"] for x in lines] == [0.3, 0.5, 0.2, 0.1]
    (tmp_path / "budget.jsonl").write_text(lines[0] + "\n{}\n")
    with pytest.raises(TarnkappeError, match="E453"):
        made("marginals", epsilon=0.1, budget=budget)
    (tmp_path / "budget.jsonl").unlink()
    (tmp_path / ".budget.jsonl.lock").write_text("")
    with pytest.raises(TarnkappeError, match="E603"):
        made("marginals", epsilon=0.1, budget=budget, folder=tmp_path / "more")
    assert not (tmp_path / "more").exists()


def test_budgets_with_a_delta_add_up_more_slowly(tmp_path: Path):
    path = tmp_path / "budget.jsonl"
    plain, kept = Budget(path, "census", 5.0), Budget(path, "census", 2.0, 1e-5)
    for _ in range(20):
        kept.spend(0.4, 1e-7, "small")
    assert kept.spent() < 2.0 < 20 * 0.4
    assert plain.spent() == float("inf")
    with pytest.raises(TarnkappeError, match=r"E452 .*delta"):
        Budget(tmp_path / "new.jsonl", "census", 2.0).require(0.1, 1e-7)
    budget = {"file": str(tmp_path / "new.jsonl"), "dataset": "census", "epsilon": 1.0, "delta": 1e-6}
    found = made("marginals", delta=1e-6, budget=budget)
    assert found.verdicts[0].asked == "ε ≤ 1, δ = 1e-06"
    with pytest.raises(TarnkappeError, match="E452"):
        made("marginals", delta=1e-6, budget=budget)


BAD = {
    "E103": [{"method": "marginals"}, {"method": "diffgen", "epsilon": 1.0}, {"method": "alpha-beta", "d": 0.1}],
    "E110": [
        {"method": "trees", "epsilon": 1.0},
        {"method": "trees", "k": 1},
        {"method": "trees", "records": 0},
        {"method": "dreams"},
        {"method": "alpha-beta", "d": 0.3, "gamma": 0.2},
        {"method": "alpha-beta", "d": 0.01, "gamma": 0.2, "records": 5},
        {"method": "trees", "columns": {"age": {"low": 9, "high": 1}}},
        {"method": "trees", "columns": {"age": {"low": 0.5, "high": 1}}},
        {"method": "trees", "columns": {"sex": {"values": ["f", "f"]}}},
        {"method": "trees", "columns": {"sex": 7}},
        {
            "method": "marginals",
            "epsilon": 1.0,
            "columns": {"age": {"low": 0, "high": 1e9, "width": 1}},
            "rest": "drop",
        },
    ],
    "E111": [
        {"method": "marginals", "epsilon": 1.0, "columns": {"age": "numeric"}},
        {"method": "marginals", "epsilon": 1.0, "columns": {"sex": "categorical"}},
        {"method": "marginals", "epsilon": 1.0, "columns": {"sex": tk.suppress()}, "rest": "drop"},
        {"method": "marginals", "epsilon": 1.0, "rest": "keep"},
        {"method": "trees", "budget": {"file": "b", "dataset": "x", "epsilon": 1.0}},
    ],
    "E101": [{"method": "marginals", "epsilon": 1.0, "columns": {"sex": ["f"]}}],
    "E102": [{"method": "trees", "epsilom": 1.0}],
    "E105": [{"method": "diffgen", "epsilon": 1.0, "target": "age", "columns": COLUMNS, "rest": "drop"}],
    "E106": [{"method": "trees", "rest": "drop", "columns": {}}],
    "E410": [{"method": "trees", "columns": {"agee": "numeric"}, "rest": "drop"}],
    "E406": [{"method": "trees", "columns": {"sex": "numeric"}, "rest": "drop"}],
}


@pytest.mark.parametrize(("code", "settings"), [(c, s) for c, several in BAD.items() for s in several])
def test_bad_input_gets_a_clear_error_and_nothing_is_written(code: str, settings: dict, tmp_path: Path):
    with pytest.raises(TarnkappeError) as refused:
        tk.synthesize(PEOPLE, folder=tmp_path / "out", **settings)
    assert refused.value.code == code
    assert refused.value.hint or code == "E406"
    assert list(tmp_path.iterdir()) == []


def test_a_method_that_copies_is_found_out():
    rng = np.random.default_rng(1)
    plain = tuple(domains.Names(f"c{j}", -1, tuple(map(str, range(9))), 0) for j in range(6))
    people = rng.integers(0, 9, (2000, 6)).astype(np.int32)
    copied = exposure(people, lambda some, _: Tried(some, plain, lambda c: c), rng)
    fresh = exposure(
        people, lambda some, r: Tried(r.integers(0, 9, some.shape).astype(np.int32), plain, lambda c: c), rng
    )
    assert copied is not None
    assert fresh is not None
    assert copied.nearer > 0.98
    assert copied.auc > 0.98
    assert copied.found > 0.95
    assert abs(fresh.nearer - 0.5) < 0.05
    assert abs(fresh.auc - 0.5) < 0.05
    assert fresh.found < 0.05


def test_an_attacker_knows_that_copies_are_not_drawn():
    """Whoever is published as they are is not in the data: that is found out, too."""
    rng = np.random.default_rng(2)
    plain = (domains.Numbers("x", -1, np.arange(5000), np.arange(5000), 1.0, 0),)
    people = rng.permutation(4000).astype(np.int32)[:, None]

    def others(some: np.ndarray, r: np.random.Generator) -> Tried:
        return Tried(np.setdiff1d(people[:, 0], some[:, 0]).astype(np.int32)[:, None], plain, lambda c: c)

    found = exposure(people, others, rng)
    assert found is not None
    assert found.found > 0.9


JOB = """
data: {path: people.csv}
synthetic: {method: trees, k: 6, audit: false}
columns:
  age: {low: 16, high: 95, width: 5}
  sex: [Female, Male]
  race: {taxonomy: {kind: tree, tree: {White: [White], Others: [Black, Asian, Other-race]}}}
  education: drop
output: {folder: out}
seed: 1
"""


def test_from_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    PEOPLE.write_csv("people.csv")
    Path("job.yaml").write_text(JOB)
    assert "sex (3 values)" in RUN.invoke(app, ["check", "job.yaml"]).output
    dry = RUN.invoke(app, ["run", "job.yaml", "--dry-run", "--json"])
    assert json.loads(dry.stdout)["synthetic"]["k"] == 6
    assert not Path("out").exists()
    done = RUN.invoke(app, ["run", "job.yaml"])
    assert done.exit_code == 0
    assert "made-up records" in done.output
    assert "W656" in done.output
    assert "keeps all of the promise that can be checked" in RUN.invoke(app, ["verify", "out"]).output
    again = load_synthetic_job("out/do-not-share/job.yaml")
    assert again.synthetic == load_synthetic_job("job.yaml").synthetic
    written = Path("out/public/people.csv")
    lines = written.read_text().splitlines()
    rerun = RUN.invoke(app, ["run", "out/do-not-share/job.yaml", "-o", "second"])
    assert rerun.exit_code == 0
    assert Path("second/public/people.csv").read_text().splitlines() == lines
    written.write_text("\n".join([*lines, lines[1]]) + "\n")
    assert RUN.invoke(app, ["verify", "out"]).exit_code == 5
    with pytest.raises(TarnkappeError, match="E102 this job file is about made-up people"):
        load_job("job.yaml")
    schema = json.loads(RUN.invoke(app, ["schema", "synthetic"]).stdout)
    assert schema == json.loads(json.dumps(synthetic_json_schema()))


def test_test_data_of_any_length(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    assert RUN.invoke(app, ["generate", "census", "-n", "300", "-o", "a.csv", "--seed", "2"]).exit_code == 0
    assert pl.read_csv("a.csv").equals(census(300, 2))
    done = RUN.invoke(app, ["generate", "a.csv", "--records", "5000", "-o", "b.parquet", "--seed", "1"])
    assert done.exit_code == 0
    assert "W658" in done.output
    many, few = pl.read_parquet("b.parquet"), pl.read_csv("a.csv", infer_schema=False)
    assert many.columns == few.columns
    assert many.height == 5000
    share = [t["sex"].value_counts(normalize=True).sort("sex")["proportion"].to_list() for t in (few, many)]
    assert share[0] == pytest.approx(share[1], abs=0.03)
    assert RUN.invoke(app, ["generate", "sim-c", "-n", "50", "-o", "c.csv", "--columns", "3"]).exit_code == 0
    assert pl.read_csv("c.csv").shape == (50, 3)
    for words, code in ((["a.csv"], "E601"), (["b.xlsx"], "E110"), (["no/b.csv"], "E603")):
        refused = RUN.invoke(app, ["generate", "a.csv", "-n", "5", "-o", *words])
        assert refused.exit_code != 0
        assert code in refused.output
    assert "E602" in RUN.invoke(app, ["generate", "a.csv", "-n", "5", "-o", "a.csv", "--overwrite"]).output
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.csv", "b.parquet", "c.csv"]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["census", "--records", "0"], "E108", "greater than or equal to 1"),
        (["cenus", "--records", "5"], "E401", "did you mean 'census'?"),
        (["sim_u", "--records", "5"], "E401", "tarnkappe generate sim-u"),
        (["weather", "--records", "5"], "E401", "one of census, sim-u, sim-c"),
        (["weather.csv", "--records", "5"], "E401", "does not exist"),
    ],
)
def test_test_data_that_cannot_be_made(words, code, said, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    refused = RUN.invoke(app, ["generate", *words, "-o", "a.csv"])
    assert refused.exit_code != 0
    assert code in refused.output
    assert said in " ".join(refused.output.split())
    assert not list(tmp_path.iterdir())
    with pytest.raises(TarnkappeError, match="E110 n must be a whole number of at least 1"):
        generate_table("census", 0, "a.csv")


def test_columns_that_are_not_decided_about_are_not_asked_for_roles():
    """Nothing of them is published, so roles would be refused."""
    with pytest.raises(TarnkappeError, match="E101") as error:
        tk.synthesize(PEOPLE, method="trees", k=6, columns={"sex": ["Female", "Male"]})
    assert "quasi" not in str(error.value)
    assert "{low: 0, high: 90, width: 10}, [f, m] or {}, or: drop" in str(error.value)


def test_an_interval_is_not_called_a_value():
    """Leaves of numbers are intervals too."""
    entries = made("diffgen", steps=8, epsilon=50.0).codebook
    assert {e.column for e in entries if e.meaning == "The value itself."} <= {"sex", "race"}
    assert all(e.meaning == "A value of this group, or in this range." for e in entries if e.label.startswith("["))


def test_the_budget_does_not_lie_in_the_release(tmp_path: Path):
    """There it would be replaced together with the release that it remembers."""
    made("marginals", folder=tmp_path / "out")
    budget = {"file": str(tmp_path / "out" / "do-not-share" / "budget.jsonl"), "dataset": "census", "epsilon": 1.0}
    with pytest.raises(TarnkappeError, match="E602"):
        made("marginals", budget=budget, folder=tmp_path / "out", overwrite=True)


VISITS = pl.DataFrame(
    {
        "email": [f"someone{i // 12}@example.org" for i in range(600)],
        "pid": [i // 12 for i in range(600)],
        "ward": ["east", "west", "north"] * 200,
    }
)


@pytest.mark.parametrize("method", ["trees", "copula"])
def test_values_that_name_people_are_not_drawn_however_many_records_share_them(method: str):
    with pytest.raises(TarnkappeError) as refused:
        tk.synthesize(VISITS, method, rest="keep", k=3, seed=1)
    assert refused.value.code == "E604"
    assert refused.value.hint == "columns: {email: drop}"
    assert "(quasi)" not in str(refused.value)
    columns = {"email": [f"someone{i}@example.org" for i in range(3)]}  # written down, so somebody has looked
    assert tk.synthesize(VISITS, method, columns={**columns, "pid": "drop"}, rest="keep", k=3, seed=1).table.height > 0


@pytest.mark.parametrize("columns", [{"email": "drop"}, {"email": "drop", "pid": "drop"}])
def test_people_with_several_records_are_not_called_people(columns: dict[str, str]):
    made = tk.synthesize(VISITS, "trees", columns=columns, rest="keep", k=3, seed=1)
    assert any(n.code == "W604" and "550 of 600 rows" in n.message for n in made.notices)
    assert not any("people" in verdict.asked for verdict in made.verdicts)


def test_the_check_refuses_what_the_run_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    VISITS.write_csv("visits.csv")
    job = "data: {path: visits.csv}\nsynthetic: {method: trees, k: 3}\nrest: keep\noutput: {folder: out}\n"
    Path("job.yaml").write_text(job)
    assert "E604" in RUN.invoke(app, ["check", "job.yaml"]).output
    Path("job.yaml").write_text(job + "columns: {email: drop}\n")  # the fix that was offered
    assert RUN.invoke(app, ["check", "job.yaml"]).exit_code == 0

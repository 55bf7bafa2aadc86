"""Whole releases of sets of items: what was written is read and checked by plain Python."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain import TREE, TREE_FILE, UP, chunks_keep, is_recoding, keeps, read_rows, read_sets
from typer.testing import CliRunner

import tarnkappe as tk
from grids import examples
from tarnkappe.baskets import audit_items, recoded, run_items
from tarnkappe.baskets.dissected import Dissected
from tarnkappe.cli.app import app
from tarnkappe.errors import (
    DataError,
    InfeasibleError,
    JobError,
    TarnkappeError,
    TaxonomyError,
    VerificationError,
)
from tarnkappe.job.files import load_job
from tarnkappe.job.items import items_json_schema, load_items_job

BASKETS = st.lists(st.sets(st.sampled_from(sorted(UP)), max_size=5), min_size=4, max_size=40)


def write(folder: Path, sets, *, items: str) -> Path:
    lines = ["id,basket", *(f"{i},{';'.join(sorted(s))}" for i, s in enumerate(sets))]
    (folder / "baskets.csv").write_text("\n".join(lines) + "\n")
    (folder / "items.csv").write_text(TREE_FILE)
    (folder / "job.yaml").write_text(f"data: {{path: baskets.csv}}\nitems: {items}\noutput: {{folder: out}}\nseed: 5\n")
    return folder / "job.yaml"


def frame(sets) -> pl.DataFrame:
    return pl.DataFrame({"basket": [";".join(sorted(s)) for s in sets]})


def test_the_example_of_the_theory_page():
    """Of the four items only the a's have to be told less exactly, and no recoding that loses less would do."""
    sets = [{"a1", "b1", "b2"}, {"a2", "b1"}, {"a2", "b1", "b2"}, {"a1", "a2", "b2"}]
    assert not keeps(sets, 2, 2)  # {a1, b1} and {a1, a2} are one person's
    release = tk.anonymize_items(
        frame(sets), "basket", k=2, m=2, taxonomy=tk.tree({"A": ["a1", "a2"], "B": ["b1", "b2"]})
    )
    after = [set(text.split(";")) for text in release.table["basket"]]
    assert sorted(map(sorted, after)) == [["A", "b1"], ["A", "b1", "b2"], ["A", "b1", "b2"], ["A", "b2"]]
    losses = {
        sum(0.5 for s in sets for i in s if (i[0] == "a" and up_a) or (i[0] == "b" and up_b)) / 11: (up_a, up_b)
        for up_a, up_b in product((False, True), repeat=2)
        if keeps([{("A" if up_a else i) if i[0] == "a" else ("B" if up_b else i) for i in s} for s in sets], 2, 2)
    }
    assert release.loss == min(losses)


@settings(max_examples=examples(40), deadline=None)
@given(
    BASKETS,
    st.integers(2, 4),
    st.integers(1, 3),
    st.sampled_from(["", ", taxonomy: items.csv", ", taxonomy: items.csv, remove: true"]),
)
def test_written_sets_keep_the_promise(sets, k, m, how):
    with TemporaryDirectory() as name:
        folder = Path(name)
        job = load_items_job(write(folder, sets, items=f"{{column: basket, k: {k}, m: {m}{how}}}"))
        try:
            release = run_items(job)
        except (InfeasibleError, DataError):
            assert sum(map(bool, sets)) < k or not how or "remove" in how
            assert not (folder / "out").exists()
            return
        after = read_sets(folder / "out/public/baskets.csv")
        assert len(after) == len(sets)
        assert keeps(after, k, m)
        labels = set().union(*after)
        if "taxonomy" not in how:
            assert labels <= set(UP)
        elif "remove" not in how:
            assert is_recoding(sets, after, labels)
        assert release.verdicts[0].ok
        assert audit_items(folder / "out").ok


@settings(max_examples=examples(40), deadline=None)
@given(BASKETS, st.integers(2, 4), st.integers(1, 3), st.integers(4, 12))
def test_written_chunks_keep_the_promise(sets, k, m, cluster):
    with TemporaryDirectory() as name:
        folder = Path(name)
        items = f"{{column: basket, k: {k}, m: {m}, algorithm: disassociation, cluster: {cluster}}}"
        try:
            run_items(load_items_job(write(folder, sets, items=items)))
        except (InfeasibleError, DataError):
            return
        assert chunks_keep(folder / "out", "baskets", sets, k, m)
        assert audit_items(folder / "out").ok


def test_a_row_for_every_item(tmp_path):
    sets = {f"p{i}": {"milk", ("tea", "beer")[i % 2]} | ({"caviar"} if i == 3 else set()) for i in range(10)}
    lines = ["who,what", *(f"{p},{i}" for p, s in sets.items() for i in sorted(s)), "p1,milk"]
    (tmp_path / "rows.csv").write_text("\n".join(lines) + "\n")
    tk.anonymize_items(tmp_path / "rows.csv", "what", key="who", k=3, folder=tmp_path / "out")
    after = read_rows(tmp_path / "out/public/rows.csv", "who", "what")
    assert sorted(map(sorted, after)) == [["beer", "milk"]] * 5 + [["milk", "tea"]] * 5
    assert tk.verify_items(tmp_path / "out/public/rows.csv", "what", key="who", k=5).ok
    assert not (tmp_path / "out/public/rows.csv").read_text().count("p1")


def test_the_same_seed_gives_the_same_bytes(tmp_path):
    sets = [{"a1", "b1"}, {"a2", "b1"}, {"c1", "b2"}, {"c2", "b2"}] * 6
    for how in ("taxonomy: items.csv", "algorithm: disassociation"):
        job = load_items_job(write(tmp_path, sets, items=f"{{column: basket, k: 3, {how}}}"))
        files = []
        for seed in (1, 1, 2):
            out = tmp_path / f"{how[:4]} {len(files)}"
            run_items(job, folder=out, seed=seed)
            files.append({p.name: p.read_bytes() for p in sorted((out / "public").glob("*.csv"))})
        assert files[0] == files[1] != files[2]


def test_nothing_public_tells_what_was_lost(tmp_path):
    job = load_items_job(
        write(
            tmp_path, [{"a1", "b1"}, {"a2", "b1"}, {"a1"}, {"a2"}], items="{column: basket, k: 2, taxonomy: items.csv}"
        )
    )
    run_items(job)
    public = json.loads((tmp_path / "out/public/manifest.json").read_text())
    private = json.loads((tmp_path / "out/do-not-share/manifest.json").read_text())
    assert {"seed", "loss", "input", "items_before"} <= set(private)
    assert not {"seed", "loss", "input", "items_before"} & set(public)
    table = (tmp_path / "out/public/baskets.csv").read_bytes()
    run_items(load_items_job(tmp_path / "out/do-not-share/job.yaml"), overwrite=True)
    assert (tmp_path / "out/public/baskets.csv").read_bytes() == table


def test_the_command_line(tmp_path):
    run = CliRunner().invoke
    job = str(
        write(
            tmp_path,
            [{"a1", "b1"}, {"a2", "b1"}, {"a1"}, {"a2"}] * 2,
            items="{column: basket, k: 4, taxonomy: items.csv}",
        )
    )
    assert json.loads(run(app, ["check", job, "--json"]).stdout)["rare_sets"] == 2
    assert json.loads(run(app, ["run", job, "--dry-run", "--json"]).stdout)["dry_run"] is True
    assert not (tmp_path / "out").exists()
    assert "every set true of a person" in run(app, ["run", job]).stdout.replace("\n", " ").replace("  ", " ")
    assert run(app, ["verify", str(tmp_path / "out")]).exit_code == 0
    table = tmp_path / "out/public/baskets.csv"
    table.write_text(table.read_text().replace("A", "a1", 1))
    assert run(app, ["verify", str(tmp_path / "out")]).exit_code == 5
    assert json.loads(run(app, ["schema", "items"]).stdout) == json.loads(json.dumps(items_json_schema()))
    with pytest.raises(JobError, match="sets of items"):
        load_job(job)


@pytest.mark.parametrize("how", ["taxonomy: items.csv", "algorithm: disassociation"])
def test_both_editions_of_the_report(tmp_path, how):
    sets = [{"a1", "b1"}, {"a2", "b1"}, {"a1"}, {"a2"}] * 3 + [{"c1", "c2"}]
    run_items(load_items_job(write(tmp_path, sets, items=f"{{column: basket, k: 3, m: 2, {how}}}")), seed=987654321)
    public, private = ((tmp_path / "out" / part / "report.html").read_text() for part in ("public", "do-not-share"))
    assert "whoever knows any 2 items of a person finds at least 3 persons" in public
    assert "What may not be concluded" in public
    for question in ("What is protected", "From whom", "What is not protected"):
        assert f"<strong>{question}</strong>" in public
    assert "Somebody who knows at most 2 items of a person" in public
    assert "987654321" not in public
    assert "Detail kept" not in public
    assert "987654321" in private
    assert "INTERNAL" in private
    assert "<script" not in public + private


@pytest.mark.parametrize("wrong", ["rare", "swap", "drop", "label"])
def test_sabotage_is_caught(tmp_path, monkeypatch, wrong):
    sets = [{"a1", "b1"}, {"a2", "b1"}, {"a1", "b2"}, {"a2", "b2"}, {"a1"}, {"a2"}, {"b1"}, {"b2"}] * 2
    job = load_items_job(write(tmp_path, sets, items="{column: basket, k: 4, taxonomy: items.csv}"))
    tables, apriori = recoded.Recoded.tables, recoded.apriori

    def changed(self, rng):
        made = tables(self, rng)[""]["basket"].to_list()
        made[0] = {"swap": "A;B" if made[0] != "A;B" else "A", "drop": ""}[wrong]
        return {"": pl.DataFrame({"basket": made})}

    def cut(baskets, tree, *rest, **kw):
        at = apriori(baskets, tree, *rest, **kw)
        if wrong == "rare":
            return tree.leaf_nodes.copy()
        a, b = tree.labels.index("A"), tree.labels.index("B")
        return np.array([b, b, a, a, *at[4:]], np.int32)  # what covers the others

    if wrong in ("rare", "label"):
        monkeypatch.setattr(recoded, "apriori", cut)
    else:
        monkeypatch.setattr(recoded.Recoded, "tables", changed)
    with pytest.raises(VerificationError):
        run_items(job)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("wrong", ["merge", "twice", "size", "forget"])
def test_sabotage_of_chunks_is_caught(tmp_path, monkeypatch, wrong):
    sets = [{"a1", "b1"}, {"a1", "b2"}, {"a1", "c1"}, {"a1", "b1", "c2"}] * 3
    job = load_items_job(write(tmp_path, sets, items="{column: basket, k: 3, algorithm: disassociation}"))
    tables = Dissected.tables

    def changed(self, rng):
        made = tables(self, rng)
        main = made[""]
        if wrong == "merge":  # two rows of different chunks as one
            made[""] = pl.concat([main, main.head(1).with_columns(basket=pl.lit("a1;c2"))])
        elif wrong == "twice":
            made[""] = pl.concat([main, main.with_columns(chunk=pl.lit(9, main["chunk"].dtype))])
        elif wrong == "size":
            made["clusters"] = made["clusters"].with_columns(records=pl.lit(2))
        else:
            made[""] = main.slice(1)
        return made

    monkeypatch.setattr(Dissected, "tables", changed)
    with pytest.raises(VerificationError):
        run_items(job)
    assert not (tmp_path / "out").exists()


BAD = {
    "no column": ({"column": "nothing"}, DataError, "E410"),
    "k too large": ({"k": 99}, InfeasibleError, "E301"),
    "k of one": ({"k": 1}, JobError, "E110"),
    "no separator": ({"separator": ""}, JobError, "E110"),
    "unknown algorithm": ({"algorithm": "aprori"}, JobError, "E110"),
    "taxonomy for chunks": ({"algorithm": "disassociation", "taxonomy": tk.tree(TREE)}, JobError, "E111"),
    "items that the taxonomy lacks": ({"taxonomy": tk.tree({"A": ["a1"]})}, TaxonomyError, "E204"),
    "labels with the separator": ({"taxonomy": tk.tree({"A;B": ["a1", "a2", "b1", "b2"]})}, TaxonomyError, "E203"),
    "a taxonomy of numbers": ({"taxonomy": tk.intervals(5)}, JobError, "E111"),
    "a person and an item in one": ({"key": "basket"}, JobError, "E110"),
}


@pytest.mark.parametrize(("given_", "error", "code"), BAD.values(), ids=BAD)
def test_bad_input_is_explained(given_, error, code):
    sets = frame([{"a1", "b1"}, {"a2", "b1"}, {"a1", "b2"}, {"a2", "b2"}])
    with pytest.raises(error) as caught:
        tk.anonymize_items(sets, **{"column": "basket", "k": 2, **given_})
    assert caught.value.code == code
    assert caught.value.hint


def test_odd_data_are_explained():
    def refused(data, **how) -> str:
        with pytest.raises(TarnkappeError) as caught:
            tk.anonymize_items(pl.DataFrame(data), **{"column": "x", "k": 2, **how})
        assert caught.value.hint
        return caught.value.code

    assert refused({"x": ["", None, " ; "]}) == "E402"
    assert refused({"x": [["a"], ["a"]]}) == "E408"
    assert refused({"x": ["a", "a"], "who": [None, "p"]}, key="who") == "E413"
    assert refused({"x": ["a", "b", "c"]}) == "E301"  # nothing could stay
    assert refused({"x": ["a", "b", "c"]}, algorithm="disassociation") == "E301"
    mails = {"x": [f"{n}.smith{i}@example.org" for i, n in enumerate("abcdefgh" * 5)]}
    assert refused(mails) == "E604"


def test_blanks_empty_sets_and_repetitions_do_not_count():
    release = tk.anonymize_items(pl.DataFrame({"x": ["a; b", " b ;a;a", "", None, ";"]}), "x", k=2)
    assert sorted(release.table["x"].to_list()) == ["", "", "", "a;b", "a;b"]


def test_frames_of_the_same_kind_come_back():
    pandas = pytest.importorskip("pandas")
    release = tk.anonymize_items(pandas.DataFrame({"x": ["a", "a", "b", "b"]}), "x", k=2)
    assert isinstance(release.table, pandas.DataFrame)


def test_items_that_point_at_people_need_a_reason_that_is_one():
    baskets = pl.DataFrame({"items": [f"p{i % 4}@mail.example.org;p{(i + 1) % 4}@mail.example.org" for i in range(24)]})
    with pytest.raises(TarnkappeError, match="E604"):
        tk.anonymize_items(baskets, "items", k=3, m=1)
    with pytest.raises(JobError, match="too short to be a reason"):
        tk.anonymize_items(baskets, "items", k=3, m=1, because="x")
    tk.anonymize_items(baskets, "items", k=3, m=1, because="made up, reviewed by A. Meyer")

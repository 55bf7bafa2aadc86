"""What is promised about masked data, asserted on the files that were written."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import tarnkappe as tk
from conftest import KEY, patients
from tarnkappe.errors import TarnkappeError, VerificationError
from tarnkappe.io import TableWriter
from tarnkappe.io.lines import Lines
from tarnkappe.masks import Mask, all_masks
from tarnkappe.masks.base import ByValue, Held

WHY = "reviewed by the board, and nobody outside knows it"


def samples(key: str) -> dict[str, Mask]:
    """One or two of every mask, with parameters that change something on the patients."""
    return {
        "noise": tk.AdditiveNoise(["income", "tax"], variance_share=0.2, correlated=True, corrected=True),
        "whole noise": tk.AdditiveNoise(["age"], variance_share=0.1, lower=18, upper=89),
        "uncorrelated": tk.AdditiveNoise(["income", "age"], variance_share=0.5),
        "factor": tk.MultiplicativeNoise(["income", "age"], most_percent=15, least_percent=5),
        "rounding": tk.Rounding("income", base=0.5),
        "coding": tk.TopBottomCoding("income", top_percent=2, bottom_percent=1, by="mean"),
        "thresholds": tk.TopBottomCoding("age", top=80, bottom=20),
        "ranks": tk.RankSwapping(["income", "age"], window_percent=5),
        "window": tk.RankSwapping(["income", "age"], window_percent=5, tails="bounded"),
        "tables": tk.DataSwapping("illness", beside=["sex", "region"]),
        "regions": tk.RecordSwapping("region", share=0.2, match=["sex", "illness"], rare=["age", "illness"]),
        "pram": tk.Pram("illness", stay_share=0.7, by=["sex"]),
        "shuffling": tk.Shuffling(["income", "tax"], beside=["age"]),
        "dates": tk.DateShift(["visit", "discharge"], person="person", max_days=100),
        "tests": tk.IdentifierMasking(["person"], keep_first=2),
        "tokens": tk.Pseudonyms("person", key=key),
        "same form": tk.Pseudonyms("person", form="same", reversal_key=key),
    }


NAMES = tuple(samples(""))


def columns(frame: pl.DataFrame) -> list[tk.Column]:
    kept = [tk.Column(name, "keep", because=WHY) for name in frame.columns if name != "person"]
    return [tk.Column("person", "identifier"), *kept]


def masked(frame: pl.DataFrame, mask: Mask, folder: Path, *, seed: int = 5, name: str = "data.csv") -> pl.DataFrame:
    data = folder / name
    (frame.write_csv if name.endswith("csv") else frame.write_parquet)(data)
    tk.mask(data, mask, columns=columns(frame), folder=folder / "out", seed=seed, overwrite=True)
    written = folder / "out" / "public" / name
    return pl.read_csv(written, try_parse_dates=True) if name.endswith("csv") else pl.read_parquet(written)


def test_every_mask_is_tried():
    assert {type(mask) for mask in samples("k").values()} == set(all_masks().values())


@pytest.mark.parametrize("name", NAMES)
def test_only_masked_columns_change(name: str, key: str, tmp_path: Path):
    mask, frame = samples(key)[name], patients(600)
    written = masked(frame, mask, tmp_path)
    same = [c for c in frame.columns if c not in (*mask.changes, "person")]
    assert written.select(same).sort(same).equals(frame.select(same).sort(same))
    assert ("person" in written.columns) == ("person" in mask.changes), "identifiers are published only as pseudonyms"
    for column in mask.changes:
        assert not written[column].sort().equals(frame[column].sort()) or name in (
            "ranks",
            "window",
            "shuffling",
            "tables",
            "regions",
        )


@pytest.mark.parametrize("name", NAMES)
def test_same_seed_same_bytes(name: str, key: str, tmp_path: Path):
    mask, frame = samples(key)[name], patients(400)
    files = []
    for i in range(2):
        (tmp_path / str(i)).mkdir()
        masked(frame, mask, tmp_path / str(i))
        files.append((tmp_path / str(i) / "out" / "public" / "data.csv").read_bytes())
    assert files[0] == files[1]


@pytest.mark.parametrize("name", ["noise", "ranks", "tokens", "dates"])
def test_parquet_holds_the_same_as_csv(name: str, key: str, tmp_path: Path):
    mask, frame = samples(key)[name], patients(400)
    one, other = masked(frame, mask, tmp_path), masked(frame, mask, tmp_path, name="data.parquet")
    for column in mask.changes:
        a, b = one[column].cast(other[column].dtype), other[column]
        assert np.allclose(a, b, equal_nan=True) if a.dtype.is_float() else a.equals(b), column


@pytest.mark.parametrize("name", [n for n in NAMES if n not in ("tests", "tokens", "same form")])
def test_both_engines_mask_alike_beside_groups(name: str, key: str, tmp_path: Path):
    mask, frame = samples(key)[name], patients(400)
    tables = []
    for engine in ("memory", "streaming"):
        job = tk.Job(
            quasi={"when": tk.numeric()},
            identifiers=[] if "person" in mask.looks_at else ["person"],
            drop=["person"] if "person" in mask.looks_at else [],
            keep="rest",
            columns=[tk.Column(c, "keep", because=WHY) for c in frame.columns if c != "person"],
            criteria=[tk.KAnonymity(5)],
            masks=[mask],
            engine=engine,
            seed=3,
        )
        release = job.anonymize(frame.with_columns(pl.Series("when", np.arange(frame.height) % 7)))
        assert [told["mask"] for told in release.public_manifest["masks"]] == [mask.name]
        assert "W642" in {notice.code for notice in release.notices}
        tables.append(release.table.select(mask.changes))
    assert tables[0].sort(mask.changes).equals(tables[1].sort(mask.changes))


def _spoil(series: pl.Series) -> pl.Series:
    """Another value in every place, of the same kind: what no mask promises."""
    if series.dtype.is_numeric():
        return series * 3 + 1000
    if series.dtype.is_temporal():
        return series.dt.offset_by("9y")
    first = series.drop_nulls().first()
    return pl.Series(series.name, [first] * len(series), dtype=series.dtype)


@pytest.mark.parametrize("name", [n for n in NAMES if n != "tests"])
def test_a_mask_that_breaks_its_promise_is_caught(name: str, key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    frame, mask = patients(400), samples(key)[name]
    for kind in (Held, ByValue):
        honest = kind.at
        monkeypatch.setattr(kind, "at", lambda self, rows, given, f=honest: [_spoil(s) for s in f(self, rows, given)])
    with pytest.raises(VerificationError) as error:
        masked(frame, mask, tmp_path)
    assert error.value.code == "E501"
    assert not (tmp_path / "out").exists()


#: Masks that may leave a column as it is, or that refuse data in which they find nothing to change.
MAY_STAY = {"whole noise", "rounding", "coding", "thresholds", "pram", "tables", "regions"}


@pytest.mark.parametrize("name", [n for n in NAMES if n not in MAY_STAY])
def test_a_mask_that_does_nothing_is_caught(name: str, key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    frame, mask = patients(400), samples(key)[name]
    shown = frame.with_columns(pl.col("visit", "discharge").cast(pl.String))
    monkeypatch.setattr(
        Held, "at", lambda self, rows, given: [shown[n].gather(rows).cast(t) for n, t in self.types.items()]
    )
    monkeypatch.setattr(
        ByValue, "at", lambda self, rows, given: [shown[n].gather(rows).cast(t) for n, t in self.types.items()]
    )
    with pytest.raises(VerificationError, match="E501"):
        masked(frame, mask, tmp_path)
    assert not (tmp_path / "out").exists()


def of_another(batch: pl.DataFrame) -> pl.DataFrame:
    """One person's illness under another's record."""
    return batch.with_columns(batch["illness"].shift(1, fill_value=batch["illness"][-1]))


def with_another_digit(lines: Lines) -> Lines:
    """A 5 that became a 6 somewhere in the file."""
    text = lines.text
    text[np.flatnonzero(text == ord("5"))[0]] += 1
    return Lines.cut(text, lines.sizes)


def with_lines_exchanged(lines: Lines) -> Lines:
    """One record twice, and another, of the same length, not at all."""
    one, other = next((i, j) for i, j in combinations(range(lines.height), 2) if lines.sizes[i] == lines.sizes[j])
    order = np.arange(lines.height, dtype=np.int32)
    order[one] = other
    return lines[order]


@pytest.mark.parametrize("sly", [of_another, with_another_digit, with_lines_exchanged])
def test_a_file_that_was_changed_on_the_way_is_caught(
    sly: Callable[[Any], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    place = "as_written" if sly is of_another else "write"
    honest = getattr(TableWriter, place)

    def changed(self: TableWriter, batch: Any) -> Any:
        return honest(self, sly(batch) if sly is of_another or isinstance(batch, Lines) else batch)

    monkeypatch.setattr(TableWriter, place, changed)
    with pytest.raises(VerificationError, match="E501"):
        masked(patients(400), tk.Rounding("age", base=5), tmp_path)
    assert not (tmp_path / "out").exists()


def test_nothing_public_tells_seed_or_key(key: str, tmp_path: Path):
    masked(patients(400), samples(key)["tokens"], tmp_path, seed=918273645)
    public = b"".join(file.read_bytes() for file in (tmp_path / "out" / "public").iterdir())
    assert b"918273645" not in public
    assert KEY.encode() not in public
    assert b"secret.key" not in public
    told = json.loads((tmp_path / "out" / "public" / "manifest.json").read_text())
    assert told["masks"][0]["columns"] == ["person"]
    assert "k-anonymity" not in json.dumps(told["verdicts"])
    assert "nothing here is k-anonymous" in (tmp_path / "out" / "public" / "report.html").read_text()


def test_suppressed_records_do_not_break_what_masks_keep():
    frame = patients(400).with_columns(pl.Series("when", [*[1] * 396, 2, 3, 4, 5]))
    job = tk.Job(
        quasi={"when": tk.numeric()},
        drop=["person"],
        columns=[tk.Column(c, "keep", because=WHY) for c in frame.columns if c not in ("person", "when")],
        criteria=[tk.KAnonymity(5)],
        max_suppressed=0.05,
        algorithm="mondrian",
        masks=[tk.RankSwapping(["income"], window_percent=5), tk.Rounding("tax", base=10)],
    )
    release = job.anonymize(frame)
    assert "what masks leave as it was, recomputed" in release.proved


def test_masks_go_with_numbered_groups_too():
    frame = patients(400).select("age", "sex", "illness")
    job = tk.Job(
        quasi={"age": tk.numeric(), "sex": tk.suppress()},
        sensitive=["illness"],
        criteria=[tk.LDiversity("illness", 2)],
        algorithm="anatomize",
        masks=[tk.Pram("illness", stay_share=0.8)],
        seed=2,
    )
    release = job.anonymize(frame)
    assert release.public_manifest["masks"][0]["mask"] == "pram"
    assert "what masks leave as it was, recomputed" in release.proved


def test_files_with_a_decimal_comma_and_texts_for_gaps(tmp_path: Path):
    frame = patients(400).select("sex", "income", "tax")
    told = frame.with_columns(
        pl.col(c).cast(pl.String).str.replace(".", ",", literal=True).fill_null("NA") for c in ("income", "tax")
    )
    told.write_csv(tmp_path / "data.csv", separator=";")
    text = """
data: {path: data.csv, missing: ["NA"]}
columns: {sex: keep, income: {role: sensitive, type: numeric}, tax: {role: sensitive, type: numeric}}
masks:
  - additive-noise: {columns: [tax], variance_share: 0.1, correlated: true}
  - rank-swapping: {columns: [income], window_percent: 10}
output: {folder: out}
seed: 1
"""
    (tmp_path / "job.yaml").write_text(text)
    from tarnkappe.job.masking import load_masking_job
    from tarnkappe.masking import run_masking

    run_masking(load_masking_job(tmp_path / "job.yaml"))
    lines = (tmp_path / "out" / "public" / "data.csv").read_text().splitlines()
    rows = [line.split(";") for line in lines[1:]]
    income = sorted(float(row[1].replace(",", ".")) for row in rows if row[1] != "NA")
    assert income == sorted(frame["income"].drop_nulls())
    assert sum(row[1] == "NA" for row in rows) == frame["income"].null_count()
    assert np.mean([float(row[2].replace(",", ".")) for row in rows]) == pytest.approx(frame["tax"].mean(), rel=0.05)


def test_what_a_mask_changed_is_not_called_true_or_unchanged():
    frame = patients(400).select("age", "sex", "tax")
    job = tk.Job(
        quasi={"age": tk.numeric(), "sex": tk.suppress()},
        keep=["tax"],
        criteria=[tk.KAnonymity(5)],
        masks=[tk.AdditiveNoise(["tax"], variance_share=0.1)],
        seed=2,
    )
    release = job.anonymize(frame)
    assert "labels and values that no mask changes true of every record" in release.proved
    assert "W603" not in {notice.code for notice in release.notices}
    tax = next(c for c in release.columns if c.name == "tax")
    assert tax.masked
    assert tax.done.startswith("changed:")


def test_many_records_keep_their_own_masked_values(tmp_path: Path):
    """Batches of a large file are masked by the place of their rows, whichever thread reads them."""
    n = 150_000
    rng = np.random.default_rng(1)
    frame = pl.DataFrame(
        {"row": np.arange(n), "x": np.arange(n) + 0.5, "who": [f"K{i:09d}" for i in rng.permutation(n)]}
    )
    frame.write_csv(tmp_path / "data.csv")
    (tmp_path / "k.key").write_text(KEY)
    masks = [
        tk.RankSwapping(["x"], window_percent=0.1, tails="bounded"),
        tk.Pseudonyms("who", form="same", reversal_key=str(tmp_path / "k.key")),
    ]
    columns = [tk.Column("row", "keep", because=WHY), tk.Column("who", "identifier")]
    tk.mask(tmp_path / "data.csv", masks, columns=columns, folder=tmp_path / "out", seed=1)
    written = pl.read_csv(tmp_path / "out" / "public" / "data.csv").sort("row")
    moved = (written["x"] - frame["x"]).abs()
    assert 0 < moved.max() <= 150
    assert masks[1].reversed(written["who"]).equals(frame["who"])
    assert not pl.read_csv(tmp_path / "out" / "public" / "data.csv")["row"].is_sorted(), "in random order"


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize(
    "mask", [tk.Rounding("insured", base=1), tk.TopBottomCoding("insured", top=1e9), tk.Pram("insured", stay_share=1.0)]
)
def test_a_mask_that_does_nothing_is_no_reason_to_publish_a_key(mask: Mask, grouped: bool):
    frame = patients(300).select("age", pl.int_range(300).alias("insured") * 7919 + 1_000_003)
    goal = {"quasi": {"age": tk.numeric()}, "keep": ["insured"], "criteria": [tk.KAnonymity(5)]}
    run = (
        tk.Job(**goal, masks=[mask], seed=1).anonymize
        if grouped
        else lambda data: tk.mask(data.select("insured"), mask)
    )
    with pytest.raises(TarnkappeError, match="E604"):
        run(frame)


def test_line_feeds_in_texts_and_tables_with_nothing_but_masks(tmp_path: Path):
    note = ['one\n"two", three', "plain", None, ""] * 50
    frame = pl.DataFrame({"note": note, "income": [float(i) + 0.5 for i in range(200)]})
    kept = [tk.Column("note", "keep", because=WHY)]
    for columns, names in ((kept, ["note", "income"]), ([tk.Column("note", "drop")], ["income"])):
        data = tmp_path / "data.csv"
        frame.write_csv(data)
        folder = tmp_path / "out"
        tk.mask(data, tk.Rounding("income", base=1), columns=columns, folder=folder, seed=1, overwrite=True)
        written = pl.read_csv(folder / "public" / "data.csv")
        assert written.columns == names
        assert sorted(written["income"]) == sorted(round(x + 0.1) for x in frame["income"])
        if "note" in names:
            expected = frame["note"].fill_null("").sort()
            assert written["note"].fill_null("").sort().to_list() == expected.to_list()

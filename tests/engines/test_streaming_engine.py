"""The streaming engine: the same tally and the same groups as in memory, within the memory allowed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import partialmethod
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import tarnkappe as tk
from grids import examples
from tarnkappe.criteria.k_map import KMap
from tarnkappe.criteria.xy_anonymity import XYAnonymity
from tarnkappe.datasets import census
from tarnkappe.engines import shuffle as shuffle_module
from tarnkappe.engines import streaming as streaming_module
from tarnkappe.engines.base import Engine
from tarnkappe.engines.memory import MemoryEngine
from tarnkappe.engines.settings import EngineSettings
from tarnkappe.engines.shuffle import Shuffle
from tarnkappe.engines.streaming import StreamingEngine
from tarnkappe.errors import DataError, InfeasibleError, JobError, LimitError
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping
from tarnkappe.io import RowCounter, Source, count_rows, open_source
from tarnkappe.io import cells as cells_module
from tarnkappe.io import packing as packing_module
from tarnkappe.job.model import replace_job
from tarnkappe.pipeline import run_job
from tarnkappe.schema import Column, Schema
from tarnkappe.tally import Tally


@dataclass(frozen=True)
class Halves(tk.Mondrian):
    """Two groups with half of every cell each: every cell of several records is split."""

    def decide(self, tally: Tally, goal: Goal, *, rng: np.random.Generator) -> Grouping:
        cell = np.repeat(np.arange(tally.n_cells, dtype=np.int32), 2)
        group = np.tile(np.array([0, 1], np.int32), tally.n_cells)
        quota = np.column_stack([tally.count // 2, tally.count - tally.count // 2]).reshape(-1)
        return Grouping(cell[quota > 0], group[quota > 0], quota[quota > 0], 2)


def job(engine: str, **changes: Any) -> tk.Job:
    given: dict[str, Any] = {
        "quasi": {"age": tk.numeric(), "sex": tk.suppress()},
        "sensitive": ["illness"],
        "keep": ["ward"],
        "drop": "rest",
        "criteria": [tk.KAnonymity(2)],
        "missing_rule": "own-value",
        "max_suppressed": 1.0,
        "engine": engine,
    }
    return tk.Job(**{**given, **changes})


def same_tally(a: Tally, b: Tally) -> bool:
    people = (a.population is None) == (b.population is None)
    if people and a.population is not None:
        people = np.array_equal(a.population, b.population)  # type: ignore[arg-type]
    texts = [d.taxonomy.leaves for d in (*a.quasi_domains, *a.sensitive_domains)]
    return bool(
        people
        and texts == [d.taxonomy.leaves for d in (*b.quasi_domains, *b.sensitive_domains)]
        and np.array_equal(a.quasi, b.quasi)
        and np.array_equal(a.sensitive, b.sensitive)
        and np.array_equal(a.count, b.count)
    )


rows = st.lists(
    st.tuples(
        st.sampled_from(["7", "07", " 8", "40", "", "NA"]),
        st.sampled_from(["f", "m", "x", ""]),
        st.sampled_from(["a", "b", "c", "NA"]),
        st.sampled_from(["1", "2", ""]),
    ),
    min_size=1,
    max_size=40,
)


def table(values: list[tuple[str, ...]]) -> pl.DataFrame:
    return pl.DataFrame(values, schema=["age", "sex", "illness", "ward"], orient="row")


@example([("NA", "f", "a", "1"), ("", "f", "a", "1")], (), True)
@given(rows, st.sampled_from([("",), ("NA",), ("", "NA"), ()]), st.booleans())
@settings(max_examples=examples(60), deadline=None)
def test_the_tally_is_the_one_counted_in_memory(values: list[tuple[str, ...]], missing: tuple[str, ...], numeric: bool):
    asked = job("memory", quasi={"age": tk.numeric() if numeric else tk.suppress(), "sex": tk.suppress()})
    source = open_source(table(values), missing=missing)
    schema = asked.schema(source.columns)
    in_memory, streamed = (counted(engine, source, schema) for engine in (MemoryEngine(), StreamingEngine()))
    if isinstance(in_memory, Tally) and isinstance(streamed, Tally):
        assert same_tally(in_memory, streamed)
    else:
        assert in_memory == streamed


def counted(engine: Engine, source: Source, schema: Schema) -> Tally | str:
    """The tally, or what is wrong with the data."""
    try:
        return engine.count(source, schema)
    except DataError as error:
        return str(error)


@given(rows, rows, st.booleans(), st.sampled_from(["", "keep"]))
@settings(max_examples=examples(40), deadline=None)
def test_releases_have_the_same_groups(
    values: list[tuple[str, ...]], public: list[tuple[str, ...]], linked: bool, kept: str
):
    data = table([("7", *row[1:]) if row[0] in ("", "NA") else row for row in values])
    changes: dict[str, Any] = {} if kept else {"keep": []}
    if linked:
        register = table([("7", *row[1:]) if row[0] in ("", "NA") else row for row in [*values, *public]])
        changes |= {"criteria": [KMap(2)], "population": register.select("age", "sex")}
    else:
        changes |= {"subject": "ward", "keep": [], "criteria": [XYAnonymity("ward", 1), tk.KAnonymity(2)]}
    found = []
    for engine in ("memory", "streaming"):
        try:
            release = job(engine, **changes).anonymize(data, seed=3)
        except InfeasibleError:
            found.append(None)
            continue
        found.append(Counter(release.table.drop("ward", strict=False).rows()))
    assert found[0] == found[1]


def test_a_kept_column_stays_with_its_record():
    rng = np.random.default_rng(5)
    n = 5000
    age = rng.integers(20, 60, n)
    data = pl.DataFrame({"age": age, "sex": "f", "illness": "a", "ward": [f"{a}-{i}" for i, a in enumerate(age)]})
    for algorithm in (tk.Mondrian(), Halves()):
        asked = job(
            "streaming", keep=[], columns=[Column("ward", "keep", because="made up for a test")], algorithm=algorithm
        )
        out = asked.anonymize(data, seed=1).table
        assert sorted(out["ward"]) == sorted(data["ward"])
        for label, ward in zip(out["age"], out["ward"], strict=True):
            ends = [int(x) for x in str(label).strip("[]").split()]
            assert ends[0] <= int(ward.split("-")[0]) <= ends[-1]


def test_a_split_cell_is_dealt_out_by_chance():
    data = pl.DataFrame(
        {"age": [30] * 40, "sex": ["f"] * 40, "illness": ["a"] * 40, "ward": [str(i) for i in range(40)]}
    )
    asked = job(
        "streaming", keep=[], columns=[Column("ward", "keep", because="made up for a test")], algorithm=Halves()
    )
    orders = {tuple(asked.anonymize(data, seed=seed).table["ward"]) for seed in range(5)}
    assert len(orders) == 5  # neither the order of the input nor a fixed one


def test_texts_that_mean_the_same_keep_their_spelling():
    data = pl.DataFrame({"age": [1, 1, 1, 1], "sex": ["f"] * 4, "illness": ["7", "07", "7.0", "7"], "ward": ["1"] * 4})
    asked = job("streaming", keep=[], columns=[Column("illness", "sensitive", "numeric")], sensitive=[])
    assert sorted(asked.anonymize(data, seed=1).table["illness"]) == ["07", "7", "7", "7.0"]


def test_keys_of_several_words(monkeypatch: pytest.MonkeyPatch):
    rng = np.random.default_rng(0)
    data = pl.DataFrame({f"c{j}": rng.integers(0, 4, 500).astype(str) for j in range(6)})
    monkeypatch.setattr(packing_module, "_WORD_BITS", 7)
    found = count_rows(open_source(data), data.columns)
    expected = Counter(data.rows())
    assert {row: int(n) for row, n in zip(found.frame().rows(), found.count, strict=True)} == expected


@pytest.mark.parametrize("bits", [12, 20, 63])
def test_values_that_turn_up_late_get_the_bits_they_need(bits: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    data = pl.DataFrame({"a": ["x"] * 60 + [str(i) for i in range(5000)], "b": [str(i % 7) for i in range(5060)]})
    data.write_parquet(tmp_path / "t.parquet", row_group_size=300)
    monkeypatch.setattr(packing_module, "_WORD_BITS", bits)
    monkeypatch.setattr(cells_module, "_WAITING", 1000)
    layouts = []
    packed = cells_module.Coding.packed

    def noted(self: Any, batch: pl.DataFrame) -> Any:
        layouts.append((found := packed(self, batch)).layout)
        return found

    monkeypatch.setattr(cells_module.Coding, "packed", noted)
    source = open_source(tmp_path / "t.parquet")
    monkeypatch.setattr(type(source), "batches", partialmethod(type(source).batches, most=300))
    found = count_rows(source, ["a", "b"])
    assert Counter(dict(zip(found.frame().rows(), found.count.tolist(), strict=True))) == Counter(data.rows())
    assert len({*map(id, layouts)}) > (1 if bits < 63 else 0)
    again = RowCounter(source, ["a", "b"])
    frame = again.cells.frame()
    rows = [row for numbers, _ in again.again([]) for row in frame[numbers].rows()]
    assert rows == data.rows()


def test_typed_columns(tmp_path: Path):
    data = pl.DataFrame(
        {
            "when": [None, "2020-01-01", "2020-01-02", "2020-01-01"],
            "x": [0.5, None, -1e300, 0.5],
            "yes": [True, False, None, True],
            "n": [2**62, -5, None, 2**62],
        }
    ).with_columns(pl.col("when").str.to_date())
    data.write_parquet(tmp_path / "t.parquet")
    found = count_rows(open_source(tmp_path / "t.parquet"), data.columns)
    assert Counter(dict(zip(found.frame().rows(), found.count.tolist(), strict=True))) == Counter(data.rows())


def test_every_order_is_equally_likely(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(shuffle_module, "BUCKET", 2)
    rng = np.random.default_rng(1)
    seen: Counter[tuple[int, ...]] = Counter()
    for _ in range(2400):
        with Shuffle(4, rng) as shuffle:
            shuffle.add(pl.DataFrame({"i": [0, 1]}))
            shuffle.add(pl.DataFrame({"i": [2, 3]}))
            seen[tuple(i for batch in shuffle.batches() for i in batch["i"])] += 1
    assert set(seen) == set(permutations(range(4)))
    assert max(abs(n - 100) for n in seen.values()) < 45  # four and a half standard deviations


def test_groups_come_in_random_order_and_so_do_their_records(monkeypatch: pytest.MonkeyPatch):
    data = pl.DataFrame({"age": [1, 1, 9, 9], "sex": ["f"] * 4, "illness": ["a", "b", "c", "d"], "ward": ["1"] * 4})
    asked = job("streaming", keep=[])

    def orders(chunk: int) -> set[str]:
        monkeypatch.setattr(streaming_module, "_CHUNK", chunk)
        return {"".join(asked.anonymize(data, seed=seed).table["illness"]) for seed in range(40)}

    by_group = {"".join(x) for x in permutations("abcd") if {x[0], x[1]} in ({"a", "b"}, {"c", "d"})}
    assert orders(100) == orders(1) == by_group
    with monkeypatch.context() as patched:
        patched.setattr(streaming_module, "_ranges", lambda ends: [(0, int(ends[-1]))])  # all is one very large group
        assert orders(1) > by_group


def test_by_way_of_the_disk(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(shuffle_module, "BUCKET", 50)
    with Shuffle(1000, np.random.default_rng(1), limit=500) as shuffle:
        for i in range(10):
            shuffle.add(pl.DataFrame({"i": range(100 * i, 100 * i + 100)}))
        assert shuffle._folder is not None
        folder = Path(shuffle._folder.name)
        found = [i for batch in shuffle.batches() for i in batch["i"]]
    assert sorted(found) == list(range(1000))
    assert found != sorted(found)
    assert not folder.exists()


def test_not_enough_memory_is_said_before_it_is_needed(tmp_path: Path):
    data = census(2000, seed=1)
    asked = job("streaming", keep=[], quasi={"age": tk.numeric(), "sex": tk.suppress()}, sensitive=["occupation"])
    asked = replace_job(asked, engine=EngineSettings("streaming", memory="100MB"))
    with pytest.raises(LimitError, match=r"E702.*0\.1 GB allowed") as error:
        run_job(asked, data, tmp_path / "release")
    assert "--memory 1GB" in str(error.value.hint)
    assert list(tmp_path.iterdir()) == []


def test_large_files_are_streamed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "data.csv"
    path.write_text("a\n" + "1\n" * 100)
    monkeypatch.setattr("tarnkappe.engines.settings._LARGE_FILE", 100)
    assert EngineSettings().chosen(path) == "streaming"
    assert EngineSettings().chosen(pl.DataFrame()) == "memory"
    assert EngineSettings(memory="2GB").chosen(pl.DataFrame()) == "streaming"
    assert EngineSettings("memory").chosen(path) == "memory"


@pytest.mark.parametrize(
    ("settings_", "message"),
    [
        ({"name": "flink"}, "auto, memory, streaming, spark"),
        ({"memory": "much"}, "2GB"),
        ({"memory": "0"}, "2GB"),
        ({"name": "memory", "master": "yarn"}, "not spark"),
        ({"name": "memory", "memory": "2GB"}, "cannot keep"),
    ],
)
def test_settings_that_cannot_be_meant(settings_: dict[str, str], message: str):
    with pytest.raises(JobError, match=message):
        EngineSettings(**settings_)


def test_chunks_do_not_matter(monkeypatch: pytest.MonkeyPatch):
    data = census(3000, seed=2)
    asked = job("streaming", keep=["race"], sensitive=["occupation"], algorithm=Halves())
    plain = Counter(asked.anonymize(data, seed=1).table.drop("race").rows())
    monkeypatch.setattr(streaming_module, "_CHUNK", 100)
    monkeypatch.setattr(shuffle_module, "BUCKET", 256)
    assert Counter(asked.anonymize(data, seed=1).table.drop("race").rows()) == plain
    without = replace_job(
        asked, columns=tuple(replace(c, role="drop") if c.role == "keep" else c for c in asked.columns)
    )
    assert Counter(without.anonymize(data, seed=1).table.rows()) == plain

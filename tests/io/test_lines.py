"""Records as lines: the same order and the same bytes as by way of frames, and texts as Arrow keeps them."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarnkappe.engines import line_shuffle
from tarnkappe.engines.line_shuffle import LineShuffle
from tarnkappe.engines.shuffle import Shuffle
from tarnkappe.io import TableWriter
from tarnkappe.io.lines import Lines, Room
from tarnkappe.io.texts import bytes_as_texts, texts_as_bytes, texts_as_views
from tarnkappe.masks.hashing import keyed_words

cells = st.one_of(st.none(), st.text(st.sampled_from('ab",;\n\ré'), max_size=70))


@given(st.lists(cells, min_size=1, max_size=30), st.randoms(use_true_random=False))
def test_lines_are_those_of_the_frame_in_any_order(values, chance):
    frame = pl.DataFrame({"i": range(len(values)), "x": pl.Series(values, dtype=pl.String)})
    order = list(range(len(values)))
    chance.shuffle(order)
    lines = Lines.of(frame.write_csv(include_header=False).encode(), frame.height)
    picked = lines[np.array(order)]
    assert picked.text.tobytes().decode() == frame[order].write_csv(include_header=False)
    parts = Lines.joined([picked[: len(order) // 2], picked[len(order) // 2 :]])
    assert parts.text.tobytes() == picked.text.tobytes()
    room = Room()
    for some in (lines, parts):
        assert some.put_into(room).text.tobytes() == some.text.tobytes()


def chance(*part: int) -> np.random.Generator:
    return np.random.default_rng([1, *part])


@pytest.mark.parametrize("limit", [None, 2000])
def test_lines_are_shuffled_also_by_way_of_the_disk(limit: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(line_shuffle, "BUCKET", 300)
    frame = pl.DataFrame({"i": range(1000), "x": [f'{"y" * (i % 90)}"\n' for i in range(1000)]})
    with TableWriter(tmp_path / "lines.csv", "csv") as writer, LineShuffle(1000, chance, limit) as lines:
        for i in range(40):
            lines.add(lines.deal(writer.as_written(frame[25 * i : 25 * i + 25]), i))
        assert (lines._folder is not None) == (limit is not None)
        for some in lines.batches():
            writer.write(some)
    found = pl.read_csv(tmp_path / "lines.csv")
    assert found.sort("i").equals(frame)
    assert not found["i"].is_sorted()


def test_lines_in_one_bucket_are_shuffled_like_frames(tmp_path: Path):
    frame = pl.DataFrame({"i": range(1000), "x": [f'{"y" * (i % 90)}"\n' for i in range(1000)]})
    one, other = tmp_path / "lines.csv", tmp_path / "frames.csv"
    with TableWriter(one, "csv") as writer, LineShuffle(1000, chance) as lines:
        for i in range(40):
            lines.add(lines.deal(writer.as_written(frame[25 * i : 25 * i + 25]), i))
        for some in lines.batches():
            writer.write(some)
    with TableWriter(other, "csv") as writer, Shuffle(1000, chance()) as frames:
        frames.add(frame)
        for records in frames.batches():
            writer.write(records)
    assert one.read_bytes() == other.read_bytes()


def test_every_order_of_lines_is_equally_likely(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(line_shuffle, "BUCKET", 2)
    seen: Counter[bytes] = Counter()
    for seed in range(2400):
        with LineShuffle(4, lambda *part, seed=seed: np.random.default_rng([seed, *part])) as shuffle:
            for i, two in enumerate((b"0\n1\n", b"2\n3\n")):
                shuffle.add(shuffle.deal(Lines.of(two, 2), i))
            seen[b"".join(lines.text.tobytes() for lines in shuffle.batches()).replace(b"\n", b"")] += 1
    assert set(seen) == {"".join(order).encode() for order in permutations("0123")}
    assert max(abs(n - 100) for n in seen.values()) < 45  # four and a half standard deviations


@given(st.lists(cells, max_size=30))
def test_texts_go_to_bytes_and_back(values):
    texts = pl.Series("x", values, dtype=pl.String)
    text, ends = texts_as_bytes(texts)
    made = bytes_as_texts(text, ends, "x", texts.is_null().to_numpy())
    assert made.equals(texts, null_equal=True)
    assert made.to_frame().group_by("x").len().height == texts.n_unique()  # short ones are compared as they are stored
    views, _, _ = texts_as_views(texts)
    assert views[:, 0].tolist() == [len((value or "").encode()) for value in values]


@given(st.lists(cells, min_size=2, max_size=30))
def test_a_piece_of_a_column_is_hashed_like_the_column(values):
    texts = pl.concat([pl.Series(values[:1], dtype=pl.String), pl.Series(values[1:], dtype=pl.String)], rechunk=False)
    whole = keyed_words(b"k" * 32, texts)
    assert (keyed_words(b"k" * 32, texts[1:], 4) == whole[1:, :4]).all()

"""Records as lines: the same order and the same bytes as by way of frames, and texts as Arrow keeps them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tarnkappe.engines.shuffle as shuffle_module
from tarnkappe.engines.shuffle import Shuffle, gathered
from tarnkappe.io import TableWriter
from tarnkappe.io.lines import Lines
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
    assert b"".join(piece.tobytes() for piece in parts.texts()) == picked.text.tobytes()


@pytest.mark.parametrize("limit", [None, 2000])
def test_lines_are_shuffled_like_frames_also_by_way_of_the_disk(
    limit: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(shuffle_module, "BUCKET", 300)
    frame = pl.DataFrame({"i": range(1000), "x": [f'{"y" * (i % 90)}"\n' for i in range(1000)]})
    one, other = tmp_path / "lines.csv", tmp_path / "frames.csv"
    with TableWriter(one, "csv") as writer, Shuffle[Lines](1000, np.random.default_rng(1), limit) as lines:
        parts = (writer.as_written(frame[i : i + 25]) for i in range(0, 1000, 25))
        for some in gathered((p for p in parts if isinstance(p, Lines)), 100):
            lines.add(some)
        assert (lines._folder is not None) == (limit is not None)
        for some in lines.batches():
            writer.write(some)
    with TableWriter(other, "csv") as writer, Shuffle[pl.DataFrame](1000, np.random.default_rng(1)) as frames:
        for i in range(0, 1000, 100):
            frames.add(frame[i : i + 100])
        for records in frames.batches():
            writer.write(records)
    assert one.read_bytes() == other.read_bytes()


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

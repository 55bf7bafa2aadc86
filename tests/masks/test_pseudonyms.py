"""Pseudonyms: the same everywhere under one key, and reversible with the other key only."""

from __future__ import annotations

import errno
import hashlib
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tarnkappe as tk
from conftest import KEY, patients
from tarnkappe.errors import DataError, JobError
from tarnkappe.masks import Mask
from tarnkappe.masks.hashing import keyed_words
from tarnkappe.masks.spelling import redrawn, respelt

SECRET = b"s" * 32


def table(frame: pl.DataFrame, mask: Mask) -> pl.DataFrame:
    return tk.mask(frame, mask, columns=[tk.Column("person", "identifier")]).table


@given(st.lists(st.text(max_size=200), min_size=1, max_size=20), st.binary(min_size=1, max_size=32))
@settings(max_examples=30, deadline=None)
def test_the_kernel_is_blake2s_with_a_key(texts: list[str], secret: bytes):
    words = keyed_words(secret, pl.Series(texts))
    for text, found in zip(texts, words, strict=True):
        assert found.astype("<u4").tobytes() == hashlib.blake2s(text.encode(), key=secret).digest()


@pytest.mark.parametrize("n", [1, 31, 32, 33, 100])
def test_texts_of_any_length_are_hashed_side_by_side(n: int):
    sizes = np.random.default_rng(n).choice([0, 1, 55, 63, 64, 65, 127, 128, 129, 300], n)
    texts = [chr(97 + i % 26) * int(size) for i, size in enumerate(sizes)]
    for text, found in zip(texts, keyed_words(SECRET, pl.Series(texts)), strict=True):
        assert found.astype("<u4").tobytes() == hashlib.blake2s(text.encode(), key=SECRET).digest()


@given(st.lists(st.one_of(st.none(), st.text(max_size=30)), min_size=1, max_size=30))
@settings(max_examples=40, deadline=None)
def test_texts_of_the_same_form_are_a_permutation(texts: list[str | None]):
    series = pl.Series("x", texts, dtype=pl.String)
    made = respelt(SECRET, series)
    assert respelt(SECRET, made, back=True).to_list() == texts
    assert made.n_unique() == series.n_unique()
    for before, after in zip(texts, made.to_list(), strict=True):
        assert (before is None) == (after is None)
        if before is not None:
            assert _form(before) == _form(after)


def _form(text: str) -> str:
    return "".join(
        "0" if c in "0123456789" else "a" if "a" <= c <= "z" else "A" if "A" <= c <= "Z" else c for c in text
    )


def test_every_text_of_a_form_is_somebody_elses():
    every = pl.Series([f"{i:04d}" for i in range(10_000)])
    made = respelt(SECRET, every)
    assert made.sort().equals(every.sort()), "a permutation of all texts of four digits"
    assert (made == every).sum() < 10


def test_masked_identifiers_keep_their_form_and_their_ends():
    made = redrawn(SECRET, pl.Series(["DE12 3456 7890", "DE12 3456 7890", None]), 2, 2).to_list()
    assert made[0] == made[1] != "DE12 3456 7890"
    assert made[0].startswith("DE")
    assert made[0].endswith("90")
    assert made[2] is None


def test_what_is_kept_is_told_in_numbers():
    assert tk.IdentifierMasking(["a"], keep_first=1).done == "digits and letters drawn anew, but 1 sign before"
    assert tk.IdentifierMasking(["a"], keep_last=2).done.endswith("but 2 signs after")


def test_letters_of_other_scripts_are_masked_too():
    names = pl.Series(["Özgür Şahin-3", "李小龍", "Jos\u00e9 ٣٤", "Jose\u0301", "a–b"])
    made = redrawn(SECRET, names)
    assert made.str.len_chars().to_list() == names.str.len_chars().to_list()
    assert not made.str.contains(r"[\p{L}\p{M}\p{N}&&[^0-9a-zA-Z]]").any()
    assert made[0][5] == " "
    assert made[4][1] == "–"
    kept = redrawn(SECRET, names, 1, 2)
    assert [t[0] + t[-2:] for t in kept] == [t[0] + t[-2:] for t in names]
    assert redrawn(SECRET, names, 3, 30).to_list() == names.to_list()
    release = tk.mask(names.to_frame("who"), tk.IdentifierMasking(["who"]), columns=[tk.Column("who", "identifier")])
    assert "李" not in "".join(release.table["who"])


def test_no_letter_stays_in_pseudonyms_of_the_same_form(key: str):
    frame = pl.DataFrame({"person": ["Müller-123456", "Meier-1234567"]})
    with pytest.raises(DataError, match="would stay") as error:
        table(frame, tk.Pseudonyms("person", form="same", reversal_key=key))
    assert error.value.hint == "form: token"


@pytest.mark.parametrize("form", ["token", "same"])
def test_tables_and_releases_made_with_one_key_can_be_joined(form: str, key: str, tmp_path: Path):
    how = {"key": key} if form == "token" else {"reversal_key": key, "form": "same"}
    visits = patients(300, 1).select("person", "illness")
    bills = patients(300, 1).select("person", "sex").sample(200, seed=1)
    one, other = (table(frame, tk.Pseudonyms("person", **how)) for frame in (visits, bills))
    joined = one.join(other, on="person")
    expected = visits.join(bills, on="person")
    assert joined.select("illness", "sex").sort(pl.all()).equals(expected.select("illness", "sex").sort(pl.all()))
    elsewhere = table(bills, tk.Pseudonyms("person", space="other study", **how))
    assert not set(elsewhere["person"]) & set(other["person"])
    (tmp_path / "second.key").write_text("b6" * 32)
    stranger = table(bills, tk.Pseudonyms("person", **(how | {next(iter(how)): str(tmp_path / "second.key")})))
    assert not set(stranger["person"]) & set(other["person"])


def test_only_pseudonyms_of_the_same_form_can_be_reversed_and_only_with_their_key(key: str, tmp_path: Path):
    frame = patients(300, 2).select("person", "sex")
    mask = tk.Pseudonyms("person", form="same", reversal_key=key)
    made = table(frame, mask)
    assert mask.reversed(made["person"]).sort().equals(frame["person"].sort())
    (tmp_path / "wrong.key").write_text("c7" * 32)
    wrong = tk.Pseudonyms("person", form="same", reversal_key=str(tmp_path / "wrong.key"))
    assert not set(wrong.reversed(made["person"])) & set(frame["person"])
    with pytest.raises(JobError, match="E110"):
        tk.Pseudonyms("person", key=key).reversed(made["person"])


@pytest.mark.parametrize("content", [None, "no key", "ab" * 8])
def test_a_key_that_is_missing_or_weak_stops_everything(content: str | None, tmp_path: Path):
    file = tmp_path / "secret.key"
    if content is not None:
        file.write_text(content)
    frame = patients(50).select("person", "sex")
    with pytest.raises(DataError) as error:
        tk.mask(
            frame,
            tk.Pseudonyms("person", key=str(file)),
            columns=[tk.Column("person", "identifier")],
            folder=tmp_path / "out",
        )
    assert error.value.code == "E420"
    assert "openssl rand -hex 32" in str(error.value.hint)
    assert not (tmp_path / "out").exists()
    if content is not None:
        assert f"> {file} " not in str(error.value.hint), "a file that may be a key in other signs is not written over"


@pytest.mark.parametrize("there", ["folder", "forbidden", "device"])
def test_a_key_that_cannot_be_read_is_not_replaced(there: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """It may be the one that earlier pseudonyms were made with."""
    file = tmp_path / "secret.key"
    if there == "folder":
        file.mkdir()
    elif there == "device":
        file = Path("/dev/zero")
    else:
        file.write_text("ab" * 32)

        def refuse(path: Path) -> bytes:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))

        monkeypatch.setattr("tarnkappe.masks.keys.read_small", refuse)
    with pytest.raises(DataError) as error:
        table(patients(20).select("person"), tk.Pseudonyms("person", key=str(file)))
    assert error.value.code == "E420"
    assert "is there and cannot be read: " in error.value.message
    assert "openssl" not in str(error.value)
    if there == "forbidden":
        assert "permission denied" in error.value.message
        assert error.value.hint == f"chmod u+r {file}"


def test_a_key_in_a_folder_that_is_not_there_gets_a_fix_that_makes_it(tmp_path: Path):
    file = tmp_path / "no such folder/secret.key"
    with pytest.raises(DataError) as error:
        table(patients(20).select("person"), tk.Pseudonyms("person", key=str(file)))
    assert str(error.value.hint).startswith(f"mkdir -p '{file.parent}' && openssl rand -hex 32 > ")


def test_short_values_are_refused_where_all_could_be_tried(key: str):
    frame = pl.DataFrame({"person": ["A1", "B2", "C3"]})
    with pytest.raises(DataError) as error:
        table(frame, tk.Pseudonyms("person", form="same", reversal_key=key))
    assert error.value.code == "E421"
    assert error.value.hint == "form: token"
    assert table(frame, tk.Pseudonyms("person", key=key))["person"].n_unique() == 3


@pytest.mark.parametrize(
    "wrong", [{}, {"form": "same"}, {"key": "a", "form": "same"}, {"key": "a", "reversal_key": "b"}]
)
def test_the_wrong_key_for_a_form_is_refused(wrong: dict[str, str]):
    with pytest.raises(JobError, match="E110"):
        tk.Pseudonyms("person", **wrong)


def test_no_key_is_shown(key: str):
    assert KEY not in repr(tk.Pseudonyms("person", key=key))


def test_whole_numbers_have_the_same_pseudonyms_in_a_column_of_floats(key: str):
    mask = tk.Pseudonyms("id", key=key)
    one, other = (
        tk.mask(pl.DataFrame({"id": pl.Series([7, 8, 9], dtype=t)}), mask, columns=[tk.Column("id", "identifier")])
        for t in (pl.Int64, pl.Float64)
    )
    assert set(one.table["id"]) == set(other.table["id"])

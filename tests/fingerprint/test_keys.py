"""Keys and the code."""

from __future__ import annotations

import hmac
from pathlib import Path

import numpy as np
import pytest
from people import KEY

from tarnkappe.errors import JobError, RefusedError
from tarnkappe.fingerprint.code import TardosCode, tail, weights_of
from tarnkappe.fingerprint.keys import VARIABLE, Key, derived, stream


def test_the_function_behind_it_is_hmac_sha256():
    """RFC 4231, test case 2."""
    expected = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    assert hmac.digest(b"Jefe", b"what do ya want for nothing?", "sha256").hex() == expected
    first = stream(b"Jefe", 8)
    assert first.astype(">u4").tobytes() == hmac.digest(b"Jefe", bytes(8), "sha256")
    assert stream(b"Jefe", 3).tolist() == first[:3].tolist()
    assert len(stream(b"Jefe", 0)) == 0


def test_purposes_do_not_coincide():
    assert derived(KEY.raw, "ab", "c") != derived(KEY.raw, "a", "bc")
    assert len({derived(KEY.raw, "bits", str(i)) for i in range(1 << 14)}) == 1 << 14


def test_keys_are_never_shown(tmp_path: Path):
    path = tmp_path / "key"
    key = Key.new()
    key.save(path)
    assert path.stat().st_mode & 0o077 == 0
    assert Key.load(path) == key
    assert key.raw.hex() not in repr(key) + str(key) + repr(key.of("x"))
    with pytest.raises(RefusedError):
        key.save(path)
    path.write_text("not hex", encoding="ascii")
    with pytest.raises(JobError) as caught:
        Key.load(path)
    assert "not hex" not in str(caught.value)
    with pytest.raises(JobError):
        Key.load(tmp_path / "absent")
    with pytest.raises(JobError, match="E107 the key file is there and cannot be read: is a directory") as error:
        Key.load(tmp_path)
    assert "--new-key" not in str(error.value), "copies could not be traced by another key"
    with pytest.raises(JobError):
        Key(b"short")


def test_a_key_in_the_environment(monkeypatch):
    monkeypatch.setenv(VARIABLE, KEY.raw.hex())
    assert Key.load() == KEY
    monkeypatch.delenv(VARIABLE)
    with pytest.raises(JobError):
        Key.load()


def test_bits_have_their_biases():
    code = TardosCode(KEY.of("data"), 400)
    bias = code.biases()
    assert 0.0099 < bias.min() < bias.max() < 0.9901
    book = np.array([code.bits(f"r{i}") for i in range(400)])
    assert np.abs(book.mean(axis=0) - bias).max() < 0.12
    assert abs(book.mean() - bias.mean()) < 0.01
    assert np.array_equal(code.bits("a"), code.bits("a"))


def test_p_values_bound_the_true_tail():
    rng = np.random.default_rng(0)
    bias = rng.uniform(0.05, 0.95, 60)
    symbol = np.sign(rng.normal(size=60))
    weight = weights_of(symbol, rng.random(60) < 0.2, bias, 2)
    scores = ((rng.random((20_000, 60)) < bias) - bias) @ weight
    for p in (0.1, 0.01, 0.001):
        assert (tail(weight, bias, scores) <= p).mean() <= p * 1.1
    assert tail(np.zeros(3), bias[:3], np.array([5.0])) == 1.0

"""The digest of a file is that of its bytes, however many there are."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from tarnkappe.io import digests, open_source


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 1000])
def test_digest_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int):
    monkeypatch.setattr(digests, "_PIECE", 8)
    content = bytes(i % 251 for i in range(size))
    (tmp_path / "file").write_bytes(content)
    assert digests.digest_of(tmp_path / "file") == hashlib.sha256(content).hexdigest()


def test_files_may_be_hashed_while_they_are_read(tmp_path: Path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    with open_source(tmp_path / "t.csv") as source:
        assert source.hashed_aside
        assert source.sha256 == hashlib.sha256(b"a,b\n1,2\n").hexdigest()

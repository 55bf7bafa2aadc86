"""Machine code of kernels is forgotten when one of the files that it was made of has changed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tarnkappe.kernels.stale import forget_stale


@pytest.fixture
def kernels(tmp_path: Path) -> Path:
    """Two rooms of kernels: `callers` takes something from `near`, which takes something from `far/away`."""
    texts = {
        "__init__.py": "def kernel(function): ...",
        "callers.py": "from tarnkappe.kernels.near import near\nfrom tarnkappe.kernels import kernel",
        "near.py": "from tarnkappe.kernels.far.away import away",
        "alone.py": "x = 1",
        "far/__init__.py": "",
        "far/away.py": "away = 1",
    }
    for name, text in texts.items():
        path = tmp_path / name
        (path.parent / "__pycache__").mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    forget_stale(tmp_path)
    for name in texts:
        path = tmp_path / name
        (path.parent / "__pycache__" / f"{path.stem}.f-1.py311.nbi").write_text("code")
    return tmp_path


def kept(folder: Path) -> set[str]:
    return {path.name.partition(".")[0] for path in folder.rglob("*.nbi")}


def test_code_of_the_same_sources_stays(kernels: Path):
    everything = kept(kernels)
    os.utime(kernels / "near.py")  # another time, the same text
    forget_stale(kernels)
    assert kept(kernels) == everything


def test_what_calls_a_changed_kernel_is_made_anew(kernels: Path):
    (kernels / "far/away.py").write_text("away = 2")
    forget_stale(kernels)
    assert kept(kernels) == {"__init__", "alone"}


@pytest.mark.parametrize("note", ["[1, ", "7", '{"seen": 1, "made of": 2}'])
def test_a_note_that_makes_no_sense_means_that_nothing_is_known(kernels: Path, note: str):
    (kernels / "__pycache__/sources.json").write_text(note)
    forget_stale(kernels)
    assert kept(kernels) == set()


def test_where_nothing_can_be_written_nothing_happens(kernels: Path):
    (kernels / "near.py").write_text("near = 3")
    (kernels / "__pycache__/sources.json").unlink()
    (kernels / "__pycache__/sources.json").mkdir()
    forget_stale(kernels)  # and no exception

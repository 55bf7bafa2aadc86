"""The list of files never leaves its folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from tarnkappe.app.picker import Picker
from tarnkappe.app.session import Session
from tarnkappe.errors import DataError


@pytest.fixture
def picker(tmp_path: Path) -> Picker:
    root = tmp_path / "office"
    (root / "sub").mkdir(parents=True)
    (root / "a.csv").write_text("x\n1\n")
    (root / "a.yaml").write_text("version: 1\n")
    (root / "sub" / "b.parquet").write_bytes(b"")
    (root / ".hidden.csv").write_text("x\n")
    (tmp_path / "secret.csv").write_text("x\n")
    (root / "out").symlink_to(tmp_path)
    (root / "out.csv").symlink_to(tmp_path / "secret.csv")
    (root / "in.csv").symlink_to(root / "a.csv")
    return Picker.at(root)


OUTSIDE = "..|../secret.csv|sub/../../secret.csv|/etc/passwd|out|out/secret.csv|out.csv|.hidden.csv|a\0.csv"
HIDDEN = "sub/../.hidden.csv|~/x|./../office/../secret.csv"


@pytest.mark.parametrize("path", f"{OUTSIDE}|{HIDDEN}".split("|"))
def test_no_path_leads_out(picker: Picker, path: str):
    if path == "~/x":  # a folder of that name, not a home
        assert picker.inside(path).is_relative_to(picker.root)
        return
    with pytest.raises(DataError) as caught:
        picker.inside(path)
    assert caught.value.code == "E480"


def test_what_is_listed(picker: Picker):
    found = {e["name"]: e["kind"] for e in picker.listed()["entries"]}
    assert found == {"a.csv": "table", "a.yaml": "job", "in.csv": "table", "sub": "folder"}
    assert picker.listed("sub")["up"] == ""
    with pytest.raises(DataError):
        picker.listed("a.csv")


def test_nothing_runs_before_there_is_a_job(tmp_path: Path):
    with pytest.raises(DataError) as caught:
        Session(Picker.at(tmp_path)).running.start(None)
    assert caught.value.code == "E482"

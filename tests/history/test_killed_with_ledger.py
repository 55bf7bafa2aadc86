"""Nothing is forgotten: a run that is killed at any moment leaves a ledger that knows what appeared, or may have."""

from __future__ import annotations

import subprocess
import sys
from importlib import util
from pathlib import Path

import pytest

from tarnkappe.errors import DataError
from tarnkappe.history.asking import releases_with
from tarnkappe.history.ledger import Ledger
from tarnkappe.pipeline import run_job

_spec = util.spec_from_file_location("killed_runs", Path(__file__).with_name("killed_runs.py"))
assert _spec is not None
assert _spec.loader is not None
runs = util.module_from_spec(_spec)
_spec.loader.exec_module(runs)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for every run that was killed."""
    place = tmp_path_factory.mktemp("killed")
    subprocess.run([sys.executable, str(runs.__file__), str(place)], check=True, timeout=300)
    return place


@pytest.mark.parametrize(("i", "out"), list(enumerate(runs.MOMENTS.values())))
def test_the_next_run_knows_what_a_killed_one_published(place: Path, i: int, out: bool):
    folder = place / f"at-{i}"
    ledger = runs.ledger_in(folder)
    assert (folder / "r1").exists() == out
    if out:
        assert len(releases_with(Ledger.read(ledger), "p39")) == 1, "asked before anything is mended"
    release = run_job(runs.job(folder), runs.people(), folder / "r2")
    lines = Ledger.read(ledger).lines
    assert [Path(line.folder).name for line in lines] == (["r0", "r1", "r2"] if out else ["r0", "r2"])
    assert ("W655" in [n.code for n in release.notices]) == out
    assert not ledger.with_name("ledger.jsonl.announced").exists()


def test_what_may_have_appeared_counts_as_published(place: Path):
    """The folder was taken elsewhere before the next run: nobody can say that nobody saw it."""
    folder = place / "moved"
    (folder / "r1").rename(folder / "elsewhere")
    run_job(runs.job(folder), runs.people(), folder / "r2")
    assert len(Ledger.read(runs.ledger_in(folder)).lines) == 3


def test_a_series_is_continued_where_it_was_killed(place: Path):
    runs.series(place / "series", runs.people()[2:], "r2")
    assert [line.people for line in Ledger.read(runs.ledger_in(place / "series")).lines] == [30, 40, 38]


def test_an_announcement_that_was_changed_stops_everything(place: Path):
    folder = place / "changed"
    file = runs.ledger_in(folder).with_name("ledger.jsonl.announced")
    file.write_text(file.read_text().replace("r1", "r9"))
    with pytest.raises(DataError) as error:
        run_job(runs.job(folder), runs.people(), folder / "r2")
    assert error.value.code == "E442"
    assert not (folder / "r2").exists()


def test_a_release_that_fails_at_the_last_moment_is_not_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    run_job(runs.job(tmp_path), runs.people()[:20], tmp_path / "r0")
    monkeypatch.setattr("tarnkappe.io.staging.Staging._take_name", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        run_job(runs.job(tmp_path), runs.people(), tmp_path / "r1")
    ledger = runs.ledger_in(tmp_path)
    assert len(Ledger.read(ledger).lines) == 1
    assert len(list(ledger.with_name("ledger.jsonl.people").iterdir())) == 1


def test_a_ledger_without_room_publishes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    run_job(runs.job(tmp_path), runs.people()[:20], tmp_path / "r0")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tarnkappe.history.ledger.write_privately", full)
    with pytest.raises(DataError, match="Nothing was published") as error:
        run_job(runs.job(tmp_path), runs.people(), tmp_path / "r1")
    assert error.value.code == "E444"
    assert not (tmp_path / "r1").exists()

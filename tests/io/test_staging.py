"""A release appears complete or not at all, whatever happens while it is written."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import textwrap
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from grids import grid
from tarnkappe.errors import LimitError, RefusedError
from tarnkappe.io import Staging, staged, translate_os_error
from tarnkappe.io import staging as staging_module
from tarnkappe.io.folders import MANIFEST_KEY, ReleaseFolder
from tarnkappe.io.leftovers import temporary_tag

#: Where a release has its manifest.
MANIFEST = ReleaseFolder(Path()).manifest.as_posix()

posix = pytest.mark.skipif(os.name == "nt", reason="needs POSIX file modes and processes")


def publish(folder: Path, text: str, **options: object) -> None:
    with Staging(folder, **options) as stage:  # type: ignore[arg-type]
        stage.path("release.csv").write_text(text)
        stage.path(MANIFEST).write_text(json.dumps({MANIFEST_KEY: 1, "text": text}))
        stage.path("do-not-share/key.json", private=True).write_text(text)


def fail(manager: AbstractContextManager[Staging | Path], error: BaseException | type[BaseException]) -> None:
    """Write something, then let the block end by an exception."""
    with manager as given:
        (given if isinstance(given, Path) else given.path("x.csv")).write_text("x")
        raise error


def content(folder: Path) -> dict[str, str]:
    return {p.relative_to(folder).as_posix(): p.read_text() for p in folder.rglob("*") if p.is_file()}


def release(text: str) -> dict[str, str]:
    manifest = json.dumps({MANIFEST_KEY: 1, "text": text})
    return {"release.csv": text, MANIFEST: manifest, "do-not-share/key.json": text}


def test_published_complete_and_nothing_else(tmp_path: Path):
    publish(tmp_path / "out", "one")
    assert content(tmp_path) == {f"out/{name}": text for name, text in release("one").items()}


def test_parents_are_created(tmp_path: Path):
    publish(tmp_path / "a" / "b" / "out", "one")
    assert content(tmp_path / "a" / "b" / "out") == release("one")


def test_nothing_is_visible_before_the_end(tmp_path: Path):
    with Staging(tmp_path / "out") as stage:
        stage.path("x.csv").write_text("x")
        assert not (tmp_path / "out").exists()
        assert all(p.name.startswith(".") for p in tmp_path.iterdir())
    assert (tmp_path / "out" / "x.csv").exists()


@posix
def test_modes(tmp_path: Path):
    old = os.umask(0o022)
    try:
        with Staging(tmp_path / "out") as stage:
            stage.path("x.csv").write_text("x")
            stage.path("key.json", private=True).write_text("x")
            assert stage.folder.stat().st_mode & 0o777 == 0o700
    finally:
        os.umask(old)
    modes = {p.name: p.stat().st_mode & 0o777 for p in [tmp_path / "out", *(tmp_path / "out").iterdir()]}
    assert modes == {"out": 0o755, "x.csv": 0o644, "key.json": 0o600}


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, RefusedError("E604", "no")])
def test_any_exception_leaves_nothing(tmp_path: Path, error: BaseException | type[BaseException]):
    with pytest.raises(error if isinstance(error, type) else type(error)):
        fail(Staging(tmp_path / "new" / "out"), error)
    assert list(tmp_path.iterdir()) == []


def test_exception_leaves_the_earlier_release(tmp_path: Path):
    publish(tmp_path / "out", "one")
    with pytest.raises(ValueError, match="stop"):
        fail(Staging(tmp_path / "out", overwrite=True), ValueError("stop"))
    assert content(tmp_path) == {f"out/{name}": text for name, text in release("one").items()}


def test_a_file_that_was_announced_must_be_written(tmp_path: Path):
    with pytest.raises(RuntimeError, match="never written"), Staging(tmp_path / "out") as stage:
        stage.path("x.csv")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["/etc/passwd", "../x", "a/../../x", ""])
def test_names_stay_inside(tmp_path: Path, name: str):
    with pytest.raises(ValueError, match="inside"), Staging(tmp_path / "out") as stage:
        stage.path(name)


def test_not_usable_outside_its_block(tmp_path: Path):
    stage = Staging(tmp_path / "out")
    with pytest.raises(ValueError, match="with block"):
        stage.path("x")


@pytest.mark.parametrize("can_exchange", [True, False])
def test_overwrite_replaces_an_earlier_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, can_exchange: bool):
    if not can_exchange:
        monkeypatch.setattr(staging_module, "exchange", lambda *_: False)
    publish(tmp_path / "out", "one")
    with pytest.raises(RefusedError, match="exists already") as caught:
        publish(tmp_path / "out", "two")
    assert caught.value.code == "E601"
    assert "--overwrite" in str(caught.value.hint)
    publish(tmp_path / "out", "two", overwrite=True)
    assert content(tmp_path) == {f"out/{name}": text for name, text in release("two").items()}


def test_whoever_is_asked_to_stop_removes_the_old_release_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder, remove, asked = tmp_path / "release", staging_module.shutil.rmtree, []

    def interrupted(*given: object, **options: object) -> None:
        asked.append(given)
        if len(asked) == 1:
            raise KeyboardInterrupt
        remove(*given, **options)  # type: ignore[arg-type]

    publish(folder, "old")
    monkeypatch.setattr(staging_module.shutil, "rmtree", interrupted)
    with pytest.raises(KeyboardInterrupt):
        publish(folder, "new", overwrite=True)
    assert asked
    assert [p.name for p in tmp_path.iterdir()] == ["release"]


def test_old_release_comes_back_if_the_second_rename_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    publish(tmp_path / "out", "one")
    monkeypatch.setattr(staging_module, "exchange", lambda *_: False)
    rename = Path.rename

    def fail_on_stage(self: Path, target: Path) -> Path:
        if ".tmp-" in self.name:
            raise OSError(errno.EIO, "Input/output error")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fail_on_stage)
    with pytest.raises(RefusedError) as caught:
        publish(tmp_path / "out", "two", overwrite=True)
    assert caught.value.code == "E603"
    assert content(tmp_path) == {f"out/{name}": text for name, text in release("one").items()}


@pytest.mark.parametrize(
    "manifest", [None, "not json", "[]", '{"other": 1}', '["tarnkappe"]'], ids=["none", "text", "list", "other", "word"]
)
def test_foreign_folders_are_never_replaced(tmp_path: Path, manifest: str | None):
    out = tmp_path / "out"
    out.mkdir()
    (out / "thesis.tex").write_text("years of work")
    if manifest is not None:
        (out / MANIFEST).parent.mkdir(exist_ok=True)
        (out / MANIFEST).write_text(manifest)
    for overwrite in (False, True):
        with pytest.raises(RefusedError, match="not an earlier release") as caught:
            publish(out, "two", overwrite=overwrite)
        assert caught.value.code == "E601"
    assert (out / "thesis.tex").read_text() == "years of work"


def test_an_empty_folder_counts_as_absent(tmp_path: Path):
    (tmp_path / "out").mkdir()
    publish(tmp_path / "out", "one")
    assert content(tmp_path / "out") == release("one")


def test_files_and_the_current_folder_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "out").write_text("x")
    with pytest.raises(RefusedError, match="is a file"):
        publish(tmp_path / "out", "one", overwrite=True)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    for folder in (Path(), tmp_path / "here"):
        with pytest.raises(RefusedError, match="folder you are in"):
            publish(folder, "one")


def test_folder_that_appears_meanwhile_is_not_replaced(tmp_path: Path):
    def race() -> None:
        with Staging(tmp_path / "out") as stage:
            stage.path("x.csv").write_text("x")
            (tmp_path / "out").mkdir()
            (tmp_path / "out" / "other").write_text("other")

    with pytest.raises(RefusedError) as caught:
        race()
    assert caught.value.code == "E601"
    assert content(tmp_path) == {"out/other": "other"}


@posix
def test_a_link_is_followed(tmp_path: Path):
    publish(tmp_path / "real", "one")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    publish(tmp_path / "link", "two", overwrite=True)
    assert (tmp_path / "link").is_symlink()
    assert content(tmp_path / "real") == release("two")


def test_inputs_inside_the_output_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    publish(tmp_path / "out", "one")
    monkeypatch.chdir(tmp_path)
    for path in ("out/release.csv", tmp_path / "out", "out/do-not-share/key.json", "./out/../out/release.csv"):
        with pytest.raises(RefusedError) as caught:
            publish(tmp_path / "out", "two", overwrite=True, inputs=["other.csv", path])
        assert caught.value.code == "E602"
    publish(tmp_path / "out", "two", overwrite=True, inputs=["other.csv", "outer/x.csv"])
    assert content(tmp_path / "out") == release("two")


def test_a_release_inside_what_is_given_away_is_refused(tmp_path: Path):
    """Whoever hands over the folder ``public`` of one release would hand over the private files of the other."""
    first = tmp_path / "first"
    with Staging(first) as stage:
        stage.path("public/manifest.json").write_text('{"tarnkappe": "1"}')
    for inside in (first / "public" / "second", first / "public" / "deep" / "second"):
        with pytest.raises(RefusedError, match="public folder of the release 'first'") as caught:
            publish(inside, "two")
        assert caught.value.code == "E603"
        assert caught.value.hint == f"Write to another folder:  {tmp_path / 'first-2'}"
    assert content(first) == {"public/manifest.json": '{"tarnkappe": "1"}'}
    publish(tmp_path / "public" / "second", "two")  # a folder that is only called so


def test_parent_that_cannot_hold_a_folder(tmp_path: Path):
    (tmp_path / "file").write_text("x")
    for folder in (tmp_path / "file" / "out", tmp_path / "file" / "deep" / "out", tmp_path / "new" / ("x" * 300)):
        with pytest.raises(RefusedError) as caught:
            publish(folder, "one")
        assert caught.value.code == "E603"
    assert content(tmp_path) == {"file": "x"}
    assert not (tmp_path / "new").exists()


@posix
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_parent_without_permission(tmp_path: Path):
    (tmp_path / "locked").mkdir(mode=0o500)
    for folder in (tmp_path / "locked" / "out", tmp_path / "locked" / "deep" / "out"):
        with pytest.raises(RefusedError, match="permission denied") as caught:
            publish(folder, "one")
        assert caught.value.code == "E603"
    with pytest.raises(RefusedError, match="permission denied"), staged(tmp_path / "locked" / "x.csv") as path:
        path.write_text("x")


def test_leftovers_of_killed_runs_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def make(name: str) -> Path:
        (tmp_path / name).mkdir()
        (tmp_path / name / "x").write_text("x")
        return tmp_path / name

    alive = make(f".out.tmp{temporary_tag()}")
    other_release = make(f".out2.tmp{temporary_tag()}".replace(f"-{os.getpid()}-", "-4999999-"))
    foreign = make(".out.tmp-notes")
    with monkeypatch.context() as m:
        m.setattr("platform.node", lambda: "another machine")
        other_machine = make(f".out.tmp{temporary_tag()}".replace(f"-{os.getpid()}-", "-4999999-"))
    dead = make(f".out.tmp{temporary_tag()}".replace(f"-{os.getpid()}-", "-4999999-"))
    publish(tmp_path / "out", "one")
    assert not dead.exists()
    assert all(p.exists() for p in (alive, other_release, foreign, other_machine))


def test_release_moved_aside_by_a_killed_run_is_put_back(tmp_path: Path):
    aside = tmp_path / f".out.old{temporary_tag()}".replace(f"-{os.getpid()}-", "-4999999-")
    publish(tmp_path / "out", "one")
    (tmp_path / "out").rename(aside)
    with pytest.raises(RefusedError, match="exists already"):
        publish(tmp_path / "out", "two")
    assert content(tmp_path) == {f"out/{name}": text for name, text in release("one").items()}


# Runs in a process of its own: forks a child per line of the staging module that is executed, kills the child just
# before that line, and prints what it left behind and what the next run makes of it.
KILLER = textwrap.dedent("""
    import importlib.util, json, os, signal, sys, types
    from pathlib import Path

    # Without the rest of the package, and so without Polars, a fork is much cheaper.
    package = types.ModuleType("tarnkappe.io")
    package.__path__ = [str(Path(importlib.util.find_spec("tarnkappe").origin).parent / "io")]
    sys.modules["tarnkappe.io"] = package
    import tarnkappe.io.staging as module
    from tarnkappe.io.staging import Staging

    parent, can_exchange, exists = Path(sys.argv[1]), sys.argv[2] == "exchange", sys.argv[3] == "exists"
    if not can_exchange:
        module.exchange = lambda *_: False
    module._fsync = lambda *_: None  # matters to a power cut, not to a killed process, and takes its time

    def publish(folder, text):
        with Staging(folder, overwrite=True) as stage:
            for name in ("release.csv", "public/manifest.json", "report.html"):
                stage.path(name).write_text(json.dumps({"tarnkappe": text}))
            stage.path("do-not-share/key.json", private=True).write_text(json.dumps({"tarnkappe": text}))

    def state(folder):
        files = {p.relative_to(folder).as_posix(): p for p in folder.rglob("*") if p.is_file()}
        return [f"{name}={json.loads(files[name].read_text())['tarnkappe']}" for name in sorted(files)]

    def run_and_die(folder, line):
        seen = 0
        def trace(frame, event, arg):
            nonlocal seen
            if frame.f_code.co_filename != module.__file__:
                return None
            if event == "line":
                seen += 1
                if seen == line:
                    os.kill(os.getpid(), signal.SIGKILL)
            return trace
        sys.settrace(trace)
        publish(folder, "new")
        os._exit(0)

    line = 0
    while True:
        line += 1
        folder = parent / f"{line}" / "out"
        folder.parent.mkdir()
        if exists:
            publish(folder, "old")
        child = os.fork()
        if child == 0:
            run_and_die(folder, line)
        _, status = os.waitpid(child, 0)
        left = state(folder)
        try:
            with Staging(folder, overwrite=True) as stage:
                tidied = state(folder)
                raise KeyboardInterrupt
        except KeyboardInterrupt:
            pass
        others = sorted(p.name for p in folder.parent.iterdir() if p.name != "out")
        print(json.dumps({"killed": os.WIFSIGNALED(status), "left": left, "tidied": tidied, "others": others}))
        if not os.WIFSIGNALED(status):
            break
""")


@posix
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize(("how", "exists"), grid(["exchange", "renames"], ["exists", "absent"]))
def test_killed_at_any_line(tmp_path: Path, how: str, exists: str):
    if how == "exchange" and not sys.platform.startswith("linux"):
        pytest.skip("folders can only be exchanged on Linux")
    command = [sys.executable, "-c", KILLER, str(tmp_path), how, exists]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    outcomes = [json.loads(line) for line in ran.stdout.splitlines()]
    names = sorted(["do-not-share/key.json", MANIFEST, "release.csv", "report.html"])
    new = [f"{name}=new" for name in names]
    old = [f"{name}=old" for name in names] if exists == "exists" else []
    assert len(outcomes) > 40
    assert not outcomes[-1]["killed"]
    assert outcomes[-1]["left"] == new
    for outcome in outcomes:
        assert outcome["tidied"] in (old, new)
        assert outcome["others"] == []
        # Without an exchange there is one moment at which the old release has only its hidden name.
        assert outcome["left"] in ((old, new) if how == "exchange" else (old, new, []))
    assert any(outcome["killed"] and outcome["left"] == new for outcome in outcomes)
    if how == "renames" and exists == "exists":
        assert sum(outcome["left"] == [] for outcome in outcomes) <= 3


def test_single_file(tmp_path: Path):
    with staged(tmp_path / "sub" / "job.yaml") as path:
        assert path.suffix == ".yaml"
        path.write_text("k: 5")
    assert content(tmp_path) == {"sub/job.yaml": "k: 5"}
    with pytest.raises(RefusedError) as caught, staged(tmp_path / "sub" / "job.yaml") as path:
        path.write_text("k: 6")
    assert caught.value.code == "E601"
    with staged(tmp_path / "sub" / "job.yaml", overwrite=True) as path:
        path.write_text("k: 7")
    assert content(tmp_path) == {"sub/job.yaml": "k: 7"}
    with pytest.raises(RefusedError, match="is a folder"), staged(tmp_path / "sub", overwrite=True):
        pass


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_single_file_fails_without_a_trace(tmp_path: Path, error: type[BaseException]):
    with pytest.raises(error):
        fail(staged(tmp_path / "new" / "x.csv"), error)
    assert list(tmp_path.iterdir()) == []


def test_single_file_disk_full(tmp_path: Path):
    with pytest.raises(LimitError) as caught:
        fail(staged(tmp_path / "x.csv"), OSError(errno.ENOSPC, "No space left on device"))
    assert caught.value.code == "E701"
    assert list(tmp_path.iterdir()) == []


def test_disk_full_in_the_block_is_told_as_such(tmp_path: Path):
    error = RuntimeError("parquet: underlying IO error: No space left on device (os error 28)")
    with pytest.raises(LimitError) as caught:
        fail(Staging(tmp_path / "out"), error)
    assert caught.value.code == "E701"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (OSError(errno.ENOSPC, "x"), "E701"),
        (OSError("No space left on device (os error 28)"), "E701"),
        (PermissionError(errno.EACCES, "x"), "E603"),
        (OSError(errno.EROFS, "x"), "E603"),
        (OSError(errno.EIO, "Input/output error"), "E603"),
        (MemoryError(), "E702"),
        (RefusedError("E602", "x"), "E602"),
    ],
)
def test_translation(error: BaseException, code: str):
    assert translate_os_error(error, "out/x.csv").code == code

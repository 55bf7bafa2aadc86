"""Publish a set of files at once: whoever looks sees the old state or the complete new one, even after a power cut."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import shutil
import sys
import weakref
from collections.abc import Iterable, Iterator
from pathlib import Path
from shlex import quote
from types import TracebackType
from typing import Self

from tarnkappe.appeared import is_to_take
from tarnkappe.errors import RefusedError, TarnkappeError
from tarnkappe.fixes import OVERWRITE, Fix, say
from tarnkappe.io.failures import is_disk_full, translate_os_error
from tarnkappe.io.folders import PUBLIC, ReleaseFolder, read_manifest
from tarnkappe.io.leftovers import abandoned, temporary_tag

_PRIVATE_FILE = 0o600
_PRIVATE_FOLDER = 0o700
_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


def require_apart(target: Path, inputs: Iterable[Path]) -> None:
    """Refuse a folder for a release that holds what the release is made from."""
    for path in inputs:
        if path == target or target in path.parents:
            same = path == target
            holds = "is" if same else f"folder '{target.name}' holds"
            taken = same or _is_release(target)
            other = target.with_name(f"{target.name}-2") if taken else target / "release"
            raise RefusedError(
                "E602",
                f"the output {holds} the input '{path.name}'",
                where=str(target),
                hint=f"Write to another folder, such as  {other}",
            )


def require_private_place(target: Path) -> None:
    """Refuse a folder inside the public one of an earlier release: that is given away whole, with all that is in it."""
    for folder in target.parents:
        if folder.name == PUBLIC and _is_release(folder.parent):
            release = folder.parent
            unused = release.with_name(f"{release.name}-2")
            raise RefusedError(
                "E603",
                f"'{target.name}' would lie in the public folder of the release '{release.name}'",
                where=str(target),
                details=["That folder is given away whole, and what has to stay with you would be in it."],
                hint=f"Write to another folder:  {unused}",
            )


def hidden_folders(target: Path) -> Iterator[Path]:
    """The hidden folders of runs that were killed before what they wrote took its name."""
    return abandoned(target.parent, _prefix(target, "tmp"))


def _prefix(target: Path, what: str) -> str:
    return f".{target.name}.{what}"


class Staging:
    r"""A release folder that comes into being complete or not at all.

    Files are written to a hidden folder beside the target, which only its owner can enter. When the ``with`` block
    ends well, the hidden folder takes the target's name by one rename; when it ends by any exception, it is removed.
    What a killed run left behind is removed by the next one.

    An existing folder is only replaced if `overwrite` is set and it is an earlier release: its public manifest has the
    key ``tarnkappe``. An existing empty folder counts as absent. `inputs` are files that must not lie in
    the folder.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as parent:
    ...     with Staging(Path(parent, "release")) as stage:
    ...         _ = stage.path("release.csv").write_text("age\n[20 29]\n")
    ...         _ = stage.path("key.json", private=True).write_text("{}")
    ...     sorted(p.name for p in Path(parent, "release").iterdir())
    ['key.json', 'release.csv']
    """

    def __init__(self, folder: str | Path, *, overwrite: bool = False, inputs: Iterable[str | Path] = ()) -> None:
        """Say where the release is to appear; nothing is touched before the ``with`` block begins."""
        self.target = Path(folder).expanduser().resolve()
        self.overwrite = overwrite
        self._inputs = tuple(Path(p).expanduser().resolve() for p in inputs)
        self._staged: dict[str, bool] = {}
        self._made: list[Path] = []
        self._folder: Path | None = None
        self._mode = _PRIVATE_FOLDER
        # One Ctrl-C may interrupt twice, once from Polars and once from Python, and so cut `__exit__` short.
        self._at_exit = weakref.finalize(self, _remove, self._made, os.getpid())

    @property
    def folder(self) -> Path:
        """The hidden folder in which the files are written."""
        if self._folder is None:
            raise ValueError("a Staging is only usable inside its with block")
        return self._folder

    def path(self, name: str, *, private: bool = False) -> Path:
        """Where to write the file that will be called `name` in the release.

        Only its owner may read a private one, or enter the folder inside the release that holds it.
        """
        relative = Path(name)
        if relative.is_absolute() or ".." in relative.parts or not relative.parts:
            raise ValueError(f"{name!r} is not a name inside the release folder")
        path = self.folder / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        if private and path.parent != self.folder:
            path.parent.chmod(_PRIVATE_FOLDER)
        self._staged[relative.as_posix()] = private
        return path

    def table(self, name: str) -> Path:
        """Where to write the table that will be called `name` in the release: a file, or a folder of parts."""
        return self.path(name)

    def __enter__(self) -> Self:
        require_apart(self.target, self._inputs)
        require_private_place(self.target)
        parent = self.target.parent
        try:
            self._tidy(parent)
            self._check_target()
            folder = parent / f"{_prefix(self.target, 'tmp')}{temporary_tag()}"
            self._made += [*_make_parents(parent), folder]
            folder.mkdir(_PRIVATE_FOLDER)  # at once: nobody else can look in for even a moment
            folder.chmod(_PRIVATE_FOLDER)  # whatever the umask takes away from the owner
            self._folder = folder
            self._mode = _usual_mode(folder)  # for when it is published
        except OSError as err:
            self._discard()
            raise translate_os_error(err, self.target) from err
        except BaseException:
            self._discard()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            try:
                self._publish()
            except OSError as err:
                self._discard()
                raise translate_os_error(err, self.target) from err
            except BaseException:
                self._discard()
                raise
            return
        told = self._told_of_release(error)
        self._discard()
        if told is not None:
            raise told from error

    def _told_of_release(self, error: BaseException) -> TarnkappeError | None:
        """A failed write of a file in the hidden folder, told of the release; nothing for all other errors."""
        known = isinstance(error, TarnkappeError)
        place = error.where if isinstance(error, TarnkappeError) else getattr(error, "filename", None)
        inside = str(place or "").startswith(str(self.folder))
        if known and inside and error.__cause__ is not None:
            return translate_os_error(error.__cause__, self.target)
        if not known and isinstance(error, Exception) and (inside or is_disk_full(error)):
            return translate_os_error(error, self.target)
        return None

    def _check_target(self) -> None:
        """Refuse a target that exists, unless it is empty, or an earlier release that may be replaced."""
        if not os.path.lexists(self.target):
            return
        here = Path.cwd()
        other = _named(self.target.with_name(f"{self.target.name}-2"))
        if not self.target.is_dir():
            reason, hint = "is a file", say("Write to another folder:  {}", other)
        elif self.target in (here, *here.parents):
            inside = _named(self.target / "release")
            reason, hint = "is the folder you are in", say("Write to a new folder in it:  {}", inside)
        elif not any(self.target.iterdir()):
            return
        elif not _is_release(self.target):
            reason = "exists and is not an earlier release, so it is not replaced"
            hint = say("Write to another folder:  {}", other)
        elif not self.overwrite:
            reason = "exists already"
            hint = say("Replace it with  {}  or write to another folder:  {}", OVERWRITE, other)
        else:
            return
        raise RefusedError("E601", f"'{self.target.name}' {reason}", where=str(self.target), hint=hint)

    def _tidy(self, parent: Path) -> None:
        """Put back what a killed run had moved aside, and remove what killed runs left."""
        for old in abandoned(parent, _prefix(self.target, "old")):
            if self.target.exists():
                shutil.rmtree(old, ignore_errors=True)
            else:
                old.rename(self.target)
        for stale in abandoned(parent, _prefix(self.target, "tmp")):
            self._drop(stale)
        for rest in abandoned(parent, _prefix(self.target, "gone")):
            shutil.rmtree(rest, ignore_errors=True)

    def _drop(self, folder: Path) -> None:
        """Remove a hidden folder under a name that nothing is taken from: whoever is killed meanwhile leaves a part."""
        gone = self.target.with_name(f"{_prefix(self.target, 'gone')}{temporary_tag()}")
        try:
            try:
                folder.rename(gone)
            except OSError:
                gone = folder
            shutil.rmtree(gone, ignore_errors=True)
        except BaseException:  # whoever is asked to stop meanwhile ends what was begun
            shutil.rmtree(gone, ignore_errors=True)
            raise

    def _publish(self) -> None:
        folder = self.folder
        for name, private in self._staged.items():
            file = folder / name
            if not file.exists():  # a folder of parts is as good as a file
                raise RuntimeError(f"'{name}' was announced for the release but never written")
            if private:
                file.chmod(_PRIVATE_FILE)
        for inner in folder.rglob("*"):
            _flush_to_disk(inner)
        self._check_target()  # it may have appeared meanwhile
        folder.chmod(self._mode)
        _flush_to_disk(folder)
        self._before_appearing()
        self._take_name(folder)
        self._folder = None
        self._made.clear()
        _flush_to_disk(self.target.parent)

    def _before_appearing(self) -> None:
        """What has to be done when all is written and only the name is missing; an exception still undoes it all."""
        return

    def _take_name(self, folder: Path) -> None:
        """Let a complete hidden folder take the target's name."""
        is_to_take(folder, self.target)
        if self.target.is_dir() and any(self.target.iterdir()):
            self._replace(folder)
        else:
            if os.name == "nt" and self.target.is_dir():
                self.target.rmdir()  # only there a rename does not replace an empty folder
            folder.rename(self.target)

    def _replace(self, folder: Path) -> None:
        """Swap the new folder with the old release, in one step where the system can."""
        if exchange(folder, self.target):
            old = folder
        else:
            old = self.target.with_name(f"{_prefix(self.target, 'old')}{temporary_tag()}")
            self.target.rename(old)
            try:
                folder.rename(self.target)
            except BaseException:
                old.rename(self.target)
                raise
        _flush_to_disk(self.target.parent)
        self._drop(old)  # a remainder is removed by the next run

    def _discard(self) -> None:
        """Remove everything this run made."""
        self._folder = None
        _remove(self._made, os.getpid())
        self._made.clear()


def _remove(made: list[Path], owner: int) -> None:
    """Remove folders that were made one inside the other, the innermost with all that is in it."""
    if os.getpid() != owner:  # a forked child does not own its parent's folders
        return
    for inner in made[-1:]:
        shutil.rmtree(inner, ignore_errors=True)
    for outer in reversed(made[:-1]):
        with contextlib.suppress(OSError):  # somebody else has put something there
            outer.rmdir()


@contextlib.contextmanager
def staged(final: str | Path, overwrite: bool = False) -> Iterator[Path]:
    """Write a single file atomically: yields a hidden path beside `final` that takes its name when all went well."""
    target = Path(final).expanduser().resolve()
    prefix = f".{target.stem}.tmp"
    made: list[Path] = []
    temporary = target.with_name(f"{prefix}{temporary_tag()}{target.suffix}")
    try:
        for stale in abandoned(target.parent, prefix):
            stale.unlink(missing_ok=True)
        _refuse_existing_file(target, overwrite)
        made = _make_parents(target.parent)
        yield temporary
        _flush_to_disk(temporary)
        _refuse_existing_file(target, overwrite)
        is_to_take(temporary, target)
        temporary.replace(target)
        _flush_to_disk(target.parent)
    except BaseException as err:
        temporary.unlink(missing_ok=True)
        for parent in reversed(made):
            with contextlib.suppress(OSError):
                parent.rmdir()
        if isinstance(err, OSError) or (not isinstance(err, TarnkappeError) and is_disk_full(err)):
            raise translate_os_error(err, target) from err
        raise


def _refuse_existing_file(target: Path, overwrite: bool) -> None:
    if target.is_dir() or (target.exists() and not overwrite):
        folder = target.is_dir()
        raise RefusedError(
            "E601",
            f"'{target.name}' {'is a folder' if folder else 'exists already'}",
            where=str(target),
            hint="Give another name." if folder else say("Replace it with  {}  or give another name.", OVERWRITE),
        )


def _make_parents(folder: Path) -> list[Path]:
    """Create a folder and those above it; returns the new ones, the highest first."""
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    made: list[Path] = []
    for new in reversed(missing):
        try:
            new.mkdir(exist_ok=True)
        except BaseException:
            for done in reversed(made):
                done.rmdir()
            raise
        made.append(new)
    return made


def _usual_mode(folder: Path) -> int:
    """The mode that the umask gives to a new folder; it can be seen, but not asked for."""
    probe = folder / "mode"
    probe.mkdir()
    mode = probe.stat().st_mode & 0o7777
    probe.rmdir()
    return mode


def _named(folder: Path) -> Fix:
    """A folder as it is typed on the command line, and as Python takes it."""
    return Fix(quote(str(folder)), str(folder))


def _is_release(folder: Path) -> bool:
    """Whether the folder has a manifest that we wrote."""
    return read_manifest(ReleaseFolder(folder).manifest) is not None


def _flush_to_disk(path: Path) -> None:
    """Wait until a file, or the list of files in a folder, is on the disk."""
    if path.is_dir():
        with contextlib.suppress(OSError):  # not every system can do this for folders
            _fsync(path, os.O_RDONLY)
    else:
        _fsync(path, os.O_RDWR)


def _fsync(path: Path, flags: int) -> None:
    descriptor = os.open(path, flags)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def exchange(one: Path, other: Path) -> bool:
    """Swap the names of two folders in one step; false where the system or the file system cannot."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return False
    done = renameat2(
        ctypes.c_int(_AT_FDCWD),
        ctypes.c_char_p(os.fsencode(one)),
        ctypes.c_int(_AT_FDCWD),
        ctypes.c_char_p(os.fsencode(other)),
        ctypes.c_uint(_RENAME_EXCHANGE),
    )
    if done == 0:
        return True
    number = ctypes.get_errno()
    if number in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP):
        return False
    raise OSError(number, os.strerror(number), str(other))

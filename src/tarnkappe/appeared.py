"""What has taken its name in this process: whoever ends it can say truly whether anything was written."""

from __future__ import annotations

from pathlib import Path

#: The names that were to be taken, and which files or folders were to take them.
_named: dict[Path, tuple[int, int] | None] = {}

#: What a database was asked to keep: whoever is stopped then cannot tell whether it did.
_committed: list[str] = []


def is_to_take(unfinished: Path, target: Path) -> None:
    """Note what is about to take a name: whoever is stopped while it does so cannot tell whether it did."""
    found = unfinished.stat()
    _named[target] = found.st_dev, found.st_ino


def has_taken(target: str | Path) -> None:
    """Note what was written under its name, or took it where nothing but its name is known."""
    _named[Path(target)] = None


def is_to_commit(what: str) -> None:
    """Note what a database is about to be asked to keep."""
    _committed.append(what)


def forget() -> None:
    """Begin anew: what appeared so far is of an earlier command of this process."""
    _named.clear()
    _committed.clear()


def committed() -> list[str]:
    """What a database was asked to keep."""
    return list(_committed)


def appeared() -> list[Path]:
    """What took its name, and still has it."""
    return [target for target, file in _named.items() if file is None or _identity(target) == file]


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino

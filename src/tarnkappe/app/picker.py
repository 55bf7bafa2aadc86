"""Which files the app may see: those below the folder it was started in, and none that are hidden."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tarnkappe.errors import DataError, TarnkappeError
from tarnkappe.io.folders import MANIFEST, PUBLIC
from tarnkappe.io.source import is_table
from tarnkappe.job.text import read_job_file

#: A folder may hold more files than anybody looks through.
_MOST_LISTED = 500

_JOBS = (".yaml", ".yml")

#: So many jobs are listed as recent ones.
_RECENT = 6


@dataclass(frozen=True)
class Picker:
    """The folder that the app works in."""

    root: Path

    @classmethod
    def at(cls, folder: Path) -> Picker:
        """Rooted at a folder, wherever links lead to it."""
        return cls(folder.expanduser().resolve())

    def inside(self, given: str) -> Path:
        """The file or folder that a path names; refused if it is hidden or lies elsewhere, also by a link."""
        try:
            path = (self.root / given).resolve()
            parts = path.relative_to(self.root).parts
        except (ValueError, OSError, RuntimeError):
            raise _outside() from None
        if any(part.startswith(".") for part in parts) or "\0" in given:
            raise _outside()
        return path

    def name_of(self, path: Path) -> str:
        """A path as the page names it: from the folder on."""
        try:
            return path.relative_to(self.root).as_posix()
        except ValueError:
            return path.name

    def listed(self, given: str = "") -> dict[str, Any]:
        """What lies in a folder: folders, tables, job files and releases; links that lead out are left out."""
        folder = self.inside(given)
        if not folder.is_dir():
            raise DataError("E481", "there is no such folder", where=given, hint="Choose one that is listed.")
        entries: list[dict[str, Any]] = []
        for path in sorted(folder.iterdir(), key=lambda p: (not p.is_dir(), p.name.casefold())):
            try:
                inside = self.inside(self.name_of(path))
                kind = _kind(inside)
                size = inside.stat().st_size if inside.is_file() else None
            except (DataError, OSError):
                continue
            entries.append({"name": path.name, "path": self.name_of(path), "kind": kind, "size": size})
        here = "" if folder == self.root else self.name_of(folder)
        up = None if folder == self.root else "" if folder.parent == self.root else self.name_of(folder.parent)
        return {
            "folder": here,
            "up": up,
            "entries": entries[:_MOST_LISTED],
            "left_out": max(0, len(entries) - _MOST_LISTED),
        }

    def recent(self) -> list[dict[str, Any]]:
        """The job files in the folder and in those right below it, the one that was changed last first."""
        found = []
        for path in itertools.islice(
            itertools.chain(self.root.glob("*.y*ml"), self.root.glob("*/*.y*ml")), _MOST_LISTED
        ):
            try:
                inside = self.inside(self.name_of(path))
                changed = inside.stat().st_mtime
                data = read_job_file(inside) if inside.is_file() and path.suffix.lower() in _JOBS else {}
            except (TarnkappeError, OSError):  # links that lead out, and what is no job
                continue
            if "columns" in data:
                title = data.get("title")
                told = {"path": self.name_of(path), "title": str(title) if title else "", "changed": changed}
                found.append((changed, told))
        return [told for _, told in sorted(found, key=lambda one: -one[0])][:_RECENT]


def _kind(path: Path) -> str:
    if path.is_dir():
        return "release" if (path / PUBLIC / MANIFEST).is_file() else "folder"
    if path.suffix.lower() in _JOBS:
        return "job"
    return "table" if is_table(path) else "other"


def _outside() -> DataError:
    return DataError(
        "E480",
        "the app sees only the folder that it was started in",
        hint="Start it in the folder of your data:  tarnkappe app FOLDER",
    )

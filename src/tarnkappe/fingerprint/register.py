"""The register of copies: who got which, in a chain that shows whether a line was changed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tarnkappe.errors import DataError, JobError

#: What stands before the first line.
_BEGINNING = "0" * 64


@dataclass(frozen=True)
class Entry:
    """One copy that was issued."""

    number: int
    recipient: str
    dataset: str
    #: The digest of the table that was handed over.
    release: str
    pattern: tuple[int, ...]
    made: str
    #: The digest of the line before.
    previous: str
    digest: str = ""

    def sealed(self) -> Entry:
        """The same with its digest."""
        return Entry(**{**self._told(), "pattern": self.pattern, "digest": self._digest()})

    def _told(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "digest"}

    def _digest(self) -> str:
        text = json.dumps({**self._told(), "pattern": list(self.pattern)}, sort_keys=True, ensure_ascii=True)
        return hashlib.sha256(text.encode("ascii")).hexdigest()

    @property
    def is_sealed(self) -> bool:
        """Whether the digest is that of the line."""
        return self.digest == self._digest()


@dataclass(frozen=True)
class Register:
    """An append-only file of lines; every line names the digest of the one before, the `head` is that of the last.

    Whoever keeps the head elsewhere (in print, with a notary) can tell later that nothing was changed or cut off.
    """

    path: Path
    entries: tuple[Entry, ...] = field(default=())

    @classmethod
    def open(cls, path: str | Path) -> Register:
        """Read a register and check its chain; there need not be one yet."""
        place = Path(path)
        try:
            lines = place.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return cls(place)
        except (OSError, UnicodeDecodeError):
            raise _broken(place, "it cannot be read") from None
        entries: list[Entry] = []
        for i, line in enumerate(lines):
            try:
                raw = json.loads(line)
                entry = Entry(**{**raw, "pattern": tuple(raw["pattern"])})
            except (ValueError, TypeError, KeyError):
                raise _broken(place, f"line {i + 1} is not an entry") from None
            before = entries[-1].digest if entries else _BEGINNING
            if not entry.is_sealed or entry.number != i or entry.previous != before:
                raise _broken(place, f"line {i + 1} does not follow from the lines before it")
            entries.append(entry)
        return cls(place, tuple(entries))

    @property
    def head(self) -> str:
        """The digest of the last line."""
        return self.entries[-1].digest if self.entries else _BEGINNING

    def require_head(self, head: str) -> None:
        """Refuse a register that lacks lines which had been there when its head was noted."""
        if head not in {_BEGINNING, *(e.digest for e in self.entries)}:
            raise _broken(self.path, "lines that had been there are missing")

    def recipients(self, dataset: str) -> tuple[str, ...]:
        """Everybody who got a copy of a data set."""
        return tuple(dict.fromkeys(e.recipient for e in self.entries if e.dataset == dataset))

    def find(self, dataset: str, recipient: str) -> Entry | None:
        """The last copy that a recipient got."""
        found = [e for e in self.entries if e.dataset == dataset and e.recipient == recipient]
        return found[-1] if found else None

    def appended(self, recipient: str, dataset: str, release: str, pattern: tuple[int, ...]) -> Register:
        """Write one more line."""
        made = datetime.now(UTC).isoformat(timespec="seconds")
        entry = Entry(len(self.entries), recipient, dataset, release, pattern, made, self.head).sealed()
        line = json.dumps({**_plain(entry)}, ensure_ascii=False, sort_keys=True)
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(line + "\n")
        except OSError:
            raise JobError(
                "E107", "the register cannot be written", where=str(self.path), hint="--register FILE"
            ) from None
        return Register(self.path, (*self.entries, entry))


def _plain(entry: Entry) -> Mapping[str, Any]:
    return {**{n: getattr(entry, n) for n in entry.__dataclass_fields__}, "pattern": list(entry.pattern)}


def _broken(path: Path, why: str) -> DataError:
    return DataError(
        "E414",
        f"the register of copies was changed: {why}",
        where=str(path),
        hint="Take it from a backup; without its lines nobody can be accused.",
    )

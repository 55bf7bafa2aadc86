"""The register of copies: who got which, in a chain that shows whether a line was changed."""

from __future__ import annotations

import hashlib
import json
import os
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tarnkappe.errors import DataError, JobError

#: Letters without a look of their own that some languages cannot do without.
_JOINERS = "\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}"

#: What stands before the first line.
_BEGINNING = "0" * 64


def recipient_name(given: str) -> str:
    """The name of a recipient in one spelling: accents composed, single spaces. The marks follow from it.

    >>> recipient_name("  St.  Mary ") == recipient_name("St. Mary")
    True
    """
    try:
        given.encode()  # a word of the command line need not be text
    except UnicodeEncodeError:
        raise _nameless("the name of a recipient is not text") from None
    name = " ".join(unicodedata.normalize("NFC", given).split())
    if not name:
        raise _nameless("a recipient needs a name")
    # A name that looks like another one, or runs backwards, must not stand in a report about who leaked.
    if any(unicodedata.category(letter) in ("Cc", "Cf") and letter not in _JOINERS for letter in name):
        raise _nameless("the name of a recipient has letters that cannot be seen")
    return name


def _nameless(what: str) -> JobError:
    return JobError("E110", what, hint='--to "Hospital A"')


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

    The head is also kept beside it, so that lines cut off at the end are missed. Whoever can change both files can go
    back to an earlier state: keep the head elsewhere, too (in print, with a notary).
    """

    path: Path
    entries: tuple[Entry, ...] = field(default=())

    @classmethod
    def open(cls, path: str | Path) -> Register:
        """Read a register and check its chain; there need not be one yet."""
        place = Path(path)
        lines = _lines(place)
        kept = _lines(_beside(place, "head"))
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
        register = cls(place, tuple(entries))
        if kept:
            register.require_head(kept[0])
        return register

    @contextmanager
    def alone(self) -> Iterator[Register]:
        """The register as it is now, while nobody else adds to it; an exception if nothing can be added."""
        try:
            handle = os.open(_beside(self.path, "lock"), os.O_RDWR | os.O_CREAT, 0o600)
        except OSError:
            raise self._unwritable() from None
        try:
            _wait_for(handle)
            if self.path.exists() and not os.access(self.path, os.W_OK):
                raise self._unwritable()
            now = Register.open(self.path)
            if now.entries[: len(self.entries)] != self.entries:
                raise _broken(self.path, "lines that had been there are missing")
            yield now
        finally:
            os.close(handle)

    @property
    def head(self) -> str:
        """The digest of the last line."""
        return self.entries[-1].digest if self.entries else _BEGINNING

    def require_head(self, head: str) -> None:
        """Refuse a register that lacks lines which had been there when its head was noted."""
        if head.strip() not in {_BEGINNING, *(e.digest for e in self.entries)}:
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
        line = json.dumps(_plain(entry), ensure_ascii=True, sort_keys=True)
        try:
            _write(self.path, line, os.O_APPEND)
            _write(_beside(self.path, "head"), entry.digest, os.O_TRUNC)
        except OSError:
            raise self._unwritable() from None
        return Register(self.path, (*self.entries, entry))

    def _unwritable(self) -> JobError:
        hint = f"mkdir -p {self.path.parent}   or give yourself the right to write there"
        return JobError("E107", "the register cannot be written", where=str(self.path), hint=hint)


def _beside(path: Path, what: str) -> Path:
    return path.with_name(f"{path.name}.{what}")


def _lines(path: Path) -> list[str]:
    """The lines of a file, which need not be there. Only a line feed ends one: names may hold what Python splits at."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError):
        raise _broken(path, "it cannot be read") from None
    return text.removesuffix("\n").split("\n") if text else []


def _write(path: Path, line: str, how: int) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | how, 0o600)
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(line + "\n")
        file.flush()
        os.fsync(file.fileno())


def _wait_for(handle: int) -> None:
    """Wait until nobody else holds the file; the lock ends with its process."""
    try:
        import fcntl
    except ImportError:  # not every system has such locks
        return
    fcntl.flock(handle, fcntl.LOCK_EX)


def _plain(entry: Entry) -> Mapping[str, Any]:
    return {**{n: getattr(entry, n) for n in entry.__dataclass_fields__}, "pattern": list(entry.pattern)}


def _broken(path: Path, why: str) -> DataError:
    return DataError(
        "E414",
        f"the register of copies was changed: {why}",
        where=str(path),
        hint="Take it from a backup; without its lines nobody can be accused.",
    )

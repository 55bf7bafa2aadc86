"""The ledger: which releases were made, in a chain of lines that shows whether one was changed or is missing.

It lies in a private place that the steward names, as four things side by side: the ledger itself (one line of JSON for
each release or withdrawal), its key, its head, and a folder with who was in which group of each release. People, inputs
and secrets stand in it under keyed hashes only.

A release is *announced* in a fifth file before it appears, and entered once it did. Whatever kills the run between the
two, the next one finds the announcement and enters the release, unless it is sure that it never appeared.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tarnkappe.errors import DataError, JobError
from tarnkappe.history.ledger_files import as_parquet, beside, keep_locked, key_of, write_privately
from tarnkappe.io.folders import ReleaseFolder, read_manifest
from tarnkappe.io.staging import hidden_folders, require_apart

#: What stands before the first line.
_BEGINNING = "0" * 64

#: Bytes of the keyed hash of a person: among ten million people, two share one with a chance of 1 to 400 000.
_PERSON_BYTES = 8

Kind = Literal["release", "withdrawal"]


@dataclass(frozen=True)
class Line:
    """One line: a release that appeared, or a person who withdrew."""

    number: int
    kind: Kind
    made: str
    #: Where the release was written to.
    folder: str
    #: The keyed hash of the digest of the input, and the digest of the published table.
    source: str
    table: str
    #: How many people are in it, and the digest of the file that says who is in which group.
    people: int
    file: str
    #: What was promised, and the smallest group that could keep it.
    asked: str
    least: int
    #: The keyed hash of who withdrew.
    person: str
    #: Why it was published although the joint answer was below the goal.
    because: str
    #: The seal of the line before.
    previous: str
    seal: str = ""

    def text(self) -> str:
        """What is sealed."""
        return json.dumps({**asdict(self), "seal": ""}, sort_keys=True, ensure_ascii=True)


@dataclass(frozen=True, eq=False)
class Ledger:
    """An append-only file of sealed lines. Only who has the key can add one, and a line that is cut off is missed.

    The head, kept beside it, is the seal of the last line. Whoever can change all four files at once can still go back
    to an earlier state: keep a copy of the head elsewhere.
    """

    path: Path
    key: bytes = field(repr=False)
    lines: tuple[Line, ...] = ()
    #: A release that was announced and is not entered yet.
    announced: Line | None = None
    #: The number of the release that was announced by a run that was killed, and entered when the ledger was opened.
    late: int | None = None

    @classmethod
    @contextlib.contextmanager
    def opened(cls, path: str | Path, target: str | Path | None = None) -> Iterator[Ledger]:
        """Read a ledger, check its chain and keep others from writing to it; a new one gets a key.

        Nothing is made if the ledger lies in the folder of the release (`target`): its key would be there to be shared.
        """
        place = Path(path).expanduser().absolute()
        if target is not None and "://" not in str(target):
            require_apart(Path(target).expanduser().resolve(), [place.resolve()])
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(place.with_name(f"{place.name}.lock"), os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise JobError(
                "E107",
                f"the ledger cannot be opened: {error.strerror}",
                where=str(place),
                hint="history: {ledger: private/ledger.jsonl, subject: COLUMN}   (a file in a folder that is there)",
            ) from None
        try:
            keep_locked(handle, place)
            yield cls.read(place, create=True)._settled()
        finally:
            os.close(handle)

    @classmethod
    def read(cls, path: str | Path, *, create: bool = False) -> Ledger:
        """Read a ledger and check its chain."""
        place = Path(path).expanduser().absolute()
        there = place.exists() or beside(place, "head").exists()
        if not there and not create:
            raise JobError(
                "E107", "there is no ledger", where=str(place), hint="Give the file that the job names:  history.ledger"
            )
        key = key_of(place, there)
        if not there:
            write_privately(beside(place, "head"), f"{_BEGINNING}\n".encode())
            return cls(place, key)
        try:
            head = beside(place, "head").read_text(encoding="ascii").strip()
            begun = place.exists() or head != _BEGINNING
            texts = place.read_text(encoding="utf-8").splitlines() if begun else []
        except (OSError, UnicodeDecodeError):
            raise _broken(place, "it or its head cannot be read") from None
        lines: list[Line] = []
        for i, text in enumerate(texts):
            try:
                line = Line(**json.loads(text))
            except (ValueError, TypeError):
                raise _broken(place, f"line {i + 1} is none") from None
            before = lines[-1].seal if lines else _BEGINNING
            sealed = hmac.compare_digest(line.seal, _seal(key, line))
            if not sealed or line.number != i + 1 or line.previous != before:
                raise _broken(place, f"line {i + 1} was changed, or one before it is missing")
            lines.append(line)
        if head not in {_BEGINNING, *(line.seal for line in lines)}:
            raise _broken(place, "its last lines are missing")
        ledger = cls(place, key, tuple(lines))
        return replace(ledger, announced=ledger._announcement())

    @property
    def head(self) -> str:
        """The seal of the last line."""
        return self.lines[-1].seal if self.lines else _BEGINNING

    @property
    def releases(self) -> tuple[Line, ...]:
        """The releases, in the order in which they appeared; one that is announced may have."""
        further = () if self.announced is None else (self.announced,)
        return tuple(line for line in (*self.lines, *further) if line.kind == "release")

    def hash(self, purpose: str, text: str) -> str:
        """The keyed hash of a text; two purposes share none."""
        return hmac.digest(self.key, f"{purpose}\0{text}".encode(), "sha256").hex()

    def person(self, text: str) -> int:
        """The keyed hash of a person."""
        return int(self.people([text])[0])

    def people(self, texts: Iterable[str]) -> NDArray[np.uint64]:
        """The keyed hash of every person: BLAKE2 with a key, one call for each different person.

        It is a key of its own, so that nothing else in the ledger can be compared with it.
        """
        own = hmac.digest(self.key, b"people", "sha256")
        blake = hashlib.blake2b
        hashes = b"".join(blake(text.encode(), key=own, digest_size=_PERSON_BYTES).digest() for text in texts)
        return np.frombuffer(hashes, "<u8").astype(np.uint64)

    def withdrawn(self) -> pl.DataFrame:
        """The people who withdrew."""
        hashes = sorted({int(line.person, 16) for line in self.lines if line.kind == "withdrawal"})
        return pl.DataFrame({"person": pl.Series(hashes, dtype=pl.UInt64)})

    def groups_of(self, line: Line) -> pl.DataFrame:
        """Who was in which group of a release, as it was kept when the release appeared."""
        path = self._file(line.number)
        try:
            content = path.read_bytes()
        except OSError:
            content = b""
        if hashlib.sha256(content).hexdigest() != line.file:
            raise DataError(
                "E443",
                f"who was in release {line.number} is missing or was changed",
                where=str(path),
                hint="Take the folder of the ledger from a backup.",
            )
        return pl.read_parquet(content)

    def withdrawal(self, person: int) -> Ledger:
        """Enter that a person withdrew."""
        try:
            return self._entered(self._line("withdrawal", person=f"{person:016x}"))
        except OSError as error:
            raise self._unwritten(error, "The withdrawal is not noted") from None

    def announce(
        self,
        groups: pl.DataFrame,
        *,
        folder: str,
        source: str,
        table: str,
        people: int,
        asked: str,
        least: int,
        because: str = "",
    ) -> Ledger:
        """Write down a release that is about to appear, after the file about its people."""
        number = len(self.lines) + 1
        try:
            file = self._file(number)
            file.parent.mkdir(mode=0o700, exist_ok=True)
            write_privately(file, as_parquet(groups))
            digest = hashlib.sha256(file.read_bytes()).hexdigest()
            line = self._line("release", folder, source, table, people, digest, asked, least, because=because)
            write_privately(beside(self.path, "announced"), _json(line).encode("ascii"))
        except OSError as error:
            raise self._unwritten(error, "Nothing was published") from None
        return replace(self, announced=line)

    def appeared(self) -> Ledger:
        """Enter the release that was announced."""
        if self.announced is None:
            return self
        try:
            entered = self._entered(self.announced)
            beside(self.path, "announced").unlink()
        except OSError as error:
            after = "The release has appeared, and the next run with this ledger enters it"
            raise self._unwritten(error, after) from None
        return entered

    def never_appeared(self) -> Ledger:
        """Forget what was announced."""
        if self.announced is not None:
            beside(self.path, "announced").unlink(missing_ok=True)
            self._file(self.announced.number).unlink(missing_ok=True)
        return replace(self, announced=None)

    @property
    def is_out(self) -> bool:
        """Whether the release that was announced is in its folder."""
        if self.announced is None:
            return False
        told = read_manifest(ReleaseFolder(Path(self.announced.folder)).manifest)
        return told is not None and told.get("sha256") == self.announced.table

    def _settled(self) -> Ledger:
        """The ledger after what a killed run announced was entered.

        It is dropped only if it cannot have appeared: the folder that was to take its name is still hidden, and there
        is no table in a database, which appears before the folder does.
        """
        line = self.announced
        if line is None:
            return self
        hidden = [read_manifest(ReleaseFolder(path).manifest) for path in hidden_folders(Path(line.folder))]
        if not self.is_out and hidden and not any("database" in (told or {}) for told in hidden):
            return self.never_appeared()
        return replace(self.appeared(), late=line.number)

    def _announcement(self) -> Line | None:
        """What was announced and is not entered."""
        place = beside(self.path, "announced")
        if not place.exists():
            return None
        try:
            line = Line(**json.loads(place.read_text(encoding="ascii")))
        except (OSError, ValueError, TypeError):
            raise _broken(place, "what it announces cannot be read") from None
        if self.lines and line.seal == self.lines[-1].seal:  # killed between the two files
            return None
        sealed = hmac.compare_digest(line.seal, _seal(self.key, line))
        if not sealed or line.number != len(self.lines) + 1 or line.previous != self.head:
            raise _broken(place, "what it announces was changed")
        return line

    def _line(
        self,
        kind: Kind,
        folder: str = "",
        source: str = "",
        table: str = "",
        people: int = 0,
        file: str = "",
        asked: str = "",
        least: int = 0,
        person: str = "",
        because: str = "",
    ) -> Line:
        """The next line, sealed."""
        made = datetime.now(UTC).isoformat(timespec="seconds")
        told = (folder, source, table, people, file, asked, least, person, because)
        line = Line(len(self.lines) + 1, kind, made, *told, self.head)
        return replace(line, seal=_seal(self.key, line))

    def _entered(self, line: Line) -> Ledger:
        """The ledger with one more line, which is on the disk."""
        handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(handle, "w", encoding="ascii") as out:
            out.write(_json(line))
            out.flush()
            os.fsync(out.fileno())
        write_privately(beside(self.path, "head"), f"{line.seal}\n".encode())
        return replace(self, lines=(*self.lines, line), announced=None)

    def _unwritten(self, error: OSError, after: str) -> DataError:
        return DataError(
            "E444",
            f"the ledger cannot be written: {error.strerror}. {after}",
            where=str(self.path),
            hint="Make room or give rights, and run the job again.",
        )

    def _file(self, number: int) -> Path:
        return beside(self.path, "people") / f"{number:06}.parquet"


def _seal(key: bytes, line: Line) -> str:
    return hmac.digest(key, b"line\0" + line.text().encode("ascii"), "sha256").hex()


def _broken(path: Path, why: str) -> DataError:
    return DataError(
        "E442", f"the ledger was changed: {why}", where=str(path), hint="Take the ledger and its head from a backup."
    )


def _json(line: Line) -> str:
    return json.dumps(asdict(line), sort_keys=True, ensure_ascii=True) + "\n"


def plain(line: Line) -> dict[str, Any]:
    """What a line says to people."""
    told = {"number": line.number, "kind": line.kind, "made": line.made}
    if line.kind == "withdrawal":
        return told
    return {**told, "folder": line.folder, "people": line.people, "asked": line.asked, "because": line.because}

"""The budget of a data set: how much was told about its people over all releases. Lines are only ever added."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from tarnkappe.errors import DataError, RefusedError
from tarnkappe.fixes import Fix
from tarnkappe.job.synthetic import BudgetSection
from tarnkappe.mechanisms import epsilon_of, rho_of
from tarnkappe.wording import plural

#: What a sum of floats may be above the budget by rounding.
_ROUNDING = 1e-9
#: What can still be done.
_NOTHING_LEFT = "Hand out an earlier release once more: that costs nothing."


@dataclass(frozen=True)
class Entry:
    """What one release spent."""

    dataset: str
    epsilon: float
    delta: float
    title: str
    made: str

    @property
    def rho(self) -> float:
        """The same as zero-concentrated differential privacy, which adds up more slowly."""
        return rho_of(self.epsilon, self.delta) if self.delta else self.epsilon**2 / 2


@dataclass(frozen=True)
class Budget:
    """What releases about the same people may spend together.

    What releases spend adds up: whoever sees all of them learns no more than from one release with the sums of their
    epsilons and deltas. If the budget has a delta, and noise was of a kind that it needs anyway, zCDP is added up
    instead where that is less. What was drawn is spent, whether or not it was published in the end.
    """

    path: Path
    dataset: str
    epsilon: float
    delta: float = 0.0

    @classmethod
    def of(cls, section: BudgetSection) -> Budget:
        """The budget that a job names."""
        return cls(Path(section.file), section.dataset, section.epsilon, section.delta)

    def entries(self) -> tuple[Entry, ...]:
        """All releases about these people, the first one first."""
        try:
            lines = self.path.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return ()
        except (OSError, UnicodeDecodeError):
            raise self._broken("it cannot be read") from None
        out = []
        for i, line in enumerate(lines, 1):
            try:
                raw = json.loads(line)
                entry = Entry(raw["dataset"], float(raw["epsilon"]), float(raw["delta"]), raw["title"], raw["made"])
                if not (0 < entry.epsilon < float("inf") and 0 <= entry.delta < 1):
                    raise ValueError
            except (ValueError, TypeError, KeyError):
                raise self._broken(f"line {i} is not an entry") from None
            out.append(entry)
        return tuple(e for e in out if e.dataset == self.dataset)

    def together(self, entries: Iterable[Entry]) -> float:
        """The epsilon of several releases together; infinite if their deltas are more than the budget's."""
        several = tuple(entries)
        added = sum(e.epsilon for e in several)
        if sum(e.delta for e in several) > self.delta * (1 + _ROUNDING):
            added = math.inf
        if not self.delta or not several:
            return added
        return min(added, epsilon_of(sum(e.rho for e in several), self.delta))

    def spent(self) -> float:
        """What was spent so far."""
        return self.together(self.entries())

    def require(self, epsilon: float, delta: float = 0.0) -> None:
        """Refuse a release that would spend more than is left."""
        before = self.entries()
        if self.together([*before, Entry(self.dataset, epsilon, delta, "", "")]) <= self.epsilon + _ROUNDING:
            return
        left = max(self.epsilon - self.spent(), 0.0)
        if delta > self.delta:
            raise DataError(
                "E452",
                f"the budget of '{self.dataset}' allows a delta of {self.delta:g}, and this release needs {delta:g}",
                where=str(self.path),
                hint=f"budget: {{…, delta: {delta:g}}}   or leave out  delta  of the release",
            )
        raise DataError(
            "E452",
            f"the budget of '{self.dataset}' has {left:g} left of {self.epsilon:g}, and this release would spend "
            f"{epsilon:g}",
            where=str(self.path),
            details=[f"{plural(len(before), 'release')} about the same people came before."],
            hint=Fix(f"--set synthetic.epsilon={left:g}", f"epsilon={left:g}") if left > 0 else _NOTHING_LEFT,
        )

    def spend(self, epsilon: float, delta: float, title: str) -> None:
        """Write down what a release spends, unless that is more than is left; one process at a time."""
        with self._alone():
            self.require(epsilon, delta)
            made = datetime.now(UTC).isoformat(timespec="seconds")
            line = json.dumps(asdict(Entry(self.dataset, epsilon, delta, title, made)), ensure_ascii=False)
            try:
                with self.path.open("a", encoding="utf-8") as file:
                    file.write(line + "\n")
                    file.flush()
                    os.fsync(file.fileno())
            except OSError:
                raise self._unwritable() from None

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep others from spending meanwhile; a lock that is left behind has to be removed by hand."""
        lock = self.path.with_name(f".{self.path.name}.lock")
        try:
            held = os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        except FileExistsError:
            raise RefusedError(
                "E603", "another run is spending of this budget right now", where=str(lock), hint=f"rm {lock}"
            ) from None
        except OSError:
            raise self._unwritable() from None
        try:
            yield
        finally:
            os.close(held)
            lock.unlink(missing_ok=True)

    def _broken(self, why: str) -> DataError:
        what = f"the file that remembers what was spent was changed: {why}"
        return DataError("E453", what, where=str(self.path), hint="Take it from a backup: what was told stays told.")

    def _unwritable(self) -> RefusedError:
        what = "what is spent cannot be written down"
        return RefusedError("E603", what, where=str(self.path), hint=f"mkdir -p {self.path.parent}")

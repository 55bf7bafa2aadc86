"""Attack a release, ours or not: open what an attacker has, carry attacks out, and say what came of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from tarnkappe.attacks import Attack, Finding, all_attacks, attack_class
from tarnkappe.attacks.base import NEEDS, Need, SequelAttack
from tarnkappe.attacks.opening import open_published, published, read_all
from tarnkappe.attacks.scene import Scene, Table
from tarnkappe.audited import Reading
from tarnkappe.errors import DataError, JobError, TarnkappeError, did_you_mean
from tarnkappe.io import open_source
from tarnkappe.job.files import load_job
from tarnkappe.job.given import names_of
from tarnkappe.job.model import Coarsening, Job, column_of
from tarnkappe.release import Release
from tarnkappe.schema import Column

#: All attacks for which everything is there.
ALL = "all"


@dataclass(frozen=True)
class Attacked:
    """What came of some attacks on a release: a finding each, and why others were not carried out."""

    release: str
    findings: tuple[Finding, ...]
    #: Attacks that were not carried out, and why not.
    skipped: tuple[tuple[str, str], ...] = ()

    @property
    def ok(self) -> bool:
        """Whether no attack beats its baseline by more than its margin."""
        return not any(found.beats_baseline for found in self.findings)

    def __getitem__(self, key: int | str) -> Finding:
        if isinstance(key, int):
            return self.findings[key]
        return next(found for found in self.findings if found.attack == key)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def __str__(self) -> str:
        lines = [f"{'✗' if found.beats_baseline else '✓'} {found}" for found in self.findings]
        return "\n".join([*lines, *(f"? {name}: {why}" for name, why in self.skipped)])

    @property
    def table(self) -> pl.DataFrame:
        """What came of every attack, one row each."""
        rows = [
            (
                f.attack,
                f.column,
                not f.beats_baseline,
                f.rate,
                f.low,
                f.high,
                f.baseline,
                f.control,
                f.trials,
                f.sentence,
            )
            for f in self.findings
        ]
        head = ("attack", "column", "withstood", "rate", "low", "high", "baseline", "control", "trials", "meaning")
        return pl.DataFrame(rows, head, orient="row", infer_schema_length=None)

    def _repr_html_(self) -> str:
        return self.table._repr_html_()

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain data, for ``--json``."""
        return {
            "release": self.release,
            "ok": self.ok,
            "attacks": [found.as_dict() for found in self.findings],
            "skipped": [{"attack": name, "why": why} for name, why in self.skipped],
        }


def attack(
    what: str | Attack | Sequence[str | Attack],
    release: Any,
    *,
    quasi: Mapping[str, Coarsening] | Iterable[str] = (),
    sensitive: Iterable[str] | Mapping[str, Coarsening | None] = (),
    known: Any = None,
    key: str | None = None,
    others: Iterable[Any] = (),
    population: Any = None,
    holdout: Any = None,
    in_order: bool = False,
    job: Job | str | Path | None = None,
    seed: int = 0,
    reading: Reading | None = None,
) -> Attacked:
    """Attack a release, ours or not: a file, a release folder, a release in memory, or a data frame.

    `what` is the name of an attack, an attack with its parameters, several of them, or ``"all"`` for every attack for
    which everything is there. `quasi` and `sensitive` say which columns are which, and how their labels are to be read;
    of our own releases the manifest and the job know it. `known` are people and what is known about them: the original
    data, or a table of others such as a register. Sensitive columns in it serve to check guesses only, like `key`, a
    column that stands in both tables and tells who is who. `others` are other releases of the same people, the earliest
    first. `population` is a public table that the people come from, `holdout` are people who are certainly not in the
    data. `in_order` says that `known` stands in the order of the data. `seed` decides about chance.

    >>> table = pl.DataFrame({"age": ["20-29"] * 2 + ["30-39"] * 2, "illness": ["flu", "flu", "flu", "cold"]})
    >>> found = attack("homogeneity", table, quasi=["age"], sensitive=["illness"])[0]
    >>> found.rate, found.baseline
    (0.5, 0.0)
    """
    asked = [what] if isinstance(what, (str, Attack)) else list(what)
    reading = reading or Reading()
    told = load_job(job) if isinstance(job, (str, Path)) else job
    table, manifest, kept = open_table(release, reading)
    told = told or kept
    secrets = dict(sensitive) if isinstance(sensitive, Mapping) else dict.fromkeys(names_of(sensitive, "sensitive"))
    named = dict(quasi) if isinstance(quasi, Mapping) else dict.fromkeys(names_of(quasi, "quasi"))
    quasis = _columns(named, "quasi", told, list(map(str, (manifest or {}).get("quasi_identifiers", ()))))
    hidden = _columns(secrets, "sensitive", told, _secrets_told(manifest))
    _require(table.name, _shown(table), (*named, *secrets))
    table = _with_quasi(table, quasis)
    scene = Scene(
        table,
        tuple(quasis),
        tuple(hidden),
        lambda: np.random.Generator(np.random.Philox(seed)),
        _people(known, reading),
        key,
        tuple(_other(other, reading, quasis, further=not named) for other in (*others, *_earlier(asked))),
        _people(population, reading),
        _people(holdout, reading),
        in_order,
    )
    return carry_out(asked, scene)


def carry_out(asked: Sequence[str | Attack], scene: Scene) -> Attacked:
    """Carry out attacks on a scene; one that was asked for by name and lacks something is an error."""
    findings: list[Finding] = []
    skipped: list[tuple[str, str]] = []
    for item in asked:
        if item == ALL:
            for name, cls in all_attacks().items():
                try:
                    findings += _findings(cls(), scene)
                except _LacksError as error:
                    skipped.append((name, f"needs {error.what}"))
                except TarnkappeError as error:
                    skipped.append((name, error.message))
            continue
        one = attack_class(item)() if isinstance(item, str) else item
        findings += _findings(one, scene)
    return Attacked(scene.release.name, tuple(findings), tuple(skipped))


class _LacksError(JobError):
    """An attack needs what is not there."""

    what = ""


def _findings(one: Attack, scene: Scene) -> list[Finding]:
    lacking = one.lacks(scene)
    given: dict[Need, pl.DataFrame | None]
    given = {"known": scene.known, "population": scene.population, "holdout": scene.holdout}
    people = None if lacking is None else given.get(lacking)
    if people is not None:
        _require(NEEDS[lacking][0] if lacking else "", people.columns, scene.names)
    if lacking is not None:
        raise _lacks(one, lacking)
    return one.findings(scene)


def _lacks(one: Attack, need: Need) -> _LacksError:
    what, hint = NEEDS[need]
    error = _LacksError("E108", f"the attack '{one.name}' needs {what}", hint=hint)
    error.what = what
    return error


def open_table(release: Any, reading: Reading) -> tuple[Table, dict[str, Any] | None, Job | None]:
    """A release as its reader has it, with its manifest, and the job if the publisher's folder is there."""
    if isinstance(release, Release):
        if release.folder is None:
            frames = {name: _frame(table) for name, table in release.tables.items()}
            told = release.public_manifest
            return published("the release", frames, told, "."), told, release.job
        release = release.folder
    if not isinstance(release, (str, Path)):
        return Table("data frame", _frame(release), ()), None, None
    table, manifest, folder = open_published(release, reading.dialect)
    job = None if folder is None or folder.job is None else load_job(folder.job)
    return table, manifest, job


def _shown(table: Table) -> list[str]:
    return [*table.frame.columns, *(() if table.secrets is None else table.secrets.columns)]


def _require(what: str, columns: Sequence[str], names: Iterable[str]) -> None:
    """Refuse columns that a table does not have: groups would be larger than they are."""
    for name in names:
        if name not in columns:
            raise DataError(
                "E410",
                f"'{what}' has no column '{name}'{did_you_mean(name, columns)}",
                hint=f"Its columns are: {', '.join(columns)}.",
            )


def _earlier(asked: Sequence[str | Attack]) -> list[str]:
    """The earlier releases that attacks name themselves."""
    named = [one.earlier for one in asked if isinstance(one, SequelAttack)]
    return list(dict.fromkeys(name for name in named if name is not None))


def _with_quasi(table: Table, quasi: Sequence[Column]) -> Table:
    """The table with the quasi-identifiers that were named, as far as it has them."""
    return replace(table, quasi=tuple(c.name for c in quasi if c.name in table.frame.columns))


def _other(release: Any, reading: Reading, quasi: Sequence[Column], *, further: bool) -> Table:
    """Another release of the same people, with its own quasi-identifiers unless it was said which ones are known."""
    table, manifest, job = open_table(release, reading)
    own = _columns({}, "quasi", job, list(map(str, (manifest or {}).get("quasi_identifiers", ())))) if further else []
    names = {c.name for c in quasi}
    return replace(_with_quasi(table, quasi), further=tuple(c for c in own if c.name not in names))


def _columns(named: Mapping[str, Coarsening | None], role: Any, job: Job | None, stated: Sequence[str]) -> list[Column]:
    """The columns of a role: those that were named, else those of the job, else those of the manifest."""
    of_job = {} if job is None else {c.name: c for c in job.columns if c.role == role}
    names = list(named) or list(of_job) or list(stated)
    out = []
    for name in names:
        how = named.get(name)
        plain = of_job.get(name, Column(name, "sensitive" if role == "sensitive" else "keep"))  # its labels say it all
        out.append(plain if how is None else column_of(name, role, how))
    return out


def _secrets_told(manifest: Mapping[str, Any] | None) -> list[str]:
    """The sensitive columns that the criteria of a manifest are about."""
    told = manifest.get("criteria", ()) if manifest else ()
    named = [c.get("column") for c in told if isinstance(c, Mapping)]
    return list(dict.fromkeys(str(name) for name in named if name))


def _people(given: Any, reading: Reading) -> pl.DataFrame | None:
    if given is None:
        return None
    if not isinstance(given, (str, Path)):
        return _frame(given)
    with open_source(given, reading.dialect) as source:
        return read_all(source)


def _frame(given: Any) -> pl.DataFrame:
    with open_source(given) as source:
        return source.read(source.columns)

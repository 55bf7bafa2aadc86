"""A whole comparison: every point of a grid, what was known already, and what follows from all of them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from math import nan, sqrt
from pathlib import Path
from typing import Any, TextIO

import polars as pl

from tarnkappe.comparison.grid import Grid, Point
from tarnkappe.comparison.measuring import Measured, Measurer
from tarnkappe.comparison.working import side_by_side
from tarnkappe.errors import JobError, RefusedError, did_you_mean
from tarnkappe.io import open_source, staged
from tarnkappe.io.failures import translate_os_error
from tarnkappe.job import Job
from tarnkappe.job.model import replace_job

#: What the folder of a comparison holds: a line for every finished point, the page, and its table.
POINTS, PAGE, TABLE = "points.jsonl", "comparison.html", "comparison.csv"


@dataclass(frozen=True)
class Spread:
    """A figure over several seeds."""

    mean: float
    #: Standard deviation of the seeds; 0 with a single one.
    deviation: float = 0.0

    @classmethod
    def of(cls, values: Iterable[float]) -> Spread:
        """The mean of some values, and how they spread."""
        found = list(values)
        if not found:
            return cls(nan)
        mean = sum(found) / len(found)
        if len(found) == 1:
            return cls(mean)
        return cls(mean, sqrt(sum((x - mean) ** 2 for x in found) / (len(found) - 1)))


@dataclass(frozen=True, eq=False)
class Setup:
    """All seeds of one algorithm with one set of parameters."""

    number: int
    algorithm: str
    varied: Mapping[str, Any]
    points: tuple[Point, ...]
    measured: tuple[Measured, ...]
    loss_name: str
    risk_name: str

    @property
    def released(self) -> tuple[Measured, ...]:
        """The seeds that lead to a release."""
        return tuple(m for m in self.measured if m.error is None)

    @property
    def error(self) -> str | None:
        """Why there is no release, if there is none."""
        return None if self.released else self.measured[0].error

    @cached_property
    def loss(self) -> Spread | None:
        """The loss over the seeds; None if the metric says nothing about what is published."""
        found = [m.scores[self.loss_name] for m in self.released if self.loss_name in m.scores]
        return Spread.of(found) if found else None

    @cached_property
    def risk(self) -> Spread | None:
        """The risk over the seeds; None if the form does not hide who a record is about."""
        found = [m.risks[self.risk_name] for m in self.released if m.risks is not None]
        return Spread.of(found) if found else None

    @property
    def on_map(self) -> bool:
        """Whether it has a risk and a loss."""
        return self.loss is not None and self.risk is not None

    def mean(self, name: str) -> float:
        """The mean of another figure, such as ``groups`` or ``seconds``."""
        return Spread.of(float(getattr(m, name)) for m in self.released).mean

    @property
    def best(self) -> Point:
        """The seed that loses least."""
        losses = {m.seed: m.scores.get(self.loss_name, 0.0) for m in self.released}
        return min(self.points, key=lambda p: losses.get(p.seed, float("inf")))


@dataclass(frozen=True, eq=False)
class Comparison:
    """What was found at all points of a grid. It is for the publisher only: losses tell about the original data."""

    title: str
    loss: str
    risk: str
    setups: tuple[Setup, ...]
    vary: tuple[str, ...]
    n_records: int
    #: Points that were known already.
    resumed: int = 0
    folder: Path | None = None

    @cached_property
    def front(self) -> tuple[Setup, ...]:
        """The setups that no other beats in risk and loss at once, by rising risk."""
        out: list[Setup] = []
        told = [
            (s.risk.mean, s.loss.mean, s.number, s) for s in self.setups if s.risk is not None and s.loss is not None
        ]
        for _, loss, _, setup in sorted(told, key=lambda t: t[:3]):
            if not out or loss < (out[-1].loss or Spread(nan)).mean:
                out.append(setup)
        return tuple(out)

    def job(self, number: int | str) -> Job:
        """The job of a setup by its number in the table, with the seed that lost least."""
        known = {str(s.number): s for s in self.setups}
        if str(number) not in known:
            raise JobError(
                "E108",
                f"there is no point {number}{did_you_mean(str(number), known)}",
                hint=f"Points of what is compared are numbered from 1 to {len(known)}. Repeat --algorithms, --vary and "
                "--seeds if the comparison was made with them.",
            )
        setup = known[str(number)]
        if setup.error is not None:
            raise JobError("E108", f"point {number} has no release: {setup.error}", hint="Choose another one.")
        return replace_job(setup.best.job, seed=setup.best.seed)

    def table(self) -> pl.DataFrame:
        """A row for every setup."""
        rows = []
        for s in self.setups:
            nothing = s.error is not None
            rows.append(
                {
                    "point": s.number,
                    "algorithm": s.algorithm,
                    **{name: str(s.varied[name]) for name in self.vary},
                    "seeds": len(s.released),
                    f"risk ({self.risk})": s.risk and s.risk.mean,
                    "risk deviation": s.risk and s.risk.deviation,
                    f"loss ({self.loss})": s.loss and s.loss.mean,
                    "loss deviation": s.loss and s.loss.deviation,
                    "groups": None if nothing else s.mean("groups"),
                    "smallest": None if nothing else min(m.smallest for m in s.released),
                    "suppressed": None if nothing else s.mean("suppressed"),
                    "seconds": None if nothing else s.mean("seconds"),
                    "front": s in self.front,
                    "no release because": s.error,
                }
            )
        return pl.DataFrame(rows, infer_schema_length=None)

    def _repr_html_(self) -> str:
        from tarnkappe.comparison.page import render_map

        return render_map(self)


def compare(
    job: Job | Grid,
    data: Any = None,
    *,
    algorithms: list[Any] | None = None,
    vary: Mapping[str, Iterable[Any]] | None = None,
    seeds: int | list[int] | None = None,
    loss: str | None = None,
    risk: str | None = None,
    folder: str | Path | None = None,
    processes: int = 1,
    overwrite: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Comparison:
    """Decide and measure a job with other algorithms and parameters, to see what protection costs.

    `vary` names settings as ``--set`` does, with the values to try; every combination with every algorithm is tried
    with every seed. Nothing is released: groups are decided and measured on the counted cells, which all points share.

    With a `folder` every finished point is a line of a file there. Whoever compares into that folder again goes on
    where it ended, and only tries what is new. `processes` measure side by side; a script that asks for more than one
    needs ``if __name__ == "__main__":``, as for any process that Python starts.

    >>> import polars as pl
    >>> from tarnkappe import Job, KAnonymity, numeric
    >>> table = pl.DataFrame({"age": list(range(20, 60))})
    >>> job = Job(quasi={"age": numeric()}, criteria=[KAnonymity(2)])
    >>> found = compare(job, table, algorithms=["mondrian", "hilb"], vary={"criteria.k": [2, 10]})
    >>> [(s.algorithm, s.varied["criteria.k"], s.risk.mean) for s in found.setups]
    [('mondrian', 2, 0.4), ('mondrian', 10, 0.1), ('hilb', 2, 0.5), ('hilb', 10, 0.1)]
    """
    changes = {
        "algorithms": algorithms,
        "vary": None if vary is None else {key: list(values) for key, values in vary.items()},
        "seeds": seeds,
        "loss": loss,
        "risk": risk,
    }
    grid = job if isinstance(job, Grid) else Grid.of(job, **changes)
    points = list(grid.points())
    given = points[0].job.data.path if data is None else data
    if given is None:
        raise JobError("E103", "the job names no data file", hint="data: {path: DATA.csv}")
    with open_source(given, points[0].job.data.dialect, points[0].job.data.missing) as source:
        digest, n_records = source.sha256, source.n_rows
    keyed = [(point.key(digest), point) for point in points]
    path = None if folder is None else Path(folder)
    with _Notebook(path, overwrite) as notebook:
        known = notebook.known
        todo = [(key, point) for key, point in keyed if key not in known]
        resumed = len(keyed) - len(todo)
        tell = progress or (lambda done, total: None)
        tell(resumed, len(keyed))
        at_once = min(processes, len(todo))
        found: Generator[Measured]
        if at_once > 1 and isinstance(given, (str, Path)):
            found = side_by_side(todo, str(given), at_once)
        else:
            measurer = Measurer(given)
            found = (measurer.measure(point, key) for key, point in todo)
        with closing(found):  # whoever is interrupted must not leave processes at work
            for i, measured in enumerate(found, resumed + 1):
                notebook.note(measured)
                tell(i, len(keyed))
    comparison = _compared(grid, keyed, known, n_records, resumed, path)
    if path is not None:
        from tarnkappe.comparison.page import render_comparison

        with staged(path / PAGE, overwrite=True) as unfinished:
            unfinished.write_text(render_comparison(comparison), encoding="utf-8")
        with staged(path / TABLE, overwrite=True) as unfinished:
            comparison.table().write_csv(unfinished)
    return comparison


def _compared(
    grid: Grid,
    keyed: list[tuple[str, Point]],
    known: Mapping[str, Measured],
    n_records: int,
    resumed: int,
    folder: Path | None,
) -> Comparison:
    together: dict[object, list[tuple[str, Point]]] = {}
    for key, point in keyed:
        together.setdefault(repr(point.label), []).append((key, point))
    setups = tuple(
        Setup(
            number,
            some[0][1].algorithm,
            some[0][1].varied,
            tuple(point for _, point in some),
            tuple(known[key] for key, _ in some),
            grid.loss,
            grid.risk,
        )
        for number, some in enumerate(together.values(), 1)
    )
    title = keyed[0][1].job.title or "Comparison"
    return Comparison(title, grid.loss, grid.risk, setups, tuple(grid.vary), n_records, resumed, folder)


@dataclass
class _Notebook:
    """The points that are known, and the file in which each finished one becomes a line at once."""

    folder: Path | None
    overwrite: bool
    known: dict[str, Measured] = field(default_factory=dict)
    _file: TextIO | None = None

    def __enter__(self) -> _Notebook:
        if self.folder is None:
            return self
        path = self.folder / POINTS
        try:
            self._require_ours()
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            whole = "" if self.overwrite or not path.exists() else path.read_text("utf-8")
            whole = whole[: whole.rfind("\n") + 1]  # whoever was killed while writing left a line in part
            for line in whole.splitlines():
                measured = _told(line)
                if measured is not None:
                    self.known[measured.key] = measured
            path.write_text(whole, encoding="utf-8")
            self._file = path.open("a", encoding="utf-8")
        except OSError as error:
            raise translate_os_error(error, path) from error
        return self

    def _require_ours(self) -> None:
        """Refuse a folder that holds other things."""
        assert self.folder is not None
        if not self.folder.exists():
            return
        ours = {POINTS, PAGE, TABLE}
        if not self.folder.is_dir() or any(p.name not in ours and p.name[0] != "." for p in self.folder.iterdir()):
            raise RefusedError(
                "E601",
                f"'{self.folder}' exists already and is no comparison",
                where=str(self.folder),
                hint="--output comparison   (a folder of its own)",
            )

    def note(self, measured: Measured) -> None:
        """Remember a point, whatever happens next."""
        self.known[measured.key] = measured
        if self._file is not None:
            self._file.write(json.dumps(measured.as_dict(), default=str) + "\n")
            self._file.flush()
            os.fsync(self._file.fileno())

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()


def _told(line: str) -> Measured | None:
    """What a line says; nothing if somebody changed it by hand."""
    try:
        return Measured(**json.loads(line))
    except (ValueError, TypeError):
        return None

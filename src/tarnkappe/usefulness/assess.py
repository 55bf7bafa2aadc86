"""What a release is worth beside its original: every measure that both tables allow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from tarnkappe.errors import JobError
from tarnkappe.job import Job
from tarnkappe.job.model import Coarsening
from tarnkappe.metrics.query_error import Workload
from tarnkappe.release import Release
from tarnkappe.usefulness.analyses import Propensity, Regression, eigenvalues, propensity, regression
from tarnkappe.usefulness.distributions import Association, ColumnDifference, associations, column_differences
from tarnkappe.usefulness.learning import Learning, learning
from tarnkappe.usefulness.losses import Figure, column_losses, loss_table
from tarnkappe.usefulness.populations import PopulationLoss, population_loss
from tarnkappe.usefulness.queries import pair_query_error
from tarnkappe.usefulness.reading import Pair, open_pair, several_tables
from tarnkappe.wording import plural

#: What readers are taken to do, which several figures rest on.
ASSUMPTION = (
    "Readers know nothing about where in its label a value lies, so values are taken to be spread evenly over what a "
    "label covers, and columns to be independent inside of a group."
)


@dataclass(frozen=True, eq=False)
class Utility:
    """What a release keeps of its original; what does not apply, or was not asked for, is None.

    The figures compare with the original, so they are for the publisher: they say more about it than the release does.
    """

    original: str
    release: str
    quasi: tuple[str, ...]
    n_original: int
    n_published: int
    n_groups: int
    figures: tuple[Figure, ...]
    columns: tuple[ColumnDifference, ...]
    associations: tuple[Association, ...]
    propensity: Propensity
    #: The median and the mean relative error of random COUNT queries.
    query_error: tuple[float, float] | None
    populations: PopulationLoss | None
    regression: Regression | None
    eigenvalues: tuple[tuple[float, ...], tuple[float, ...]] | None
    learning: Learning | None
    notes: tuple[str, ...] = (ASSUMPTION,)

    def __getitem__(self, name: str) -> float:
        """The value of one figure by its name, such as ``lm``."""
        for figure in self.figures:
            if figure.name == name:
                return figure.value
        known = ", ".join(f.name for f in self.figures)
        raise JobError("E105", f"there is no figure '{name}' about these tables", hint=f"Figures: {known}.")

    @property
    def table(self) -> pl.DataFrame:
        """All loss metrics with their definitions, one row each."""
        return pl.DataFrame(
            [(f.name, f.title, f.value, f.better, f.definition, f.remark) for f in self.figures],
            ["name", "title", "value", "better", "definition", "remark"],
            orient="row",
        )

    @property
    def column_table(self) -> pl.DataFrame:
        """How every column differs, one row each."""
        return pl.DataFrame([c.as_dict() for c in self.columns], infer_schema_length=None)

    def __str__(self) -> str:
        lines = [f"{self.release} beside {self.original}: {plural(self.n_published, 'record')} of {self.n_original}"]
        lines += [f"{f.title}: {f.value:.4g}" for f in self.figures]
        return "\n  ".join(lines)

    def __repr__(self) -> str:
        return f"<Utility of {self.release}: {len(self.figures)} figures, {len(self.columns)} columns>"

    def _repr_html_(self) -> str:
        return self.table._repr_html_() + self.column_table._repr_html_()

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain data, for ``--json``; no value of the data is in it."""

        def plain(part: Any) -> Any:
            return None if part is None else part.as_dict()

        return {
            "original": self.original,
            "release": self.release,
            "quasi_identifiers": list(self.quasi),
            "records": self.n_original,
            "published": self.n_published,
            "groups": self.n_groups,
            "figures": [f.as_dict() for f in self.figures],
            "columns": [c.as_dict() for c in self.columns],
            "associations": [a.as_dict() for a in self.associations],
            "propensity": self.propensity.as_dict(),
            "query_error": None
            if self.query_error is None
            else dict(zip(("median", "mean"), self.query_error, strict=True)),
            "populations": plain(self.populations),
            "regression": plain(self.regression),
            "eigenvalues": None if self.eigenvalues is None else [list(side) for side in self.eigenvalues],
            "learning": plain(self.learning),
            "notes": list(self.notes),
        }


def utility(
    original: Any,
    release: Any,
    quasi: Iterable[str] | Mapping[str, Coarsening] | None = None,
    *,
    job: Job | str | Path | None = None,
    column: str | None = None,
    target: str | None = None,
    learn: bool = False,
    support: float = 0.01,
    most_columns: int = 3,
    queries: int = 1_000,
    seed: int = 0,
) -> Utility:
    """What a release, ours or not, keeps of its original: loss metrics, columns, pairs of columns, analyses.

    Both are files or frames; the second may be a release folder or a `Release`. `quasi` are the columns that were
    coarsened: their names, or a mapping to their taxonomies as in a job; else those of the `job` (of a release folder
    the one that the publisher keeps), of the manifest, or the columns whose values differ. `column` is the sensitive
    column for ULoss, PLoss and queries; `target` the one for the classification metric, the regression and, with
    `learn`, a model that is trained on the release and tested on the original, which needs scikit-learn. `seed` decides
    about queries and models.

    >>> before = pl.DataFrame({"age": [20, 22, 60, 90], "sex": ["f", "f", "f", "m"]})
    >>> after = pl.DataFrame({"age": ["[20 22]"] * 2 + ["[60 90]"] * 2, "sex": ["f", "f", "*", "*"]})
    >>> found = utility(before, after)
    >>> round(found["lm"], 4), found["aes"], found["discernibility"]
    (0.3643, 2.0, 8.0)
    """
    if isinstance(release, Release):
        release, job = _table_of(release), release.job if job is None else job
    pair = open_pair(original, release, quasi, job)
    rng = np.random.default_rng(seed)
    secret = column if column is not None else next(iter(pair.others), None)
    if column is not None and column not in pair.others:
        raise JobError(
            "E105",
            f"'{column}' is no column that both tables publish beside the quasi-identifiers",
            hint=f"Columns: {', '.join(pair.others) or 'none'}.",
        )
    workload = Workload(queries, min(2, len(pair.quasi)))
    error = pair_query_error(pair, workload, rng, secret)
    return Utility(
        pair.names[0],
        pair.names[1],
        pair.quasi,
        pair.n_original,
        pair.n_published,
        pair.n_groups,
        loss_table(pair, target),
        column_differences(pair, column_losses(pair)),
        associations(pair),
        propensity(pair),
        (error.median, error.mean),
        None if column is None else population_loss(pair, column, support, most_columns),
        None if target is None else regression(pair, target),
        eigenvalues(pair),
        learning(pair, target, rng) if learn and target is not None else None,
        _notes(pair),
    )


def _table_of(release: Release) -> Any:
    """The table of a release with one, or its folder."""
    if release.folder is not None:
        return release.folder
    if len(release.tables) > 1:
        raise several_tables(None)
    return release.table


def _notes(pair: Pair) -> tuple[str, ...]:
    notes = [ASSUMPTION]
    if pair.n_published > pair.n_original:
        notes.append(
            "The release has more records than the original: the tables do not belong together, or it is of others too."
        )
    strange = [name for name, codes in pair.others.items() if (codes < 0).any()]
    if strange:
        known = [name for name in strange if name in pair.numbers]
        rest = f", except as numbers in means, regressions and pMSE ({', '.join(known)})" if known else ""
        notes.append(f"Values of {', '.join(strange)} in the release are not in the original; they do not count{rest}.")
    return tuple(notes)

"""From a source and a job to a model: columns read and coded, and learnt from in the way that the job names."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from tarnkappe.arrays import Codes
from tarnkappe.errors import DataError, JobError, did_you_mean
from tarnkappe.io import Source, open_source
from tarnkappe.io.dialect import stated_dialect
from tarnkappe.io.numbers import only_numbers
from tarnkappe.io.source import is_csv
from tarnkappe.job.synthetic import Synthetic, SyntheticColumn, SyntheticJob
from tarnkappe.schema import undecided_error
from tarnkappe.synthetic.alpha_beta import fit_alpha_beta
from tarnkappe.synthetic.copula import fit_copula
from tarnkappe.synthetic.diffgen import fit_diffgen
from tarnkappe.synthetic.domains import Coded, declared, found
from tarnkappe.synthetic.marginals import fit_marginals
from tarnkappe.synthetic.model import Copied, Model, encoded
from tarnkappe.synthetic.trees import fit_trees

#: What a job about made-up people says about a column.
_EVERY_COLUMN = "Every column needs what it may hold, such as {low: 0, high: 90, width: 10}, [f, m] or {}, or: drop."


def open_people(job: SyntheticJob, data: Any) -> Source:
    """Open the data; under a mechanism nothing about the file is found out from its records."""
    dialect = job.data.dialect
    if job.synthetic.is_mechanism:
        file = Path(data).expanduser() if isinstance(data, (str, Path)) else None
        dialect = stated_dialect(dialect, file if file is not None and is_csv(file) else None)
    return open_source(data, dialect, job.data.missing)


def columns_to_make(job: SyntheticJob, source: Source) -> dict[str, SyntheticColumn]:
    """The columns that made-up people have, in the order of the data; all of its columns must be decided about."""
    absent = [name for name in job.columns if name not in source.columns]
    if absent:
        raise DataError(
            "E410",
            f"the data have no column '{absent[0]}'{did_you_mean(absent[0], source.columns)}",
            where=source.name,
            hint="Columns of the data: " + ", ".join(source.columns[:20]) + ".",
        )
    undecided = [name for name in source.columns if name not in job.columns]
    if undecided and job.rest is None:
        error = undecided_error(undecided, where=source.name)
        error.details = (_EVERY_COLUMN,)  # roles are for records that are published
        error.hint = f"columns: {{{undecided[0]}: drop}}   or  rest: drop"
        error.python_hint = f'columns={{"{undecided[0]}": "drop"}}   or  rest="drop"'
        raise error
    out = {}
    types = source.types(source.columns)
    for name in source.columns:
        given = job.columns.get(name)
        if name in undecided and job.rest == "keep":
            given = SyntheticColumn(type="numeric" if types[name].is_numeric() else "categorical")
        if given is None:
            continue
        if job.synthetic.is_mechanism and given.type == "categorical" and types[name].is_float():
            raise JobError(
                "E111",
                f"'{name}' is made of floats: one person with a fraction would change the texts of all others",
                hint=f"Give '{name}' as texts, as in a CSV file, or as whole numbers.",
            )
        out[name] = given
    if not out:
        raise JobError("E106", "no column is left to make people of", hint="columns: {age: numeric}")
    return out


def read_people(source: Source, columns: Mapping[str, SyntheticColumn], *, lenient: bool) -> pl.DataFrame:
    """The columns as texts and numbers; `lenient` lets what is no number count as missing instead of being an error."""
    frame = source.read(list(columns))
    out = []
    for name, column in columns.items():
        series = frame[name]
        if column.type == "numeric":
            series = source.numeric(only_numbers(series, source.decimal) if lenient else series, name)
            out.append(series.cast(pl.Float64).alias(name))
        else:
            out.append(series.cast(pl.String).alias(name))
    return pl.DataFrame(out)


def domains_of(people: pl.DataFrame, columns: Mapping[str, SyntheticColumn], job: Synthetic) -> tuple[Coded, ...]:
    """What values there are: as declared, else as far as enough people share them."""
    if job.is_mechanism:
        return tuple(declared(name, column) for name, column in columns.items())
    k, bins = job.setting("k"), job.setting("bins")
    if people.height < 2 * k:
        raise DataError(
            "E450",
            f"there are fewer than {2 * k} people, so there is nothing that {k} of them share and others do not",
            hint="Take a smaller  k,  or more people.",
        )
    return tuple(
        declared(name, column)
        if column.is_declared and column.type == "categorical"
        else found(name, people[name], column, k, bins)
        for name, column in columns.items()
    )


def fitted(codes: Codes, domains: tuple[Coded, ...], job: Synthetic, rng: np.random.Generator) -> Model:
    """Learn from people in the way that the job names."""
    match job.method:
        case "trees":
            return fit_trees(codes, domains, job.setting("k"), job.setting("pruning"))
        case "copula":
            return fit_copula(codes, domains, job.setting("k"))
        case "marginals":
            assert job.epsilon is not None
            return fit_marginals(codes, domains, job.epsilon, job.setting("delta"), rng)
        case "diffgen":
            assert job.epsilon is not None
            assert job.target is not None
            return fit_diffgen(codes, domains, job.epsilon, job.target, job.setting("steps"), rng)
        case _:
            assert job.d is not None
            assert job.gamma is not None
            return fit_alpha_beta(codes, domains, job.d, job.gamma)


def made_from(model: Model, people: Codes, records: int | None, rng: np.random.Generator) -> Codes:
    """Draw made-up people; where values come from people, none of them is a copy of too few."""
    n = model.usual_records if records is None else records
    return model.draw_apart(n, people, rng) if isinstance(model, Copied) else model.draw(n, rng)


__all__ = ["columns_to_make", "domains_of", "encoded", "fitted", "made_from", "open_people", "read_people"]

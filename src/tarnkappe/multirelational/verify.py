"""The independent check of joined tables: groups are found by Polars from the texts that stand in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from tarnkappe.arrays import Counts
from tarnkappe.criteria.base import Verdict, as_fraction
from tarnkappe.errors import DataError, JobError, did_you_mean
from tarnkappe.io import Source, open_source
from tarnkappe.multirelational.model import Relation
from tarnkappe.verification import Verification
from tarnkappe.wording import stated

#: What the promises are called.
K_NAME, L_NAME = "multirelational-k-anonymity", "multirelational-l-diversity"

#: Names of our own, whatever the columns are called.
_PERSON, _GROUP, _SEEN, _SIZE, _VALUE = "_person", "_group", "_seen", "_size", "_value"


def verify_multirelational(
    person: Relation, satellites: Sequence[Relation], tables: Mapping[str, Any], key: str, k: int
) -> Verification:
    r"""Check tables joined by a key: every person must look like at least ``k - 1`` others in all of them together.

    What is seen of a person is the row in the person table and the multiset (or set) of rows in each satellite, as
    far as they are quasi-identifiers. Persons of whom the same is seen are a group:

    .. math:: |\{p' : \mathrm{seen}(p') = \mathrm{seen}(p)\}| \ge k \quad \text{for every person } p,

    and for each sensitive column with an l, no value may belong to more than ``1/l`` of the persons of a group.

    `tables` are the tables by name, as files or frames. The result has one size per group, in persons.

    >>> people = pl.DataFrame({"id": [1, 2, 3], "sex": ["f", "f", "f"]})
    >>> visits = pl.DataFrame({"id": [1, 2, 2], "month": ["May", "May", "May"]})
    >>> found = verify_multirelational(
    ...     Relation("people", ["sex"]), [Relation("visits", ["month"])], {"people": people, "visits": visits}, "id", 2
    ... )
    >>> found.ok, found.sizes.tolist()
    (False, [1, 1, 1])

    References
    ----------
    .. [NeCN07] Nergiz, Clifton, Nergiz. "Multirelational k-anonymity." ICDE 2007.
    """
    sources = {relation.name: open_table(tables, relation) for relation in (person, *satellites)}
    columns = [f"{r.name}.{c}" for r in (person, *satellites) for c in r.in_order(sources[r.name].columns, key)]
    everybody = keys_of_persons(sources[person.name], person.name, key)
    seen = pl.DataFrame({_PERSON: np.arange(len(everybody), dtype=np.int32)})
    frames = {}
    for i, relation in enumerate((person, *satellites)):
        frame = sources[relation.name].read([key, *relation.published])
        owner = owners(frame[key], everybody, relation.name)
        frame = frame.select(pl.col(c).cast(pl.String) for c in relation.published)
        frames[relation.name] = frame.with_columns(pl.Series(_PERSON, owner))
        rows = frames[relation.name].select(_PERSON, _text(relation.quasi).alias(_SEEN))
        rows = rows.unique() if relation.rows == "set" else rows
        each = rows.group_by(_PERSON).agg(pl.col(_SEEN).sort().str.join("").alias(f"{_SEEN}{i}"))
        seen = seen.join(each, on=_PERSON, how="left")
    groups = seen.fill_null("").group_by(pl.exclude(_PERSON)).agg(_PERSON)
    sizes = groups[_PERSON].list.len().to_numpy().astype(np.int64)
    member = groups.select(_PERSON).with_row_index(_GROUP).explode(_PERSON)
    verdicts = [_k_verdict(sizes, k)]
    for relation in (person, *satellites):
        rows = frames[relation.name].join(member, on=_PERSON)
        for column, l in relation.diversity.items():  # noqa: E741
            verdicts.append(_l_verdict(rows, sizes, f"{relation.name}.{column}", column, l))
    return Verification(tuple(columns), len(everybody), sizes, tuple(verdicts))


def _text(columns: Iterable[str]) -> pl.Expr:
    """The cells of a row as one text, from which the cells could be read again: each begins with its length."""
    cells = [
        pl.concat_str(pl.col(c).str.len_bytes().cast(pl.String), pl.lit(":"), pl.col(c)).fill_null("-") for c in columns
    ]
    return pl.concat_str(*cells, pl.lit(";"))


def _k_verdict(sizes: Counts, k: int) -> Verdict:
    small = int((sizes < k).sum())
    asked = f"persons who look the same ≥ {k}"
    return Verdict(K_NAME, None, asked, float(sizes.min()), small == 0, small)


def _l_verdict(rows: pl.DataFrame, sizes: Counts, name: str, column: str, l: float) -> Verdict:  # noqa: E741
    """Whether no value belongs to more than one l-th of the persons of a group, in integers."""
    pairs = rows.select(_GROUP, _PERSON, pl.col(column).alias(_VALUE)).unique()
    persons = pairs.group_by(_GROUP, _VALUE).len(_SIZE).group_by(_GROUP).agg(pl.col(_SIZE).max())
    most = persons[_SIZE].to_numpy().astype(object)
    size = sizes[persons[_GROUP].to_numpy()]
    exact = as_fraction(l)
    bad = int(np.sum(most * exact.numerator > size.astype(object) * exact.denominator))
    asked = f"share of persons with the commonest value ≤ 1/{stated(l)}"
    reached = float((most / size).max()) if len(most) else 0.0
    return Verdict(L_NAME, name, asked, reached, bad == 0, bad)


def open_table(tables: Mapping[str, Any], relation: Relation) -> Source:
    """The table of a relation, ready to be read."""
    if relation.name not in tables:
        raise JobError(
            "E105",
            f"there is no table '{relation.name}'{did_you_mean(relation.name, tables)}",
            hint=f"Tables given: {', '.join(tables)}.",
        )
    data = tables[relation.name]
    return data if isinstance(data, Source) else open_source(data)


def keys_of_persons(source: Source, name: str, key: str) -> pl.Series:
    """The keys of the person table as texts: one row for each person."""
    keys = source.read([key])[key].cast(pl.String)
    without, twice = keys.null_count(), len(keys) - keys.n_unique()
    if without or twice:
        what = f"{without} rows have no '{key}'" if without else f"{twice} rows repeat an earlier '{key}'"
        raise DataError(
            "E413",
            f"the person table '{name}' must have one row per person, but {what}",
            where=source.name,
            hint="Put what a person has several of into a table of its own:  satellites=[Relation(…)]",
        )
    return keys


def owners(keys: pl.Series, everybody: pl.Series, name: str) -> Counts:
    """The number of the person that each row belongs to."""
    person = pl.DataFrame({_VALUE: everybody}).with_row_index(_PERSON)
    rows = pl.DataFrame({_VALUE: keys.cast(pl.String)})
    found = rows.join(person, on=_VALUE, how="left", maintain_order="left")[_PERSON]
    if found.null_count():
        raise DataError(
            "E413",
            f"{found.null_count()} rows of '{name}' belong to nobody in the person table",
            where=name,
            hint="Remove them, or add their persons to the person table.",
        )
    return found.to_numpy().astype(np.int32)

"""Read sets of items: who has what, and the items as leaves of a taxonomy."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import polars as pl

from tarnkappe.arrays import Counts
from tarnkappe.baskets.apriori import Baskets
from tarnkappe.errors import DataError, InfeasibleError, JobError, TaxonomyError
from tarnkappe.fixes import setting
from tarnkappe.guards import refuse_identifiers
from tarnkappe.io import Source, open_source
from tarnkappe.job.items import Items
from tarnkappe.schema import Column
from tarnkappe.taxonomy import Taxonomy, suppress

#: The columns of a frame of sets: the number of a person and one of the person's items.
PERSON, ITEM = "person", "item"


@dataclass(frozen=True, eq=False)
class Sets:
    """Who has what: person ``person[i]`` has the item ``texts[code[i]]``, each once; sorted by person.

    There are `n` persons, of whom some may have nothing.
    """

    person: Counts
    code: Counts
    texts: tuple[str, ...]
    n: int

    @property
    def n_filled(self) -> int:
        """Persons who have an item."""
        return int(np.count_nonzero(np.diff(self.person, prepend=-1)))

    def labelled(self, labels: pl.Series) -> pl.DataFrame:
        """A row for every person and item, with the label of the item; none for an item without a label."""
        return pl.DataFrame({PERSON: self.person, ITEM: labels.gather(self.code)}).drop_nulls()


def read_sets(source: Source, items: Items) -> Sets:
    """The sets of a table; blanks around items do not count, and an item that stands twice is one item."""
    wanted = [items.column] if items.key is None else [items.key, items.column]
    absent = [name for name in wanted if name not in source.columns]
    if absent:
        raise DataError(
            "E410",
            f"the job names column '{absent[0]}', which the data do not have",
            where=source.name,
            hint=f"There is: {', '.join(source.columns)}.",
        )
    frame = source.read(wanted)
    if frame[items.column].dtype.is_nested():
        raise DataError(
            "E408",
            f"column '{items.column}' holds lists, and texts are expected",
            where=source.name,
            hint=f'frame.with_columns(pl.col("{items.column}").list.join("{items.separator}"))',
        )
    frame = frame.with_columns(pl.col(items.column).cast(pl.String))
    if items.key is None:
        persons, n = frame.select(pl.col(items.column).str.split(items.separator)), frame.height
        rows = persons.with_row_index(PERSON).rename({items.column: ITEM}).explode(ITEM)
    else:
        without = frame[items.key].null_count()
        if without:
            raise DataError(
                "E413",
                f"{without} rows have no '{items.key}', so nobody knows whose items they are",
                where=source.name,
                hint="Remove these rows, or say whose they are.",
            )
        number = frame[items.key].cast(pl.String).cast(pl.Categorical).to_physical()
        number = number.rank("dense").cast(pl.UInt32) - 1
        n = int(number.n_unique())
        rows = pl.DataFrame({PERSON: number, ITEM: frame[items.column]})
    rows = rows.with_columns(pl.col(ITEM).str.strip_chars()).filter(pl.col(ITEM).str.len_bytes() > 0)
    kinds = rows[ITEM].unique().sort()
    code = rows[ITEM].cast(pl.Enum(kinds)).to_physical().to_numpy().astype(np.int64)
    keys = np.sort(rows[PERSON].to_numpy().astype(np.int64) * max(len(kinds), 1) + code)
    keys = keys[np.diff(keys, prepend=-1) > 0]  # each once
    sets = Sets(keys // max(len(kinds), 1), keys % max(len(kinds), 1), tuple(kinds.to_list()), n)
    _require_some(sets, items, source)
    return sets


def _require_some(sets: Sets, items: Items, source: Source) -> None:
    """Refuse sets of which k persons cannot be alike."""
    filled = sets.n_filled
    if filled == 0:
        raise DataError(
            "E402", f"nobody has an item in column '{items.column}'", where=source.name, hint="Name another column."
        )
    if filled < items.k:
        raise InfeasibleError(
            "E301",
            f"only {filled} persons have items, and any known items must fit at least {items.k}",
            where=source.name,
            hint=setting(f"items: {{k: {max(filled, 2)}}}", "k", max(filled, 2)) if filled > 1 else "Add more persons.",
        )


def encoded(sets: Sets, items: Items, source: Source) -> tuple[Baskets, Taxonomy]:
    """The items of everybody as leaves of a taxonomy; a flat one if none is given."""
    texts = list(sets.texts)
    _refuse_people(texts, items, source)
    builder = items.builder or suppress()
    if builder.numeric:
        raise JobError(
            "E111",
            f"a taxonomy of kind '{builder.name}' is for numbers, and items are names",
            hint="taxonomy: {kind: prefix, keep: [3, 1]}",
        )
    tree = builder.build(texts, items.column, np.bincount(sets.code, minlength=len(texts)).tolist())
    leaf_of = {label: i for i, label in enumerate(tree.leaves)}
    leaf = np.array([leaf_of[text] for text in builder.published(texts)], np.int64)
    keys = np.sort(sets.person * tree.n_leaves + leaf[sets.code])
    starts = np.append(0, np.cumsum(np.bincount(sets.person, minlength=sets.n))).astype(np.int64)
    return Baskets(starts, (keys % tree.n_leaves).astype(np.int32)), tree


def _refuse_people(texts: list[str], items: Items, source: Source) -> None:
    """Stop if the items are names of people and nobody has said why they may be published."""
    seen = open_source(pl.DataFrame({items.column: texts}), missing=())
    seen.name = source.name
    column = Column(items.column, "quasi", "categorical", items.builder or suppress(), because=items.because)
    refuse_identifiers(seen, [column])


def require_joinable(labels: Iterable[str], items: Items) -> None:
    """Refuse labels that could not be told apart once they are joined."""
    bad = next((label for label in labels if items.separator in label), None)
    if bad is not None:
        other = next(sign for sign in ("|", ";", "/", "§§") if sign != items.separator)
        raise TaxonomyError(
            "E203",
            f"'{bad}' holds the separator '{items.separator}', so a set with it could not be read again",
            hint="Give it another name in the taxonomy."
            if items.key is None
            else setting(f'items: {{separator: "{other}"}}', "separator", other),
        )

"""Masking of identifiers for test data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from tarnkappe.masks.base import ByValue, Chance, ColumnsMask, Fitted, Kept, MaskCard
from tarnkappe.masks.columns import Columns
from tarnkappe.masks.keys import key_from
from tarnkappe.masks.spelling import FEWEST, FORM, redrawn, room
from tarnkappe.params import param
from tarnkappe.wording import plural


@dataclass(frozen=True)
class IdentifierMasking(ColumnsMask):
    r"""Every digit becomes another digit and every letter another letter; all other signs stay.

    Texts look like what they replace, so programs can be tested with them. New signs follow from the text and a secret:
    equal texts become equal ones, different texts may become equal too, and nobody can reverse it. Letters and digits
    of other scripts, and accents, become ones of A to Z and 0 to 9. O(records).

    References
    ----------
    .. [ISO18] ISO/IEC. "ISO/IEC 20889: Privacy enhancing data de-identification
       terminology and classification of techniques." 2018.
    """

    name: ClassVar = "identifier-masking"
    title: ClassVar = "masking of identifiers for test data"
    roles: ClassVar = frozenset({"identifier", "subject", "keep", "sensitive", "quasi"})
    secrets: ClassVar = ("key",)
    card: ClassVar = MaskCard(
        changes="every digit and letter becomes another of its kind.",
        keeps="the form of every text: its length, its signs, and where digits and letters stand.",
        does_not="hide how common a value is, how long it is, nor signs beyond letters and digits.",
        not_for="publishing data about real people: it makes data for tests. Use pseudonyms to join records.",
    )

    keep_first: int = param(0, doc="Signs at the beginning that stay.", ge=0)
    keep_last: int = param(0, doc="Signs at the end that stay.", ge=0)
    key: str | None = param(None, doc="File with a secret key in hexadecimal digits; the seed of the run if not given.")

    @property
    def reads(self) -> tuple[str, ...]:
        """None: values are changed as they come."""
        return ()

    @property
    def done(self) -> str:
        """In words."""
        kept = ((self.keep_first, "before"), (self.keep_last, "after"))
        ends = [f"{plural(n, 'sign')} {where}" for n, where in kept if n]
        return "digits and letters drawn anew" + (f", but {' and '.join(ends)}" if ends else "")

    @property
    def keeps(self) -> tuple[str, ...]:
        """In words."""
        return (f"the form of {', '.join(self.columns)}",)

    def fit(self, data: Columns, chance: Chance) -> Fitted:
        """Read the key; texts are changed as they come."""
        secret = chance.secret if self.key is None else key_from(self.key, self.name)

        def change(given: pl.DataFrame) -> list[pl.Series]:
            return [redrawn(secret, given[n].cast(pl.String), self.keep_first, self.keep_last) for n in self.columns]

        return ByValue({name: pl.String() for name in self.columns}, self.columns, change)

    def kept(self, before: Columns, after: Columns) -> Iterator[Kept]:
        """Every form occurs as often as before."""
        for name in self.columns:
            one, other = (_form(columns.values(name)) for columns in (before, after))
            yield Kept(f"forms of {name}", int(one.sort().ne_missing(other.sort()).sum()))

    def kept_by_record(self, before: Columns, after: Columns) -> Iterator[Kept]:
        """Every record has a text of the form it had."""
        for name in self.columns:
            one, other = (_form(columns.values(name)) for columns in (before, after))
            yield Kept(f"the form of every {name}", int(one.ne_missing(other).sum()))
            texts = pl.DataFrame({"x": before.values(name).cast(pl.String), "z": after.values(name)})
            inside = pl.col("x").str.head(-self.keep_last) if self.keep_last else pl.col("x")
            inside = inside.str.slice(self.keep_first)
            long = texts.filter(room(inside) >= FEWEST)
            stayed = long.select((pl.col("x") == pl.col("z")).sum()).item()
            yield Kept(
                f"no text of {name} as it was, where others of its form are many", stayed, 1e-5 * long.height + 1
            )


def _form(texts: pl.Series) -> pl.Series:
    form = texts.cast(pl.String)
    for signs, stands_for in FORM:
        form = form.str.replace_all(signs, stands_for)
    return form

"""Pseudonyms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from tarnkappe.errors import JobError
from tarnkappe.fixes import Fix
from tarnkappe.io.texts import bytes_as_texts, plain_text, plain_texts
from tarnkappe.masks.base import ByValue, Chance, ColumnMask, Fitted, Kept, MaskCard, unfit
from tarnkappe.masks.columns import Columns
from tarnkappe.masks.hashing import keyed_words
from tarnkappe.masks.keys import key_from
from tarnkappe.masks.spelling import FEWEST, has_foreign, respelt, room
from tarnkappe.params import param

#: Letters and digits of a token, 32 of them that nobody confuses; sixteen of them are 80 bits.
_LETTERS = np.frombuffer(b"0123456789abcdefghjkmnpqrstvwxyz", np.uint8)
_LENGTH = 16

#: Records whose pseudonyms are compared with what they stand for.
_MANY = 100_000


@dataclass(frozen=True)
class Pseudonyms(ColumnMask):
    r"""Every key of a person becomes another one that only a secret key connects with it, the same one everywhere.

    A *token* is one-way,

    .. math:: p = F_{key}(x)

    F being BLAKE2s with a key, cut to 80 bits; nobody can reverse it, and who has the key can only try values.
    Pseudonyms of the *same form* have a digit for every digit and a letter for every letter. They are a permutation of
    all such texts, ten rounds of a Feistel network with the same F, so they are different for different values, and can
    be reversed with the key that made them: that is why it is another one (`reversal_key`). Equal values have equal
    pseudonyms in all tables and releases that are made with the same key and `space`. O(records).

    Differs from the paper in: digits and letters are added position by position, not as one large number (FF1).

    References
    ----------
    .. [SaAu15] Saarinen, Aumasson. "The BLAKE2 cryptographic hash and message authentication code (MAC)." RFC 7693,
       2015.
    .. [BRRS10] Bellare, Rogaway, Spies. "The FFX mode of operation for format-preserving encryption." NIST 2010.
    """

    name: ClassVar = "pseudonyms"
    title: ClassVar = "pseudonyms"
    roles: ClassVar = frozenset({"identifier", "subject", "keep", "sensitive", "quasi"})
    secrets: ClassVar = ("key", "reversal_key")
    card: ClassVar = MaskCard(
        changes="every key of a person becomes another text that only a secret key connects with it.",
        keeps="who has the same key: records of one person can still be joined, in all tables made with that key.",
        does_not="hide people: all that stands beside the pseudonym may point at them, and joined records more so.",
        not_for="releases where nobody needs to join records: remove the column.",
    )

    key: str | None = param(
        None, doc="File with the secret key of tokens, in hexadecimal digits.", example="tokens.key"
    )
    form: str = param(
        "token", doc="One-way tokens, or texts of the same form that can be reversed.", choices=("token", "same")
    )
    reversal_key: str | None = param(
        None, doc="File with the key that makes pseudonyms of the same form, and reverses them."
    )
    space: str = param("", doc="A word; pseudonyms of other spaces have nothing to do with each other.")

    def __post_init__(self) -> None:
        """Check that the key is the one that the form needs."""
        super().__post_init__()
        needed, other = ("key", "reversal_key") if self.form == "token" else ("reversal_key", "key")
        if getattr(self, needed) is None or getattr(self, other) is not None:
            fix = Fix(f"{needed}: secret.key", f'{needed}="secret.key"')
            raise JobError("E110", f"{self.name} of form {self.form} need '{needed}', and no other key", hint=fix)

    @property
    def reads(self) -> tuple[str, ...]:
        """None: values are changed as they come."""
        return ()

    @property
    def counts_repeats(self) -> tuple[str, ...]:
        """The column."""
        return (self.column,)

    @property
    def done(self) -> str:
        """In words."""
        how = "one-way tokens" if self.form == "token" else "texts of the same form"
        return f"replaced by keyed pseudonyms ({how})"

    @property
    def keeps(self) -> tuple[str, ...]:
        """In words."""
        return (f"which records have the same {self.column}",)

    def secret(self) -> bytes:
        """The key of this column's pseudonyms."""
        path = self.key if self.form == "token" else self.reversal_key
        assert path is not None
        return key_from(path, self.form, self.space)

    def fit(self, data: Columns, chance: Chance) -> Fitted:
        """Read the key; values are changed as they come."""
        secret, name = self.secret(), self.column
        if self.form == "same":
            text = plain_text(pl.col(name), data.types([name])[name])
            looks = data.source.scan([name]).select(room(text).min(), has_foreign(text).alias("foreign"))
            short, foreign = data.source.collected(looks).row(0)
            if foreign:
                what = f"values of '{name}' have letters or digits beyond A to Z and 0 to 9, which would stay"
                raise unfit(self, what, data.source, "form: token")
            if short is not None and short < FEWEST:
                what = f"values of '{name}' have so few digits and letters that all of them could be tried"
                raise unfit(self, what, data.source, "form: token")

        def change(given: pl.DataFrame) -> list[pl.Series]:
            texts = plain_texts(given[name])
            return [token(secret, texts) if self.form == "token" else respelt(secret, texts)]

        return ByValue({name: pl.String()}, (name,), change)

    def reversed(self, pseudonyms: pl.Series) -> pl.Series:
        """The values that pseudonyms of the same form stand for."""
        if self.form != "same":
            fix = Fix("form: same", 'form="same"')
            raise JobError("E110", "tokens cannot be reversed, with no key", hint=fix)
        return respelt(self.secret(), pseudonyms.cast(pl.String), back=True)

    def kept(self, before: Columns, after: Columns) -> Iterator[Kept]:
        """As many people with one record, with two, and so on."""
        one, other = before.repeats(self.column), after.repeats(self.column)
        off = sum(abs(one.get(times, 0) - other.get(times, 0)) for times in {*one, *other})
        yield Kept(f"how many records share a value of {self.column}", off)

    def kept_by_record(self, before: Columns, after: Columns) -> Iterator[Kept]:
        """No value is what it was, in many records: to compute all pseudonyms once more takes as long as to write."""
        x, y = before.values(self.column, _MANY).cast(pl.String), after.values(self.column, _MANY)
        yield Kept(
            f"no value of {self.column} as it was",
            int((x == y).sum() or 0),
            0 if self.form == "token" else 1e-5 * len(x),
        )
        yield Kept(f"missing values of {self.column}", int((x.is_null() != y.is_null()).sum()))


def token(key: bytes, texts: pl.Series) -> pl.Series:
    """Sixteen letters and digits for every text.

    >>> token(b"k" * 32, pl.Series("id", ["Ada", None])).to_list()
    ['s3k8gjpxskptf52a', None]
    """
    from tarnkappe.kernels.masks.spelling import write_tokens

    words = keyed_words(key, texts, _LENGTH // 4)
    signs = np.empty((len(words), _LENGTH), np.uint8)
    write_tokens(words, _LETTERS, signs)
    ends = np.arange(1, len(words) + 1, dtype=np.int64) * _LENGTH
    return bytes_as_texts(signs.ravel(), ends, texts.name, texts.is_null().to_numpy())

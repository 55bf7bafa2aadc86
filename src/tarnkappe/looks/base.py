"""What every detector of identifiers is given, and what it answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

import polars as pl

from tarnkappe.looks.words import says, words_of

#: Different values that are compared with patterns; more would not make the answer surer.
MOST = 1000

#: With fewer values a column in which all are different means nothing.
FEWEST = 20

#: From this share on values count as all different.
ALL_DIFFERENT = 0.9

#: Signs of numbers in any pattern.
DIGITS = "0123456789"

#: What publishing a column unchanged would do: name a person; tell records apart; or repeat what others know.
Tells = Literal["who", "which", "known"]

#: Answers to a question; a column of nothing else says whether people have something, not what it is.
_ANSWERS = frozenset({"yes", "no", "none", "y", "n", "j", "ja", "nein", "si", "oui", "non", "true", "false", "t", "f"})
_ANSWERS |= {"0", "1", "2", "0.0", "1.0", "2.0", "unknown", "missing"}


@dataclass(frozen=True, eq=False)
class Sight:
    """A column as detectors see it: its name, and the known values of a sample of its rows, in their order.

    `distinct` and `known` are those of the whole column where somebody has counted them, else of the sample.
    """

    name: str
    rows: pl.Series
    distinct: int
    known: int

    @classmethod
    def of(cls, name: str, sample: pl.Series, distinct: int | None = None, known: int | None = None) -> Sight:
        """Look at a sample of a column, from its first row on."""
        rows = sample.drop_nulls()
        if rows.dtype.is_float():
            rows = rows.drop_nans()
        return cls(
            name,
            rows,
            rows.n_unique() if distinct is None else distinct,
            len(rows) if known is None else known,
        )

    @cached_property
    def words(self) -> list[str]:
        """The words of the column's name."""
        return words_of(self.name)

    @cached_property
    def texts(self) -> pl.Series:
        """Some of the different values as texts, without space around them."""
        different = self.rows.unique(maintain_order=True).head(MOST)
        if different.dtype.is_float():  # as numbers with gaps are often read
            whole = different.cast(pl.Int64, strict=False)
            if bool((whole.cast(pl.Float64) == different).all()):
                different = whole
        return different.cast(pl.String).str.strip_chars()

    @cached_property
    def signs(self) -> frozenset[str]:
        """All signs that occur in the texts."""
        return frozenset("".join(self.texts.drop_nulls()))

    @cached_property
    def longest(self) -> int:
        """Signs of the longest text."""
        return max(map(len, self.texts.drop_nulls()), default=0)

    @cached_property
    def numbers(self) -> pl.Series | None:
        """The values of the sample as numbers, if all of them are."""
        if self.rows.is_empty() or self.rows.dtype.is_temporal():
            return None
        if self.rows.dtype.is_numeric():
            return self.rows.cast(pl.Float64)
        if self.rows.dtype == pl.Boolean:
            return None
        found = self.rows.cast(pl.String).str.replace(",", ".", literal=True).cast(pl.Float64, strict=False)
        return found if found.null_count() == 0 else None

    @cached_property
    def is_answer(self) -> bool:
        """Whether the column only says yes or no."""
        return len(self.texts) <= len(_ANSWERS) and bool(self.texts.str.to_lowercase().is_in(_ANSWERS).all())

    @cached_property
    def is_measure(self) -> bool:
        """Whether the values are numbers with places after the point, as no key has them."""
        return self.numbers is not None and bool((self.numbers != self.numbers.round()).any())

    @property
    def differs(self) -> float:
        """Different values per row that has one."""
        return self.distinct / max(self.known, 1)

    @property
    def all_different(self) -> bool:
        """Whether nearly every row has a value of its own."""
        return self.known >= FEWEST and self.differs > ALL_DIFFERENT

    def share(self, pattern: str) -> float:
        """The share of the different values that match a regular expression from end to end."""
        if self.texts.is_empty():
            return 0.0
        return float(self.texts.str.contains(f"^(?:{pattern})$").sum()) / len(self.texts)


@dataclass(frozen=True)
class Finding:
    """Why a column seems to point at people."""

    #: The name of the detector that found it.
    kind: str
    tells: Tells
    #: Whether the values themselves show it, or only the column's name.
    by_content: bool
    #: In words, about the column; no value is repeated.
    reason: str


class Detector(ABC):
    """Recognises one kind of identifier by a column's name, its values, or both."""

    name: ClassVar[str]
    #: What is recognised, in the plural, as it stands in a sentence.
    title: ClassVar[str]
    #: What counts as evidence, for the reference page.
    evidence: ClassVar[str]
    tells: ClassVar[Tells] = "who"
    #: Which of the eighteen identifiers of the HIPAA privacy rule (45 CFR 164.514(b)(2)(i)) these are, A being 1.
    hipaa: ClassVar[tuple[int, ...]] = ()
    #: Phrases in the name of a column that are enough by themselves.
    phrases: ClassVar[tuple[str, ...]] = ()
    #: The share of the different values that must look so, and how many different values there must be.
    enough: ClassVar[float] = 0.9
    fewest: ClassVar[int] = 5
    #: Every value that looks so has one of these signs, and at least so many in all: other columns need no comparing.
    signs: ClassVar[str] = ""
    shortest: ClassVar[int] = 1

    def find(self, sight: Sight) -> Finding | None:
        """What speaks for it: the values first, then the name."""
        share = self.share(sight) if len(sight.texts) >= self.fewest and self._may_look_so(sight) else 0.0
        if share >= self.enough:
            return Finding(self.name, self.tells, True, self.by_content(share))
        if self.is_named(sight):
            return Finding(self.name, self.tells, False, f"its name says that it holds {self.title}")
        return None

    def _may_look_so(self, sight: Sight) -> bool:
        """Whether a glance at the texts does not rule it out."""
        return sight.longest >= self.shortest and (not self.signs or not sight.signs.isdisjoint(self.signs))

    @abstractmethod
    def share(self, sight: Sight) -> float:
        """The share of the different values that look so; 0 if only the name can tell."""

    def is_named(self, sight: Sight) -> bool:
        """Whether the name says so, and the values do not contradict it."""
        contradicted = sight.is_answer or (self.tells == "who" and sight.is_measure)
        return bool(self.phrases) and says(sight.words, self.phrases) and not contradicted

    def by_content(self, share: float) -> str:
        """The reason, if the values are the evidence."""
        return f"{'its' if share >= ALL_DIFFERENT else 'some of its'} values look like {self.title}"

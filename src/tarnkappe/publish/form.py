"""What groups may say about their records."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple, Self

from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.boxes import Boxes
from tarnkappe.publish.labels import Labels
from tarnkappe.schema import Column
from tarnkappe.tally import Domain, Tally

if TYPE_CHECKING:
    from tarnkappe.groups import Grouping

#: What an attacker wants to find out: which record is a person's, whether a person is in the data at all, and what is
#: sensitive about a person.
Secret = Literal["identity", "presence", "secret"]


@dataclass(frozen=True, eq=False)
class GroupFigure:
    """A number about each group that is published, and what it means, in a sentence."""

    values: Floats
    meaning: str


#: The same in words.
HIDDEN_WORDS: dict[Secret, str] = {
    "identity": "who a record is about",
    "presence": "who is in the data",
    "secret": "who has which value",
}


class Form(ABC):
    """What groups say about their records: a box, a centre, or only a number under which other tables go on.

    A criterion says what it protects (`Criterion.protects`). A form that publishes just that cannot keep the promise,
    whatever the groups are, so such a job is refused before anything is counted.
    """

    name: ClassVar[str]
    #: What a reader of the release cannot tell for certain, given suitable groups.
    hides: ClassVar[frozenset[Secret]]
    #: What happens to the quasi-identifiers, in a few words.
    changes: ClassVar[str]
    #: What is proved of a written release beside its criteria, in a few words.
    truth: ClassVar[str] = "labels true of every record"
    #: Whether quasi-identifiers are coarsened until people share them; otherwise they stand as they are.
    coarsens: ClassVar[bool] = True
    #: Whether quasi-identifiers are drawn anew, so that no row is a person's.
    draws: ClassVar[bool] = False
    #: Which records a group consists of, in words: after "groups of people …" and after "records …".
    grouped: ClassVar[str] = "of records that look alike"
    alike: ClassVar[str] = "with the same published quasi-identifiers"
    #: What is lost besides detail, in a sentence or two for the reader.
    loses: ClassVar[str] = ""

    @classmethod
    def proved(cls, kept: str | None) -> str:
        """What is proved of a written release, in words, with what is `kept` of every record, if anything is."""
        return cls.truth if kept is None else f"{cls.truth}, and {kept} are its own"


class Held(NamedTuple):
    """Records that are published: the group, the value in one column, and the number of those that are alike."""

    group: Codes
    value: Codes
    records: Counts


class Labelled(Form):
    """Groups are told apart by what they publish in the quasi-identifiers: one table, every record with its labels."""

    #: What every group covers, if that is more than its own cells.
    fixed: Boxes | None = None
    #: Numbers about each group that only the publisher may see.
    remarks: Mapping[str, Floats] = MappingProxyType({})

    @property
    def centres(self) -> Floats | None:
        """What every group publishes in place of its records' values, column by column; None if it publishes boxes."""
        return None

    @abstractmethod
    def relabel(self, new: Codes, n_groups: int) -> Self:
        """The same after group ``g`` was renamed to ``new[g]`` (-1: dropped)."""

    @abstractmethod
    def covering(self, boxes: Boxes) -> Labelled:
        """The same for groups that cover these boxes."""

    @classmethod
    @abstractmethod
    def joined(cls, parts: Sequence[Labelled]) -> Labelled:
        """The form of several sets of groups, one after the other."""

    @abstractmethod
    def labels(self, boxes: Boxes, domains: Sequence[Domain], missing: Collection[str] = ()) -> tuple[Labels, ...]:
        """What the groups publish in each quasi-identifier; `missing` are texts that read like a missing value."""

    def figures(self, tally: Tally, grouping: Grouping) -> Mapping[str, GroupFigure]:
        """Numbers about each group that stand beside its labels, by what they are called.

        They are found when groups that look alike have been pooled, so that no group can be told apart by them.
        """
        return {}

    def untrue_figures(
        self, tally: Tally, grouping: Grouping, told: Mapping[str, Floats], records: Counts
    ) -> Iterator[str]:
        """What is wrong with the figures that a written table tells of each group, in words.

        `records` says how many records of each group stand there.
        """
        return iter(())

    @abstractmethod
    def done(self, j: int, column: Column, domain: Domain, boxes: Boxes, labels: Labels) -> str:
        """How quasi-identifier `j` was coarsened, in words; readers are told too."""

    @abstractmethod
    def meanings(self, j: int, column: Column, domain: Domain, boxes: Boxes, labels: Labels) -> Iterator[Meaning]:
        """What each label of quasi-identifier `j` means; an entry about all of them has the empty label."""

    @abstractmethod
    def untrue(self, j: int, domain: Domain, boxes: Boxes, labels: Labels, held: Held, missing: Collection[str]) -> int:
        """How many groups publish in quasi-identifier `j` what is not true of their records, which are `held`.

        Labels are read from their texts.
        """


#: A label (None: the missing value) and what it means.
Meaning = tuple[str | None, str]

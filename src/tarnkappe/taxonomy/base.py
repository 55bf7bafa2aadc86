"""What every taxonomy builder is: settings that turn the values of a column into a taxonomy."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from numpy.typing import NDArray

from tarnkappe.errors import TaxonomyError
from tarnkappe.params import Declared
from tarnkappe.taxonomy.labels import value_texts
from tarnkappe.taxonomy.tree import Taxonomy

#: Distinct values of a column: texts as published, or an array of numbers.
Values = Sequence[Any] | NDArray[Any]

#: Records per value.
Counts = Sequence[int] | NDArray[Any]


class TaxonomyBuilder(Declared, ABC):
    """A declaration such as ``{kind: intervals, widths: [5, 10]}``; `build` makes the tree for a column's values."""

    kind: ClassVar[str]
    name: ClassVar[str]
    #: Whether the values must be numbers.
    numeric: ClassVar[bool] = False
    #: Whether the leaves stand in an order that means something: one is more than another.
    ordered: ClassVar[bool] = False
    #: Whether other records decide how a value looks when it is generalised.
    follows_data: ClassVar[bool] = False
    #: Whether groups publish the set of their values instead of a range.
    sets: ClassVar[bool] = False

    @property
    def declares_values(self) -> bool:
        """Whether somebody wrote its values down in the job, so that naming them says nothing about the data."""
        return False

    @property
    def admits_unknown(self) -> bool:
        """Whether values that the taxonomy lacks are let in, below its root."""
        return False

    @abstractmethod
    def build(
        self,
        values: Values,
        column: str,
        counts: Counts | None = None,
        *,
        others: Mapping[str, Sequence[str]] | None = None,
    ) -> Taxonomy:
        """The taxonomy over `values`, the distinct values of `column`; each is a leaf under its text.

        `counts` are the records per value, for builders that look at frequencies and for messages. `others` are the
        values of the other columns, to notice a taxonomy that was meant for one of them.
        """

    def unknown(self, values: Values, column: str) -> list[int]:
        """Which of some values of a column have no place in the taxonomy, by their positions; most take any value."""
        return []

    @property
    def n_levels(self) -> int | None:
        """How many levels are declared above the values, whatever values occur; None if the tree itself says it."""
        return None

    @property
    def left_to_the_data(self) -> str | None:
        """A setting that the values of other records decide about because it is not stated; None if there is none.

        It is given as it would be written in a job file.
        """
        return None

    def meaning(self, label: str) -> str | None:
        """What a label of an inner node says, in a sentence for the codebook; None if its name says it all."""
        return None

    def published(self, values: Values) -> list[str]:
        """The leaf that stands for each value, as a text."""
        return value_texts(values)


def texts_of(values: Values, column: str) -> list[str]:
    """The texts of a column's values, of which there must be some."""
    texts = value_texts(values)
    if not texts:
        raise TaxonomyError(
            "E202",
            f"column '{column}' has no values, so it has no taxonomy",
            hint=f"Leave the column out:  {column}: {{role: drop}}",
        )
    return texts

"""Taxonomies by declaration: a tree, a file, frequencies, or nothing but suppression."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from tarnkappe.errors import JobError, TaxonomyError
from tarnkappe.fixes import assignment, one_by_one, say
from tarnkappe.params import bind, param, place
from tarnkappe.registry import lookup
from tarnkappe.taxonomy.base import Counts, TaxonomyBuilder, Values, texts_of
from tarnkappe.taxonomy.coverage import check_coverage
from tarnkappe.taxonomy.files import read_taxonomy
from tarnkappe.taxonomy.labels import (
    natural_order,
    scaled_integers,
    scaled_text,
    value_texts,
    written_decimal,
)
from tarnkappe.taxonomy.reading import naming
from tarnkappe.taxonomy.tree import ANY, Taxonomy

_TRIM_DOC = "Ignore blanks around values; the trimmed value is published."
_UNKNOWN_DOC = "What to do with values the taxonomy lacks: error, or top to hang them under its root."


@dataclass(frozen=True)
class Tree(TaxonomyBuilder):
    """A tree written out as nested mappings and lists.

    >>> Tree({"Married": ["civil", "church"], "Single": ["never"]}).build(["never", "civil"], "marital").leaves
    ('civil', 'church', 'never')
    """

    kind: ClassVar[str] = "tree"
    name: ClassVar[str] = kind

    tree: Any = param(doc="Groups and their values:  {Married: [civil, church], Single: [never]}.")
    on_unknown: str = param("error", doc=_UNKNOWN_DOC, choices=("error", "top"))
    trim: bool = param(False, doc=_TRIM_DOC)

    def build(
        self,
        values: Values,
        column: str,
        counts: Counts | None = None,
        *,
        others: Mapping[str, Sequence[str]] | None = None,
    ) -> Taxonomy:
        """The tree as written; it may hold values that the column lacks."""
        return _fitted(self, self._declared(), values, column, counts, others, place(self.tree))

    def _declared(self) -> Taxonomy:
        with naming(place(self.tree)):
            return Taxonomy.from_nested(self.tree)

    def unknown(self, values: Values, column: str) -> list[int]:
        """Which values the tree lacks, unless it lets them in."""
        return [] if self.admits_unknown else _lacking(self._declared(), self.published(values))

    @property
    def declares_values(self) -> bool:
        """Whether naming its values says nothing about the data: all of them stand in the job."""
        return not self.admits_unknown

    def published(self, values: Values) -> list[str]:
        """The leaf that stands for each value, as a text."""
        return _trimmed(values, self.trim)

    @property
    def admits_unknown(self) -> bool:
        """Whether values that the taxonomy lacks are let in, below its root."""
        return self.on_unknown == "top"


@dataclass(frozen=True)
class File(TaxonomyBuilder):
    """A tree in a file: the ARX layout ``value;level1;*``, nested YAML (``.yaml``) or XML (``.xml``)."""

    kind: ClassVar[str] = "file"
    name: ClassVar[str] = kind

    path: str = param(doc="The file, relative to the folder of the job file.")
    delimiter: str | None = param(None, doc="What separates the columns of a CSV file; found out if not given.")
    attribute: str | None = param(None, doc="Which taxonomy of an XML file; the column's own name if not given.")
    on_unknown: str = param("error", doc=_UNKNOWN_DOC, choices=("error", "top"))
    trim: bool = param(False, doc=_TRIM_DOC)

    def build(
        self,
        values: Values,
        column: str,
        counts: Counts | None = None,
        *,
        others: Mapping[str, Sequence[str]] | None = None,
    ) -> Taxonomy:
        """The tree in the file; it may hold values that the column lacks."""
        return _fitted(self, self._declared(column), values, column, counts, others, self.path)

    def _declared(self, column: str) -> Taxonomy:
        return read_taxonomy(self.path, delimiter=self.delimiter, attribute=self.attribute, column=column)

    def unknown(self, values: Values, column: str) -> list[int]:
        """Which values the tree lacks, unless it lets them in."""
        return [] if self.admits_unknown else _lacking(self._declared(column), self.published(values))

    def published(self, values: Values) -> list[str]:
        """The leaf that stands for each value, as a text."""
        return _trimmed(values, self.trim)

    @property
    def admits_unknown(self) -> bool:
        """Whether values that the taxonomy lacks are let in, below its root."""
        return self.on_unknown == "top"


def _lacking(declared: Taxonomy, texts: Sequence[str]) -> list[int]:
    """The positions of texts that are no leaves of a taxonomy."""
    leaves = set(declared.leaves)
    return [i for i, text in enumerate(texts) if text not in leaves]


def _trimmed(values: Values, trim: bool) -> list[str]:
    texts = value_texts(values)
    return [text.strip() for text in texts] if trim else texts


def _fitted(
    settings: Tree | File,
    declared: Taxonomy,
    values: Values,
    column: str,
    counts: Counts | None,
    others: Mapping[str, Sequence[str]] | None,
    where: str | None,
) -> Taxonomy:
    """A declared taxonomy made to cover the values of a column, or an error that says which ones it lacks."""
    texts = settings.published(values)
    with naming(where):
        if settings.trim:
            declared = Taxonomy.from_parents([label.strip() for label in declared.labels], declared.parent.tolist())
            merged = sum(n for n in Counter(texts).values() if n > 1)
            if merged:
                raise TaxonomyError(
                    "E203",
                    f"trim: true would merge {merged} values of column '{column}' that differ only in blanks",
                    hint="Remove the blanks from the data, or write  trim: false  and list all spellings.",
                )
        if settings.on_unknown == "error":
            check_coverage(declared, texts, counts, column, others, where)
            return declared
        return _with_unknown(declared, texts)


def _with_unknown(declared: Taxonomy, texts: Sequence[str]) -> Taxonomy:
    """The taxonomy with the values it lacks as leaves below the root, or below the group they are the name of."""
    leaves = set(declared.leaves)
    unknown = [text for text in texts if text not in leaves]
    if not unknown:
        return declared
    unknown = [unknown[i] for i in natural_order(unknown)]
    node_of = {label: node for node, label in reversed(list(enumerate(declared.labels)))}
    parents = [*declared.parent.tolist(), *(node_of.get(text, 0) for text in unknown)]
    return Taxonomy.from_parents([*declared.labels, *unknown], parents)


@dataclass(frozen=True)
class Suppress(TaxonomyBuilder):
    """One level: a value is published or it is not.

    >>> Suppress().build(["male", "female"], "sex").labels
    ('*', 'female', 'male')
    """

    kind: ClassVar[str] = "suppress"
    name: ClassVar[str] = kind

    def build(
        self,
        values: Values,
        column: str,
        counts: Counts | None = None,
        *,
        others: Mapping[str, Sequence[str]] | None = None,
    ) -> Taxonomy:
        """The values, sorted, below the root."""
        texts = texts_of(values, column)
        return Taxonomy.from_parents([ANY, *(texts[i] for i in natural_order(texts))], [-1] + [0] * len(texts))


@dataclass(frozen=True)
class Frequency(TaxonomyBuilder):
    """Rare values are coarsened first: at each level all but the frequent ones become "other".

    >>> Frequency(keep=[0.2]).build(["a", "b", "c"], "job", [8, 1, 1]).paths()
    [('a', 'a', '*'), ('b', 'other', '*'), ('c', 'other', '*')]
    """

    kind: ClassVar[str] = "frequency"
    name: ClassVar[str] = kind
    follows_data: ClassVar[bool] = True

    keep: tuple[float, ...] = param(
        (), doc="Per level, the share of records a value needs to stay, increasing.", gt=0.0, le=1.0
    )
    top: tuple[int, ...] = param((), doc="Per level, how many of the most frequent values stay, decreasing.", ge=1)
    label: str = param("other", doc="What the others are called.")

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        if bool(self.keep) == bool(self.top):
            raise TaxonomyError(
                "E203",
                "a frequency taxonomy needs either 'keep' or 'top'",
                hint=say(
                    "{}   (shares of the records)  or   {}   (numbers of values)",
                    one_by_one("frequency", 0.01, 0.05),
                    assignment("top", [10, 3]),
                ),
            )
        if list(self.keep) != sorted(set(self.keep)):
            raise TaxonomyError(
                "E203", "'keep' must increase from level to level", hint=one_by_one("frequency", 0.01, 0.05)
            )
        if list(self.top) != sorted(set(self.top), reverse=True):
            raise TaxonomyError("E203", "'top' must decrease from level to level", hint=assignment("top", [10, 3]))

    def build(
        self,
        values: Values,
        column: str,
        counts: Counts | None = None,
        *,
        others: Mapping[str, Sequence[str]] | None = None,
    ) -> Taxonomy:
        """The values from the most to the least frequent, the rare ones below "other"."""
        texts = texts_of(values, column)
        if counts is None:
            raise TaxonomyError(
                "E203",
                f"the frequency taxonomy of column '{column}' needs the records per value",
                hint="build(values, column, counts)",
            )
        rows = [int(n) for n in counts]
        needed = [written_decimal(share) * sum(rows) for share in self.keep]
        ranks = sorted(range(len(texts)), key=lambda i: (-rows[i], texts[i]))
        labels = self._labels()
        if not set(labels).isdisjoint(texts):
            raise TaxonomyError(
                "E203",
                f"column '{column}' has a value that is called like the group of the others",
                hint='label: "all others"',
            )
        paths = []
        for rank, i in enumerate(ranks):
            stays = [rank < n for n in self.top] or [rows[i] >= least for least in needed]
            inner = [texts[i] if stay else label for stay, label in zip(stays, labels, strict=True)]
            paths.append((texts[i], *inner, ANY))
        return Taxonomy.from_paths(paths)

    def meaning(self, label: str) -> str | None:
        """A frequent value is itself."""
        return "One of the rarer values." if label in self._labels() else "The value itself."

    def _labels(self) -> list[str]:
        """What the others are called at each level; they differ, because they cover different values."""
        if len(self.keep) + len(self.top) == 1:
            return [self.label]
        if self.top:
            return [f"{self.label} (not in the top {n})" for n in self.top]
        percents, places = scaled_integers(written_decimal(share) * 100 for share in self.keep)
        return [f"{self.label} (below {scaled_text(percent, places)}%)" for percent in percents]


class _Settings(dict[str, Any]):
    """The keys of a declaration without its kind; they remember where they stand."""

    def __init__(self, raw: Mapping[str, Any], where: str | None) -> None:
        super().__init__((key, value) for key, value in raw.items() if key != "kind")
        self.raw = raw
        self.where = where

    def place_of(self, key: str | None) -> str | None:
        """Where a key stands, as far as that is known."""
        return place(self.raw, key) or self.where


def builder_from(raw: Any, name: str, where: str | None = None, *, folder: str | Path | None = None) -> TaxonomyBuilder:
    """The builder that a job file declares, such as ``{kind: prefix, keep: [4, 3]}``.

    `name` is what the job calls the taxonomy, `where` its place for messages, `folder` what a file's path is relative
    to.

    >>> builder_from({"kind": "prefix", "keep": [4, 3]}, "zip")
    Prefix(keep=(4, 3), length=None)
    """
    what = f"taxonomy '{name}'"
    if not isinstance(raw, Mapping):
        hint = f"{name}: {file_meant(raw) or '{kind: suppress}'}"
        raise JobError("E110", f"{what} must be a mapping of keys to values", where=where, hint=hint)
    where = place(raw) or where
    if "kind" not in raw:
        hint = f"{name}: {file_meant(raw.get('path')) or '{kind: suppress}'}"
        raise JobError("E103", f"{what} needs 'kind'", where=where, hint=hint)
    kind_where = place(raw, "kind") or where
    cls = lookup("tarnkappe.taxonomy", TaxonomyBuilder, str(raw["kind"]), "kind of taxonomy", kind_where)  # type: ignore[type-abstract]
    with naming(where):
        builder = bind(cls, _Settings(raw, where), what)
    if isinstance(builder, File) and folder is not None:
        builder = dataclasses.replace(builder, path=str(Path(folder) / builder.path))
    return builder


def file_meant(said: object) -> str | None:
    """How a job declares a taxonomy of a file, if what it says looks like one.

    >>> file_meant("illness.csv")
    '{kind: file, path: illness.csv}'
    """
    return f"{{kind: file, path: {said}}}" if isinstance(said, str) and Path(said).suffix else None

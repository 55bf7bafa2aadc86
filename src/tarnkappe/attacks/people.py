"""People and labels in one system of codes: who could be behind which row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import polars as pl

from tarnkappe.arrays import Codes, Counts, Flags
from tarnkappe.errors import DataError, LimitError, TaxonomyError
from tarnkappe.fixes import Fix, say
from tarnkappe.kernels.attacks.linkage import count_covering, count_inside, list_covering, overlapping_pairs
from tarnkappe.publish.label_reader import LabelReader, foreign_interval
from tarnkappe.publish.notation import range_ends, set_values
from tarnkappe.schema import Column
from tarnkappe.tally import Domain, distinct_rows
from tarnkappe.taxonomy.labels import as_decimal, natural_order, number_label
from tarnkappe.taxonomy.tree import ANY, Taxonomy
from tarnkappe.threads import share_out

#: How the missing value is called inside a taxonomy.
_MISSING = "(missing)"

#: So many boxes are the most that labels may become; a set of far-apart values is several.
_MOST_BOXES = 20_000_000


@dataclass(frozen=True, eq=False)
class People:
    """Distinct people: `count[i]` have the codes `codes[i]` in their quasi-identifiers; row r is one of ``of[r]``."""

    codes: Codes
    count: Counts
    of: Counts


@dataclass(frozen=True, eq=False)
class Looks:
    """Distinct rows of a release by their labels: what each could be, as boxes of codes.

    Row ``r`` has look ``of[r]``, and `count` rows have it. Box ``b`` is one of look ``look[b]``.
    """

    of: Counts
    count: Counts
    look: Counts
    lo: Codes
    hi: Codes

    @property
    def n(self) -> int:
        """Looks."""
        return len(self.count)

    @cached_property
    def start(self) -> Counts:
        """Where the boxes of each look begin, and the end of the last."""
        return np.searchsorted(self.look, np.arange(self.n + 1)).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Ground:
    """The quasi-identifiers as codes, and every label as runs of codes."""

    domains: tuple[Domain, ...]
    _read: dict[str, dict[str | None, tuple[tuple[int, int], ...]]] = field(default_factory=dict)

    @classmethod
    def of(
        cls, columns: Sequence[Column], people: Sequence[pl.DataFrame], tables: Sequence[tuple[str, pl.DataFrame, str]]
    ) -> Ground:
        """The codes of all values that people have or that stand in a table as they are."""
        return cls(tuple(_domain(column, people, tables) for column in columns))

    @property
    def names(self) -> tuple[str, ...]:
        """The quasi-identifiers."""
        return tuple(d.name for d in self.domains)

    def people(self, frame: pl.DataFrame, names: Sequence[str] | None = None) -> People:
        """People by their values in some of the quasi-identifiers, all of them if none are named."""
        domains = self._among(names)
        coded = [_encoded(frame[d.name], d) for d in domains]
        rank, first = distinct_rows(coded, [d.size for d in domains])
        codes = np.column_stack([c[first] for c in coded]).astype(np.int32)
        return People(np.ascontiguousarray(codes), np.bincount(rank).astype(np.int64), rank.astype(np.int64))

    def looks(self, table: pl.DataFrame, where: str, names: Sequence[str] | None = None) -> Looks:
        """Rows of a release by their labels in some of the quasi-identifiers."""
        domains = self._among(names)
        keyed = table.select(pl.col(d.name).cast(pl.String) for d in domains)
        distinct = keyed.unique(maintain_order=True)
        numbered = distinct.with_row_index(" ")
        of = keyed.join(numbered, on=keyed.columns, how="left", nulls_equal=True, maintain_order="left")[" "]
        look = np.arange(distinct.height, dtype=np.int64)
        lo = np.zeros((distinct.height, 0), np.int32)
        hi = lo.copy()
        for domain in domains:
            spans = self._spans(domain, distinct[domain.name], where)
            runs = np.array([len(s) for s in spans], np.int64)[look]
            if runs.sum() > _MOST_BOXES:
                raise LimitError(
                    "E702",
                    "labels stand for too many scattered sets of values",
                    hint=Fix("--quasi  fewer columns", "fewer columns in  quasi"),
                )
            flat = np.array([end for s in spans for end in s], np.int32).reshape(-1, 2)
            begin = np.cumsum([0, *(len(s) for s in spans)])[:-1][look]
            box = np.repeat(np.arange(len(look)), runs)
            inside = np.arange(len(box)) - np.repeat(np.cumsum(runs) - runs, runs)
            ends = flat[begin[box] + inside]
            look, lo, hi = look[box], np.column_stack([lo[box], ends[:, 0]]), np.column_stack([hi[box], ends[:, 1]])
        of_row = of.to_numpy().astype(np.int64)
        count = np.bincount(of_row, minlength=distinct.height).astype(np.int64)
        return Looks(of_row, count, look, np.ascontiguousarray(lo, np.int32), np.ascontiguousarray(hi, np.int32))

    def _among(self, names: Sequence[str] | None) -> tuple[Domain, ...]:
        return self.domains if names is None else tuple(d for d in self.domains if d.name in names)

    def _spans(self, domain: Domain, labels: pl.Series, where: str) -> list[tuple[tuple[int, int], ...]]:
        known = self._read.setdefault(domain.name, {})
        reader = LabelReader(domain, foreign=True)
        for text in labels.unique().to_list():
            if text in known:
                continue
            spans = reader.spans(text)
            if spans is None:
                raise DataError(
                    "E406",
                    f"column '{domain.name}' holds a label that nothing tells how to read",
                    where=where,
                    hint=f'--job JOB.yaml   or   quasi={{"{domain.name}": tree(…)}}   (its taxonomy)',
                )
            known[text] = spans
        return [known[text] for text in labels.to_list()]


def covering(people: People, looks: Looks) -> Counts:
    """How many rows of a release could be each of the people: everything that they are known to be is in its labels.

    One pass over the distinct rows for each of the distinct people, given up at the first column that rules a row out.
    """
    out = np.zeros(len(people.codes), np.int64)
    lo, hi, codes = _narrowest_first(looks, people)

    def task(begin: int, end: int) -> None:
        count_covering(lo, hi, looks.count[looks.look], codes, begin, end, out)

    share_out(task, np.arange(len(codes) + 1, dtype=np.int64) * max(len(lo), 1))
    return out


def inside(people: People, looks: Looks) -> Counts:
    """How many people could be behind each look."""
    lo, hi, codes = _narrowest_first(looks, people)
    out = np.zeros(len(lo), np.int64)
    work = np.arange(len(lo) + 1, dtype=np.int64) * max(len(codes), 1)
    share_out(lambda begin, end: count_inside(lo, hi, codes, people.count, begin, end, out), work)
    return np.bincount(looks.look, out, looks.n).astype(np.int64)  # boxes of a look do not overlap


def overlapping(ours: Looks, theirs: Looks) -> float:
    """The share of all pairs of rows, one of each release, that could be about the same person."""
    found = np.zeros(ours.n, np.int64)
    work = np.arange(ours.n + 1, dtype=np.int64) * max(len(theirs.look), 1)
    boxes = ours.lo, ours.hi, ours.start, theirs.lo, theirs.hi, theirs.start, theirs.count
    share_out(lambda begin, end: overlapping_pairs(*boxes, begin, end, found), work)
    return float((found * ours.count).sum() / (ours.count.sum() * theirs.count.sum()))


def overlap_by_row(ours: Looks, theirs: Looks) -> Flags:
    """Whether the n-th rows of two releases could be about the same person, for every n."""
    n = min(len(ours.of), len(theirs.of))
    pairs, row = np.unique(np.stack([ours.of[:n], theirs.of[:n]], axis=1), axis=0, return_inverse=True)
    ok = np.zeros(len(pairs), np.bool_)
    for i in range(int(np.diff(ours.start).max(initial=0))):  # most looks have one box, sets have some
        for j in range(int(np.diff(theirs.start).max(initial=0))):
            a, b = ours.start[pairs[:, 0]] + i, theirs.start[pairs[:, 1]] + j
            there = (a < ours.start[pairs[:, 0] + 1]) & (b < theirs.start[pairs[:, 1] + 1])
            a, b = a[there], b[there]
            meet = (ours.lo[a] <= theirs.hi[b]) & (theirs.lo[b] <= ours.hi[a])
            ok[there] |= meet.all(axis=1)
    out: Flags = ok[row.reshape(-1)]
    return out


def covering_looks(people: People, looks: Looks) -> tuple[Counts, Counts]:
    """Which looks could be each of the people: those of person ``i`` are ``look[start[i]:start[i + 1]]``."""
    lo, hi, codes = _narrowest_first(looks, people)
    n = np.zeros(len(codes), np.int64)
    ones = np.ones(len(lo), np.int64)
    work = np.arange(len(codes) + 1, dtype=np.int64) * max(len(lo), 1)
    share_out(lambda begin, end: count_covering(lo, hi, ones, codes, begin, end, n), work)
    start = np.concatenate([[0], np.cumsum(n)]).astype(np.int64)
    box = np.zeros(int(start[-1]), np.int64)
    share_out(lambda begin, end: list_covering(lo, hi, codes, begin, end, start, box), work)
    return start, looks.look[box]


def _narrowest_first(looks: Looks, people: People) -> tuple[Codes, Codes, Codes]:
    """Columns in the order in which they rule out most."""
    spread = people.codes.max(axis=0, initial=0) + 1.0 if len(people.codes) else np.ones(looks.lo.shape[1])
    width = ((looks.hi - looks.lo + 1) / spread).mean(axis=0) if len(looks.lo) else spread
    order = np.argsort(width, kind="stable")
    parts = looks.lo[:, order], looks.hi[:, order], people.codes[:, order]
    return tuple(np.ascontiguousarray(part) for part in parts)  # type: ignore[return-value]


def _domain(column: Column, people: Sequence[pl.DataFrame], tables: Sequence[tuple[str, pl.DataFrame, str]]) -> Domain:
    """The values that a column can have, along its taxonomy if there is one."""
    name = column.name
    given = [frame[name] for frame in people if name in frame.columns]
    shown = [(frame[name].cast(pl.String), decimal) for _, frame, decimal in tables if name in frame.columns]
    gaps = any(s.null_count() for s in given) or any(s.null_count() for s, _ in shown)
    decimal = next((d for _, d in shown), ".")
    values: dict[str, int] = {}
    for series in given:
        counts = series.drop_nulls().value_counts()
        for text, n in zip(plain_texts(counts[series.name]), counts["count"].to_list(), strict=True):
            values[text] = values.get(text, 0) + n
    labels = list(
        dict.fromkeys(text for s, _ in shown for text in s.unique(maintain_order=True).drop_nulls().to_list())
    )
    tree: Taxonomy | None = None
    if column.taxonomy is not None:
        tree = _built(column, values, labels)
    if tree is None:
        have = {number for number in map(as_decimal, values) if number is not None}
        for text in (part for label in labels for part in _plain_parts(label)):
            number = as_decimal(text.replace(decimal, "."))
            if number is None or number not in have:
                values.setdefault(text if number is None else number_label(float(number)), 0)
        atoms = list(values) or [ANY + " "]
        tree = Taxonomy.scale([atoms[i] for i in natural_order(atoms)])
    missing = -1
    if gaps:
        label = _MISSING
        while label in tree.labels:
            label = f"({label})"
        missing, tree = tree.n_leaves, tree.with_missing(label)
    return Domain(name, tree, None, missing, decimal=decimal)


def _built(column: Column, values: Mapping[str, int], labels: Sequence[str]) -> Taxonomy | None:
    """The taxonomy of a column over the values of people, or over those that stand in a release; None without any."""
    assert column.taxonomy is not None
    texts = list(values) or [text for label in labels for text in _plain_parts(label)]
    counts = [values.get(text, 1) for text in texts]
    if not column.taxonomy.numeric:
        return column.taxonomy.build(texts, column.name, np.array(counts, np.int64)) if texts else None
    numbers = {
        float(number): n for text, n in zip(texts, counts, strict=True) if (number := as_decimal(text)) is not None
    }
    if not numbers:
        return None
    whole = all(number.is_integer() for number in numbers)
    ordered = np.array(sorted(numbers), np.int64 if whole else np.float64)
    return column.taxonomy.build(ordered, column.name, np.array([numbers[float(x)] for x in ordered], np.int64))


def _plain_parts(label: str) -> list[str]:
    """The values that a label names: itself, the ends of a range, or the members of a set."""
    if label == ANY or (label.endswith("*") and label.strip("*")):
        return []
    ends = range_ends(label)
    listed = set_values(label)
    if ends is not None or listed is not None:
        return list(ends or listed or ())
    found = foreign_interval(label)
    if found is None:
        return [label]
    return [number_label(x) for x in found[:2] if np.isfinite(x)]


def plain_texts(series: pl.Series) -> list[str]:
    """The text of each value: numbers by their shortest text, texts that are numbers likewise unless they are codes."""
    if series.dtype.is_numeric():
        return [number_label(float(x)) for x in series.to_list()]
    texts = series.cast(pl.String).to_list()
    numbers = [as_decimal(text) for text in texts]
    is_code = any(text[:1] == "0" and text[1:2].isdigit() for text in texts)
    if is_code or any(number is None for number in numbers):
        return texts
    return [number_label(float(number)) for number in numbers if number is not None]


def _encoded(series: pl.Series, domain: Domain) -> Codes:
    """The code of every value of a column; the missing value has the last one."""
    distinct = series.drop_nulls().unique(maintain_order=True)
    written = distinct.cast(pl.String).to_list()
    known = domain.code_of
    place = [known.get(text, known.get(raw, -1)) for text, raw in zip(plain_texts(distinct), written, strict=True)]
    if -1 in place:
        raise TaxonomyError(
            "E204",
            f"the taxonomy of '{domain.name}' does not cover all values that people have",
            hint=say(
                "Give a taxonomy that covers them, or leave it out:  {}",
                Fix(f"--quasi  without  {domain.name}", f"quasi  without  {domain.name}"),
            ),
        )
    at = pl.DataFrame({"v": distinct, "p": np.array(place, np.int32)})
    found = series.alias("v").to_frame().join(at, on="v", how="left", maintain_order="left")["p"]
    return found.fill_null(max(domain.missing, 0)).to_numpy().astype(np.int32)

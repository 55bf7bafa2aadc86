"""What the labels of a release cover, read from their texts: ours, and the usual ones of other tools."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Codes, Counts, Flags, Floats
from tarnkappe.errors import DataError
from tarnkappe.io import Source
from tarnkappe.publish.label_reader import LabelReader
from tarnkappe.schema import Column
from tarnkappe.tally import Domain

#: What stands for anything in most other tools.
_ANYTHING = ("*", "Any", "ANY", "any", "NA", "")
_NUMBER = r"[+-]?\d+(?:[.,]\d+)?"
_BETWEEN = re.compile(rf"[\[(]?\s*({_NUMBER})\s*(?:-|–|to|,|;|\s)\s*({_NUMBER})\s*([\])\[]?)")
_AT_LEAST = re.compile(rf"(?:>=|≥)\s*({_NUMBER})|({_NUMBER})\s*\+")
_AT_MOST = re.compile(rf"(?:<=|≤)\s*({_NUMBER})")
_ABOVE, _BELOW = re.compile(rf">\s*({_NUMBER})"), re.compile(rf"<\s*({_NUMBER})")


@dataclass(frozen=True, eq=False)
class Label:
    """What one label of a quasi-identifier covers; a centre is a number that nobody need have."""

    leaves: Codes
    node: int | None = None
    centre: float | None = None


@dataclass(frozen=True, eq=False)
class PublishedLabels:
    """The labels of one quasi-identifier in a release, and which of them every group has."""

    domain: Domain
    labels: tuple[Label, ...]
    code: Codes

    @property
    def is_centred(self) -> bool:
        """Whether it publishes numbers that nobody need have."""
        return any(x.centre is not None for x in self.labels)

    @cached_property
    def first(self) -> Codes:
        """The first code that every label covers."""
        return np.array([label.leaves[0] for label in self.labels], np.int32)

    @cached_property
    def last(self) -> Codes:
        """The last code that every label covers."""
        return np.array([label.leaves[-1] for label in self.labels], np.int32)

    @cached_property
    def n_covered(self) -> Counts:
        """How many codes every label covers."""
        return np.array([len(label.leaves) for label in self.labels], np.int64)

    @cached_property
    def _torn(self) -> Counts:
        """The labels whose codes do not stand side by side: sets."""
        return np.flatnonzero(self.last - self.first + 1 != self.n_covered)

    def sums(self, values: Floats) -> Floats:
        """What the values of the codes that a label covers add up to; a row per label, of a row of values per code."""
        before = np.concatenate([np.zeros((1, *values.shape[1:])), np.cumsum(values, axis=0)])
        out: Floats = before[self.last + 1] - before[self.first]
        for i in self._torn:
            out[i] = values[self.labels[i].leaves].sum(axis=0)
        return out

    def shares(self, bin_of: NDArray[np.integer], n_bins: int) -> Floats:
        """The part of every label's values that is in each bin of values; a row per label."""
        member = np.zeros((len(bin_of), n_bins))
        member[np.arange(len(bin_of)), bin_of] = 1.0
        return self.sums(member) / self.n_covered[:, None]

    def shares_of_runs(self, lo: Codes, hi: Codes) -> Floats:
        """The part of every label's values that lies in each run of codes, from ``lo`` to ``hi``; a row per label."""
        inside = np.minimum(self.last[:, None], hi) - np.maximum(self.first[:, None], lo) + 1
        inside = np.maximum(inside, 0)
        for i in self._torn:
            leaves = self.labels[i].leaves
            inside[i] = np.searchsorted(leaves, hi, side="right") - np.searchsorted(leaves, lo)
        part: Floats = inside / self.n_covered[:, None]
        return part

    @cached_property
    def positions(self) -> Floats:
        """Where every label is on its scale: the mean of what it covers, or the centre itself; NaN if unknown."""
        place = self.domain.positions.astype(np.float64).copy()
        if self.domain.missing >= 0:
            place[self.domain.missing] = np.nan
        known = ~np.isnan(place)
        total, count = self.sums(np.where(known, place, 0.0)), self.sums(known.astype(np.float64))
        middle = np.where(count > 0, total / np.maximum(count, 1.0), np.nan)
        centre = np.array([np.nan if x.centre is None else x.centre for x in self.labels])
        return np.where(np.isnan(centre), middle, centre)


def read_labels(texts: Sequence[str | None], column: Column, domain: Domain, source: Source) -> tuple[Label, ...]:
    """What every text covers; one that cannot be read is an error, not a guess."""
    reader = LabelReader(domain)
    node_of = {text: node for node, text in reversed(list(enumerate(domain.taxonomy.labels)))}
    out = []
    for text in texts:
        leaves = reader.leaves(text)
        if leaves is not None and len(leaves):
            out.append(Label(leaves, None if text is None else node_of.get(text)))
            continue
        label = _foreign(str(text), column, domain, source.decimal)
        if label is None:
            raise DataError(
                "E406",
                f"column '{domain.name}' of the release holds a label that cannot be read",
                where=source.name,
                hint="Give the job with the taxonomies that the release was made with:  --job JOB.yaml",
            )
        out.append(label)
    return tuple(out)


def _foreign(text: str, column: Column, domain: Domain, decimal: str) -> Label | None:
    """What a label of another tool covers, if it is one of the usual: anything, a mask, a range, a number."""
    everything = np.arange(domain.size, dtype=np.int32)[domain.known]
    if text in _ANYTHING:
        return Label(everything if len(everything) else np.arange(domain.size, dtype=np.int32), 0)
    if text.endswith("*"):
        start = text.rstrip("*")
        begun = [c for leaf, c in domain.code_of.items() if leaf.startswith(start) and c != domain.missing]
        return Label(np.sort(np.array(begun, np.int32))) if begun else None
    return _foreign_number(text, domain, decimal) if column.kind == "numeric" else None


def _foreign_number(text: str, domain: Domain, decimal: str) -> Label | None:
    place = domain.positions
    # First, because with a decimal comma 27,25 is one number.
    if re.fullmatch(rf"[+-]?\d+(?:{re.escape(decimal)}\d+)?(?:[eE][+-]?\d+)?", text) and np.isfinite(place).any():
        number = float(text.replace(decimal, "."))
        nearest = int(np.nanargmin(np.abs(place - number)))
        return Label(np.array([nearest], np.int32), centre=number)
    ends: tuple[float, float] | None = None
    ends_open = False
    if found := _BETWEEN.fullmatch(text):
        ends, ends_open = (_number(found[1], decimal), _number(found[2], decimal)), found[3] in (")", "[")
    elif found := _AT_LEAST.fullmatch(text):
        ends = (_number(found[1] or found[2], decimal), math.inf)
    elif found := _AT_MOST.fullmatch(text):
        ends = (-math.inf, _number(found[1], decimal))
    elif found := _ABOVE.fullmatch(text):
        ends = (np.nextafter(_number(found[1], decimal), math.inf), math.inf)
    elif found := _BELOW.fullmatch(text):
        ends, ends_open = (-math.inf, _number(found[1], decimal)), True
    if ends is None:
        return None
    inside = (place >= ends[0]) & ((place < ends[1]) if ends_open else (place <= ends[1]))
    return Label(np.flatnonzero(inside).astype(np.int32)) if inside.any() else None


def _number(text: str, decimal: str) -> float:
    return float(text.replace(decimal, ".").replace(",", "."))


def matching_groups(labels: PublishedLabels, wanted: Flags) -> Floats:
    """The part of what every group says in a quasi-identifier that is wanted."""
    share: Floats = labels.sums(wanted.astype(np.float64)) / labels.n_covered
    return share[labels.code]

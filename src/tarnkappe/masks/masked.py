"""The data of a job with its masks put on, and the check that they leave as it was what they promise."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tarnkappe.errors import VerificationError
from tarnkappe.io import Source
from tarnkappe.io.texts import plain_texts
from tarnkappe.masks.base import Chance, Fitted, Kept, Mask
from tarnkappe.masks.columns import Columns, Seen
from tarnkappe.masks.view import MaskedSource
from tarnkappe.threads import map_threads
from tarnkappe.wording import figure

#: The purpose of chance in masks; no other part of a run has it.
_MASKING = 4

#: Records that are looked at to see whether a mask does anything.
_MANY = 100_000


@dataclass(frozen=True, eq=False)
class Masked:
    """Data with masks: the original, and what everybody reads in its place."""

    original: Source
    view: MaskedSource
    masks: tuple[Mask, ...]
    #: The columns of the original, as far as they were read.
    before: Columns

    @classmethod
    def of(cls, original: Source, masks: Sequence[Mask], seed: int) -> Masked:
        """Put masks on data."""
        columns = Columns(original)
        columns.read_early(masks)

        def fitted(i: int) -> Fitted:
            return masks[i].fit(columns, Chance.of(seed, _MASKING, i))

        # One alone may share out its own work, which it could not in a thread of many.
        made = map_threads(fitted, range(len(masks))) if len(masks) > 1 else [fitted(0)]
        columns.forget_early()
        return cls(original, MaskedSource(original, made), tuple(masks), columns)

    @property
    def columns(self) -> dict[str, Mask]:
        """The columns that are changed, and by which mask."""
        return {name: mask for mask in self.masks for name in mask.changes}

    def found(
        self,
        written: Source,
        *,
        everybody: bool,
        coarsened: Collection[str] = (),
        passed: Seen | None = None,
        read: Seen | None = None,
    ) -> list[tuple[Mask, tuple[Kept, ...]]]:
        """Everything that each mask leaves as it was, recomputed from a written table and the original.

        If not `everybody` is in the table, figures of all records are those of the masked data, of which the table has
        been found to hold a part. The same goes for figures over columns that are `coarsened`, or not published.
        Nothing is read twice: columns that `passed` to the writer, in the order of the original, or were `read` from
        what it wrote. How often values are repeated is that of the original, where records passed.
        """
        if passed is not None:
            self.before.know_repeats(passed.repeats)
        before, side_by_side, table = self.before, Columns(self.view, _columns(passed)), Columns(written, read)

        def found(mask: Mask) -> tuple[Mask, tuple[Kept, ...]]:
            there = everybody and all(name in table.names and name not in coarsened for name in mask.looks_at)
            kept = mask.kept(before, table if there else side_by_side)
            return mask, (*kept, *mask.kept_by_record(before, side_by_side))

        return map_threads(found, self.masks)

    @cached_property
    def untouched(self) -> tuple[str, ...]:
        """The columns in which no value differs, in many records: their masks do nothing to these data."""
        names = list(self.columns)
        before, after = self.original.sample(names, _MANY), self.view.sample(names, _MANY)
        same = (plain_texts(before[n]).equals(plain_texts(after[n]), check_names=False) for n in names)
        return tuple(name for name, is_same in zip(names, same, strict=True) if is_same)

    def told(self) -> dict[str, Any]:
        """What a public manifest tells about masks: what was changed, how, and what stayed; no key, no seed."""
        return {
            "masks": [
                {
                    "mask": mask.name,
                    "columns": list(mask.changes),
                    "parameters": mask.told_publicly(),
                    "done": mask.done,
                    "keeps": list(mask.keeps),
                }
                for mask in self.masks
            ]
        }


def _columns(passed: Seen | None) -> Seen | None:
    """The columns alone: repeated values are those of the original, not of what became of them."""
    return None if passed is None else Seen(passed.columns)


def require_kept(found: Sequence[tuple[Mask, Sequence[Kept]]], where: str) -> None:
    """Refuse a release of which something that was recomputed is not as promised."""
    broken = [kept for _, several in found for kept in several if not kept.ok]
    if broken:
        raise VerificationError(
            "E501",
            "verification failed: the release was NOT written",
            where=where,
            details=[f"not kept: {k.what} (off by {figure(k.off)}, allowed {figure(k.allowed)})" for k in broken],
            hint="This is a bug in Tarnkappe or a damaged disk. Please report it; no file was left behind.",
        )

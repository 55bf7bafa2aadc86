"""People and records side by side, column by column: how far apart what is known of a person and a label are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from tarnkappe.arrays import Bytes, Codes, Counts, Floats
from tarnkappe.attacks.scene import Scene
from tarnkappe.errors import LimitError
from tarnkappe.fixes import Fix
from tarnkappe.publish.label_reader import LabelReader
from tarnkappe.tally import Domain
from tarnkappe.taxonomy.labels import as_decimal

#: Pairs of a value and a label, over all columns, that are compared beforehand.
_MOST_PAIRS = 200_000_000


@dataclass(frozen=True, eq=False)
class Comparison:
    """People by the codes of their values, different rows of a release by the numbers of their labels.

    What a value and a label of column j have to do with each other stands at ``offset[j] + code * width[j] + label``:
    their squared distance, and whether the label is true of the value. `own` is the row of each person's own record.
    """

    codes: Codes
    labels: Codes
    count: Counts
    own: Counts
    #: The rows of the table of people that have a record.
    there: Counts
    offset: Counts
    width: Counts
    distance: Floats
    agree: Bytes

    @classmethod
    def of(cls, scene: Scene, near: float = 0.0) -> Comparison:
        """Compare all people of a scene that have a record with all records.

        A number that is published as a number agrees if it is within `near` standard deviations.
        """
        assert scene.known is not None
        assert scene.key is not None
        names = [d.name for d in scene.ground.domains if d.name in scene.release.frame.columns]
        keys = scene.release.frame[scene.key].cast(pl.String)
        place = pl.DataFrame({"k": keys, "row": np.arange(len(keys))}).unique("k", keep="first", maintain_order=True)
        wanted = scene.known.select(pl.col(scene.key).cast(pl.String).alias("k"))
        row = wanted.join(place, on="k", how="left", maintain_order="left")["row"]
        there = np.flatnonzero(row.is_not_null().to_numpy())
        shown = scene.release.frame.select(pl.col(*names).cast(pl.String))
        distinct = shown.unique(maintain_order=True)
        look = shown.join(distinct.with_row_index(" "), on=names, how="left", nulls_equal=True, maintain_order="left")
        of = look[" "].to_numpy().astype(np.int64)
        people = scene.ground.people(scene.known, names)
        codes, labels, distances, agrees = [], [], [], []
        for j, domain in enumerate(d for d in scene.ground.domains if d.name in names):
            texts = distinct[domain.name].unique(maintain_order=True)
            at = pl.DataFrame({"t": texts, "i": np.arange(len(texts), dtype=np.int32)})
            column = distinct.select(pl.col(domain.name).alias("t"))
            labels.append(column.join(at, on="t", how="left", nulls_equal=True, maintain_order="left")["i"].to_numpy())
            codes.append(people.codes[people.of[there], j])
            if domain.size * len(texts) > _MOST_PAIRS:
                raise LimitError(
                    "E702",
                    f"'{domain.name}' has too many values to compare all of them",
                    hint=Fix("--quasi  fewer columns", "fewer columns in  quasi"),
                )
            distance, agree = _compared(domain, texts.to_list(), codes[-1], near)
            distances.append(distance)
            agrees.append(agree)
        width = np.array([d.shape[1] for d in distances], np.int64)
        offset = np.cumsum([0, *(d.size for d in distances)])[:-1].astype(np.int64)
        return cls(
            np.ascontiguousarray(np.column_stack(codes), np.int32),
            np.ascontiguousarray(np.column_stack(labels), np.int32),
            np.bincount(of, minlength=distinct.height).astype(np.int64),
            of[row.drop_nulls().to_numpy()],
            there,
            offset,
            width,
            np.concatenate([d.ravel() for d in distances]),
            np.concatenate([a.ravel() for a in agrees]),
        )


def _compared(domain: Domain, texts: list[str | None], codes: Codes, near: float) -> tuple[Floats, Bytes]:
    """The squared distance of every value from every label, and whether they agree.

    Numbers are measured in standard deviations of the people, from the middle of a label. Other values are at distance
    0 from a label that says just this, at 1 from one that excludes it, and in between where it says several.
    """
    reader = LabelReader(domain, foreign=True)
    numbers = [as_decimal(leaf) for leaf in domain.taxonomy.leaves]
    known = np.array([np.nan if x is None else float(x) for x in numbers])
    on_scale = not np.isnan(np.delete(known, domain.missing) if domain.missing >= 0 else known).any()
    spread = float(np.nanstd(known[codes])) if on_scale and len(codes) else 1.0
    distance = np.ones((domain.size, len(texts)))
    agree = np.zeros((domain.size, len(texts)), np.uint8)
    for i, text in enumerate(texts):
        leaves = reader.leaves(text)
        held = np.arange(domain.size, dtype=np.int32) if leaves is None or not len(leaves) else leaves
        agree[held, i] = 1
        if not on_scale or np.isnan(known[held]).all():
            distance[held, i] = 1 - 1 / len(held)
            continue
        middle = (np.nanmin(known[held]) + np.nanmax(known[held])) / 2
        distance[:, i] = ((known - middle) / (spread or 1.0)) ** 2
        distance[np.isnan(known), i] = 1.0
        if len(held) == 1:
            agree[np.abs(known - middle) <= near * spread, i] = 1
    return distance, agree

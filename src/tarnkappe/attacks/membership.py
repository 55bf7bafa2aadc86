"""Membership inference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from tarnkappe.arrays import Floats
from tarnkappe.attacks.base import Attack, AttackCard, Finding, Need, Remedy
from tarnkappe.attacks.people import covering
from tarnkappe.attacks.scene import Scene, as_floats, is_numeric
from tarnkappe.attacks.table_linkage import beliefs
from tarnkappe.kernels.attacks.matching import nearest_squares
from tarnkappe.params import param
from tarnkappe.threads import share_out
from tarnkappe.wording import percent


@dataclass(frozen=True)
class Membership(Attack):
    r"""Whoever has a public table says about people that they are in the data, and is rarely wrong about others.

    People are ordered by how likely they are in the data (see table linkage), and the attacker accuses the likeliest
    until the share ``false_alarms`` of those who are not in the data would be accused too. The rate is the share of
    people in the data who are accused then; where many are equally likely, the part of them that is left is drawn by
    lot. Guessing at random accuses as many of both, so the baseline is ``false_alarms``. A release with the same
    δ-presence in every group leaves it there.

    Without a public table, people of the data and others who are certainly not in them are compared: those that a
    published record is closer to look likelier, by their numbers in standard deviations, or else by whether any record
    fits them. This is the usual test of averaged and of synthetic data.

    The area under the curve (AUC) is the probability that somebody in the data looks likelier than somebody who is not.

    Differs from other tools in: no accuracy is given, because it says little about rare and certain successes.

    References
    ----------
    .. [NeAC07] Nergiz, Atzori, Clifton. "Hiding the presence of individuals from shared databases." SIGMOD 2007.
    .. [CCNS22] Carlini, Chien, Nasr, Song, Terzis, Tramèr. "Membership inference attacks from first principles." IEEE
       Symposium on Security and Privacy 2022.
    """

    name: ClassVar = "membership"
    title: ClassVar = "membership inference"
    card: ClassVar = AttackCard(
        attacker="has a public table of everybody, and accuses those who are likeliest to be in the data.",
        success="somebody who is in the data is accused, with hardly any false alarm.",
        baseline="as many of those in the data as of the others.",
        remedy=Remedy("delta-presence", delta_max=0.5),
    )
    needs: ClassVar[tuple[Need, ...]] = ("quasi", "population", "whole")
    finds: ClassVar = "presence"

    false_alarms: float = param(
        0.01, doc="Share of the people who are not in the data that may be accused.", gt=0, le=1, example=0.01
    )

    def lacks(self, scene: Scene) -> Need | None:
        """A public table, or people of the data and others to compare them with."""
        missing = super().lacks(scene)
        return None if missing == "population" and scene.has("known") and scene.has("holdout") else missing

    def carry_out(self, scene: Scene) -> Finding:
        """The share of people in the data who are accused."""
        if scene.has("population"):
            belief, people = beliefs(scene)
            ins, outs, n = belief * people, (1 - belief) * people, scene.release.n_rows
        else:
            belief, ins = _closeness(scene)
            outs, n = 1 - ins, int(ins.sum())
        if outs.sum() <= 0:
            return self.found(
                n, n, 1.0, "Everybody of the public table is in the data, and nobody needs a release to know."
            )
        right, auc = ranked(belief, ins, outs, self.false_alarms)
        sentence = (
            f"Whoever accuses {percent(self.false_alarms)} of those who are not in the data by mistake finds "
            f"{percent(right)} of those who are."
        )
        figures = {"area under the curve": auc}
        return self.found(right * n, n, self.false_alarms, sentence, figures=figures)


def _closeness(scene: Scene) -> tuple[Floats, Floats]:
    """How close some published record is to people of the data, and to others; and which of them are in the data."""
    assert scene.known is not None
    assert scene.holdout is not None
    both = scene.known, scene.holdout
    ins = np.repeat([1.0, 0.0], [scene.known.height, scene.holdout.height])
    numeric = [name for name in scene.numeric if is_numeric(scene.holdout[name])]
    if not numeric:
        looks = scene.ground.looks(scene.release.frame, scene.release.name)
        people = [scene.ground.people(frame) for frame in both]
        return np.concatenate([(covering(p, looks)[p.of] > 0).astype(np.float64) for p in people]), ins
    points = np.concatenate([_numbers(frame, numeric) for frame in both])
    scale = np.nanstd(points[: scene.known.height], axis=0)
    scale[scale == 0] = 1.0
    points, records = (np.nan_to_num(x / scale) for x in (points, _numbers(scene.release.frame, numeric)))
    records = np.unique(records, axis=0)
    out = np.zeros(len(points))
    work = np.arange(len(points) + 1, dtype=np.int64) * max(len(records), 1)
    share_out(lambda begin, end: nearest_squares(points, records, begin, end, out), work)
    score: Floats = -np.sqrt(out).round(9).astype(np.float64)
    return score, ins


def _numbers(frame: pl.DataFrame, names: list[str]) -> Floats:
    return np.column_stack([as_floats(frame[name]) for name in names])


def ranked(score: Floats, ins: Floats, outs: Floats, false_alarms: float) -> tuple[float, float]:
    """The share of those who are in that are found at some share of false alarms, and the area under the curve."""
    levels, at = np.unique(-score, return_inverse=True)
    found = np.bincount(at, ins, len(levels)) / max(ins.sum(), 1e-300)
    alarms = np.bincount(at, outs, len(levels)) / max(outs.sum(), 1e-300)
    right = np.concatenate([[0.0], np.cumsum(found)])
    wrong = np.concatenate([[0.0], np.cumsum(alarms)])
    at_limit = float(np.interp(false_alarms, wrong, right))
    if (wrong == 0).sum() > 1:  # those that are found without any false alarm
        at_limit = max(at_limit, float(right[np.flatnonzero(wrong <= 0)[-1]]))
    return at_limit, float(np.sum(alarms * (right[:-1] + right[1:]) / 2))

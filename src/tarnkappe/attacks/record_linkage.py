"""Record linkage against a table of people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from tarnkappe.arrays import Counts, Flags
from tarnkappe.attacks.base import Attack, AttackCard, Finding, Remedy
from tarnkappe.attacks.people import Looks, People, covering, covering_looks, inside
from tarnkappe.attacks.scene import Scene
from tarnkappe.params import param
from tarnkappe.wording import percent, plural


@dataclass(frozen=True)
class RecordLinkage(Attack):
    r"""People of another table are looked for in the release: a person and a record that fit only each other are one.

    A record fits a person if each of its labels covers what is known about the person: the interval holds the age, the
    node of the taxonomy lies above the place. If everybody in the table of people is in the data (``complete: data``),
    a person whom one record fits has been found. If everybody in the data is in the table of people, such as a register
    of voters (``complete: people``), a record that fits one person has been found. With a key, only links that are
    right count. In a k-anonymous release every record has k - 1 others that fit the same people, so nobody is found.

    The baseline is a random pick. The control are people who are certainly not in the data, if they are given: the
    share of them for whom one record is found all the same. O(different people · different records · columns) at
    worst; most pairs are ruled out by the first column.

    References
    ----------
    .. [Swe02] Sweeney. "k-anonymity: a model for protecting privacy." International Journal on Uncertainty, Fuzziness
       and Knowledge-based Systems 2002.
    """

    name: ClassVar = "record-linkage"
    title: ClassVar = "record linkage"
    card: ClassVar = AttackCard(
        attacker="has a table of people with names, such as a register of voters, and compares it with the release.",
        success="a person and a record are left that fit only each other: the record is that person's.",
        baseline="a record picked at random.",
        remedy=Remedy("k-anonymity", k=5),
    )
    needs: ClassVar = ("quasi", "known", "whole")
    finds: ClassVar = "identity"

    complete: str = param(
        "data",
        doc="Which of the two is complete: the data (everybody in the table of people is in them), or the people.",
        choices=("data", "people"),
    )

    def carry_out(self, scene: Scene) -> Finding:
        """The share of people, or of records, that are found."""
        assert scene.known is not None
        ground = scene.ground
        people = ground.people(scene.known)
        looks = ground.looks(scene.release.frame, scene.release.name, ground.names)
        if self.complete == "people":
            return self._of_records(scene, people, looks)
        rows = covering(people, looks)
        single = rows[people.of] == 1
        right = self._right(scene, people, looks, single)
        n = scene.known.height
        fits = rows[people.of]
        expected = float((1 / fits[fits > 0]).sum() / n)
        control = None
        if scene.has("holdout"):
            assert scene.holdout is not None
            others = ground.people(scene.holdout)
            control = float((covering(others, looks)[others.of] == 1).mean())
        sentence = (
            f"Of {plural(n, 'person', 'people')} who are looked for, {percent(right / n)} fit exactly one record of "
            f"the release, which is theirs; a random pick would find {percent(1 / scene.release.n_rows)}."
        )
        figures = {
            "fit one record": int(single.sum()),
            "fit no record": int((fits == 0).sum()),
            "fewest records that fit somebody": int(fits[fits > 0].min(initial=scene.release.n_rows)),
            "expected share of right picks among those that fit": expected,
        }
        return self.found(right, n, 1 / scene.release.n_rows, sentence, control=control, figures=figures)

    def _of_records(self, scene: Scene, people: People, looks: Looks) -> Finding:
        """The share of records that fit one person only."""
        assert scene.known is not None
        n_people, n = inside(people, looks), scene.release.n_rows
        single = n_people == 1
        found = int(looks.count[single].sum())
        if scene.has("key"):
            assert scene.key is not None
            start, of_person = covering_looks(people, looks)
            person = np.repeat(np.arange(len(people.codes)), np.diff(start))
            only = np.full(looks.n, -1)
            only[of_person] = person  # the one person, wherever there is just one
            row_of = np.zeros(len(people.codes), np.int64)
            row_of[people.of] = np.arange(len(people.of))
            claimed = single[looks.of]
            keys = scene.known[scene.key].cast(pl.String).gather(row_of[np.maximum(only[looks.of], 0)])
            same = keys.eq_missing(scene.release.frame[scene.key].cast(pl.String)).to_numpy()
            found = int((claimed & same).sum())
        fitting = n_people[looks.of]
        expected = float((1 / fitting[fitting > 0]).sum() / n)
        sentence = (
            f"Of {plural(n, 'record')} of the release, {percent(found / n)} fit exactly one person of the table, whose "
            f"they are; a random pick would find {percent(1 / scene.known.height)}."
        )
        figures = {
            "fit one person": int(looks.count[single].sum()),
            "fewest people that fit a record": int(fitting[fitting > 0].min(initial=scene.known.height)),
            "expected share of right picks among those that fit": expected,
        }
        return self.found(found, n, 1 / scene.known.height, sentence, figures=figures)

    @staticmethod
    def _right(scene: Scene, people: People, looks: Looks, single: Flags) -> int:
        """How many of the people who fit one record are the person of that record."""
        if not scene.has("key"):
            return int(single.sum())
        assert scene.known is not None
        assert scene.key is not None
        start, of_person = covering_looks(people, looks)
        row_of: Counts = np.zeros(looks.n, np.int64)
        row_of[looks.of] = np.arange(len(looks.of))
        at = np.flatnonzero(single)
        theirs = row_of[of_person[start[people.of[at]]]]
        keys = scene.release.frame[scene.key].cast(pl.String).gather(theirs)
        return int(keys.eq_missing(scene.known[scene.key].cast(pl.String).gather(at)).sum())

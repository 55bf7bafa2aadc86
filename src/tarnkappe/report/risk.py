"""How likely somebody finds a person, after and, for the publisher, before."""

from __future__ import annotations

import numpy as np

from tarnkappe.release import Release
from tarnkappe.report.charts import share_bars
from tarnkappe.report.facts import several_each
from tarnkappe.report.markup import Html, el, table
from tarnkappe.report.numbers import percent
from tarnkappe.report.parts import section
from tarnkappe.risks.matching import Matching, prosecutor

#: From which chance on a record counts as at risk; the figure that health authorities usually name.
_THRESHOLD = 0.2

Sizes = tuple[tuple[int, int], ...]


def risk(release: Release) -> Html | None:
    """The chance of being found, for an attacker who knows the quasi-identifiers and that the person is in the data.

    What it was before is told to the publisher only. None where quasi-identifiers are published as they are.
    """
    if release.is_numbered or not release.group_sizes:
        return None
    after = _found(release.group_sizes)
    before = _found(release.sizes_before) if release.sizes_before else None
    words = (
        "Somebody who knows that a person is in the data, and knows their quasi-identifiers, finds the group of the "
        f"person and has to guess within it. The guess is right with a chance of {percent(after.average)} on average, "
        f"and of {percent(_highest(after))} for the most exposed record."
    )
    if several_each(release):
        words += " That is if every person has one record in it; who has more of them is found more easily."
    was = ""
    if before is not None:
        was = (
            f" In the original data it was {percent(before.average)} on average, and "
            f"{percent(before.at_risk or 0.0)} of the records had a chance above {percent(_THRESHOLD)}."
        )
    moments = [("before", before), ("after", after)] if before is not None else [("", after)]
    shares = [(f"{what}{_when(when)}", share) for what, pick in _FIGURES for when, m in moments for share in [pick(m)]]
    figures = (
        share_bars(
            "Chance of being found", "Lower is better.", ("What", "Share of records or chance"), shares, name="risk"
        )
        if before is not None
        else table("Chance of being found", ("What", "Figure"), ((w, percent(x)) for w, x in shares), numeric={1})
    )
    return section("risk", "Risk of being found", el("p", words, was), figures)


def _found(sizes: Sizes) -> Matching:
    size, groups = np.array(sizes, np.int64).T
    return prosecutor(np.repeat(size, groups), _THRESHOLD)


def _highest(found: Matching) -> float:
    return found.highest or 0.0


def _when(when: str) -> str:
    return f", {when}" if when else ""


_FIGURES = (
    ("Most exposed record", _highest),
    ("Average record", lambda found: found.average),
    (f"Records above {percent(_THRESHOLD)}", lambda found: found.at_risk or 0.0),
)

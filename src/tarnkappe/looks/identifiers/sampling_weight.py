"""Sampling weights."""

from __future__ import annotations

from typing import ClassVar

from tarnkappe.looks.base import Detector, Sight


class SamplingWeight(Detector):
    """How many people a record stands for: it gives away the stratum, and so the place and the size of a household."""

    name: ClassVar = "sampling-weight"
    title: ClassVar = "sampling weights"
    evidence: ClassVar = "the name"
    tells: ClassVar = "known"
    phrases: ClassVar = (
        *("fnlwgt", "wgt", "pweight", "fweight", "perwt", "hhwt", "sampling weight", "sample weight", "survey weight"),
        *("person weight", "household weight", "final weight", "design weight", "stratum", "psu"),
        *("stichprobengewicht", "hochrechnungsfaktor", "gewichtungsfaktor"),
    )

    def share(self, sight: Sight) -> float:
        """A weight is a number like any other."""
        return 0.0

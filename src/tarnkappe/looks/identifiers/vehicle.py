"""Vehicles."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from tarnkappe.looks.base import DIGITS, Detector, Sight
from tarnkappe.looks.check_digits import figures, weighted

#: What letters count in the check digit of a vehicle identification number; 0 to 9 count as themselves.
_VALUES = np.array([*range(10), 1, 2, 3, 4, 5, 6, 7, 8, 0, 1, 2, 3, 4, 5, 0, 7, 0, 9, 2, 3, 4, 5, 6, 7, 8, 9])
_WEIGHTS = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)


class Vehicle(Detector):
    """Vehicle identification numbers by their form, licence plates by name."""

    name: ClassVar = "vehicle"
    title: ClassVar = "vehicle numbers or licence plates"
    evidence: ClassVar = (
        "nine tenths of at least five different values have the check digit of a VIN, as in America; or the name"
    )
    hipaa: ClassVar = (12,)
    phrases: ClassVar = (
        *("vin", "licence plate", "license plate", "number plate", "plate number", "vehicle id", "vehicle number"),
        *("kennzeichen", "kfz kennzeichen", "fahrgestellnummer", "matricula", "plaque d immatriculation", "targa"),
    )
    signs: ClassVar = DIGITS + "Xx"
    shortest: ClassVar = 17

    def share(self, sight: Sight) -> float:
        """Seventeen digits and letters without I, O and Q, the ninth of which checks the others."""
        upper = sight.texts.str.to_uppercase()
        fitting = upper.filter(upper.str.contains("^[A-HJ-NPR-Z0-9]{8}[0-9X][A-HJ-NPR-Z0-9]{8}$"))
        if fitting.is_empty():
            return 0.0
        digits = figures(fitting)
        check = np.where(digits[:, 8] == 33, 10, digits[:, 8])  # an X stands for 10
        return float((weighted(_VALUES[digits], _WEIGHTS) % 11 == check).sum()) / len(upper)

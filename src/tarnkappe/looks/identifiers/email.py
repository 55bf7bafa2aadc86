"""E-mail addresses."""

from __future__ import annotations

from typing import ClassVar

from tarnkappe.looks.base import Detector, Sight


class Email(Detector):
    """Something@somewhere.tld, alone or inside a longer text."""

    name: ClassVar = "e-mail"
    title: ClassVar = "e-mail addresses"
    evidence: ClassVar = "a twentieth of the different values hold an address; or the name"
    hipaa: ClassVar = (6,)
    phrases: ClassVar = ("e mail", "email", "mail address", "mailadresse", "correo", "courriel")
    enough: ClassVar = 0.05
    fewest: ClassVar = 1
    signs: ClassVar = "@"

    def share(self, sight: Sight) -> float:
        """Values that hold an address."""
        return sight.share(r".*[^@\s]@[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,}\b.*")

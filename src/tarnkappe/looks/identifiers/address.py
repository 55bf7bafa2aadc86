"""Addresses of houses."""

from __future__ import annotations

from typing import ClassVar

from tarnkappe.looks.base import DIGITS, Detector, Sight

_FRENCH = r"[0-9]+(?: ?(?:bis|ter|[a-d]))?,? (?:rue|avenue|av\.|boulevard|bd\.?|chemin|allée|impasse|route|quai) .+"
_SOUTHERN = (
    r"(?:calle|c/|avenida|avda\.?|paseo|plaza|via|viale|piazza|corso|rua|ul\.|ulica) ?\p{L}.* (?:n[º°.] ?)?[0-9]+.*"
)


class Address(Detector):
    """Streets and houses."""

    name: ClassVar = "address"
    title: ClassVar = "addresses"
    evidence: ClassVar = "half of at least three different values are a street with a number; or the name"
    hipaa: ClassVar = (2,)
    phrases: ClassVar = (
        *("address", "street", "house number", "adresse", "anschrift", "strasse", "straße", "hausnummer", "calle"),
        *("rue", "direccion", "indirizzo", "via", "ulica", "adres", "po box"),
    )
    enough: ClassVar = 0.5
    fewest: ClassVar = 3
    signs: ClassVar = DIGITS

    def share(self, sight: Sight) -> float:
        """A street before its number, or a number before its street."""
        kinds = "street|st|road|rd|avenue|ave|lane|ln|drive|dr|boulevard|blvd|court|ct|way|place|pl|rue|via|calle"
        german = (
            r"\p{L}[\p{L} .-]*(?:stra(?:ß|ss)e|str\.|weg|gasse|platz|allee|damm|ring|ufer)\s*[0-9]+ ?[a-z]?(?:,.*)?"
        )
        return sight.share(rf"(?i)[0-9]+[a-z]? (?:[\p{{L}}0-9.'-]+ )+(?:{kinds})\b\.?.*|{german}|{_FRENCH}|{_SOUTHERN}")

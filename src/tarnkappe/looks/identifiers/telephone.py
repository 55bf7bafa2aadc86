"""Telephone and fax numbers."""

from __future__ import annotations

from typing import ClassVar

from tarnkappe.looks.base import DIGITS, Detector, Sight

#: So many numbers without a + are no chance.
_ENOUGH = 10

_CALLED = r"(?i:(?:tel|telefon|phone|mobile?|cell|handy|fax|móvil|portable)[.:]* ?)?"
_COUNTRY = r"[1-9][0-9]{0,2}[ ./()-]*(?:[0-9][ ./()-]*){6,12}"
_WITH_AREA = r"\(?0[1-9][0-9]{0,5}\)?[ /-]{1,3}[0-9][0-9 -]{4,10}[0-9]"
_UNBROKEN = r"0[1-9][0-9]{8,10}"
_AMERICAN = r"(?:1[ .-])?(?:\([2-9][0-9]{2}\) ?|[2-9][0-9]{2}[ .-])[0-9]{3}[ .-][0-9]{4}(?: ?(?:x|ext\.?) ?[0-9]{1,5})?"


class Telephone(Detector):
    """Numbers written as people write those of telephones: with +, with an area code, or in the American way."""

    name: ClassVar = "telephone"
    title: ClassVar = "telephone numbers"
    evidence: ClassVar = (
        "four fifths of at least ten different values are written so, or of at least two with +; or the name"
    )
    hipaa: ClassVar = (4, 5)
    phrases: ClassVar = (
        *("phone", "telephone", "mobile", "cell phone", "cellphone", "fax", "telefax", "telefon", "handy", "mobil"),
        *("telefonnummer", "handynummer", "rufnummer", "tel", "telefono", "teléfono", "portable", "gsm", "msisdn"),
    )
    enough: ClassVar = 0.8
    fewest: ClassVar = 2
    signs: ClassVar = DIGITS
    shortest: ClassVar = 8

    def share(self, sight: Sight) -> float:
        """Values written like a telephone number; digits alone could be anything, unless they begin with a zero."""
        if len(sight.texts) < _ENOUGH:
            return sight.share(rf"{_CALLED}\+{_COUNTRY}")
        return sight.share(rf"{_CALLED}(?:(?:\+|00){_COUNTRY}|{_WITH_AREA}|{_UNBROKEN}|{_AMERICAN})")

"""Bank accounts and payment cards."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from tarnkappe.looks.base import DIGITS, Detector, Sight
from tarnkappe.looks.check_digits import figures, luhn, mod97

#: So many cards are no chance: one number in ten has the right last digit, where of accounts it is one in a hundred.
_ENOUGH_CARDS = 5


class BankAccount(Detector):
    """IBANs and card numbers, by their check digits; other accounts by name."""

    name: ClassVar = "bank-account"
    title: ClassVar = "bank account or card numbers"
    evidence: ClassVar = (
        "19 of 20 of at least two different values are IBANs, or of at least five cards, whose check digits are right; "
        "or the name"
    )
    hipaa: ClassVar = (10,)
    phrases: ClassVar = (
        *("iban", "account no", "account number", "account nr", "card number", "credit card", "creditcard", "bic"),
        *("kontonummer", "konto nr", "kreditkarte", "kartennummer", "numero de cuenta", "swift", "routing number"),
    )
    enough: ClassVar = 0.95
    fewest: ClassVar = 2
    signs: ClassVar = DIGITS
    shortest: ClassVar = 13

    def share(self, sight: Sight) -> float:
        """Country, two check digits and an account; or 13 to 19 digits of a card."""
        bare = sight.texts.str.to_uppercase().str.replace_all(r"[ -]|^IBAN:?", "")
        patterns = {r"^[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}$": True}
        if len(bare) >= _ENOUGH_CARDS:
            patterns[r"^[3-6][0-9]{12,18}$"] = False
        right = 0
        for pattern, is_iban in patterns.items():
            fitting = bare.filter(bare.str.contains(pattern))
            for length in fitting.str.len_chars().unique():
                digits = figures(fitting.filter(fitting.str.len_chars() == length))
                turned = np.roll(digits, -4, axis=1)  # country and check digits go to the end
                right += int((mod97(turned) == 1).sum() if is_iban else luhn(digits).sum())
        return right / max(len(bare), 1)

"""Dates of a person's life."""

from __future__ import annotations

from typing import ClassVar

import polars as pl

from tarnkappe.looks.base import DIGITS, Detector, Sight
from tarnkappe.looks.words import says

_DAY = r"[0-9]{4}[-/][0-9]{1,2}[-/][0-9]{1,2}|[0-9]{1,2}[./-][0-9]{1,2}[./-](?:[0-9]{2}|[0-9]{4})"
_MONTH = r"[0-9]{4}-(?:0[1-9]|1[0-2])|(?:0?[1-9]|1[0-2])[./-](?:19|20)[0-9]{2}"
_MONTHS = "jan|gen|ene|feb|fev|fév|mar|mär|mrz|apr|avr|abr|may|mai|mei|maj|mag|jun|juin|giu|jul|juil|lug|aug|août|ago|"
_MONTHS += "sep|set|oct|okt|out|ott|nov|dec|dez|déc|dic"
_NAMED = rf"(?:{_MONTHS})\p{{L}}{{0,7}}"
_IN_WORDS = rf"(?i:[0-9]{{1,2}}[. -]+{_NAMED}[., -]+[0-9]{{2,4}}|{_NAMED}[. ]+(?:[0-9]{{1,2}},? )?[0-9]{{4}})"
_DIGITS = r"(?:19|20)[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])"
_TIME = r"(?:[T ][0-9]{1,2}:[0-9]{2}.*)?"
_AGE = ("age", "alter", "lebensalter", "edad", "eta", "leeftijd", "wiek")
_OLDEST = 89

#: Different numbers that must look like 20240131 before they are taken for days.
_ENOUGH_DAYS = 5


class Dates(Detector):
    """Anything finer than a year, and ages over 89: registers and acquaintances know them."""

    name: ClassVar = "date"
    title: ClassVar = "dates"
    evidence: ClassVar = "nine tenths of the values are dates finer than a year; or ages, some of them over 89"
    tells: ClassVar = "known"
    hipaa: ClassVar = (3,)
    phrases: ClassVar = ("date of birth", "birth date", "birthday", "dob", "geburtsdatum", "geburtstag", "geb dat")
    fewest: ClassVar = 2
    signs: ClassVar = DIGITS

    def share(self, sight: Sight) -> float:
        """Dates by type, or written like one, in digits too; ages by name."""
        if sight.rows.dtype.is_temporal():
            return float(sight.rows.dtype != pl.Duration)
        if sight.numbers is None:
            return sight.share(f"(?:{_DAY}|{_MONTH}|{_IN_WORDS}){_TIME}")
        if len(sight.texts) >= _ENOUGH_DAYS and sight.share(_DIGITS) >= self.enough:
            return 1.0
        old = bool((sight.numbers > _OLDEST).any()) and bool((sight.numbers < 130).all())
        return float(old and says(sight.words, _AGE))

    def by_content(self, share: float) -> str:
        """Dates and ages alike."""
        return "its values are dates finer than a year, or ages over 89, which others know"

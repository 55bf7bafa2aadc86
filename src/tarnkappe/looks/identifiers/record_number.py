"""Numbers under which somebody keeps records of a person."""

from __future__ import annotations

from typing import ClassVar

from tarnkappe.looks.base import Detector, Finding, Sight
from tarnkappe.looks.words import says

#: Names of keys of any kind; whether of people or of something else, only the values tell.
_KEYS = (
    *(
        "id",
        "ids",
        "nr",
        "no",
        "num",
        "number",
        "key",
        "index",
        "nummer",
        "kennung",
        "pid",
        "row",
        "rownum",
        "rownames",
    ),
    *("idx", "identifier", "serial", "case", "caseid", "subjid", "subject", "person", "patient", "=x", "unnamed 0"),
)

#: Names of keys of people; other keys may be those of hospitals, schools or regions.
_PEOPLE = (
    *("=id", "=nr", "=no", "=pid", "=idcode", "=case", "=caseid", "=person", "=patient", "=subject", "=key"),
    *("=customer", "=client", "=employee", "=student", "=member"),
)


class RecordNumber(Detector):
    """Numbers of patients, customers, cases, licences and certificates."""

    name: ClassVar = "record-number"
    title: ClassVar = "numbers of records"
    evidence: ClassVar = "the name; a column that is only called an id must also be all different"
    hipaa: ClassVar = (8, 9, 10, 11, 18)
    phrases: ClassVar = (
        *(
            "mrn",
            "medical record",
            "patient id",
            "patient no",
            "patient number",
            "patient nr",
            "person id",
            "person no",
        ),
        *("personid", "subject id", "customer id", "customer number", "customer no", "client id", "employee id"),
        *("employee number", "student id", "member id", "member number", "membership number", "user id", "user name"),
        *("username", "login", "certificate number", "licence number", "license number", "driving licence"),
        *("drivers license", "fuehrerschein", "kundennummer", "patientennummer", "fallnummer", "personalnummer"),
        *(
            "pat nr",
            "pat id",
            "patienten nr",
            "patienten id",
            "kunden nr",
            "kunden id",
            "personal nr",
            "fall nr",
            "fall id",
        ),
        *("mitgliedsnummer", "matrikelnummer", "aktenzeichen", "case number", "file number", "chart number"),
    )

    def share(self, sight: Sight) -> float:
        """A number is only one of these by its name."""
        return 0.0

    def find(self, sight: Sight) -> Finding | None:
        """A name that says it all, or the name of a key and values that are all different."""
        found = super().find(sight)
        if found is None and sight.all_different and is_key(sight.words) and not sight.is_measure:
            return Finding(self.name, self.tells, True, "it is called an id and its values are all different")
        return found


def is_key(words: list[str]) -> bool:
    """Whether a name is that of a key.

    >>> is_key(["nr"]), is_key(["household", "id"]), is_key(["income"])
    (True, True, False)
    """
    return says(words[-1:], _KEYS) or says(words, _KEYS[-1:])


def is_key_of_people(words: list[str]) -> bool:
    """Whether a name is that of a key of people.

    >>> is_key_of_people(["nr"]), is_key_of_people(["patient", "id"]), is_key_of_people(["household", "id"])
    (True, True, False)
    """
    return says(words, _PEOPLE) or says(words, RecordNumber.phrases)

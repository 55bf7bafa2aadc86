"""What column names tell, in English, German, and a little beyond: the words by which roles are suggested."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

from tarnkappe.looks.words import words_of
from tarnkappe.schema import Role

#: Of what kind values are: amounts; names of things, also if numbers stand for them; steps of a scale, by name or by
#: number; or codes whose first characters mean most.
Nature = Literal["number", "category", "scale", "code"]

#: Shorter words are only recognised when they stand alone; longer ones also end a compound (Hauptdiagnose).
_SHORTEST_HEAD = 5


@dataclass(frozen=True)
class Meaning:
    """What a word in a column's name says about the column."""

    role: Role
    nature: Nature
    reason: str


AGE = Meaning("quasi", "number", "others know a person's age, at least roughly")
BIRTH = Meaning("quasi", "number", "registers and acquaintances know when a person was born")
_VISIBLE = Meaning("quasi", "category", "visible to everybody who meets the person")
_POSTCODE = Meaning("quasi", "code", "where a person lives is in every directory")
_PLACE = Meaning("quasi", "category", "where a person lives is known to many")
_ORIGIN = Meaning("quasi", "category", "acquaintances know it, and a small country points at few people")
_SCHOOLING = Meaning("quasi", "scale", "public on many profiles")
_FAMILY = Meaning("quasi", "category", "recorded in registers, known to acquaintances")
_HOUSEHOLD = Meaning("quasi", "scale", "neighbours know it")
_EMPLOYER = Meaning("quasi", "category", "colleagues and acquaintances know it")
_HOURS = Meaning("quasi", "number", "colleagues know it")
_HEALTH = Meaning("sensitive", "category", "says something about a person's health")
_MONEY = Meaning("sensitive", "number", "says what a person earns or owns")
_WORK = Meaning("sensitive", "category", "says what a person does")
_BELIEF = Meaning("sensitive", "category", "says what a person believes or belongs to")
_OFFENCE = Meaning("sensitive", "category", "says what a person was accused of")
_AMOUNT = Meaning("drop", "number", "a rare exact amount points at one person; keep it only if the users need it")
_WEIGHT = Meaning("drop", "number", "a sampling weight tells how a person was chosen")

_WORDS: dict[Meaning, str] = {
    AGE: "age ages alter lebensalter edad eta leeftijd",
    BIRTH: "birth birthdate birthday birthyear dob born geburt geburtsdatum geburtstag geburtsjahr gebdat gebdatum "
    "naissance nacimiento nascita geboortedatum",
    _VISIBLE: "sex gender geschlecht geschl sexe sexo sesso geslacht race ethnicity ethnic ethn ethnie hautfarbe",
    _POSTCODE: "zip zipcode postcode postal plz postleitzahl",
    _PLACE: "residence city town village municipality county district state region province canton "
    "stadt ort wohnort gemeinde kreis landkreis bundesland bezirk kanton ville commune municipio ciudad localidad",
    _ORIGIN: "country nationality citizenship citizen birthplace origin "
    "land herkunft herkunftsland heimatland geburtsland geburtsort nationalitaet staatsangehoerigkeit",
    _SCHOOLING: "education degree school schooling qualification bildung schulabschluss ausbildung abschluss",
    _FAMILY: "marital married spouse relationship familienstand zivilstand etatcivil estadocivil statocivile",
    _HOUSEHOLD: "household children kids siblings dependents haushalt haushaltsgroesse kinder kinderzahl",
    _EMPLOYER: "workclass employer employment industry sector branche arbeitgeber beschaeftigung",
    _HOURS: "hours experience exper tenure arbeitszeit wochenstunden stunden",
    _HEALTH: "diagnosis diagnoses disease illness icd icd10 symptom symptoms medication drug therapy treatment "
    "surgery disability hiv aids cancer tumor tumour diabetes diabetic depression pregnancy pregnant "
    "asthma stroke hypertension anaemia anemia smoking smoker alcohol hospitalized hospitalised "
    "comorbidity comorbidities dx diag cholesterol glucose platelets creatinine bmi obesity vaccinated "
    "vaccination infection covid allergy dementia death died deceased mortality health sick sickness "
    "condition complaint blood insulin tumorstadium raucher rauchen schwanger schwangerschaft allergie "
    "impfung blutdruck verstorben gesundheit erkrankung krankheit diagnose befund medikament therapie "
    "behandlung operation behinderung maladie diagnostic diagnostico enfermedad malattia ziekte "
    "vih sida fumeur fumeuse fumador tabac tabaco grossesse embarazo",
    _MONEY: "income salary wage wages earnings debt credit balance wealth lwage "
    "gehalt einkommen lohn nettolohn bruttolohn verdienst schulden vermoegen "
    "salaire salario sueldo revenu stipendio",
    _WORK: "occupation profession beruf profesion ocupacion professione",
    _BELIEF: "religion faith party union vote konfession partei gewerkschaft",
    _OFFENCE: "crime offence offense conviction straftat vorstrafe",
    _AMOUNT: "gain loss gewinn verlust",
    _WEIGHT: "fnlwgt wgt pweight perwt stratum stichprobengewicht",
}


@cache
def _meanings() -> dict[str, Meaning]:
    return {word: meaning for meaning, words in _WORDS.items() for word in words.split()}


def meaning_of(name: str) -> Meaning | None:
    """What the first telling word of a column name says, or all of them in one, or nothing.

    >>> meaning_of("native-country").role, meaning_of("Hauptdiagnose").role, meaning_of("notes")
    ('quasi', 'sensitive', None)
    """
    known, words = _meanings(), words_of(name)
    for word in (*words, "".join(words)):
        if word in known:
            return known[word]
        heads = [head for head in known if len(head) >= _SHORTEST_HEAD and word.endswith(head)]
        if heads:
            return known[max(heads, key=len)]
    return None

"""Names of people."""

from __future__ import annotations

from functools import cache
from typing import ClassVar

import polars as pl

from tarnkappe.looks.base import Detector, Sight
from tarnkappe.looks.identifiers.place import Place
from tarnkappe.looks.name_lists import CHINESE, KOREAN, LANGUAGES, all_names, joined_names
from tarnkappe.looks.words import says

_WHOSE = "full first last middle given family maiden birth patient person customer client employee user student member"
_WHOSE += " father mother spouse partner husband wife child contact doctor physician legal display nick own"

#: The share of names among values in small letters, or that one sign at their beginning makes look like names, or where
#: fewer than five values are names.
_ENOUGH_SMALL = 0.75

#: So many values that are names, or so many different names in fewer values, are no chance.
_ENOUGH_VALUES, _ENOUGH_NAMES = 5, 3

#: What is called after a saint is a place, a hospital or a school.
_SAINT = r"(?i)^(?:st\.?|sankt|saint|sainte|san|santa|são) "

#: What may stand around the words of a name besides a space and a comma; not the brackets of sets and ranges.
_AROUND_WORDS = r"[\s\u{200B}\u{FEFF}_;/^&+*()<>\"“”„«»‹›]+"

#: A number beside a name, such as that of a record, or a year of birth.
_NUMBER = r"(?:^| )#?[0-9][0-9.-]*(?: |,|$)"

#: What a Chinese or a Korean name looks like: other words may begin with the sign of a family name too.
_BY_FIRST_SIGN = rf"^(?:[{CHINESE}]\s?\p{{Han}}{{1,2}}|[{KOREAN}]\s?\p{{Hangul}}{{2}})$"

#: A Japanese name, which may stand without a space.
_JOINED = rf"^(?:{'|'.join(joined_names())})\s?[\p{{Han}}\p{{Hiragana}}\p{{Katakana}}]{{0,4}}$"


class PersonalNames(Detector):
    """First names and family names, by short lists of the commonest ones: a rare name is not recognised by itself."""

    name: ClassVar = "personal-name"
    title: ClassVar = "names of people"
    evidence: ClassVar = (
        "a quarter of the different values, and at least five, hold a common name, in small letters, or in Chinese or "
        "Korean, three quarters; so do three quarters of fewer values with three different names; "
        "lists are for " + ", ".join(LANGUAGES) + "; or the name of the column"
    )
    hipaa: ClassVar = (1,)
    phrases: ClassVar = (
        *(
            "=name",
            "=names",
            "surname",
            "forename",
            "fullname",
            "initials",
            *(f"{whose} name" for whose in _WHOSE.split()),
        ),
        *("=nom", "prenom", "nom de famille", "apellido", "apellidos", "=nombre", "cognome", "=nome", "sobrenome"),
        *("vorname", "nachname", "familienname", "geburtsname", "patientenname", "rufname", "imie", "nazwisko"),
        *("voornaam", "achternaam", "=naam", "fornamn", "efternamn", "=namn", "etunimi", "sukunimi", "=navn"),
        *("=имя", "фамилия", "отчество", "фио", "прізвище", "=όνομα", "ονοματεπώνυμο", "επώνυμο", "=الاسم", "=اسم"),
        *("姓名", "名字", "氏名", "お名前", "이름", "성명"),
    )
    enough: ClassVar = 0.25
    fewest: ClassVar = 2

    def share(self, sight: Sight) -> float:
        """Values of up to six words, one of which is a common name; places are called after people, so not theirs."""
        if sight.numbers is not None or says(sight.words, Place.phrases):
            return 0.0
        texts = _words_alone(sight.texts)
        found = [self._having_names(texts, r"\p{Lu}")]
        # Brown, rose and may are words too, and so are many that begin with a sign which is a family name.
        unsure = [self._having_names(texts, r"\p{Ll}")] if len(texts) >= _ENOUGH_VALUES else []
        if not all(map(str.isascii, sight.signs)):  # other scripts than that of most tables
            found += self._having_names(texts, r"\p{Lo}"), self._matching(sight.texts, _JOINED)
            unsure.append(self._matching(sight.texts, _BY_FIRST_SIGN))
        return max(*found, *(share for share in unsure if share >= _ENOUGH_SMALL), 0.0)

    def _matching(self, texts: pl.Series, pattern: str) -> float:
        """The share of the texts that look like this."""
        hits = int(texts.str.contains(pattern).sum())
        return hits / len(texts) if hits >= _ENOUGH_VALUES else 0.0

    def _having_names(self, texts: pl.Series, first: str) -> float:
        """The share of the texts that begin with such a letter and hold a common name."""
        short = texts.filter(
            texts.str.contains(rf"^{first}[\p{{L}}\p{{M}}.'’-]*(?:(?:,|,? )[\p{{L}}\p{{M}}.'’-]+){{0,5}}$")
        )
        short = short.filter(~short.str.contains(_SAINT))
        words = pl.DataFrame({"row": range(len(short)), "word": short.str.to_lowercase()}).with_columns(
            pl.col("word").str.extract_all(r"[\p{L}\p{M}]{2,}")
        )
        found = words.explode("word").filter(pl.col("word").is_in(_known().implode()))
        share = found["row"].n_unique() / len(texts)
        few = share >= _ENOUGH_SMALL and found["word"].n_unique() >= _ENOUGH_NAMES
        return share if few or found["row"].n_unique() >= _ENOUGH_VALUES else 0.0


def _words_alone(texts: pl.Series) -> pl.Series:
    """Texts with one space between words, however people and programs keep the parts of a name apart.

    A number goes if two words are left: a name is mostly of two, and a word with a number is mostly something else.
    """
    plain = texts.str.normalize("NFC").str.replace_all(_AROUND_WORDS, " ").str.strip_chars(" ")
    bare = plain.str.replace_all(_NUMBER, " ").str.strip_chars(" ,")
    return pl.select(pl.when(bare.str.contains(r"\p{L}{2}.*[ ,]\p{L}{2}")).then(bare).otherwise(plain)).to_series()


@cache
def _known() -> pl.Series:
    return pl.Series(sorted(all_names()))

"""The words that a column's name is made of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_ACCENTS = {"a": "áàâãå", "c": "ç", "e": "éèêë", "i": "íìîï", "n": "ñ", "o": "óòôõø", "u": "úùû", "y": "ýÿ"}
_UMLAUTS = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", **{sign: plain for plain, signs in _ACCENTS.items() for sign in signs}}
)


def words_of(name: str) -> list[str]:
    """The words of a column name, in lower case.

    >>> words_of("maritalStatus"), words_of("DATE_OF_BIRTH"), words_of("Staatsangehörigkeit")
    (['marital', 'status'], ['date', 'of', 'birth'], ['staatsangehoerigkeit'])
    """
    apart = re.sub(r"(?<=[a-zäöüß0-9])(?=[A-ZÄÖÜ])", " ", name)
    return re.findall(r"[^\W_]+", apart.casefold().translate(_UMLAUTS))


def says(words: Sequence[str], phrases: Iterable[str]) -> bool:
    """Whether a name holds one of some phrases; one that begins with ``=`` must be the whole name.

    >>> says(["patient", "first", "name"], ["first name"]), says(["firstname"], ["first name"])
    (True, True)
    >>> says(["name"], ["=name"]), says(["drug", "name"], ["=name"])
    (True, False)
    """
    spoken = " ".join(words)
    whole = "".join(words)
    for phrase in phrases:
        if phrase.startswith("="):
            if whole == phrase[1:].replace(" ", ""):
                return True
        elif f" {phrase} " in f" {spoken} " or phrase.replace(" ", "") in words:
            return True
    return False

"""How dates are written: texts read as moments, and formats that read them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from functools import cache
from itertools import product

#: The format that stands for moments as databases and data frames write them.
_MOMENT = "%Y-%m-%d %H:%M:%S"

#: Formats tried when none is given: they cannot be taken for each other.
USUAL_FORMATS = ("%Y-%m-%d", "%d.%m.%Y", _MOMENT)

#: Such a moment, with or without seconds, parts of seconds and the distance from Greenwich.
_USUAL_MOMENT = re.compile(
    r"\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?", flags=re.ASCII
)

_DAYS = (
    *("%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%Y.%m.%d", "%Y%m%d", "%d-%m-%Y", "%m-%d-%Y"),
    *("%d.%m.%y", "%d/%m/%y", "%m/%d/%y", "%d-%m-%y", "%m-%d-%y", "%d %b %Y", "%d-%b-%Y", "%d%b%Y", "%d-%b-%y"),
    *("%d %B %Y", "%d. %B %Y", "%b %d, %Y", "%B %d, %Y", "%b %d %Y", "%d%m%Y", "%m%d%Y", "%y%m%d", "%d%m%y", "%m%d%y"),
)
_TIMES = (
    *("", " %H:%M", " %H:%M:%S", " %H:%M:%S.%f", " %H:%M:%S%z", " %H:%M:%S.%f%z", " %I:%M %p", " %I:%M:%S %p"),
    *("T%H:%M", "T%H:%M:%S", "T%H:%M:%S.%f", "T%H:%M:%S%z", "T%H:%M:%S.%f%z"),
)

#: Formats that are proposed when values cannot be read, those that tell less last.
_KNOWN_FORMATS = (
    *(day + time for time, day in product(_TIMES, _DAYS)),
    *("%Y-%m", "%m/%Y", "%m.%Y", "%Y/%m", "%b %Y", "%B %Y", "%Y"),
)

#: How many values are tried with every known format to propose one.
_MOST_TRIED = 100


def read_moments(texts: Sequence[str], form: str) -> list[datetime | None]:
    """What each text says in a format, or None.

    >>> read_moments(["27.03.2020", "in May"], "%d.%m.%Y")
    [datetime.datetime(2020, 3, 27, 0, 0), None]
    """
    return [_read(text, form) for text in texts]


def read_usual(texts: Sequence[str]) -> tuple[str, list[datetime | None]]:
    """The usual format that reads all texts, or most of them, and what they say in it.

    >>> read_usual(["2020-03-27T11:30:00Z", "2020-03-28 08:00:00.000"])[0]
    '%Y-%m-%d %H:%M:%S'
    """
    best: tuple[str, list[datetime | None]] = USUAL_FORMATS[0], [None] * len(texts)
    for form in USUAL_FORMATS:
        moments = [_usual_moment(text) for text in texts] if form == _MOMENT else read_moments(texts, form)
        if moments.count(None) < best[1].count(None):
            best = form, moments
        if None not in moments:
            break
    return best


def formats_for(texts: Sequence[str]) -> list[str]:
    """The known formats that read all of the texts.

    >>> formats_for(["03/27/2020", "11/30/2019"]), formats_for(["03/07/2020"])
    (['%m/%d/%Y'], ['%d/%m/%Y', '%m/%d/%Y'])
    """
    tried = texts[:_MOST_TRIED]
    likely = [form for form in _KNOWN_FORMATS if all(_read(text, form) for text in tried)]
    return [form for form in likely if None not in read_moments(texts, form)]


def format_for_most(texts: Sequence[str]) -> str:
    """The known format that reads most of the first texts."""
    tried = texts[:_MOST_TRIED]
    return max(_KNOWN_FORMATS, key=lambda form: sum(_read(text, form) is not None for text in tried))


#: How many digits the numbers of a date have.
_DIGITS = {"Y": 4, "y": 2, "m": 2, "d": 2, "j": 3, "H": 2, "I": 2, "M": 2, "S": 2}


@cache
def _joined_numbers(form: str) -> dict[int, int]:
    """Which numbers of a text are several in one, and how many digits they have.

    >>> _joined_numbers("%Y%m%d %H:%M"), _joined_numbers("%d.%m.%Y")
    ({0: 8}, {})
    """
    runs = re.findall(r"(?:%[YymdjHIMS])+|\d+|%f", form)
    return {i: sum(map(_DIGITS.__getitem__, run[1::2])) for i, run in enumerate(runs) if run.count("%") > 1}


def _read(text: str, form: str) -> datetime | None:
    joined = _joined_numbers(form)
    if joined:  # 210131 is no day of the year 2101, and 202011 is none of the year 2020
        runs = re.findall(r"\d+", text)
        if any(i >= len(runs) or len(runs[i]) != n for i, n in joined.items()):
            return None
    try:
        if form == "%Y-%m-%d":
            if len(text) > 10:
                return None
            if len(text) == 10 and text[4] == text[7] == "-":  # much faster, same result
                return datetime.fromisoformat(text)
        if "%f" in form:
            text = re.sub(r"(\.\d{6})\d{1,3}(?!\d)", r"\1", text)  # billionths of a second
        return datetime.strptime(text, form).replace(tzinfo=None)
    except ValueError:
        return None


def _usual_moment(text: str) -> datetime | None:
    """The moment as the clock showed it where the text was written."""
    if _USUAL_MOMENT.fullmatch(text) is None:
        return None
    try:
        return datetime.fromisoformat(text).replace(tzinfo=None)
    except ValueError:
        return None

"""How values and numbers are written as labels, read back as exact numbers, and ordered."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Iterable, Sequence
from decimal import Decimal, InvalidOperation, localcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tarnkappe.errors import TaxonomyError

#: Longest text of a data value that a message shows.
LONGEST_EXAMPLE = 24

#: Numbers of more digits than this, before or after the point, are not taken for numbers.
_MOST_DIGITS = 400

#: A number inside a text, perhaps with separators of thousands.
_NUMBER = re.compile(r"[1-9][0-9]{0,2}(?:[,.'’ ][0-9]{3})+(?![0-9])|[0-9]+(?:[.,][0-9]+)?")

#: What stands before the number that ends a scale below; what ends it above stands after its number anyway.
_BELOW = re.compile(r"[<≤]|(?:under|below|less|up to|unter|bis|weniger)\b", re.IGNORECASE)

#: What may stand around the numbers of a scale, and differ: the two ends of a range, a sign, and words of open ends.
_RANGE = re.compile(r"#\s*(?:[-–—−]|(?:to|bis)\b)\s*#")
_END = re.compile(
    r"^\s*[-−]|[<>≤≥=+]|\b(?:under|below|less|up to|younger|over|above|more|older|and|or"
    r"|unter|bis|weniger|jünger|über|mehr|älter|und|oder)\b",
    re.IGNORECASE,
)

#: Months and days whose texts are sorted as they are.
_ISO_DAY = re.compile(r"[0-9]{4}-[0-9]{2}(?:-[0-9]{2})?")

#: Digits in which arithmetic with such numbers is exact.
_EXACT_DIGITS = 3 * _MOST_DIGITS


def number_label(number: float) -> str:
    """The shortest text of a number; whole numbers have no decimal point.

    >>> number_label(25.0), number_label(0.1), number_label(-3)
    ('25', '0.1', '-3')
    """
    return str(number) if isinstance(number, int) else number_labels(np.asarray([number]))[0]


def number_labels(numbers: NDArray[Any]) -> list[str]:
    """The label of each number of an array, see `number_label`.

    >>> number_labels(np.array([20.0, 0.5, -0.0]))
    ['20', '0.5', '0']
    """
    if numbers.dtype.kind in "iu":
        return [str(n) for n in numbers.tolist()]
    texts = numbers.astype("U32").tolist()
    short = [text.removesuffix(".0") for text in texts]
    return ["0" if text == "-0" else text for text in short]


def value_texts(values: Sequence[Any] | NDArray[Any]) -> list[str]:
    """The text of each value of a column: numbers by their label, texts as they are.

    >>> value_texts([1.0, 2.5]), value_texts(["01", "b"])
    (['1', '2.5'], ['01', 'b'])
    """
    if isinstance(values, np.ndarray) and values.dtype.kind in "iuf":
        return number_labels(values)
    items = values.tolist() if isinstance(values, np.ndarray) else list(values)
    return [item if isinstance(item, str) else scalar_text(item) for item in items]


def scalar_text(scalar: object, where: str | None = None) -> str:
    """The text of a scalar as a YAML file gives it.

    Truth values are refused: YAML reads an unquoted ``yes``, ``no``, ``on`` or ``off`` as one, so the text
    that was meant is lost.

    >>> scalar_text(5), scalar_text(2.0), scalar_text("05")
    ('5', '2', '05')
    """
    if isinstance(scalar, str):
        return scalar
    if isinstance(scalar, (bool, np.bool_)):
        raise TaxonomyError(
            "E203",
            f"a taxonomy holds texts, but one entry is the truth value {str(scalar).lower()}",
            where=where,
            hint='YAML reads yes, no, on and off as truth values too. Put the text in quotes:  "yes".',
        )
    if isinstance(scalar, (int, np.integer)):
        return str(int(scalar))
    if isinstance(scalar, (float, np.floating)):
        return number_labels(np.asarray([scalar]))[0]
    if isinstance(scalar, (datetime.date, Decimal)):
        return str(scalar)
    raise TaxonomyError(
        "E203",
        f"a taxonomy holds texts, but one entry is {'empty' if scalar is None else type(scalar).__name__}",
        where=where,
        hint="Write every value as a text in quotes, such as  \"none\"  or  ''.",
    )


def shown(text: str) -> str:
    """A text in quotes for a message: shortened, and with nothing a terminal would act on.

    >>> print(shown("Preschool "), shown("a very long text that goes on and on"))
    "Preschool " "a very long text that go…"
    """
    short = text if len(text) <= LONGEST_EXAMPLE else text[:LONGEST_EXAMPLE] + "…"
    quoted = json.dumps(short, ensure_ascii=False)
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in quoted)


def as_decimal(text: str) -> Decimal | None:
    """The exact number a text stands for, or None if it is no number.

    >>> as_decimal("2.50"), as_decimal("n/a"), as_decimal("inf")
    (Decimal('2.50'), None, None)
    """
    if "_" in text:  # Python's own notation, not that of data
        return None
    try:
        number = Decimal(text.strip())
    except InvalidOperation:
        return None
    if not number.is_finite():
        return None
    exponent = number.as_tuple().exponent
    assert isinstance(exponent, int)
    if exponent < -_MOST_DIGITS or number.adjusted() > _MOST_DIGITS:
        return None
    return number


def written_decimal(number: float) -> Decimal:
    """The decimal number that a float is written as, without its binary error.

    >>> written_decimal(0.1) * 3
    Decimal('0.3')
    """
    return Decimal(number_label(number))


def scaled_integers(numbers: Iterable[Decimal]) -> tuple[list[int], int]:
    """Numbers as integers in units of ``10**-places``, and `places`, the fewest that lose nothing.

    >>> scaled_integers([Decimal("0.5"), Decimal("2.0")])
    ([5, 20], 1)
    """
    with localcontext(prec=_EXACT_DIGITS):
        whole = [number.normalize() for number in numbers]
        places = max((-int(n.as_tuple().exponent) for n in whole), default=0)
        places = max(places, 0)
        unit = Decimal(10) ** places
        return [int(n * unit) for n in whole], places


def scaled_text(number: int, places: int) -> str:
    """The text of ``number * 10**-places`` without needless zeros.

    >>> scaled_text(-250, 2), scaled_text(5, 0)
    ('-2.5', '5')
    """
    if places == 0:
        return str(number)
    digits = str(abs(number)).zfill(places + 1)
    fraction = digits[-places:].rstrip("0")
    sign = "-" if number < 0 else ""
    return sign + digits[:-places] + ("." + fraction if fraction else "")


def natural_order(texts: Sequence[str]) -> list[int]:
    """Positions that sort texts: as numbers if all of them are numbers, else as texts.

    >>> natural_order(["10", "9", "-1"]), natural_order(["b", "10", "a"])
    ([2, 1, 0], [1, 2, 0])
    """
    numbers = [as_decimal(text) for text in texts]
    if any(number is None for number in numbers):
        return sorted(range(len(texts)), key=lambda i: texts[i])
    return sorted(range(len(texts)), key=lambda i: (numbers[i], texts[i]))


def scale_order(texts: Sequence[str]) -> list[int]:
    """Positions that sort the texts of a scale by the numbers in them: 5 comes before 10, and 90+ after 89.

    What stands before the number comes first, as in A2, A10, B1; texts without a number stand as they are spelled.

    >>> [["10", "90+", "9", "<5"][i] for i in scale_order(["10", "90+", "9", "<5"])]
    ['<5', '9', '10', '90+']
    >>> [["1,000 €", "300 €"][i] for i in scale_order(["1,000 €", "300 €"])]
    ['300 €', '1,000 €']
    """
    return sorted(range(len(texts)), key=lambda i: _on_scale(texts[i]))


def on_one_scale(texts: Iterable[str]) -> bool:
    """Whether texts differ in one number or range only, so that its order is theirs; open ends may be words.

    >>> on_one_scale(["<5 kg", "5-9 kg", "10 kg and over"]), on_one_scale(["9 months", "2 years"])
    (True, False)
    >>> on_one_scale(["2019-12-31", "2020-01-02"]), on_one_scale(["31.12.2019", "02.01.2020"])
    (True, False)
    """
    around = {_around_number(text) for text in texts}
    return len(around) <= 1 and all(words.count("#") == 1 for words in around)


def _around_number(text: str) -> str:
    """What stands around the number of a text, for which there is a sign."""
    if _ISO_DAY.fullmatch(text.strip()):
        return "#"
    return " ".join(_END.sub(" ", _RANGE.sub("#", _NUMBER.sub("#", text))).split())


def _on_scale(text: str) -> tuple[str, Decimal, int, list[Decimal], str]:
    """What stands before the first number, the number, on which side of it the text is, further numbers, the text."""
    number = as_decimal(text)
    if number is not None:
        return "", number, 0, [], text
    found = list(_NUMBER.finditer(text))
    if not found:
        return text, Decimal(0), 0, [], text
    before = text[: found[0].start()].strip()
    first, *further = [_read_number(match.group()) for match in found]
    if before in ("-", "−"):
        return "", -first, 0, further, text
    if _BELOW.match(before):
        return "", first, -1, further, text
    return before.strip("<>≤≥= "), first, int(before.startswith(">")), further, text


def _read_number(text: str) -> Decimal:
    """A number as `_NUMBER` finds it: groups of three digits are thousands, any other comma is a decimal one."""
    if re.fullmatch(r"[1-9][0-9]{0,2}(?:[,.'’ ][0-9]{3})+", text):
        return Decimal(re.sub(r"[^0-9]", "", text))
    return Decimal(text.replace(",", "."))

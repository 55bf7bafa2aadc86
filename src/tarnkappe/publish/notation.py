"""How sets, ranges and numbers are written as labels, so that they can be read back without a doubt."""

from __future__ import annotations

from collections.abc import Sequence

#: Stands between the values of a set.
BETWEEN = " | "

#: Stands between the values that a sentence lists.
LISTED = ", "

#: What a column that holds nothing but 0 and 1 publishes where a group has both.
EITHER = "0/1"

#: Signs that a value can only hold between quotes, in a set, in a range and in a list.
_OF_SETS, _OF_RANGES, _OF_LISTS = frozenset('|"{}'), frozenset(' "[]'), frozenset(',"')


def set_text(values: Sequence[str]) -> str:
    """A set as a label; values that could be taken for more than one are quoted, as in CSV.

    >>> print(set_text(["red", "blue"]), set_text(["a | b", 'a "c" d']))
    {red | blue} {"a | b" | "a ""c"" d"}
    """
    return "{" + BETWEEN.join(_quoted(value, _OF_SETS) for value in values) + "}"


def set_values(text: str) -> list[str] | None:
    """The values that a label such as ``{red | blue}`` lists; None if it is no set.

    >>> set_values('{red | "a | b"}'), set_values("red")
    (['red', 'a | b'], None)
    """
    return _listed(text[1:-1], BETWEEN) if text[:1] + text[-1:] == "{}" else None


def list_text(values: Sequence[str]) -> str:
    """Values one after the other, as a sentence lists them; those that hold a comma are quoted.

    >>> print(list_text(["red", "blue, dark"]))
    red, "blue, dark"
    """
    return LISTED.join(_quoted(value, _OF_LISTS) for value in values)


def list_values(text: str) -> list[str]:
    """The values of a list.

    >>> list_values('red, "blue, dark"')
    ['red', 'blue, dark']
    """
    return _listed(text, LISTED)


def range_text(low: str, high: str) -> str:
    """An interval of a scale as a label, both ends included; values that hold blanks are quoted.

    >>> print(range_text("20", "35"), range_text("very good", "bad"))
    [20 35] ["very good" bad]
    """
    return f"[{_quoted(low, _OF_RANGES)} {_quoted(high, _OF_RANGES)}]"


def range_ends(text: str) -> tuple[str, str] | None:
    """The ends of a label such as ``[20 35]``; None if it is no range.

    >>> range_ends('["very good" bad]'), range_ends("20")
    (('very good', 'bad'), None)
    """
    ends = _listed(text[1:-1], " ") if text[:1] + text[-1:] == "[]" else []
    return (ends[0], ends[1]) if len(ends) == 2 else None


def with_decimal_comma(label: str) -> str:
    """A label of numbers as it reads where the decimal sign is a comma.

    >>> with_decimal_comma("2.5"), with_decimal_comma("[0.5, 1)")
    ('2,5', '[0,5; 1)')
    """
    return label.replace(",", ";").replace(".", ",")


def _quoted(value: str, signs: frozenset[str]) -> str:
    plain = value and value == value.strip() and signs.isdisjoint(value)
    return value if plain else '"' + value.replace('"', '""') + '"'


def _listed(text: str, between: str) -> list[str]:
    """The values of a list; what stands between them counts only outside of quotes."""
    parts = text.split(between)
    values: list[str] = []
    open_quote = False
    for part in parts:
        if open_quote:
            values[-1] += between + part
        else:
            values.append(part)
        open_quote ^= part.count('"') % 2 == 1
    return [value[1:-1].replace('""', '"') if value.startswith('"') else value for value in values]

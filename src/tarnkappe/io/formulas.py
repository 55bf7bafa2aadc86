"""Texts that a spreadsheet would run as formulas, and how they are written so that it does not."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import polars as pl

#: How a formula begins: ``=``, ``@``, a tab or a return, or a sign before anything but a plain number.
_NUMBER = r"[+-]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:[eE][+-]?\d+)?"
_STARTS = r"[=@\t\r\n+\-]"
RUNS = rf"^{_STARTS}"

#: What gets an apostrophe before it, and what has got one, except what is harmless. An apostrophe that was there
#: already is kept apart by another one. Polars and Spark read these patterns alike.
TO_ESCAPE = rf"^'*{_STARTS}"
ESCAPED = rf"^'+{_STARTS}"
HARMLESS = rf"^'*(?:{_NUMBER}|[+-])?\z"


def runs_in_spreadsheet(text: pl.Expr) -> pl.Expr:
    """Whether a spreadsheet would take a text for a formula.

    >>> texts = pl.Series(["=cmd()", "-5", "-2+3", "'=x", "a=b", "-"])
    >>> pl.select(runs_in_spreadsheet(pl.lit(texts))).to_series().to_list()
    [True, False, True, False, False, False]
    """
    return text.str.contains(RUNS) & ~text.str.contains(HARMLESS)


def neutralised(text: pl.Expr) -> pl.Expr:
    """Texts that a spreadsheet would run with an apostrophe before them; `meant` undoes it for every text.

    >>> texts = pl.Series(["=cmd()", "-5", "'=x"])
    >>> pl.select(neutralised(pl.lit(texts))).to_series().to_list()
    ["'=cmd()", '-5', "''=x"]
    """
    risky = text.str.contains(TO_ESCAPE) & ~text.str.contains(HARMLESS)
    return pl.when(~risky).then(text).otherwise("'" + text)


def meant(text: pl.Expr) -> pl.Expr:
    """What `neutralised` was given.

    >>> texts = pl.Series(["'=cmd()", "-5", "''=x", "'tis"])
    >>> pl.select(meant(pl.lit(texts))).to_series().to_list()
    ['=cmd()', '-5', "'=x", "'tis"]
    """
    escaped = text.str.contains(ESCAPED) & ~text.str.contains(HARMLESS)
    return pl.when(escaped).then(text.str.slice(1)).otherwise(text)


def each(texts: Iterable[str], how: Callable[[pl.Expr], pl.Expr]) -> list[str]:
    """What `neutralised` or `meant` makes of some texts, such as the names of columns."""
    given = pl.Series("text", list(texts), dtype=pl.String)
    return given.to_frame().select(how(pl.col("text"))).to_series().to_list()


def any_formula(texts: Iterable[str]) -> bool:
    """Whether a spreadsheet would take one of the texts for a formula."""
    given = pl.Series("text", list(texts), dtype=pl.String)
    return bool(given.to_frame().select(runs_in_spreadsheet(pl.col("text")).any()).item())

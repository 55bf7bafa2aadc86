"""Calendar periods: dates in days, months, quarters, years and decades."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from tarnkappe.errors import TaxonomyError
from tarnkappe.fixes import Fix, one_by_one, role, say
from tarnkappe.params import param
from tarnkappe.taxonomy.base import Counts, TaxonomyBuilder, Values, texts_of
from tarnkappe.taxonomy.coverage import MOST_EXAMPLES, not_covered
from tarnkappe.taxonomy.labels import shown
from tarnkappe.taxonomy.moments import USUAL_FORMATS, format_for_most, formats_for, read_moments, read_usual
from tarnkappe.taxonomy.tree import ANY, Taxonomy

#: Calendar periods from fine to coarse.
PERIODS = ("day", "month", "quarter", "year", "decade")


@dataclass(frozen=True)
class Dates(TaxonomyBuilder):
    """Dates in months, quarters, years and decades.

    >>> Dates(levels=["month", "year"]).build(["2020-03-05", "1999-12-31"], "birth").paths()
    [('1999-12-31', '1999-12', '1999', '*'), ('2020-03-05', '2020-03', '2020', '*')]
    """

    kind: ClassVar[str] = "dates"
    name: ClassVar[str] = kind
    ordered: ClassVar[bool] = True

    levels: tuple[str, ...] | None = param(
        None, doc="Periods from fine to coarse; all that are coarser than the values if not given.", choices=PERIODS
    )
    format: str | None = param(
        None,
        doc='How dates are written, such as "%d/%m/%Y"; if not given, 2020-03-05, also with a time, or 05.03.2020. '
        "With %y, 69 to 99 are read as 1969 to 1999, and 00 to 68 as 2000 to 2068.",
    )

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        finest = _finest_period(self.format or USUAL_FORMATS[0])
        if self.levels is None:
            return
        ranks = [PERIODS.index(level) for level in self.levels]
        if not ranks or ranks != sorted(set(ranks)):
            raise TaxonomyError(
                "E203", "'levels' must go from fine to coarse", hint=one_by_one("dates", "month", "year")
            )
        if ranks[0] < finest:
            raise TaxonomyError(
                "E203",
                f"dates written as {shown(str(self.format))} do not tell the {self.levels[0]}",
                hint=one_by_one("dates", *PERIODS[finest:]),
            )

    @property
    def left_to_the_data(self) -> str | None:
        """In which of the usual ways dates are written, which most of them decide."""
        return f'format: "{USUAL_FORMATS[0]}"' if self.format is None else None

    def build(
        self,
        values: Values,
        column: str,
        counts: Counts | None = None,
        *,
        others: Mapping[str, Sequence[str]] | None = None,
    ) -> Taxonomy:
        """The dates in chronological order, below the periods that hold them."""
        texts = texts_of(values, column)
        form, moments = read_usual(texts) if self.format is None else (self.format, read_moments(texts, self.format))
        unknown = [i for i, moment in enumerate(moments) if moment is None]
        if unknown:
            raise not_covered(
                column,
                texts,
                unknown,
                counts,
                reason=lambda _: f"not a date like {form}",
                what="the date taxonomy",
                hint=self._fix(column, texts, unknown),
            )
        finest = _finest_period(form)
        # Values that are written by the day are days already.
        own = PERIODS[finest] if finest != 0 or not _tells_time(form) else None
        periods = [p for p in (self.levels or PERIODS[finest:]) if p != own]
        known = [(moment, text) for moment, text in zip(moments, texts, strict=True) if moment is not None]
        rows = [(text, *(_period(moment, p) for p in periods), ANY) for moment, text in sorted(known)]
        return Taxonomy.from_paths(rows)

    def unknown(self, values: Values, column: str) -> list[int]:
        """Which values are not dates."""
        texts = texts_of(values, column)
        moments = read_usual(texts)[1] if self.format is None else read_moments(texts, self.format)
        return [i for i, moment in enumerate(moments) if moment is None]

    def _fix(self, column: str, texts: Sequence[str], unknown: Sequence[int]) -> Fix:
        """A format that reads all values; else one that reads more of them, or what to do with the others."""
        fitting = formats_for(texts)
        if fitting:
            also = " or ".join(f'"{form}"' for form in fitting[1:])
            doubt = f"   (or {also}: the values do not tell)" if also else ""
            century = "   (of two digits, 69 is read as 1969 and 68 as 2068)" if "%y" in fitting[0] else ""
            return say(f"Say how dates are written:  {{}}{doubt}{century}", self._written(fitting[0]))
        if self.format is not None and None not in read_usual(texts)[1]:
            return say("Leave the format out:  {}", self._written(None))
        likely = format_for_most(texts)
        read = len(texts) - read_moments(texts, likely).count(None)
        if read > max(len(texts) - len(unknown), len(texts) // 2):
            return say(f"Most are written otherwise, {read} of {len(texts)}:  {{}}", self._written(likely))
        if len(unknown) <= MOST_EXAMPLES:
            markers = ", ".join(shown(texts[i]) for i in unknown)
            told = Fix(f"under 'data':  missing: ['', {markers}]", f'data=DataSettings(missing=("", {markers}))')
            return say("If they stand for a missing value, write  {}", told)
        return say("Publish the values or nothing:  {}", role(column, "quasi", "suppress"))

    def _written(self, form: str | None) -> Fix:
        """The same taxonomy with another format, and without levels that it does not tell."""
        levels = self.levels
        if levels is not None and form is not None:
            told = PERIODS[_finest_period(form) :]
            levels = tuple(level for level in levels if level in told) or told
        in_job = "" if levels is None else f", levels: [{', '.join(levels)}]"
        in_python = [f'"{level}"' for level in levels or ()]
        if form is not None:
            in_job += f', format: "{form}"'
            in_python.append(f'format="{form}"')
        return Fix(f"taxonomy: {{kind: dates{in_job}}}", f"dates({', '.join(in_python)})")

    def meaning(self, label: str) -> str | None:
        """The period."""
        if "Q" in label:
            return f"A day in quarter {label[-1]} of {label[:4]}."
        if label.endswith("s"):
            return f"A day in the years {label[:-1]} to {label[:-2]}9."
        kind = {4: "year", 7: "month", 10: "day"}.get(len(label))
        return None if kind is None else "This day." if kind == "day" else f"A day in the {kind} {label}."


def _directives(form: str) -> set[str]:
    return set(re.findall("%(.?)", form))


def _tells_time(form: str) -> bool:
    return not _directives(form).isdisjoint("HIMSf")


#: The format of dates that most programs write.
_USUAL_FORMAT = Fix('format: "%Y-%m-%d"', 'format="%Y-%m-%d"')


def _finest_period(form: str) -> int:
    """The finest of `PERIODS` that dates of a format tell, or an error if they do not tell the year."""
    used = _directives(form)
    strange = used.difference("YymbBdjHIMSfpz%")
    if strange:
        raise TaxonomyError(
            "E203",
            f"the date format {shown(form)} uses %{min(strange)}, which is not supported",
            hint=say("{}   (Y year, m month, d day, H hour, M minute, S second)", _USUAL_FORMAT),
        )
    if used.isdisjoint("Yy"):
        raise TaxonomyError("E203", f"the date format {shown(form)} has no year", hint=_USUAL_FORMAT)
    has_month = not used.isdisjoint("mbB")
    if "j" in used or (has_month and "d" in used):
        return PERIODS.index("day")
    return PERIODS.index("month" if has_month else "year")


def _period(moment: datetime, period: str) -> str:
    """The name of the period that holds a moment."""
    year = f"{moment.year:04d}"
    if period == "day":
        return f"{year}-{moment.month:02d}-{moment.day:02d}"
    if period == "month":
        return f"{year}-{moment.month:02d}"
    if period == "quarter":
        return f"{year}-Q{(moment.month + 2) // 3}"
    return year if period == "year" else f"{year[:-1]}0s"

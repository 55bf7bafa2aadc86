"""Jobs that are odder than those of the guarantee suite: larger tables, extreme numbers, several odd things at once."""

from __future__ import annotations

from dataclasses import replace

from column_kinds import Numbers
from hypothesis import strategies as st
from numbered_jobs import numbered_cases
from whole_jobs import Case, cases

from tarnkappe.algorithms import Algorithm

#: Numbers at the edges of what a double holds, next to ordinary ones.
EXTREME = (
    "1e308",
    "-1e308",
    "1e155",
    "5e-324",
    "2.2e-308",
    "0",
    "-0.0",
    "1",
    "9007199254740993",
    "0.1",
    "1e-9",
    "1e20",
    "-1e100",
)


@st.composite
def odd_cases(draw: st.DrawFn, algorithms: tuple[Algorithm, ...]) -> Case:
    """A case of the guarantee suite for one of some algorithms, now and then with extreme numbers."""
    rows = draw(st.sampled_from([10, 40, 60, 60, 60, 250]))
    case = draw(cases(draw(st.sampled_from(algorithms)), max_rows=rows))
    return draw(with_extreme_numbers(case)) if draw(st.integers(0, 5)) == 0 else case


@st.composite
def odd_numbered_cases(draw: st.DrawFn) -> Case:
    """A case of an algorithm that deals records to numbered groups, now and then with extreme numbers."""
    case = draw(numbered_cases(max_rows=draw(st.sampled_from([10, 40, 60, 60, 120]))))
    return draw(with_extreme_numbers(case)) if draw(st.integers(0, 5)) == 0 else case


@st.composite
def with_extreme_numbers(draw: st.DrawFn, case: Case) -> Case:
    """The case with the numbers of one of its columns replaced by extreme ones."""
    places = [i for i, field in enumerate(case.fields) if type(field.kind) is Numbers]
    if not places:
        return case
    i = draw(st.sampled_from(places))
    some = st.one_of(st.sampled_from(EXTREME), st.integers(0, 50).map(str))
    values = tuple(draw(st.lists(some, min_size=1, max_size=8, unique_by=float)))
    known = {value: values[j % len(values)] for j, value in enumerate(case.fields[i].kind.values)}
    rows = tuple((*row[:i], None if row[i] is None else known[row[i]], *row[i + 1 :]) for row in case.rows)
    fields = (*case.fields[:i], replace(case.fields[i], kind=Numbers(values, numeric=True)), *case.fields[i + 1 :])
    return replace(case, fields=fields, rows=rows)

"""A release in a notebook: verdict, criteria, columns and price in one compact block.

All styles are inline and take the notebook's own colours: nothing outside the block changes, in light or dark themes.
"""

from __future__ import annotations

from collections.abc import Iterable

from tarnkappe.columns import ColumnSummary
from tarnkappe.release import Release
from tarnkappe.report.facts import REMOVED, headline, is_verified
from tarnkappe.report.markup import Html, el, join, shorten
from tarnkappe.report.numbers import count, counted, figure, percent
from tarnkappe.report.sections import ROLE_NAMES, asked, criterion_title, direction, sentence

_MOST_ROWS = 30

_BLOCK = "max-width:52rem;margin:.5rem 0;line-height:1.5;color:inherit;background:transparent"
# Mixed with the text colour so that the same green and red can be read on white and on black.
_OK = "color:#2e8b57;color:color-mix(in srgb,#2e8b57 65%,currentColor)"
_BAD = "color:#d04a35;color:color-mix(in srgb,#d04a35 65%,currentColor)"
_WARN = "color:#a86b00;color:color-mix(in srgb,#a86b00 65%,currentColor)"
_TABLE = "border-collapse:collapse;margin:.75rem 0 0;font-variant-numeric:tabular-nums;background:transparent"
_LINE = "border:0;border-bottom:1px solid rgba(128,128,128,.35)"
_CELL = f"text-align:left;vertical-align:top;padding:.2rem 1.25rem .2rem 0;background:none;{_LINE}"
_SOFT = "opacity:.8"


def render_fragment(release: Release) -> str:
    """A compact HTML fragment for ``_repr_html_``: public facts only, no style sheet, no script."""
    ok = is_verified(release)
    look = _BAD if not ok else _WARN if release.notices else _OK
    left_out = f", {counted(release.n_suppressed, 'record')} suppressed" if release.n_suppressed else ""
    smallest = f", the smallest of {counted(release.smallest_group, 'record')}" if release.group_sizes else ""
    kept = "" if release.detail_kept is None else f", detail kept {percent(release.detail_kept)}"
    return el(
        "div",
        el(
            "p",
            el("strong", "✓ " if ok else "✗ ", headline(release), style=look),
            style="margin:0;font-size:1.1em",
        ),
        el(
            "p",
            f"{count(release.n_published)} of {counted(release.n_input, 'record')} published in "
            f"{counted(release.n_groups, 'group')}{smallest}{left_out}{kept}. "
            f"Algorithm: {release.algorithm}.",
            style=f"margin:.25rem 0 0;{_SOFT}",
        ),
        *(el("p", el("strong", n.code), f" {sentence(n.message)}", style="margin:.25rem 0 0") for n in release.notices),
        _table(
            ("Criterion", "Asked", "Reached", "Result"),
            (
                (
                    criterion_title(v.criterion) + (f" on {v.column}" if v.column else ""),
                    asked(v),
                    figure(v.reached),
                    el("span", "✓ satisfied" if v.ok else "✗ violated", style=_OK if v.ok else _BAD),
                )
                for v in release.verdicts
            ),
        ),
        _columns(release.columns),
        _scores(release),
        style=_BLOCK,
    )


def _table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> Html:
    return el(
        "div",
        el(
            "table",
            el("thead", el("tr", *(el("th", cell, scope="col", style=_CELL) for cell in head))),
            el("tbody", *(el("tr", *(el("td", cell, style=_CELL) for cell in row)) for row in rows)),
            style=_TABLE,
        ),
        style="overflow-x:auto",
    )


def _columns(columns: tuple[ColumnSummary, ...]) -> Html:
    published = [c for c in columns if c.role not in REMOVED]
    removed = [c.name for c in columns if c.role in REMOVED]
    shown = published[:_MOST_ROWS]
    rows = (
        (shorten(c.name, 48), ROLE_NAMES.get(c.role, c.role), c.done, "" if c.kept is None else percent(c.kept))
        for c in shown
    )
    notes = []
    if len(published) > len(shown):
        notes.append(f"{counted(len(published) - len(shown), 'more column')} not shown here.")
    if removed:
        notes.append(f"Removed: {', '.join(shorten(name, 48) for name in removed[:_MOST_ROWS])}.")
    return join(
        [
            _table(("Column", "Role", "What was done", "Detail kept"), rows),
            el("p", " ".join(notes), style=f"margin:.25rem 0 0;{_SOFT}") if notes else None,
        ]
    )


def _scores(release: Release) -> Html | None:
    if not release.scores:
        return None
    rows = ((s.title, figure(s.value), s.sentence, direction(s)) for s in release.scores)
    return el(
        "details",
        el("summary", "Measures of the literature", style="cursor:pointer;margin-top:.75rem"),
        _table(("Measure", "Value", "In words", "Direction"), rows),
    )

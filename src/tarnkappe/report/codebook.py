"""The section of a report that says what labels mean, and how the file is read elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from tarnkappe.codebook import Entry
from tarnkappe.report.facts import Told, fact
from tarnkappe.report.markup import Html, el, shorten, table, value
from tarnkappe.report.numbers import counted

#: Labels of a column that the page shows; the file has all of them.
_MOST_LABELS = 8

_LONGEST = 120


def codebook_section(release: Told) -> Html:
    """What the labels mean, the first ones of every column, and lines of pandas and R that read the file."""
    lines = release.public_manifest.get("read") or {}
    file = fact(release, "codebook")
    return el(
        "section",
        el("h2", "Codebook", id="codebook"),
        el("p", "What the labels in the release mean.", f" All of them are in {file}." if file else None),
        table("Labels and their meaning", ("Column", "Label", "Meaning"), _rows(release.codebook), class_="codebook"),
        el("h3", "Read the release") if lines else None,
        *(
            el(
                "div",
                el("p", f"In {language}:", class_="small"),
                el("pre", el("code", line), class_="wrap", tabindex="0"),
            )
            for language, line in lines.items()
        ),
        aria_labelledby="codebook",
    )


def _rows(entries: tuple[Entry, ...]) -> Iterator[tuple[object, ...]]:
    for name, group in groupby(entries, key=lambda e: e.column):
        labels = list(group)
        for i, entry in enumerate(labels[:_MOST_LABELS]):
            shown = value(shorten(entry.label, _LONGEST)) if entry.label else _unlabelled(entry)
            yield (value(name) if i == 0 else ""), shown, shorten(entry.meaning, _LONGEST)
        if len(labels) > _MOST_LABELS:
            yield "", el("em", "…"), counted(len(labels) - _MOST_LABELS, "more label")


def _unlabelled(entry: Entry) -> Html:
    """What has no label: an empty cell, which says that a value is missing, or all that stands in a column."""
    return el("em", "empty" if entry.meaning.startswith("Missing") else "all values")

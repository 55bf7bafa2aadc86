"""The section about the tables of a release whose groups have numbers."""

from __future__ import annotations

from tarnkappe.release import Release
from tarnkappe.report.facts import Told
from tarnkappe.report.markup import Html, el, join, table, value
from tarnkappe.report.numbers import counted
from tarnkappe.report.parts import section


def tables(release: Release) -> Html | None:
    """Which tables there are, what joins them, and what may not be concluded; nothing where there is only one."""
    if not release.is_numbered:
        return None
    told = release.public_manifest["tables"]
    words = (
        f"The release has {counted(len(told), 'table')}. Rows with the same number in "
        if len(told) > 1
        else "Rows with the same number in "
    )
    joined = (
        el("p", words, value(release.number), " belong to one group of people; numbers were drawn by lot.")
        if release.number is not None
        else el("p", "Which rows were drawn together is not published.")
    )
    return tables_section(release, joined, _torn(release))


def _torn(release: Release) -> Html | None:
    """Columns that stay together in boxes, and between them what is known of how boxes belong together."""
    manifest, number = release.public_manifest, release.number
    files = {t["name"]: t.get("file") or t["name"] or "people" for t in manifest["tables"]}
    strands = manifest["strands"]
    if number is None or len(strands) < 2:
        return None
    boxes = [
        el(
            "li",
            el("span", value(files[strand["sheet"]]), class_="small"),
            el("strong", join(map(value, strand["columns"]), ", ")),
            el("span", "counted in ", value(strand["count"]), class_="small") if strand["count"] else None,
            el("span", value(number), class_="join"),
        )
        for strand in strands
    ]
    return el(
        "figure",
        el(
            "figcaption",
            "What belongs together",
            el(
                "span",
                "Values of a row belong together within a box. Between boxes only ",
                value(number),
                " is known: who of the same number has which values of another box is not.",
                class_="small",
            ),
        ),
        el("ul", *boxes, class_="torn"),
    )


def tables_section(release: Told, joined: Html | None, drawn: Html | None = None) -> Html:
    """The tables of a manifest, how they are `joined` and that `drawn`, and what may not be concluded."""
    rows = (
        (
            value(t.get("file") or t["name"] or "people"),
            join((value(name) for name in t["columns"]), ", "),
            t["about"],
        )
        for t in release.public_manifest["tables"]
    )
    return section(
        "tables",
        "The tables, and how they belong together"
        if len(release.public_manifest["tables"]) > 1
        else "The table, and what its rows are",
        joined,
        drawn,
        table("Tables of the release", ("Table", "Columns", "What a row is"), rows),
        el("p", el("strong", "What may not be concluded: "), release.public_manifest["caution"]),
    )

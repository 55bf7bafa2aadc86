"""The part of a report that only the publisher sees."""

from __future__ import annotations

from tarnkappe.io.folders import GROUPS, PRIVATE, SOLUTIONS
from tarnkappe.release import Release
from tarnkappe.report.facts import manifest_text
from tarnkappe.report.markup import Html, el, table, value
from tarnkappe.report.numbers import count, counted, percent
from tarnkappe.report.parts import facts_list, section
from tarnkappe.report.sections import sentence


def original_data(release: Release) -> Html:
    """What only the publisher may know."""
    share = release.unique_before / release.n_before if release.n_before else 0.0
    return section(
        "internal",
        "About the original data (internal)",
        el(
            "p",
            f"Before anonymisation {count(release.unique_before)} of {count(release.n_before)} records "
            f"({percent(share)}) were unique on the quasi-identifiers: whoever knew these values could have found "
            "the person.",
        ),
        *exposing(release),
        *left_out(release),
        *attacks(release),
        *_search(release),
        *alternatives(release),
        *sign_off(),
        el("h3", "Private manifest"),
        el("p", "It is needed to reproduce the release exactly. The seed must not be published."),
        el("pre", el("code", manifest_text(release.private_manifest)), tabindex="0"),
    )


def exposing(release: Release) -> list[Html]:
    """Which columns made people easy to find."""
    if not release.exposing:
        return []
    rows = ((value(" + ".join(e.columns)), count(e.unique), percent(e.share)) for e in release.exposing)
    return [
        el("h3", "Riskiest combinations"),
        el("p", "Whoever knows only these columns of a person would have found so many records for certain:"),
        table("Columns that pointed at the most people", ("Columns", "Unique records", "Share"), rows, numeric={1, 2}),
    ]


def attacks(release: Release) -> list[Html]:
    """What came of the attacks that the job names, on the written tables."""
    if not release.attacks:
        return []
    head = ("Attack", "Column", "Succeeded", "95 % interval", "Baseline", "Allowed above it", "What it means")
    rows = (
        (
            found.attack,
            value(found.column) if found.column else "",
            percent(found.rate),
            f"{percent(found.low)} to {percent(found.high)}",
            percent(found.baseline),
            percent(found.margin),
            found.sentence,
        )
        for found in release.attacks
    )
    words = "Each was carried out on the written tables with the original data as the attacker's knowledge."
    return [el("h3", "Attacks that were tried"), el("p", words), table("Attacks", head, rows, numeric={2, 3, 4, 5})]


def alternatives(release: Release) -> list[Html]:
    """What else could have been chosen, as far as it was looked at, and how to find out more."""
    words = "What each column, level and criterion costs, and what relaxing it buys; other algorithms and parameters:"
    commands = "tarnkappe advise job.yaml\ntarnkappe compare --help"
    found = release.alternatives
    told: list[Html] = []
    if found is not None and found.best:
        rows = (
            (
                value(", ".join(f"{name} {level}" for name, level in levels.items())),
                count(suppressed),
                count(groups),
                count(smallest),
                f"{loss:.4f}",
            )
            for levels, suppressed, groups, smallest, loss in found.best
        )
        head = ("Level of each column", "Records left out", "Groups", "Smallest group", "Loss (LM)")
        one = counted(found.n, "combination")
        told = [
            el("p", f"If all values of a column had the same level, {one} of levels would satisfy the job."),
            table("Those that keep most detail", head, rows, numeric={1, 2, 3, 4}),
        ]
    return [el("h3", "Alternatives"), *told, el("p", words), el("pre", el("code", commands), tabindex="0")]


def left_out(release: Release) -> list[Html]:
    """Whether those who were left out are like the others, if anybody was."""
    if not release.n_suppressed:
        return []
    head = ("Column", "Part", "Records left out", "Share of all", "Share of those left out", "Times as frequent")
    rows = (
        (
            value(b.column),
            value(b.part),
            count(b.records),
            percent(b.share),
            percent(b.share_left_out),
            f"{b.times:.1f}",
        )
        for b in release.left_out
    )
    words = f"{counted(release.n_suppressed, 'record')} of {count(release.n_input)} were left out. "
    if not release.left_out:
        fair = "No part of a quasi-identifier is much more frequent among them than among all records."
        return [el("h3", "Who was left out"), el("p", words, fair)]
    worst = release.left_out[0]
    bias = f"Among them {worst.part} ({worst.column}) is {worst.times:.1f} times as frequent as among all records: "
    advice = "analyses of such people would mislead. More generalisation instead of suppression keeps them."
    caption = "Parts that are more frequent among the records left out"
    return [
        el("h3", "Who was left out"),
        el("p", words, bias, advice),
        table(caption, head, rows, numeric={2, 3, 4, 5}),
    ]


def sign_off() -> list[Html]:
    """Room for those who take responsibility."""
    lines = ("Roles of the columns confirmed by", "Criteria and limits approved by", "Release approved by")
    rows = ((line, "", "") for line in lines)
    return [el("h3", "Sign-off"), table("To be filled in by hand", ("What", "Name", "Date and signature"), rows)]


def _search(release: Release) -> list[Html]:
    """What the algorithm says about its groups, if it says anything."""
    notes = release.private_manifest.get("search", {})
    shown = [(name, f"{x:.4g}" if isinstance(x, float) else str(x)) for name, x in notes.items()]
    parts = [el("h3", "About the groups"), facts_list((sentence(n).rstrip("."), x) for n, x in shown)] if shown else []
    for name, found in release.remarks.items():
        rows = ((f"{x:g}", count(n)) for x, n in found)
        parts.append(table(sentence(name).rstrip("."), ("Value", "Groups"), rows, numeric={0, 1}))
    if release.job.output.solutions is not None:
        words = f"All levels that columns could have, with their figures, are in {PRIVATE}/{SOLUTIONS}."
        parts.append(el("p", words, class_="small"))
    if release.remarks:
        parts.append(el("p", f"The value of every group is in {PRIVATE}/{GROUPS}.", class_="small"))
    return parts

"""The page about tables that belong together: sets of items, or tables joined by a key."""

from __future__ import annotations

import shlex

from tarnkappe.bundle import Bundle
from tarnkappe.columns import ColumnSummary
from tarnkappe.report import parts, sections
from tarnkappe.report.codebook import codebook_section
from tarnkappe.report.facts import fact, is_verified, manifest_text, verified_words
from tarnkappe.report.markup import Html, el, join, table, value
from tarnkappe.report.numbers import count, percent
from tarnkappe.report.page import document, is_internal
from tarnkappe.report.plain import bundle_in_plain_words
from tarnkappe.report.sheets import tables_section

_CONTENTS = (
    ("verdict", "Verdict"),
    ("tables", "Tables"),
    ("alerts", "Alerts"),
    ("done", "What was done"),
    ("protection", "What this protects from"),
    ("codebook", "Codebook"),
    ("assumptions", "Assumptions"),
    ("check", "Check it yourself"),
    ("internal", "About the original data"),
)


def render_bundle(bundle: Bundle, audience: str = "public") -> str:
    """One self-contained HTML document about tables that belong together, in a public and an internal edition.

    The public edition has nothing that does not follow from the tables and the job, see `Bundle.for_readers`.
    """
    internal = is_internal(audience)
    bundle = bundle if internal else bundle.for_readers()
    absent = {*([] if internal else ["internal"]), *([] if bundle.codebook else ["codebook"])}
    made = {
        "verdict": _verdict(bundle),
        "tables": tables_section(bundle, el("p", bundle.story.joined) if bundle.story.joined else None),
        "alerts": sections.alerts(bundle, advice=internal),
        "done": _what_was_done(bundle),
        "codebook": codebook_section(bundle) if bundle.codebook else None,
        "protection": _protection(bundle),
        "assumptions": parts.assumed(bundle.story.assumptions),
        "check": sections.reproduce(bundle, shlex.join(["tarnkappe", "verify", fact(bundle, "file") or "FOLDER"])),
        "internal": _original_data(bundle) if internal else None,
    }
    contents = [(anchor, name) for anchor, name in _CONTENTS if anchor not in absent]
    return document(bundle, contents, [made[anchor] for anchor, _ in contents], internal=internal)


def render_bundle_fragment(bundle: Bundle) -> str:
    """The verdict and what was asked, for a notebook: public facts only."""
    readers = bundle.for_readers()
    return el("div", el("p", el("strong", "✓ " if is_verified(readers) else "✗ ", _headline(readers))), _asked(readers))


def _headline(bundle: Bundle) -> str:
    words = verified_words(bundle)
    return f"{words} {bundle.story.promise}" if is_verified(bundle) else words


def _asked(bundle: Bundle) -> Html:
    return sections.criteria_table(bundle)


def _verdict(bundle: Bundle) -> Html:
    attacker = ("The promise is about ", bundle.story.attacker)
    tiles = [(name, count(number), note) for name, number, note in bundle.story.figures]
    return parts.section(
        "verdict",
        "Verdict",
        parts.proof(bundle, _headline(bundle), attacker),
        bundle_in_plain_words(bundle) if is_verified(bundle) else None,
        parts.big_figures([*tiles, *bundle.story.secret_figures]),
        _asked(bundle),
        parts.facts_list(parts.evidence(bundle, None)),
    )


def _what_was_done(bundle: Bundle) -> Html:
    lost = any(c.kept is not None for c in bundle.columns)
    head = ("Column", "Role", "What was done", *(["Detail kept"] if lost else []))
    rows = (_row(c)[: len(head)] for c in bundle.columns)
    return parts.section("done", "What was done", table("Columns of the release", head, rows, class_="columns"))


def _row(column: ColumnSummary) -> tuple[object, ...]:
    why = el("span", "Because: ", value(column.because), class_="small") if column.because else None
    role = sections.ROLE_NAMES.get(column.role, column.role)
    kept = "–" if column.kept is None else percent(column.kept)
    return value(column.name), role, join([column.done, why]), kept


def _protection(bundle: Bundle) -> Html:
    return parts.section(
        "protection",
        "What this protects from, and what not",
        *(parts.criterion_card([title], card) for title, card in bundle.story.cards.values()),
        el("p", bundle.story.combined),
    )


def _original_data(bundle: Bundle) -> Html:
    return parts.section(
        "internal",
        "About the original data (internal)",
        el("p", "It is needed to reproduce the release exactly. The seed must not be published."),
        el("pre", el("code", manifest_text(bundle.private_manifest)), tabindex="0"),
    )

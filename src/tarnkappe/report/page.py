"""The complete page, in a public and an internal edition."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tarnkappe.errors import JobError
from tarnkappe.release import Release
from tarnkappe.report import sections
from tarnkappe.report.codebook import codebook_section
from tarnkappe.report.facts import Told, fact, verify_command
from tarnkappe.report.markup import Html, el
from tarnkappe.report.original import original_data
from tarnkappe.report.risk import risk
from tarnkappe.report.sheets import tables
from tarnkappe.report.style import STYLE

AUDIENCES = ("public", "internal")
INTERNAL_MARK = "INTERNAL: contains information about the original data"

#: Even if some text ever escaped its escaping, a browser would load and run nothing.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'"

_CONTENTS = (
    ("verdict", "Verdict"),
    ("alerts", "Alerts"),
    ("done", "What was done"),
    ("protection", "What this protects from"),
    ("groups", "Group sizes"),
    ("detail", "Detail kept"),
    ("codebook", "Codebook"),
    ("assumptions", "Assumptions"),
    ("check", "Check it yourself"),
)


def render_report(release: Release, audience: str = "public") -> str:
    """One self-contained HTML document about a release: verdict first, then what was done and what it cost.

    The public edition says nothing that depends on original values in any other way than the published table does, see
    `Release.for_readers`. The internal edition adds it, and says so on every printed page.
    """
    internal = is_internal(audience)
    release = release if internal else release.for_readers()
    contents = [*_CONTENTS, *([("internal", "About the original data")] if internal else [])]
    if release.is_numbered:
        contents.insert(1, ("tables", "Tables"))
    elif release.group_sizes:
        contents.insert(4, ("risk", "Risk of being found"))
    elif release.is_copy:
        contents.remove(("groups", "Group sizes"))
    return document(
        release,
        contents,
        [
            sections.verdict(release),
            tables(release),
            sections.alerts(release, advice=internal),
            sections.what_was_done(release, internal=internal),
            sections.protection(release),
            risk(release),
            sections.group_sizes(release),
            sections.detail(release),
            codebook_section(release),
            sections.assumptions(release),
            sections.reproduce(release, verify_command(release)),
            original_data(release) if internal else None,
        ],
        internal=internal,
    )


def is_internal(audience: str) -> bool:
    """Whether a report is for the publisher only; an exception for anybody unknown."""
    if audience not in AUDIENCES:
        raise JobError(
            "E110",
            f"audience must be public or internal, got {audience!r}",
            hint='render_report(release, audience="public")',
        )
    return audience == "internal"


def document(told: Told, contents: Sequence[tuple[str, str]], parts: Iterable[object], *, internal: bool) -> str:
    """A whole page of sections, with what stands above and below them."""
    body = el(
        "body",
        el(
            "div",
            _header(told, contents, internal),
            el("main", *parts),
            _footer(told, internal),
            class_="sheet",
        ),
    )
    return page(f"{'INTERNAL: ' if internal else ''}{told.title}, anonymisation report", body, indexed=not internal)


def page(title: str, body: Html, *, indexed: bool = False, style: str = "") -> str:
    """An HTML document that loads and runs nothing."""
    head = el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="color-scheme", content="light dark"),
        None if indexed else el("meta", name="robots", content="noindex"),
        el("title", title),
        el("style", Html(STYLE + style)),
    )
    return f"<!DOCTYPE html>\n{el('html', head, body, lang='en')}\n"


def _header(told: Told, contents: Sequence[tuple[str, str]], internal: bool) -> Html:
    return el(
        "header",
        el("p", f"{INTERNAL_MARK}. Do not publish this page.", class_="banner") if internal else None,
        el("p", f"Anonymisation report, {'internal' if internal else 'public'} edition", class_="eyebrow"),
        el("h1", told.title, class_="v"),
        el("p", told.purpose, class_="lead v") if told.purpose else None,
        el(
            "nav",
            el("ul", *(el("li", el("a", name, href=f"#{anchor}")) for anchor, name in contents)),
            aria_label="Contents",
        ),
    )


def _footer(told: Told, internal: bool) -> Html:
    if internal:
        return el("footer", el("p", INTERNAL_MARK), class_="internal")
    made = f"Made with Tarnkappe {fact(told, 'tarnkappe') or ''}".rstrip()
    return el("footer", el("p", f"{made}. This page loads nothing and runs nothing: keep it, print it, pass it on."))

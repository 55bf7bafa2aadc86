"""The complete page, in a public and an internal edition."""

from __future__ import annotations

from tarnkappe.errors import JobError
from tarnkappe.release import Release
from tarnkappe.report import sections
from tarnkappe.report.codebook import codebook_section
from tarnkappe.report.facts import fact
from tarnkappe.report.markup import Html, el
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
    ("groups", "Group sizes"),
    ("detail", "Detail kept"),
    ("codebook", "Codebook"),
    ("protection", "What this protects from"),
    ("assumptions", "Assumptions"),
    ("check", "Check it yourself"),
)


def render_report(release: Release, audience: str = "public") -> str:
    """One self-contained HTML document about a release: verdict first, then what was done and what it cost.

    The public edition says nothing that depends on original values in any other way than the published table does, see
    `Release.for_readers`. The internal edition adds it, and says so on every printed page.
    """
    if audience not in AUDIENCES:
        raise JobError(
            "E110",
            f"audience must be public or internal, got {audience!r}",
            hint='render_report(release, audience="public")',
        )
    internal = audience == "internal"
    release = release if internal else release.for_readers()
    title = release.title
    body = el(
        "body",
        el(
            "div",
            _header(release, title, internal),
            el(
                "main",
                sections.verdict(release),
                tables(release),
                sections.alerts(release, advice=internal),
                sections.what_was_done(release, internal=internal),
                sections.group_sizes(release),
                sections.detail(release),
                codebook_section(release),
                sections.protection(release),
                sections.assumptions(release),
                sections.reproduce(release),
                sections.original_data(release) if internal else None,
            ),
            _footer(release, internal),
            class_="sheet",
        ),
    )
    head = el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="color-scheme", content="light dark"),
        el("meta", name="robots", content="noindex") if internal else None,
        el("title", f"{'INTERNAL: ' if internal else ''}{title}, anonymisation report"),
        el("style", Html(STYLE)),
    )
    return f"<!DOCTYPE html>\n{el('html', head, body, lang='en')}\n"


def _header(release: Release, title: str, internal: bool) -> Html:
    contents = [*_CONTENTS, *([("internal", "About the original data")] if internal else [])]
    if release.is_numbered:
        contents.insert(1, ("tables", "Tables"))
    return el(
        "header",
        el("p", f"{INTERNAL_MARK}. Do not publish this page.", class_="banner") if internal else None,
        el("p", f"Anonymisation report, {'internal' if internal else 'public'} edition", class_="eyebrow"),
        el("h1", title, class_="v"),
        el("p", release.purpose, class_="lead v") if release.purpose else None,
        el(
            "nav",
            el("ul", *(el("li", el("a", name, href=f"#{anchor}")) for anchor, name in contents)),
            aria_label="Contents",
        ),
    )


def _footer(release: Release, internal: bool) -> Html:
    if internal:
        return el("footer", el("p", INTERNAL_MARK), class_="internal")
    made = f"Made with Tarnkappe {fact(release, 'tarnkappe') or ''}".rstrip()
    return el("footer", el("p", f"{made}. This page loads nothing and runs nothing: keep it, print it, pass it on."))

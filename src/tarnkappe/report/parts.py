"""Pieces of sections that pages about any kind of release share."""

from __future__ import annotations

from collections.abc import Iterable

from tarnkappe.criteria.base import Card
from tarnkappe.masks.base import MaskCard
from tarnkappe.report.facts import Told, fact, how_verified, is_verified, made
from tarnkappe.report.markup import Html, el, join, value
from tarnkappe.report.numbers import count


def section(name: str, title: str, *content: object) -> Html:
    """A section with its heading."""
    return el("section", el("h2", title, id=name), *content, aria_labelledby=name)


def facts_list(pairs: Iterable[tuple[object, object]]) -> Html:
    """Terms and what they stand for."""
    return el("dl", *(join([el("dt", term), el("dd", meaning)]) for term, meaning in pairs), class_="facts")


def proof(release: Told, headline: str, attacker: Iterable[object]) -> Html:
    """Whether the promise is kept, what was done to know it, and who it is about."""
    ok, warned = is_verified(release), bool(release.notices)
    sign, label = ("✓", "Verified") if ok else ("✗", "Not verified")
    look = "proof failed" if not ok else "proof warned" if warned else "proof"
    return el(
        "div",
        el("p", el("span", f"{sign} ", class_="mark", aria_hidden="true"), headline, class_="verdict"),
        el(
            "p",
            how_verified(release) if ok else "This table must not be published.",
        ),
        el("p", *attacker) if ok else None,
        el("p", el("a", _see_alerts(len(release.notices)), href="#alerts")) if warned else None,
        class_=look,
        role="group",
        aria_label=label,
    )


def big_figures(tiles: Iterable[tuple[object, object, object]]) -> Html:
    """Numbers with their names and notes."""
    return el(
        "dl",
        *(el("div", el("dt", name), el("dd", number, el("small", note))) for name, number, note in tiles),
        class_="figures",
    )


def _see_alerts(n: int) -> str:
    return "⚠ Read the alert first." if n == 1 else f"⚠ Read the {count(n)} alerts first."


def evidence(release: Told, algorithm: str | None) -> Iterable[tuple[object, object]]:
    """What tells one release from another: its file, its digest, how and when it was made."""
    file, digest, date = fact(release, "file"), fact(release, "sha256"), made(release)
    if file:
        yield "Release file", value(file)
    yield "SHA-256", el("code", digest) if digest else "none: the release was not written to a file"
    if algorithm:
        yield "Algorithm", value(algorithm)
    yield "Made with", f"Tarnkappe {fact(release, 'tarnkappe') or 'of unknown version'}"
    if date:
        yield "Date", date


def criterion_card(title: Iterable[object], card: Card | MaskCard) -> Html:
    """What a criterion protects from, what not, and what it usually takes; or what a mask changes and keeps."""
    if isinstance(card, MaskCard):
        told = (
            ("Changes", card.changes),
            ("Keeps", card.keeps),
            ("Does not", card.does_not),
            ("Not for", card.not_for),
        )
        return el("div", el("h3", *title), facts_list(told), class_="card")
    pairs = (
        ("Protects from", card.protects_from),
        ("Does not", card.does_not),
        ("Typical values", card.typical),
        ("Cost", card.cost),
    )
    return el("div", el("h3", *title), facts_list(pairs), class_="card")


def assumed(points: Iterable[tuple[str, str]]) -> Html:
    """What a promise rests on: titles and sentences."""
    return section(
        "assumptions",
        "Assumptions",
        el("ul", *(el("li", el("strong", title), " ", body) for title, body in points), class_="plain"),
    )

"""Pages about attacks and about choosing patterns: one document each, to print and to keep."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tarnkappe.arrays import Floats
from tarnkappe.fingerprint.attacks import Outcome
from tarnkappe.fingerprint.genetic import Evolution
from tarnkappe.fingerprint.scheme import Scheme
from tarnkappe.fingerprint.selection import Selection
from tarnkappe.report.markup import Html, el, table
from tarnkappe.report.style import STYLE
from tarnkappe.wording import percent, plural

#: Even if some text ever escaped its escaping, a browser would load and run nothing.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'"


def attack_page(outcomes: Sequence[Outcome], scheme: Scheme) -> str:
    """How far tracing survives attacks, with curves."""
    names = list(dict.fromkeys(o.attack for o in outcomes))
    charts = []
    for name in names:
        own = [o for o in outcomes if o.attack == name]
        if len(own) > 1:
            charts.append(_curve(own))
    rows = (
        [
            o.title,
            f"{o.strength:g}",
            percent(o.traced_share),
            f"{o.falsely_accused} of {o.runs}",
            percent(o.detail_left),
        ]
        for o in outcomes
    )
    figures = table(
        "Every attack: how often somebody guilty was accused, how often anybody innocent, and the detail left.",
        ["Attack", "Strength", "Traced", "False accusations", "Detail left"],
        rows,
        numeric={1, 2, 3, 4},
    )
    about = (
        f"{plural(scheme.layout.n_positions, 'position')} · {plural(scheme.recipients, 'recipient')} · "
        f"probability of a false accusation at most {scheme.alpha:g}"
    )
    return document("Robustness of copies", about, None, [section("Curves", *charts), section("Figures", figures)])


def evolution_page(runs: Sequence[tuple[str, Evolution, Selection]]) -> str:
    """The genetic algorithm, generation by generation, next to the exact optimum (dashes)."""
    sections, rows = [], []
    for title, found, exact in runs:
        figures: list[tuple[str, Floats, float]] = [
            ("objective", found.value, exact.value),
            ("mean loss", found.mean_loss, exact.mean_loss),
            ("cv of loss", found.cv, exact.cv),
            ("size", found.size.astype(np.float64), float(len(exact.members))),
        ]
        sections.append(section(title, *(_generations(name, values, best) for name, values, best in figures)))
        got, best = found.selection, exact
        sizes = f"{len(got.members)} and {len(best.members)}"
        rows.append([title, f"{got.value:.4f}", f"{best.value:.4f}", percent(got.gap), sizes])
    summary = table(
        "What both chose.",
        ["Search space and weights", "Genetic algorithm", "Optimum", "Gap", "Sizes"],
        rows,
        numeric={1, 2, 3, 4},
    )
    return document(
        "Choosing a set of patterns", "The poster's genetic algorithm and the exact optimum", None, [summary, *sections]
    )


def _generations(name: str, values: Floats, best: float) -> Html:
    """One figure over generations; the optimum is a dashed line."""
    low, high = min(float(values.min()), best), max(float(values.max()), best)
    spread = (high - low) or 1.0
    at = np.unique(np.linspace(0, len(values) - 1, 80).astype(np.int64))
    x = [f"{100 * i / max(len(values) - 1, 1):.1f}%" for i in at.tolist()]
    y = [f"{6 + 80 * (1 - (v - low) / spread):.1f}" for v in values[at].tolist()]
    level = f"{6 + 80 * (1 - (best - low) / spread):.1f}"
    picture = el(
        "svg",
        *(
            el("line", x1=x[i], y1=y[i], x2=x[i + 1], y2=y[i + 1], style="stroke:var(--bar,#2f6a94);stroke-width:2")
            for i in range(len(x) - 1)
        ),
        el("line", x1="0", x2="100%", y1=level, y2=level, style="stroke:var(--muted,#56606a);stroke-dasharray:4 4"),
        width="100%",
        height="92",
        role="img",
        aria_label=f"{name} over {len(values)} generations",
        class_="chart",
    )
    told = f" {values[0]:.4g} → {values[-1]:.4g} in {len(values)} generations; optimum {best:.4g}"
    return el("figure", el("figcaption", name, el("span", told, class_="small")), picture)


def _curve(outcomes: Sequence[Outcome]) -> Html:
    """One attack: share traced (line) and detail left (dashes) over strength."""
    n = len(outcomes)
    x = [f"{4 + 92 * i / max(n - 1, 1):.1f}" for i in range(n)]

    def line(values: Sequence[float], style: str) -> list[Html]:
        y = [f"{6 + 100 * (1 - v):.1f}" for v in values]
        return [el("line", x1=f"{x[i]}%", y1=y[i], x2=f"{x[i + 1]}%", y2=y[i + 1], style=style) for i in range(n - 1)]

    labels = [
        el("text", f"{o.strength:g}", x=f"{x[i]}%", y="124", text_anchor="middle") for i, o in enumerate(outcomes)
    ]
    solid = "stroke:var(--bar,#2f6a94);stroke-width:2"
    dashed = "stroke:var(--muted,#56606a);stroke-dasharray:4 4"
    picture = el(
        "svg",
        el("line", x1="0", x2="100%", y1="106", y2="106", style="stroke:var(--rule,#d5dbe0)"),
        el("line", x1="0", x2="100%", y1="6", y2="6", style="stroke:var(--rule,#d5dbe0)"),
        *line([o.traced_share for o in outcomes], solid),
        *line([o.detail_left for o in outcomes], dashed),
        el("g", *labels, style="fill:var(--muted,#56606a);font-size:12px"),
        width="100%",
        height="130",
        role="img",
        aria_label=f"{outcomes[0].title}: share traced over strength",
        class_="chart",
    )
    caption = el(
        "figcaption",
        outcomes[0].title,
        el("span", " traced (line) and detail left (dashes), 0 to 100 %", class_="small"),
    )
    return el("figure", caption, picture)


def section(title: str, *parts: object) -> Html:
    """A part of a page."""
    return el("section", el("h2", title), *parts)


def document(title: str, about: str, banner: str | None, sections: Sequence[Html]) -> str:
    """A whole page that loads and runs nothing."""
    head = el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="robots", content="noindex"),
        el("title", title),
        el("style", Html(STYLE)),
    )
    top = el(
        "header",
        None if banner is None else el("p", banner, class_="banner"),
        el("p", "Traceable copies", class_="eyebrow"),
        el("h1", title),
        el("p", about, class_="lead v"),
    )
    body = el("body", el("div", top, el("main", *sections), class_="sheet"))
    return f"<!DOCTYPE html>\n{el('html', head, body, lang='en')}\n"

"""Pages about a trace and about attacks: one document each, to print and to keep."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tarnkappe.arrays import Floats
from tarnkappe.fingerprint.attacks import Outcome
from tarnkappe.fingerprint.genetic import Evolution
from tarnkappe.fingerprint.scheme import Scheme
from tarnkappe.fingerprint.selection import Selection
from tarnkappe.fingerprint.tracing import Trace
from tarnkappe.report.markup import Html, el, table, value
from tarnkappe.report.style import STYLE
from tarnkappe.wording import count, percent, plural

#: Even if some text ever escaped its escaping, a browser would load and run nothing.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'"

#: Positions listed one by one.
_MOST_LISTED = 40


def chance(p: float) -> str:
    """A probability as people write it.

    Less than a per cent is told with three decimal places, so that it can be compared with the risk that was allowed.

    >>> chance(3.2e-17), chance(0.00104), chance(0.04), chance(1.0)
    ('less than 1 in 10^16', '0.104 %', '4.0 %', 'up to 100 %')
    """
    if p >= 1:
        return "up to 100 %"
    if 1e-3 <= p < 1e-2:
        return f"{100 * p:.3f} %"
    return percent(p) if p >= 1e-2 else f"less than 1 in 10^{int(np.floor(-np.log10(max(p, 1e-300))))}"


def trace_page(found: Trace, scheme: Scheme, leak: str, head: str) -> str:
    """A report about a leak that a lawyer can read: verdict, suspects, evidence, and what it rests on."""
    accused = found.accused
    if accused:
        verdict = (
            f"The leak was made from {'the copy' if len(accused) == 1 else 'copies'} issued to {' and '.join(accused)}."
        )
        risk = max(s.p_value for s in found.suspects if s.accused)
        meaning = f"If they were innocent, marks would agree so well by chance with a probability of {chance(risk)}."
    else:
        verdict = "No accusation."
        meaning = "The marks that could be read fit nobody better than chance may."
    evidence = found.evidence
    opened = found.opened
    sections = [
        _section(
            "Verdict",
            el("p", el("strong", verdict, class_="v")),
            el("p", meaning),
            el(
                "p",
                f"Accused is only who exceeds what one innocent among {plural(len(found.suspects), 'recipient')} would "
                f"reach with a probability of {found.alpha:g} or less.",
            ),
        ),
        _section(
            "Recipients",
            table(
                "All recipients in the register, the most suspect first.",
                ["Recipient", "Marks that agree", "Score", "Chance for an innocent", "Accused"],
                (
                    [
                        value(s.recipient),
                        f"{s.agree} of {s.clear}",
                        f"{s.score:.1f}",
                        chance(s.p_value),
                        "yes" if s.accused else "no",
                    ]
                    for s in found.suspects[:_MOST_LISTED]
                ),
                numeric={1, 2},
            ),
        ),
        _section(
            "What was read",
            el(
                "p",
                f"The leak has {plural(evidence.n_rows, 'row')}; {count(int(evidence.strange))} of them fit no group "
                f"of the copies. Marks were read at {count(evidence.read)} of {count(scheme.layout.n_positions)} "
                f"positions, both symbols at {count(int(evidence.both.sum()))} of them (several copies, or rows that "
                "were changed).",
            ),
            None
            if opened is None
            else table(
                "Columns of the leak, and how many of their cells are labels of the copies.",
                ["In the leak", "In the copies", "Cells understood"],
                ([value(a), value(b), percent(opened.understood[b])] for a, b in opened.columns.items()),
                numeric={2},
            ),
            _positions(found, scheme),
        ),
        _section(
            "What this rests on",
            el(
                "ul",
                el(
                    "li",
                    "Every copy says the same about the same people, but coarsens one of two columns in each block "
                    "of records; a secret key decides which, block by block and recipient by recipient.",
                ),
                el(
                    "li",
                    "The marks of an innocent recipient do not depend on the leak. So the probability holds for "
                    "whatever was done to the leak, as long as the key was secret and the copies reached only their "
                    "recipients.",
                ),
                el(
                    "li",
                    "The bound is Chernoff's, given what was read, multiplied by the number of recipients and by "
                    "the ways of weighing the marks (Bonferroni).",
                ),
                el("li", f"Register: {head}", class_="v"),
                el("li", f"Commitment published before the copies were made: {scheme.commitment}", class_="v"),
                el("li", f"Data set: {scheme.dataset}", class_="v"),
            ),
        ),
    ]
    return _document("Trace of a leak", leak, "CONFIDENTIAL: names recipients of copies", sections)


def _positions(found: Trace, scheme: Scheme) -> Html | None:
    """The evidence block by block, the strongest first."""
    evidence, layout = found.evidence, scheme.layout
    seen = np.argsort(-evidence.likely.sum(axis=1), kind="stable")[:_MOST_LISTED]
    seen = seen[evidence.likely[seen].sum(axis=1) > 0]
    if not len(seen):
        return None
    names = scheme.columns.names
    rows = []
    for at in seen.tolist():
        block, i = divmod(at, layout.bits)
        first, second = (names[j] for j in layout.pairs[block, i])
        zero, one, merged = evidence.likely[at]
        told = "both" if evidence.both[at] else "1" if one > zero else "0"
        rows.append([f"{at + 1}", f"{first} or {second}", f"{zero:.0f}", f"{one:.0f}", f"{merged:.0f}", told])
    return table(
        f"The {len(rows)} positions that most rows speak about: which of two columns is coarsened.",
        ["Position", "Columns", "Rows for 0", "Rows for 1", "Rows with neither", "Read as"],
        rows,
        numeric={2, 3, 4},
    )


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
    return _document("Robustness of copies", about, None, [_section("Curves", *charts), _section("Figures", figures)])


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
        sections.append(_section(title, *(_generations(name, values, best) for name, values, best in figures)))
        got, best = found.selection, exact
        sizes = f"{len(got.members)} and {len(best.members)}"
        rows.append([title, f"{got.value:.4f}", f"{best.value:.4f}", percent(got.gap), sizes])
    summary = table(
        "What both chose.",
        ["Search space and weights", "Genetic algorithm", "Optimum", "Gap", "Sizes"],
        rows,
        numeric={1, 2, 3, 4},
    )
    return _document(
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


def _section(title: str, *parts: object) -> Html:
    return el("section", el("h2", title), *parts)


def _document(title: str, about: str, banner: str | None, sections: Sequence[Html]) -> str:
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

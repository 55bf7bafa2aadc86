"""The page of a comparison: what is best, the map of risk and loss, the loss over what was varied, and all figures."""

from __future__ import annotations

from collections.abc import Sequence

from tarnkappe.comparison.comparing import Comparison, Setup, Spread
from tarnkappe.comparison.plot import Axis, Line, Mark, line_plot
from tarnkappe.metrics import metric_named
from tarnkappe.report.charts import figure_with_table
from tarnkappe.report.markup import Html, el, join, table, value
from tarnkappe.report.numbers import count, counted, figure
from tarnkappe.report.page import INTERNAL_MARK, page
from tarnkappe.report.parts import section

_RISKS = {
    "average": "share of records that somebody who knows the quasi-identifiers would find by guessing in their groups",
    "highest": "chance that such a guess is right for the most exposed record",
}


def render_comparison(comparison: Comparison) -> str:
    """One self-contained HTML document about a comparison, for the publisher only."""
    n_points = sum(len(s.points) for s in comparison.setups)
    body = el(
        "body",
        el(
            "div",
            el(
                "header",
                el("p", f"{INTERNAL_MARK}. Do not publish this page.", class_="banner"),
                el("p", "Comparison of releases, internal", class_="eyebrow"),
                el("h1", comparison.title, class_="v"),
                el(
                    "p",
                    f"{counted(n_points, 'job')} on {counted(comparison.n_records, 'record')}, decided and measured. "
                    "Nothing was released: the job of a chosen point is run, written and verified like any other.",
                    class_="lead",
                ),
            ),
            el(
                "main",
                section("map", "Risk and loss", render_map(comparison)),
                _front(comparison),
                _over_parameter(comparison),
                _figures(comparison),
            ),
            el("footer", el("p", INTERNAL_MARK), class_="internal"),
            class_="sheet",
        ),
    )
    return page(f"INTERNAL: {comparison.title}, comparison", body, style="figure{max-width:none}")


def render_map(comparison: Comparison) -> Html:
    """The map: risk to the right, loss upwards, a line for every algorithm, and the front of what nobody beats."""
    shown = [s for s in comparison.setups if s.on_map]
    if not shown:
        return el("p", "No point has both a risk and a loss, so there is no map.")
    front = {s.number for s in comparison.front}
    lines = []
    for name in dict.fromkeys(s.algorithm for s in shown):
        marks = [_mark(s, s.number in front) for s in shown if s.algorithm == name]
        lines.append(Line(name, sorted(marks, key=lambda m: (m.x.mean, m.y.mean))))
    x = Axis(f"risk of being found, {comparison.risk} (logarithmic)", log=True, percent=True)
    y = Axis(f"loss ({metric_named(comparison.loss).title})", from_zero=True)
    steps = [(s.risk.mean, s.loss.mean) for s in comparison.front if s.risk is not None and s.loss is not None]
    rows = (
        (
            s.number,
            value(s.algorithm),
            _words(s),
            _spread(s.risk),
            _spread(s.loss),
            "on the front" if s.number in front else "",
        )
        for s in shown
    )
    head = ("Point", "Algorithm", "Parameters", "Risk", "Loss", "Front")
    note = (
        f"Lower left is better. Risk: {_RISKS[comparison.risk]}. Rings and the dashed line mark the front: no other "
        "point has both less risk and less loss. Bars are standard deviations over seeds; numbers stand in the table."
    )
    return figure_with_table(
        line_plot("map", "Risk and loss of every point", x, y, lines, steps=steps),
        "Risk and loss",
        note,
        table("Points of the map", head, rows, numeric={0, 3, 4}),
    )


def _mark(setup: Setup, on_front: bool) -> Mark:
    assert setup.risk is not None
    assert setup.loss is not None
    said = f"{setup.number}: {setup.algorithm}, {_words(setup)}: risk {figure(setup.risk.mean)}, "
    label = str(setup.number) if on_front else ""
    return Mark(setup.risk, setup.loss, label, said + f"loss {figure(setup.loss.mean)}", ringed=on_front)


def _front(comparison: Comparison) -> Html:
    """The points that nobody beats, in words."""
    rows = (
        (
            s.number,
            value(s.algorithm),
            _words(s),
            _spread(s.risk),
            _spread(s.loss),
            count(round(s.mean("groups"))),
            count(round(s.mean("suppressed"))),
        )
        for s in comparison.front
    )
    head = ("Point", "Algorithm", "Parameters", "Risk", "Loss", "Groups", "Suppressed")
    return section(
        "front",
        "What nobody beats",
        el("p", "For every other point, one of these has neither more risk nor more loss."),
        table("The front, by rising risk", head, rows, numeric={0, 3, 4, 5, 6}),
        el("p", "To go on with one of them, with the options that this was compared with:", class_="small"),
        el("pre", el("code", "tarnkappe compare JOB.yaml … --choose POINT"), class_="wrap", tabindex="0"),
    )


def _over_parameter(comparison: Comparison) -> Html | None:
    """A line for every algorithm over the first parameter that was varied."""
    several = [name for name in comparison.vary if len({repr(s.varied[name]) for s in comparison.setups}) > 1]
    if not several:
        return None
    name = several[0]
    order = list(dict.fromkeys(repr(s.varied[name]) for s in comparison.setups))
    numbers = [s.varied[name] for s in comparison.setups]
    numeric = all(isinstance(x, (int, float)) and not isinstance(x, bool) and x > 0 for x in numbers)
    lines: dict[str, list[Mark]] = {}
    for s in comparison.setups:
        if s.loss is None:
            continue
        others = ", ".join(f"{_short(k)} {v}" for k, v in s.varied.items() if k != name)
        at = float(s.varied[name]) if numeric else float(order.index(repr(s.varied[name])))
        said = f"{s.number}: {s.algorithm}, {_words(s)}: loss {figure(s.loss.mean)}"
        label = f"{s.algorithm}, {others}" if others else s.algorithm
        lines.setdefault(label, []).append(Mark(Spread(at), s.loss, "", said))
    if not lines:  # the metric measures nothing of what these algorithms publish
        return None
    ticks = None if numeric else [(float(i), text) for i, text in enumerate(order)]
    if numeric:
        ticks = [(float(x), f"{x:g}") for x in sorted(set(numbers))]
    x = Axis(_short(name), log=numeric and max(numbers) > 8 * min(numbers), ticks=ticks)
    y = Axis(f"loss ({metric_named(comparison.loss).title})", from_zero=True)
    plotted = [Line(label, sorted(marks, key=lambda m: m.x.mean)) for label, marks in lines.items()]
    rows = ((value(line.label), join((f"{m.y.mean:.3g}" for m in line.marks), " · ")) for line in plotted)
    return section(
        "lines",
        f"Loss over {_short(name)}",
        figure_with_table(
            line_plot("lines", f"Loss over {_short(name)}", x, y, plotted),
            f"Loss of every algorithm over {_short(name)}",
            "Lower is better. Bars are standard deviations over seeds.",
            table("Losses", ("Algorithm", f"Loss, by rising {_short(name)}"), rows),
        ),
    )


def _figures(comparison: Comparison) -> Html:
    head = ("Point", "Algorithm", "Parameters", "Seeds", "Risk", "Loss", "Groups", "Smallest", "Suppressed", "Seconds")
    rows = (_row(s) for s in comparison.setups)
    unmapped = [s for s in comparison.setups if s.error is None and not s.on_map]
    return section(
        "figures",
        "All figures",
        table("Every point", head, rows, numeric={0, 3, 4, 5, 6, 7, 8, 9}),
        el(
            "p",
            f"{counted(len(unmapped), 'point')} cannot be on the map: what is published there does not hide who a "
            f"record is about, or is not measured by {metric_named(comparison.loss).title}.",
            class_="small",
        )
        if unmapped
        else None,
        el("p", "Seconds are those of a processor that decides, without reading and counting.", class_="small"),
    )


def _row(s: Setup) -> Sequence[object]:
    if s.error is not None:
        return (s.number, value(s.algorithm), _words(s), 0, el("span", s.error, class_="small"), *[""] * 5)
    smallest = min(m.smallest for m in s.released)
    return (
        s.number,
        value(s.algorithm),
        _words(s),
        len(s.released),
        _spread(s.risk),
        _spread(s.loss),
        count(round(s.mean("groups"))),
        count(smallest),
        count(round(s.mean("suppressed"))),
        f"{s.mean('seconds'):.2f}",
    )


def _spread(spread: Spread | None) -> str:
    if spread is None:
        return "–"
    return f"{spread.mean:.3g}" + (f" ± {spread.deviation:.1g}" if spread.deviation > 1e-9 else "")


def _words(setup: Setup) -> str:
    return ", ".join(f"{_short(name)} {x}" for name, x in setup.varied.items()) or "as in the job"


def _short(setting: str) -> str:
    """The last part of a setting, such as ``k`` of ``criteria.k``."""
    return setting.rsplit(".", maxsplit=1)[-1]

"""Lines with error bars as inline SVG: text keeps its size on every screen, colours follow the page.

Places are percentages to the right and pixels upwards, so a plot fits any width without being scaled. Lines differ in
colour and in the shape of their marks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tarnkappe.comparison.comparing import Spread
from tarnkappe.report.markup import Html, el, join

_HEIGHT, _TOP, _BASE = 440, 18, 380

#: Colours that can be told apart in both schemes, with a contrast of 3 : 1 on paper and on the dark page.
_COLOURS = ("#2b7bba", "#c2571a", "#2e8b57", "#a4508b", "#8a7400", "#c23b4b", "#4d6a8f", "#7a6652")

#: Shapes around 0, 0.
_SHAPES = (
    "M0,-5A5,5 0 1 1 -0.01,-5Z",
    "M-4.5,-4.5H4.5V4.5H-4.5Z",
    "M0,-6L5.5,4.5H-5.5Z",
    "M0,-6.2L6.2,0L0,6.2L-6.2,0Z",
    "M0,6L5.5,-4.5H-5.5Z",
    "M-2,-6H2V-2H6V2H2V6H-2V2H-6V-2H-2Z",
)

_TEXT = "fill:var(--ink,#1c2126)"
_MUTED = "fill:var(--muted,#56606a)"
_RULE = "stroke:var(--rule,#d5dbe0)"


@dataclass(frozen=True)
class Axis:
    """What an axis says, and how it is divided; `ticks` are places with their texts, found if not given."""

    title: str
    log: bool = False
    from_zero: bool = False
    percent: bool = False
    ticks: Sequence[tuple[float, str]] | None = None


@dataclass(frozen=True)
class Mark:
    """One point with its spreads, a short label, and what is said when somebody points at it."""

    x: Spread
    y: Spread
    label: str
    said: str
    ringed: bool = False


@dataclass(frozen=True)
class Line:
    """Points of one kind, in the order in which they are joined."""

    label: str
    marks: Sequence[Mark]


class Scale:
    """Where values lie between the ends of an axis, from 0 to 1."""

    def __init__(self, axis: Axis, values: Sequence[float]) -> None:
        low, high = min(values), max(values)
        if axis.from_zero:
            low = min(0.0, low)
        self.log = axis.log and low > 0
        if low == high:
            low, high = (low * 0.8, high * 1.25) if self.log else (low - 0.5, high + 0.5)
        if self.log:
            room = (high / low) ** 0.06
            low, high = low / room, high * room
        else:
            room = 0.06 * (high - low)
            low, high = (low if axis.from_zero and low == 0 else low - room), high + room
        self.low, self.high = low, high

    def at(self, x: float) -> float:
        """The place of a value."""
        x = min(max(x, self.low), self.high)
        if self.log:
            return math.log(x / self.low) / math.log(self.high / self.low)
        return (x - self.low) / (self.high - self.low)

    def ticks(self) -> list[float]:
        """Round values between the ends."""
        if not self.log:
            step = _round_step((self.high - self.low) / 6)
            first = math.ceil(self.low / step - 1e-9)
            return [i * step for i in range(first, math.floor(self.high / step + 1e-9) + 1)]
        powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        for factors in ((1, 2, 5), (1, 3), (1,)):
            found = [m * 10.0**e for e in powers for m in factors if self.low <= m * 10.0**e <= self.high]
            if len(found) <= 9:
                break
        return found


def _round_step(least: float) -> float:
    """The smallest of 1, 2, 5 times a power of ten that is not below `least`.

    >>> _round_step(0.03), _round_step(7)
    (0.05, 10.0)
    """
    power = 10.0 ** math.floor(math.log10(least))
    return next(round(m * power, 12) for m in (1, 2, 5, 10) if m * power >= least * (1 - 1e-9))


def line_plot(
    name: str, title: str, x: Axis, y: Axis, lines: Sequence[Line], steps: Sequence[tuple[float, float]] = ()
) -> Html:
    """Lines with their marks and error bars; `steps` is a front that is drawn as a dashed staircase."""
    marks = [m for line in lines for m in line.marks]
    across = Scale(
        x, [v for m in marks for v in (m.x.mean - m.x.deviation, m.x.mean + m.x.deviation) if v > 0 or not x.log]
    )
    up = Scale(y, [v for m in marks for v in (m.y.mean - m.y.deviation, m.y.mean + m.y.deviation)])

    def right(v: float) -> str:
        return f"{100 * across.at(v):.2f}%"

    def high(v: float) -> str:
        return f"{_BASE - (_BASE - _TOP) * up.at(v):.1f}"

    grid, labels = [], []
    for tick in up.ticks():
        grid.append(el("line", x1="0", x2="100%", y1=high(tick), y2=high(tick)))
        labels.append(el("text", f"{tick:.3g}", x="-8", y=high(tick), dy="4", text_anchor="end"))
    shown = x.ticks if x.ticks is not None else [(t, _percent(t) if x.percent else f"{t:.3g}") for t in across.ticks()]
    for tick, text in shown:
        grid.append(el("line", x1=right(tick), x2=right(tick), y1=_TOP, y2=_BASE))
        labels.append(el("text", text, x=right(tick), y=_BASE + 18, text_anchor="middle"))
    drawn = [_drawn(line, i, right, high) for i, line in enumerate(lines)]
    front = []
    for (x1, y1), (x2, y2) in pairwise(steps):
        front.append(el("line", x1=right(x1), y1=high(y1), x2=right(x2), y2=high(y1)))
        front.append(el("line", x1=right(x2), y1=high(y1), x2=right(x2), y2=high(y2)))
    described = f"{len(marks)} points of {len(lines)} algorithms; the same figures stand in the table below."
    return join(
        [
            _legend(lines),
            el(
                "svg",
                el("title", title, id=f"{name}-title"),
                el("desc", described, id=f"{name}-desc"),
                el("g", *grid, style=_RULE),
                el("g", *labels, style=_MUTED),
                el("g", *front, style="stroke:var(--ink,#1c2126);stroke-dasharray:5 4;stroke-width:1.25"),
                *drawn,
                el("text", y.title, x="-44", y="8", style=_MUTED),
                el("text", x.title, x="100%", y=_BASE + 40, style=_MUTED, text_anchor="end"),
                role="img",
                aria_labelledby=f"{name}-title {name}-desc",
                class_="chart",
                height=_HEIGHT,
                style="display:block;box-sizing:border-box;width:100%;padding-left:44px;overflow:visible;font-size:12px",
            ),
        ]
    )


def _drawn(line: Line, i: int, right: Callable[[float], str], high: Callable[[float], str]) -> Html:
    """One line with its marks; numbers stand beside them."""
    colour, parts, shape = _COLOURS[i % len(_COLOURS)], [], _SHAPES[i % len(_SHAPES)]
    for a, b in pairwise(line.marks):
        ends = {"x1": right(a.x.mean), "y1": high(a.y.mean), "x2": right(b.x.mean), "y2": high(b.y.mean)}
        parts.append(el("line", **ends, opacity="0.55"))
    for m in line.marks:
        x, y = right(m.x.mean), high(m.y.mean)
        if m.y.deviation > 0:
            low, top = high(m.y.mean - m.y.deviation), high(m.y.mean + m.y.deviation)
            parts.append(el("line", x1=x, x2=x, y1=low, y2=top))
        if m.x.deviation > 0:
            parts.append(el("line", x1=right(m.x.mean - m.x.deviation), x2=right(m.x.mean + m.x.deviation), y1=y, y2=y))
        ring = el("circle", r="9", style="fill:none;stroke:var(--ink,#1c2126);stroke-width:1.25") if m.ringed else None
        told = m.label and el("text", m.label, x="9", y="-7", style=f"{_TEXT};stroke:none", font_size="11")
        parts.append(
            el(
                "svg",
                el("title", m.said),
                ring,
                el("path", d=shape, style=f"fill:{colour};stroke:var(--paper,#fff);stroke-width:1"),
                told or None,
                x=x,
                y=y,
                overflow="visible",
            )
        )
    return el("g", *parts, style=f"stroke:{colour};stroke-width:2")


def _legend(lines: Sequence[Line]) -> Html:
    """Which shape and colour is which algorithm."""
    entries = []
    for i, line in enumerate(lines):
        sign = el(
            "svg",
            el("path", d=_SHAPES[i % len(_SHAPES)], style=f"fill:{_COLOURS[i % len(_COLOURS)]}"),
            viewBox="-8 -8 16 16",
            width="16",
            height="16",
            aria_hidden="true",
            style="vertical-align:-3px;margin-right:.375em",
        )
        entries.append(el("li", sign, el("span", line.label, class_="v")))
    look = "display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;margin:0 0 1rem;padding:0;list-style:none;font-size:.875rem"
    return el("ul", *entries, style=look, aria_label="Legend")


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"

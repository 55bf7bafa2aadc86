"""Charts as inline SVG: text keeps its size on every screen, colours follow the page, a table stands behind each.

Bars are placed in percent and text in pixels, so a chart fits 360 pixels as well as 1280 without being scaled. The room
for axis labels is padding of the SVG element itself; labels are drawn into it (``overflow: visible``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from tarnkappe.columns import ColumnSummary
from tarnkappe.report.markup import Html, el, join, shorten, table, value
from tarnkappe.report.numbers import compact, count, counted, percent

_MOST_BINS = 20
_MOST_BARS = 40
_MOST_WIDTHS = 4
#: From this ratio of largest to smallest group on, equal steps would hide the small groups.
_WIDE = 20
#: Where bins may begin within a decade, from fine to coarse.
_LOG_STEPS = ((1, 1.5, 2, 3, 4, 5, 7), (1, 1.5, 2, 3, 5, 7), (1, 2, 3, 5), (1, 2, 5), (1, 3), (1,))

_BAR = "fill:var(--bar,#2f6a94)"
_TRACK = "fill:var(--track,#e6ebef)"
_TEXT = "fill:var(--ink,#1c2126)"
_MUTED = "fill:var(--muted,#56606a)"
_RULE = "stroke:var(--rule,#d5dbe0)"
_AXIS = "stroke:var(--muted,#56606a)"


@dataclass(frozen=True)
class Bin:
    """Groups whose sizes lie between two bounds, both included."""

    low: int
    high: int
    groups: int
    records: int

    @property
    def label(self) -> str:
        """The sizes in words, such as ``10–14``."""
        return count(self.low) if self.low == self.high else f"{count(self.low)}–{count(self.high)}"


def size_bins(group_sizes: Iterable[tuple[int, int]]) -> tuple[Bin, ...]:
    """Gather group sizes into at most 20 bins: single sizes, equal steps, or growing steps when the range is wide.

    >>> [(b.label, b.groups) for b in size_bins([(5, 90), (6, 30), (8, 4)])]
    [('5', 90), ('6', 30), ('7', 0), ('8', 4)]
    """
    pairs = sorted(group_sizes)
    if not pairs:
        return ()
    size, groups = np.array(pairs, dtype=np.int64).T
    edges = np.array(_edges(int(size[0]), int(size[-1])), dtype=np.int64)
    slot = np.searchsorted(edges, size, side="right") - 1
    n_groups, n_records = np.zeros((2, len(edges) - 1), np.int64)
    np.add.at(n_groups, slot, groups)
    np.add.at(n_records, slot, groups * size)
    # Outer bins end where the sizes do: "5–9" must not read "4–9" when nothing is smaller than 5.
    low = np.maximum(edges[:-1], size[0])
    high = np.minimum(edges[1:] - 1, size[-1])
    return tuple(Bin(*map(int, b)) for b in zip(low, high, n_groups, n_records, strict=True))


def _edges(smallest: int, largest: int) -> list[int]:
    """Where bins begin, and one past the end of the last."""
    if largest - smallest < _MOST_BINS:
        return list(range(smallest, largest + 2))
    if largest <= _WIDE * smallest:
        step = _nice_step((largest - smallest + 1) / (_MOST_BINS - 1))
        first = smallest - smallest % step
        return list(range(first, largest + step + 1, step))
    for steps in _LOG_STEPS:
        grid = sorted({round(m * 10**e) for e in range(len(str(largest)) + 1) for m in steps})
        first = max(g for g in grid if g <= smallest)
        inner = [g for g in grid if first <= g <= largest]
        if len(inner) <= _MOST_BINS:
            break
    return [*inner, largest + 1]


def _nice_step(least: float) -> int:
    """The smallest of 1, 2, 5, 10, 20, 50, … that is not below `least`."""
    power = 1
    while True:
        for m in (1, 2, 5):
            if m * power >= least:
                return m * power
        power *= 10


def figure_with_table(chart: Html, caption: str, note: str, alternative: Html) -> Html:
    """A chart with its caption, a sentence about it, and the same figures as a table behind it."""
    return el(
        "figure",
        el("figcaption", caption, el("span", note, class_="small")),
        chart,
        el("details", el("summary", "The same figures as a table"), alternative),
    )


def size_histogram(group_sizes: Iterable[tuple[int, int]]) -> Html:
    """How many groups there are of which size, as a histogram with a table behind it."""
    bins = size_bins(group_sizes)
    if not bins:
        return el("p", "The release has no groups.")
    records = sum(b.records for b in bins)
    rows = ((b.label, count(b.groups), count(b.records), percent(b.records / records)) for b in bins)
    head = ("Records in the group", "Groups", "Records", "Share of records")
    return figure_with_table(
        _histogram_svg(bins),
        "Number of groups by size",
        "One bar per size."
        if _single(bins)
        else "A bar counts the groups from the size at its left edge up to the next.",
        table("Groups by size", head, rows, numeric={1, 2, 3}),
    )


def _single(bins: tuple[Bin, ...]) -> bool:
    return all(b.low == b.high for b in bins)


def _histogram_svg(bins: tuple[Bin, ...]) -> Html:
    top, base, height = 28, 208, 258
    most = max(b.groups for b in bins)
    step = _nice_step(most / 4)
    ceiling = -(-most // step) * step
    single = _single(bins)
    slot = 100 / max(len(bins), 8)
    gap = 0.2 if single else 0.04

    def y(groups: float) -> float:
        return base - (base - top) * groups / ceiling

    lines, labels, bars, ticks = [], [], [], []
    for groups in range(0, ceiling + 1, step):
        at = f"{y(groups):.1f}"
        lines.append(el("line", x1="0", x2="100%", y1=at, y2=at, style=None if groups else _AXIS))
        labels.append(el("text", compact(groups), x="-8", y=f"{y(groups) + 4:.1f}"))
    # On a narrow screen only every second or third label fits; the page's style hides the minor ones there.
    every = 1 if len(bins) <= 9 else 2 if len(bins) <= 14 else 3
    for i, b in enumerate(bins):
        if b.groups:
            tall = max(base - y(b.groups), 1.5)
            bars.append(
                el(
                    "rect",
                    el("title", f"{b.label} records: {counted(b.groups, 'group')}"),
                    x=f"{(i + gap / 2) * slot:.3f}%",
                    y=f"{base - tall:.1f}",
                    width=f"{(1 - gap) * slot:.3f}%",
                    height=f"{tall:.1f}",
                )
            )
        # A bin of several sizes is labelled where it begins, as on a ruler.
        left = (i + 0.5) * slot if single else i * slot
        minor = "minor" if i % every else None
        ticks.append(el("text", compact(b.low), x=f"{left:.3f}%", y=base + 18, class_=minor))
    smallest, largest = bins[0].low, bins[-1].high
    axis = f"records in the group, {count(smallest)} to {count(largest)}"
    peak = max(bins, key=lambda b: b.groups)
    described = (
        f"{counted(sum(b.groups for b in bins), 'group')} of {count(smallest)} to {count(largest)} records; "
        f"the commonest size is {peak.label} with {counted(peak.groups, 'group')}."
    )
    return el(
        "svg",
        el("title", "Number of groups by size", id="sizes-title"),
        el("desc", described, id="sizes-desc"),
        el("g", *lines, style=_RULE),
        el("g", *labels, style=_MUTED, text_anchor="end"),
        el("g", *bars, style=_BAR),
        el("g", *ticks, style=_TEXT, text_anchor="middle"),
        el("text", "groups", x="-44", y="10", style=_MUTED),
        el("text", axis, x="0", y=height - 8, style=_MUTED),
        role="img",
        aria_labelledby="sizes-title sizes-desc",
        class_="chart",
        height=height,
        style="display:block;box-sizing:border-box;width:100%;padding-left:44px;overflow:visible;font-size:12px",
    )


def kept_bars(columns: Iterable[ColumnSummary]) -> Html:
    """The detail kept per quasi-identifier, the most coarsened first, with a table behind it."""
    kept = sorted(((c.name, c.kept) for c in columns if c.kept is not None), key=lambda pair: pair[1])
    if not kept:
        return el("p", "No column was coarsened.")
    left = len(kept) - _MOST_BARS
    return join(
        [
            share_bars(
                "Detail kept by column",
                "100 % is published as it was, 0 % is nothing left. Higher is better.",
                ("Column", "Detail kept"),
                kept,
                name="kept",
            ),
            el("p", f"{counted(left, 'more column')} that kept more: see the table.", class_="small")
            if left > 0
            else None,
        ]
    )


def said_bars(columns: Iterable[ColumnSummary]) -> Html | None:
    """How much the cells of every column still say, with a table behind it; None if nothing was coarsened."""
    said = [(c.name, c.said) for c in columns if c.said is not None and c.said.cells]
    if not said:
        return None
    said.sort(key=lambda pair: (pair[1].exact, pair[1].coarser))
    shares = [(name, s.exact / s.cells, s.coarser / s.cells, s.nothing / s.cells) for name, s in said]
    head = ("Column", "The value itself", "A range or category", "Nothing", "Half of the ranges at most")
    widths = ["" if s.width is None else f"{s.width:g} wide" for _, s in said]
    rows = ((value(n), *map(percent, parts), w) for (n, *parts), w in zip(shares, widths, strict=True))
    caption = "What cells still say, by column"
    ranges = [f"of {name} are at most {s.width:g} wide" for name, s in said if s.width is not None]
    note = "Dark and in figures: the value itself. Light: a range or a category it is in. Empty: nothing." + (
        f" Half of the ranges {', '.join(ranges[:_MOST_WIDTHS])}." if ranges else ""
    )
    bars = [(name, exact, coarser) for name, exact, coarser, _ in shares]
    return figure_with_table(
        _bars_svg([(name, exact) for name, exact, _ in bars[:_MOST_BARS]], caption, "said", [c for _, _, c in bars]),
        caption,
        note,
        table(caption, head, rows, numeric={1, 2, 3, 4}),
    )


def share_bars(
    caption: str, note: str, head: tuple[str, str], shares: Sequence[tuple[str, float]], *, name: str
) -> Html:
    """Shares as bars from 0 to 100 percent, with a table behind them; `name` tells charts of a page apart."""
    rows = ((value(what), percent(share)) for what, share in shares)
    return figure_with_table(
        _bars_svg(shares[:_MOST_BARS], caption, name), caption, note, table(caption, head, rows, numeric={1})
    )


def _bars_svg(
    shares: Sequence[tuple[str, float]], caption: str, name: str, further: Sequence[float] | None = None
) -> Html:
    """Bars with their names above them; `further` shares go on where the bars end, in a lighter tone."""
    pitch = 40
    names, values, tracks, bars, lighter = [], [], [], [], []
    for i, (what, share) in enumerate(shares):
        y = i * pitch
        names.append(el("text", shorten(what, 36), y=y + 14))
        values.append(el("text", percent(share), x="100%", y=y + 14))
        tracks.append(el("rect", width="100%", height=8, y=y + 21))
        long = 100 * min(max(share, 0.0), 1.0)
        bars.append(el("rect", width=f"{long:.2f}%", height=8, y=y + 21))
        if further is not None:
            lighter.append(el("rect", x=f"{long:.2f}%", width=f"{100 * further[i]:.2f}%", height=8, y=y + 21))
    (first, one), (last, other) = shares[0], shares[-1]
    described = f"From {first} ({percent(one)}) to {last} ({percent(other)})."
    return el(
        "svg",
        el("title", caption, id=f"{name}-title"),
        el("desc", described, id=f"{name}-desc"),
        el("g", *names, style=_TEXT),
        el("g", *values, style=_TEXT, text_anchor="end", class_="tabular"),
        el("g", *tracks, style=_TRACK),
        el("g", *bars, style=_BAR),
        el("g", *lighter, style=_BAR, opacity="0.45") if lighter else None,
        role="img",
        aria_labelledby=f"{name}-title {name}-desc",
        class_="chart",
        height=len(shares) * pitch,
        style="display:block;width:100%;overflow:visible;font-size:13px",
    )

"""The figure of ``query_error.py``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from html import escape

_COLOURS = (
    *("#2b6cb0", "#c05621", "#2f855a", "#805ad5", "#b83280"),
    *("#4a5568", "#b7791f", "#2c7a7b", "#1a365d", "#e53e3e"),
)
_LEFT, _TOP, _WIDTH, _HEIGHT, _RIGHT = 60, 40, 420, 260, 170
_MARKS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)


def figure(medians: Mapping[str, Mapping[int, float]]) -> str:
    """Median relative errors, in powers of ten, over the number of predicates: one line for each algorithm."""
    values = [v for line in medians.values() for v in line.values() if v > 0]
    least = max((m for m in _MARKS if m <= min(values)), default=_MARKS[0])
    most = min((m for m in _MARKS if m >= max(values)), default=_MARKS[-1])
    numbers = sorted({d for line in medians.values() for d in line})

    def x(d: int) -> float:
        return _LEFT + _WIDTH * (d - numbers[0]) / max(numbers[-1] - numbers[0], 1)

    def y(value: float) -> float:
        share = math.log(min(max(value, least), most) / least) / math.log(most / least)
        return _TOP + _HEIGHT * (1 - share)

    width, height = _LEFT + _WIDTH + _RIGHT, _TOP + _HEIGHT + 50
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" '
        f'font-size="12"><rect width="{width}" height="{height}" fill="white"/>',
        f'<text x="{_LEFT}" y="20">Median relative error of 1 000 COUNT queries</text>',
        f'<text x="{_LEFT + _WIDTH / 2}" y="{height - 12}" text-anchor="middle">quasi-identifiers asked about</text>',
    ]
    for mark in (m for m in _MARKS if least <= m <= most):
        ends = f'x1="{_LEFT}" x2="{_LEFT + _WIDTH}" y1="{y(mark):.1f}" y2="{y(mark):.1f}"'
        parts.append(f'<line {ends} stroke="#ccc" stroke-width="0.5"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{y(mark) + 4:.1f}" text-anchor="end">{100 * mark:g} %</text>')
    for d in numbers:
        parts.append(f'<text x="{x(d):.1f}" y="{_TOP + _HEIGHT + 18}" text-anchor="middle">{d}</text>')
    names = sorted(medians, key=lambda name: y(medians[name][numbers[-1]]))
    place = _TOP - 16.0
    for name in names:
        colour = _COLOURS[list(medians).index(name) % len(_COLOURS)]
        points = [(x(d), y(value)) for d, value in sorted(medians[name].items())]
        line = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{colour}"/>' for a, b in points]
        place = max(points[-1][1] + 4, place + 16)  # names stand beside the ends of their lines, never on each other
        parts.append(f'<text x="{_LEFT + _WIDTH + 10}" y="{place:.1f}" fill="{colour}">{escape(name)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"

"""The figure of ``portfolio.py``."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

_COLOURS = ("#2b6cb0", "#2b6cb0", "#c05621", "#c05621")
_DASHES = ("", "6 4", "", "6 4")
_LEFT, _TOP, _WIDTH, _HEIGHT, _RIGHT = 70, 44, 480, 320, 220


def _ticks(most: float) -> list[float]:
    """Round numbers from 0 on, four to eight of them."""
    power = 10.0 ** math.floor(math.log10(most))
    step = next(m * power for m in (1, 0.5, 0.2, 0.1) if most / (m * power) >= 4)
    return [round(i * step, 10) for i in range(int(most / step) + 1)]


def figure(title: str, found: Mapping[str, Sequence[tuple[str, float, float]]], trivial: float) -> str:
    """PLoss to the right, ULoss upwards, one line for each way and criterion; the trivial table at the left edge."""
    right = max(p for points in found.values() for _, p, _ in points) * 1.06
    top = max(trivial, *(u for points in found.values() for _, _, u in points)) * 1.08

    def x(ploss: float) -> float:
        return _LEFT + _WIDTH * ploss / right

    def y(uloss: float) -> float:
        return _TOP + _HEIGHT * (1 - uloss / top)

    width, height = _LEFT + _WIDTH + _RIGHT, _TOP + _HEIGHT + 56
    base = _TOP + _HEIGHT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" '
        f'font-size="12"><rect width="{width}" height="{height}" fill="white"/>',
        f'<text x="{_LEFT}" y="20" font-size="14">{escape(title)}: what is lost for populations, what is told '
        "about one person</text>",
        f'<text x="{_LEFT}" y="37" fill="#555">ULoss, mean over large populations</text>',
        f'<text x="{_LEFT + _WIDTH}" y="{base + 36}" text-anchor="end" fill="#555">PLoss, the person who loses most'
        "</text>",
    ]
    for value in _ticks(right):
        parts.append(f'<text x="{x(value):.1f}" y="{base + 18}" text-anchor="middle">{value:g}</text>')
    for value in _ticks(top):
        parts.append(
            f'<line x1="{_LEFT}" x2="{_LEFT + _WIDTH}" y1="{y(value):.1f}" y2="{y(value):.1f}" stroke="#ddd"/>'
        )
        parts.append(f'<text x="{_LEFT - 8}" y="{y(value) + 4:.1f}" text-anchor="end">{value:g}</text>')
    parts.append(f'<path d="M{x(0) - 5:.1f},{y(trivial) - 5:.1f}h10v10h-10z" fill="#333"/>')
    parts.append(f'<text x="{x(0) + 10:.1f}" y="{y(trivial) - 8:.1f}">without quasi-identifiers</text>')
    for i, (name, points) in enumerate(found.items()):
        colour, dash = _COLOURS[i % 4], _DASHES[i % 4]
        line = " ".join(f"{x(p):.1f},{y(u):.1f}" for _, p, u in points)
        parts.append(
            f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"/>'
        )
        for said, p, u in points:
            shown = escape(f"{name}, {said}: PLoss {p:.3f}, ULoss {u:.4f}")
            parts.append(
                f'<circle cx="{x(p):.1f}" cy="{y(u):.1f}" r="3.5" fill="{colour}"><title>{shown}</title></circle>'
            )
        said, p, u = points[0]  # the weakest; stronger ones follow to the left
        below = 14 if i > 1 else -6
        parts.append(f'<text x="{x(p) + 6:.1f}" y="{y(u) + below:.1f}" fill="{colour}" font-size="11">{said}</text>')
        row = _TOP + 14 + 22 * i
        at = _LEFT + _WIDTH + 18
        parts.append(
            f'<line x1="{at}" x2="{at + 28}" y1="{row}" y2="{row}" stroke="{colour}" stroke-width="2" '
            f'stroke-dasharray="{dash}"/><text x="{at + 34}" y="{row + 4}">{escape(name)}</text>'
        )
    return "\n".join([*parts, "</svg>"]) + "\n"

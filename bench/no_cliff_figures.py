"""The table and the plot of ``no_cliff.py``."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

_COLOURS = {"k": "#2b6cb0", "k+l": "#c05621", "k+t": "#2f855a", "own": "#6b46c1"}
_WIDTH, _HEIGHT, _ACROSS = 190, 120, 5
_LEAST, _MOST = 0.01, 100.0


_HEAD = """## No cliff: every algorithm from 3 000 records to a million (`bench/no_cliff.py`)

CPU seconds of the decide step at normal effort, without compiling; loss (GCP, or percent of the squared error for
centres); peak memory. k = 10 alone, with 5-diverse and with 0.3-close occupations; *own* is the criterion that an
algorithm is made for. 3.3 times the records may cost 5 times the CPU (8 times where an algorithm says that it is
quadratic), and 100 000 records 20 seconds. A code such as E111 is a refusal: what the algorithm cannot promise, or more
records than it is for. A million records are measured only where 300 000 promise less than a minute.
"""


def write(
    found: Mapping[Any, Mapping[str, Any]], wrong: Sequence[str], waiting: Sequence[str], table: Path, plot: Path
) -> None:
    """Write both files; what is over a limit, and what waits to be measured, is said above the table."""
    over = [f"* {line}" for line in wrong] or ["Nothing that was measured is over its limit."]
    over += [f"\nNot measured yet: {line}." for line in waiting]
    picture = f"![CPU seconds over records, for every algorithm](results/{plot.name})"
    table.write_text("\n".join([_HEAD, *over, "", picture, "", _table(found)]), encoding="utf-8")
    plot.write_text(_plot(found), encoding="utf-8")


def _text(row: Mapping[str, Any] | None) -> str:
    """One measurement: CPU seconds, loss and megabytes."""
    if row is None:
        return ""
    if "cpu" in row:
        shown = {"gcp": "{:.4f}, ", "sse": "{:.2f} %, "}.get(row["metric"], "")  # tables of their own lose neither
        return f"{row['cpu']:.2g} s, {shown.format(row['loss'])}{row['peak_mb']} MB"
    return "stopped" if "stopped" in row else str(row.get("refused") or "failed")


def _table(found: Mapping[Any, Mapping[str, Any]]) -> str:
    sizes = sorted({key.rows for key in found})
    head = ["algorithm", "goal", *(f"{n:,}".replace(",", " ") for n in sizes)]
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    for algorithm, goal in sorted({(key.algorithm, key.goal) for key in found}):
        rows = {key.rows: row for key, row in found.items() if (key.algorithm, key.goal) == (algorithm, goal)}
        lines.append(f"| {algorithm} | {goal} | {' | '.join(_text(rows.get(n)) for n in sizes)} |")
    return "\n".join(lines) + "\n"


def _plot(found: Mapping[Any, Mapping[str, Any]]) -> str:
    """CPU seconds over records, both in powers of ten: one small picture for each algorithm."""
    names = sorted({key.algorithm for key in found})
    down = math.ceil(len(names) / _ACROSS)
    width, height = _ACROSS * _WIDTH, down * _HEIGHT + 24
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" '
        f'font-size="10"><rect width="{width}" height="{height}" fill="white"/>'
    ]
    for at, (goal, colour) in enumerate(_COLOURS.items()):
        parts.append(f'<text x="{10 + 60 * at}" y="15" fill="{colour}">{goal}</text>')
    title = "CPU seconds, 0.01 to 100, over records, 3 000 to a million"
    parts.append(f'<text x="{10 + 60 * len(_COLOURS)}" y="15">{title}</text>')
    for number, name in enumerate(names):
        left, top = number % _ACROSS * _WIDTH, number // _ACROSS * _HEIGHT + 24
        parts.append(_picture(name, {k: r for k, r in found.items() if k.algorithm == name}, left, top))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _picture(name: str, found: Mapping[Any, Mapping[str, Any]], left: int, top: int) -> str:
    def x(rows: int) -> float:
        return left + 10 + (_WIDTH - 25) * math.log(rows / 3e3) / math.log(1e6 / 3e3)

    def y(cpu: float) -> float:
        share = math.log(min(max(cpu, _LEAST), _MOST) / _LEAST) / math.log(_MOST / _LEAST)
        return top + _HEIGHT - 10 - (_HEIGHT - 35) * share

    parts = [f'<text x="{left + 10}" y="{top + 12}">{escape(name)}</text>']
    for cpu in (_LEAST, 1.0, _MOST):
        ends = f'x1="{left + 10}" x2="{left + _WIDTH - 15}" y1="{y(cpu):.1f}" y2="{y(cpu):.1f}"'
        parts.append(f'<line {ends} stroke="#ccc" stroke-width="0.5"/>')
    for goal, colour in _COLOURS.items():
        points = sorted((k.rows, r["cpu"]) for k, r in found.items() if k.goal == goal and "cpu" in r)
        line = " ".join(f"{x(rows):.1f},{y(cpu):.1f}" for rows, cpu in points)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        parts += [f'<circle cx="{x(rows):.1f}" cy="{y(cpu):.1f}" r="2" fill="{colour}"/>' for rows, cpu in points]
    return "\n".join(parts)

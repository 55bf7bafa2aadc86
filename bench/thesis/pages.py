"""Tables and plots of the thesis's experiments, ours beside the published figures."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

Rows = list[dict[str, Any]]

PHASES = ("read", "decide", "write", "verify", "report")


def write_report(figures: Path, thesis: Mapping[str, Any]) -> None:
    """Write ``report.md`` and the plots beside the figures."""
    found = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in figures.glob("*.json")}
    pages = {
        "scaling": _scaling,
        "diversity": _diversity,
        "partitions": _partitions,
        "workers": _workers,
        "others": _others,
    }
    parts = [page(found[name], thesis, figures) for name, page in pages.items() if name in found]
    (figures / "report.md").write_text("\n".join(parts), encoding="utf-8")


def _table(header: list[str], rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(header) + " |", "|" + "---:|" * len(header)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)]) + "\n"


def _scaling(rows: Rows, thesis: Mapping[str, Any], folder: Path) -> str:
    body = []
    for row in rows:
        n = row["rows"]
        total = sum(thesis[p][n] for p in ("preprocessing", "partitioning", "anonymisation") if n in thesis[p])
        body.append(
            [
                f"{n:,}",
                *(f"{row['phases'][p]:.1f}" for p in PHASES),
                f"{row['seconds']:.1f}",
                f"{total:.0f}" if total else "",
                f"{row['peak_gb']:.2f}",
                f"{row['iloss']:.4f}",
                str(thesis["iloss"].get(n, "")),
            ]
        )
    header = ["records", *(f"{p} s" for p in PHASES), "all s", "thesis s", "peak GB", "ILoss", "thesis ILoss"]
    n = [row["rows"] / 1e6 for row in rows]
    theirs = sorted(thesis["preprocessing"].items())
    _plot(
        folder / "scaling.svg",
        "records in millions",
        "seconds",
        {
            "Tarnkappe, two cores: all": (n, [row["seconds"] for row in rows]),
            "forming groups": (n, [row["phases"]["decide"] for row in rows]),
            "thesis, twelve cores: preprocessing alone": ([x / 1e6 for x, _ in theirs], [y for _, y in theirs]),
        },
        log=True,
    )
    return "### Vertical scaling (9.3), l = 10\n\n" + _table(header, body) + "\n![](thesis/figures/scaling.svg)\n"


def _diversity(rows: Rows, thesis: Mapping[str, Any], folder: Path) -> str:
    body = [[str(r["l"]), f"{r['decide']:.2f}", f"{r['iloss']:.4f}"] for r in rows]
    body[-1].append(str(thesis["iloss at l = 25"]))
    body = [[*row, ""][:4] for row in body]
    values = [r["l"] for r in rows]
    _plot(folder / "diversity.svg", "l", "ILoss", {"Tarnkappe": (values, [r["iloss"] for r in rows])})
    title = f"### Influence of l (9.4), {rows[0]['rows']:,} records\n\n"
    return title + _table(["l", "decide s", "ILoss", "thesis ILoss"], body) + "\n![](thesis/figures/diversity.svg)\n"


def _partitions(rows: Rows, thesis: Mapping[str, Any], folder: Path) -> str:
    body = [[str(r["partitions"]), f"{r['decide']:.2f}", f"{r['iloss']:.4f}"] for r in rows]
    values = [r["partitions"] for r in rows]
    _plot(folder / "partitions.svg", "partitions", "seconds", {"forming groups": (values, [r["decide"] for r in rows])})
    title = f"### Partitions (9.5), {rows[0]['rows']:,} records, l = 10, the algorithm of the papers\n\n"
    title += "The thesis's ILoss is about 0.06 throughout.\n\n"
    return title + _table(["partitions", "decide s", "ILoss"], body) + "\n![](thesis/figures/partitions.svg)\n"


def _workers(rows: Rows, thesis: Mapping[str, Any], folder: Path) -> str:
    body = [
        [
            str(r["executors"]),
            *(f"{r['phases'][p]:.1f}" for p in PHASES),
            f"{r['seconds']:.1f}",
            f"{r['iloss']:.4f}",
        ]
        for r in rows
    ]
    three, nine = thesis["preprocessing on 3, 9 nodes"]
    title = (
        f"### Workers (9.6), {rows[0]['rows']:,} records, Spark on this machine\n\n"
        f"The thesis went from 3 to 9 nodes: preprocessing {three} s to {nine} s for 100 million records. Here one or "
        "two executors of one core each share two cores with the driver.\n\n"
    )
    return title + _table(["executors", *(f"{p} s" for p in PHASES), "all s", "ILoss"], body)


def _others(rows: Rows, thesis: Mapping[str, Any], folder: Path) -> str:
    body = [[r["algorithm"], f"{r['decide']:.2f}", f"{r['slowest']:.2f}", f"{r['iloss']:.4f}"] for r in rows]
    title = f"### Beside other algorithms for clusters (9.8), {rows[0]['rows']:,} records, l = 10\n\n"
    title += "The thesis compares with the figures of the other papers; here all run on the same cells.\n\n"
    return title + _table(["algorithm", "decide s, mean", "slowest s", "ILoss"], body)


def _plot(path: Path, x: str, y: str, lines: Mapping[str, tuple[list[float], list[float]]], log: bool = False) -> None:
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "tarnkappe"  # the same figures give the same file
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 3.2), layout="constrained")
    for (name, (xs, ys)), marker in zip(lines.items(), "os^", strict=False):
        axes.plot(xs, ys, marker=marker, label=name)
    if log:
        axes.set_xscale("log")
        axes.set_yscale("log")
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)

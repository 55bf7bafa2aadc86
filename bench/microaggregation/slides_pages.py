"""Tables and plots of microaggregation: the slides' experiments, losses against the oracle, and speed."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

Rows = list[dict[str, Any]]

TITLES = {
    "mdav": "MDAV",
    "mdav-plus": "MDAV+",
    "mdav-star": "MDAV*",
    "v-mdav": "V-MDAV",
    "path": "path",
    "kanonymeans": "kAnonyMeans",
    "kanonymeans-star": "kAnonyMeans*",
    "tarn": "Tarn",
}
TABLES = {"census": "CENSUS", "eia": "EIA", "tarragona": "TARRAGONA", "simu": "SimU", "simc": "SimC"}

#: How much lower the slides say the loss of kAnonyMeans* is on average, in percent.
CLAIMED = {"mdav-plus": 17.4, "mdav-star": 11.6, "kanonymeans": 3.0}

#: Colours that are told apart without red and green, and markers for those who see none.
STYLES = dict(
    zip(
        TITLES,
        [
            ("#999999", "o"),
            ("#E69F00", "s"),
            ("#CC79A7", "D"),
            ("#009E73", "v"),
            ("#56B4E9", "P"),
            ("#0072B2", "^"),
            ("#D55E00", "*"),
            ("#000000", "x"),
        ],
        strict=True,
    )
)


def write_report(figures: Path, target: Path, runs: int) -> None:
    """Write the section of the results, and the plots beside the figures."""
    found = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in figures.glob("*.json")}
    parts = [
        "## Microaggregation: the experiments of the kAnonyMeans slides (`bench/microaggregation/slides.py`)\n\n"
        "Loss in percent, 100 · SSE / SST on standardised attributes; EIA with the 11 attributes of the literature, "
        "SimU and SimC with 1 000 records and 10 attributes (the slides do not say how theirs were made). One seed. "
        f"kAnonyMeans is the best of {runs} runs, which take about as long as kAnonyMeans*.\n"
    ]
    pages = {"losses": _losses, "histogram": _histogram, "runs": _runs, "speed": _speed}
    parts += [page(found[name], figures) for name, page in pages.items() if name in found]
    searched = {float(name.removeprefix("oracle-")): rows for name, rows in found.items() if name.startswith("oracle-")}
    if searched:
        parts.append(_oracle(dict(sorted(searched.items()))))
    target.write_text("\n".join(parts), encoding="utf-8")


def _table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = list(header)
    lines = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)]) + "\n"


def _losses(rows: Rows, folder: Path) -> str:
    at = {(row["data"], row["k"], row["method"]): row for row in rows}
    methods = [m for m in TITLES if any(row["method"] == m for row in rows)]
    tables = [t for t in TABLES if any(row["data"] == t for row in rows)]
    sizes = sorted({row["k"] for row in rows})
    parts = []
    for table in tables:
        body = []
        for k in sizes:
            cells = [at.get((table, k, m)) for m in methods]
            best = min((f"{c['loss']:.3f}" for c in cells if c), key=float, default="")
            shown = [f"{c['loss']:.3f}" if c else "" for c in cells]
            body.append([str(k), *(f"**{text}**" if text == best else text for text in shown)])
        parts.append(f"### {TABLES[table]}\n\n" + _table(["k", *(TITLES[m] for m in methods)], body))
    _plot_losses(folder / "losses.svg", at, tables, methods)
    parts.append("![Loss against k for each table and method](microaggregation/figures/losses.svg)\n")
    parts.append("### How much lower the loss of kAnonyMeans* is\n\n" + _gains(at, tables, sizes))
    parts.append("### Seconds, mean over all k\n\n" + _seconds(at, tables, methods, sizes))
    return "\n".join(parts)


def _gains(at: Mapping[tuple[str, int, str], Any], tables: list[str], sizes: list[int]) -> str:
    """By how many percent the evolution is better, per size and table and on average, beside the slides."""

    def gain(pairs: Iterable[tuple[str, int]], other: str) -> str:
        both = [(at.get((*p, "kanonymeans-star")), at.get((*p, other))) for p in pairs]
        shares = [100 * (1 - star["loss"] / old["loss"]) for star, old in both if star and old]
        return f"{sum(shares) / len(shares):.1f} %" if shares else ""

    everywhere = [(t, k) for t in tables for k in sizes]
    rows = [[f"k = {k}", *(gain([(t, k) for t in tables], other) for other in CLAIMED)] for k in sizes]
    rows += [[TABLES[t], *(gain([(t, k) for k in sizes], other) for other in CLAIMED)] for t in tables]
    rows.append(["all", *(gain(everywhere, other) for other in CLAIMED)])
    rows.append(["slides", *(f"{share:.1f} %" for share in CLAIMED.values())])
    return _table(["", *(f"than {TITLES[other]}" for other in CLAIMED)], rows)


def _seconds(at: Mapping[tuple[str, int, str], Any], tables: list[str], methods: list[str], sizes: list[int]) -> str:
    body = []
    for m in methods:
        cells = [[at[t, k, m]["seconds"] for k in sizes if (t, k, m) in at] for t in tables]
        body.append([TITLES[m], *(f"{sum(c) / len(c):.3f}" if c else "" for c in cells)])
    return _table(["", *(TABLES[t] for t in tables)], body)


def _histogram(found: dict[str, Any], folder: Path) -> str:
    spread = sorted(found["losses"])
    n = len(spread)
    figure, axes = _figure()
    axes.hist(spread, bins=40, color=STYLES["kanonymeans"][0], label=f"{n} runs of kAnonyMeans")
    _references(axes.axvline, found)
    axes.set_xlabel("loss in percent")
    axes.set_ylabel("runs")
    axes.legend(frameon=False)
    _save(figure, folder / "histogram.svg")
    text = (
        f"### {n:,} runs of kAnonyMeans on CENSUS, k = 3\n\n"
        f"Loss {spread[0]:.3f} to {spread[-1]:.3f}, mean {sum(spread) / n:.3f}, median {spread[n // 2]:.3f}"
    )
    for name in ("mdav-plus", "mdav-star"):
        if name in found:
            better = sum(x < found[name] for x in spread) / n
            text += f"; {better:.0%} of the runs below {TITLES[name]} ({found[name]:.3f})"
    text += f". {found['seconds']:.1f} s for all.\n\n"
    return text + "![Histogram of losses](microaggregation/figures/histogram.svg)\n"


def _runs(found: dict[str, Any], folder: Path) -> str:
    figure, axes = _figure()
    body = []
    names = [name for name in ("kanonymeans", "kanonymeans-star") if found.get(name)]
    for name in names:
        colour, marker = STYLES[name]
        x = [row["runs"] for row in found[name]]
        low, high = ([row[end] for row in found[name]] for end in ("min", "max"))
        axes.fill_between(x, low, high, color=colour, alpha=0.2, linewidth=0)
        axes.plot(x, high, color=colour, marker=marker, label=f"{TITLES[name]}, largest")
        axes.plot(x, low, color=colour, marker=marker, linestyle="--", label=f"{TITLES[name]}, smallest")
        body += [
            [TITLES[name], str(row["runs"]), f"{row['min']:.3f}", f"{row['max']:.3f}", f"{row['seconds']:.2f}"]
            for row in found[name]
        ]
    _references(axes.axhline, found)
    axes.set_xlabel("runs of κ-means")
    axes.set_ylabel("loss in percent")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, fontsize="small", ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    _save(figure, folder / "runs.svg")
    title = f"### Loss against the number of runs: CENSUS, k = 3, {found['repeats']} repetitions\n\n"
    table = _table(["", "runs", "smallest loss", "largest loss", "seconds each"], body)
    return title + table + "\n![Loss against runs](microaggregation/figures/runs.svg)\n"


def _oracle(searched: Mapping[float, Rows]) -> str:
    """The losses of Tarn after so many seconds, beside the best known and the proven bound."""
    longest = list(searched.values())[-1]
    head = ["table", "k", "MDAV + descent", *(f"Tarn, {s:g} s" for s in searched), "best known", "proven bound"]
    body = []
    for row in longest:
        same = [r for rows in searched.values() for r in rows if (r["data"], r["k"]) == (row["data"], row["k"])]
        reached = [f"{r['loss']:.4f} ({r['ratio']:.4f})" for r in same]
        bound = "" if row["bound"] is None else f"{row['bound']:.4f} ({row['loss'] / row['bound']:.4f})"
        body.append(
            [TABLES[row["data"]], str(row["k"]), f"{row['descent']:.4f}", *reached, f"{row['target']:.4f}", bound]
        )
    return (
        "### Tarn against the best known losses (`bench/microaggregation_oracle.py`)\n\n"
        "In brackets: our loss in terms of the best that was known; beside a proven bound, our last loss in terms of "
        "it. Two threads.\n\n" + _table(head, body)
    )


def _speed(rows: Rows, folder: Path) -> str:
    """Time and memory against the number of records."""
    body = []
    for row in rows:
        per = 1e6 * row["seconds"] / (row["n"] * math.log2(row["n"]))
        same = {True: "the same", False: "DIFFERENT", None: ""}[row.get("same")]
        cells = (f"{x:.2f}" for x in (row["seconds"], row["cpu"], per, row["loss"]))
        body.append([row["method"], f"{row['n']:,}", *cells, f"{row['peak_mb']:,}", same])
    figure, axes = _figure()
    styles = zip(dict.fromkeys(row["method"] for row in rows), list(STYLES.values())[1:], strict=False)
    for method, (colour, marker) in styles:
        own = [row for row in rows if row["method"] == method]
        x = [row["n"] for row in own]
        axes.plot(x, [row["seconds"] for row in own], color=colour, marker=marker, label=method)
    last = rows[-1]
    x = sorted({row["n"] for row in rows if row["n"] > 100_000})
    scale = last["seconds"] / (last["n"] * math.log(last["n"]))
    line = [scale * n * math.log(n) for n in x]
    axes.plot(x, line, color="#444444", linestyle=":", label="n log n through the last point")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("records")
    axes.set_ylabel("seconds")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, fontsize="small")
    _save(figure, folder / "speed.svg")
    return (
        "### Speed: normal records in 10 dimensions, k = 5 (`bench/microaggregation_speed.py`)\n\n"
        "`plain` is MDAV as it is written down, in NumPy; the last column says whether MDAV forms the same groups. "
        "There is no R on this machine: on one of this class the C++ of sdcMicro took 0.68 s for 10,000 records and "
        "2.5 s for 20,000. Up to 100,000 records refinement looks at more neighbours, and again and again. Beyond that "
        "the steps are as many as n log n, and caches make each of them a little slower in larger tables.\n\n"
        + _table(["method", "records", "s", "CPU s", "µs / (n log₂ n)", "loss", "peak MB", "groups"], body)
        + "\n![Seconds against records](microaggregation/figures/speed.svg)\n"
    )


def _references(line: Any, found: Mapping[str, Any]) -> None:
    """The losses of other methods as lines."""
    for name, style in (("mdav-plus", "--"), ("mdav-star", ":")):
        if name in found:
            line(found[name], color="#444444", linestyle=style, linewidth=1.2, label=TITLES[name])


def _figure(rows: int = 1, columns: int = 1, size: tuple[float, float] = (6, 3.4)) -> Any:
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "tarnkappe"  # the same figures give the same file
    from matplotlib import pyplot as plt

    return plt.subplots(rows, columns, figsize=size, layout="constrained")


def _save(figure: Any, path: Path) -> None:
    from matplotlib import pyplot as plt

    figure.savefig(path, metadata={"Date": None}, facecolor="white")
    plt.close(figure)


def _plot_losses(path: Path, at: Mapping[tuple[str, int, str], Any], tables: list[str], methods: list[str]) -> None:
    """The loss against k, a panel for each table, relative to MDAV+ so that small differences can be seen."""
    figure, grid = _figure(2, 3, (9, 5.4))
    panels = list(grid.flat)
    for axes, table in zip(panels, tables, strict=False):
        for m in methods:
            base = {k: row["loss"] for (t, k, other), row in at.items() if t == table and other == "mdav-plus"}
            xs = sorted(k for t, k, other in at if t == table and other == m and k in base)
            colour, marker = STYLES[m]
            ys = [100 * at[table, k, m]["loss"] / base[k] for k in xs]
            axes.plot(xs, ys, color=colour, marker=marker, markersize=5, linewidth=1.2, label=TITLES[m])
        axes.set_title(TABLES[table])
        axes.set_xscale("log")
        ticks = sorted({k for t, k, _ in at if t == table} - {4, 15, 25})
        axes.set_xticks(ticks, [str(k) for k in ticks])
        axes.minorticks_off()
        axes.grid(alpha=0.3)
        axes.set_xlabel("k")
        axes.set_ylabel("loss, MDAV+ = 100")
    for axes in panels[len(tables) :]:
        axes.set_axis_off()
    handles, labels = panels[0].get_legend_handles_labels()
    panels[-1].legend(handles, labels, frameon=False, loc="center")
    _save(figure, path)

"""Masks: utility at equal linkage risk, and the speed of masking beside a plain copy.

    python bench/masks.py risk [--people 1080]      rank swapping, noise and microaggregation on Census, EIA, Tarragona
    python bench/masks.py table < LINES             what `risk` printed, as bench/results/masks.md
    python bench/masks.py copy [--rows 10000000]    a masked table against a plain copy, both streamed
    python bench/masks.py keys [--rows 100000000]   pseudonyms for so many keys against a plain copy

The CASC tables are looked for in the folder of TARNKAPPE_DATA. Prints one JSON object per line.
"""

from __future__ import annotations

import argparse
import json
import secrets
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np
import polars as pl
from measure import DATA, ROOT, SCRATCH, timed

import tarnkappe as tk
from tarnkappe.datasets.loaders import load_casc
from tarnkappe.io import open_source
from tarnkappe.masking.linking import linked
from tarnkappe.masks import Mask

WHY = "a benchmark, about nobody in particular"
TARGETS = (0.02, 0.05, 0.1, 0.2)


def risk(people: int) -> Iterator[dict[str, object]]:
    """For every table and target: the weakest setting of each method whose links are rare enough, and what it costs."""
    for name in ("census", "eia", "tarragona"):
        frame = load_casc(name, DATA / "microaggregation").cast(pl.Float64)
        # More columns than an attacker compares at once would be a matter of their order.
        frame = frame.select(frame.columns[:12])
        tried = [
            (method, setting, *measured(frame, make(setting, frame), people))
            for method, (settings, make) in METHODS.items()
            for setting in settings
        ]
        for target in TARGETS:
            for method in METHODS:
                fits = [t for t in tried if t[0] == method and t[2] <= target]
                best = min(fits, key=lambda t: t[3], default=None)
                figures = (
                    {}
                    if best is None
                    else {"setting": best[1], "links": best[2], "loss": best[3], "correlations": best[4]}
                )
                yield {"table": name, "target": target, "method": method, **figures}


def measured(frame: pl.DataFrame, masked: pl.DataFrame, people: int) -> tuple[float, float, float]:
    """The largest share of right links, the mean move in standard deviations, and the mean change of correlations."""
    asked = tk.MaxLinkage(1.0, people=people, windows_percent=[1, 2, 5, 10, 15, 25, 50, 100])
    shares = linked(open_source(frame), open_source(masked), frame.columns, asked, np.random.default_rng(0))
    x, z = frame.to_numpy(), masked.to_numpy()
    scale = np.where(x.std(axis=0) > 0, x.std(axis=0), 1)
    with np.errstate(invalid="ignore"):
        change = np.abs(np.corrcoef(x, rowvar=False) - np.corrcoef(z, rowvar=False))
    return max(shares.values()), float((np.abs(x - z) / scale).mean()), float(np.nanmean(change))


def by_mask(make: Callable[[float, list[str]], Mask]) -> Callable[[float, pl.DataFrame], pl.DataFrame]:
    """The rows of a table in their order, masked and checked."""

    def masked(setting: float, frame: pl.DataFrame) -> pl.DataFrame:
        columns = [tk.Column("row", "keep", because=WHY), *(tk.Column(c, "keep", because=WHY) for c in frame.columns)]
        table = tk.mask(frame.with_row_index("row"), make(setting, frame.columns), columns=columns, seed=1).table
        return table.sort("row").drop("row")

    return masked


def microaggregated(k: float, frame: pl.DataFrame) -> pl.DataFrame:
    """MDAV with groups of k; row by row, found again through a kept number."""
    job = tk.Job(
        quasi=dict.fromkeys(frame.columns, tk.numeric()),
        columns=[tk.Column("row", "keep", because=WHY)],
        criteria=[tk.KAnonymity(int(k))],
        algorithm="mdav",
        seed=1,
    )
    table = job.anonymize(frame.with_row_index("row").cast({"row": pl.Int64})).table
    return table.sort("row").select(pl.col(frame.columns).cast(pl.Float64))


METHODS: dict[str, tuple[tuple[float, ...], Callable[[float, pl.DataFrame], pl.DataFrame]]] = {
    "rank swapping, light": (
        (1, 2, 5, 10, 15, 25, 50, 100),
        by_mask(lambda p, c: tk.RankSwapping(c, window_percent=p)),
    ),
    "rank swapping, bounded": (
        (1, 2, 5, 10, 15, 25, 50, 100),
        by_mask(lambda p, c: tk.RankSwapping(c, window_percent=p, tails="bounded")),
    ),
    "noise": ((0.01, 0.05, 0.1, 0.5, 1, 2, 5, 10), by_mask(lambda a, c: tk.AdditiveNoise(c, variance_share=a))),
    "noise, correlated and corrected": (
        (0.01, 0.05, 0.1, 0.5, 1, 2, 5, 10),
        by_mask(lambda a, c: tk.AdditiveNoise(c, variance_share=a, correlated=True, corrected=True)),
    ),
    "microaggregation (MDAV)": ((3, 5, 10, 20, 50, 100), microaggregated),
}


def table(lines: Iterable[str]) -> str:
    """What `risk` printed, as a section of the results: for each target, the cheapest setting and what it costs."""
    rows = [json.loads(line) for line in lines if line.startswith("{")]
    out = [
        "## Masks at equal linkage risk (`bench/masks.py risk`)",
        "",
        "CASC tables, twelve columns at most. The attacker knows all values and links by distance, rank interval and "
        "likelihood; the best attack counts. For each share of right links that is allowed: the mean move of a value "
        "in standard deviations, the mean change of correlations, and the setting (window in percent, variance share, "
        "k). Where there is a –, no setting that was tried has so few right links.",
        "",
        "Microaggregation moves values least at every risk and on every table. Correlated noise with Kim's correction "
        "moves them two to four times as far and leaves correlations best. Rank swapping leaves every column's own "
        "distribution exactly as it was, which neither of the others does, and pays with correlations.",
    ]
    for name in dict.fromkeys(row["table"] for row in rows):
        targets = list(dict.fromkeys(row["target"] for row in rows))
        out += ["", f"### {name}", "", f"| method | {' | '.join(f'links ≤ {t:.0%}' for t in targets)} |"]
        out.append("|---|" + "---:|" * len(targets))
        for method in dict.fromkeys(row["method"] for row in rows):
            found = {row["target"]: row for row in rows if (row["table"], row["method"]) == (name, method)}
            cells = [
                f"{r['loss']:.2f} · {r['correlations']:.3f} ({r['setting']:g})" if "loss" in (r := found[t]) else "–"
                for t in targets
            ]
            out.append(f"| {method} | {' | '.join(cells)} |")
    return "\n".join(out) + "\n"


def copy(rows: int) -> Iterator[dict[str, object]]:
    """Two numbers and a region masked, three columns kept: the run against a copy by Polars."""
    rng = np.random.default_rng(1)
    data = SCRATCH / f"masks-{rows}.csv"
    if not data.exists():
        SCRATCH.mkdir(exist_ok=True)
        amounts = {name: np.round(rng.lognormal(8, 1, rows), 2) for name in ("income", "tax")}
        names = {name: rng.choice([f"{name} {i}" for i in range(20)], rows) for name in ("region", "branch", "degree")}
        pl.DataFrame({**amounts, **names, "hours": rng.integers(0, 60, rows)}).write_csv(data)
    masks = [
        tk.AdditiveNoise(["income", "tax"], variance_share=0.1, correlated=True, corrected=True),
        tk.Pram("region", stay_share=0.8),
    ]
    yield from against_copy(data, masks, rows, [])


def keys(rows: int) -> Iterator[dict[str, object]]:
    """A column of keys and an answer beside each."""
    data, key = SCRATCH / f"keys-{rows}.csv", SCRATCH / "masks.key"
    if not data.exists():
        SCRATCH.mkdir(exist_ok=True)
        number = pl.int_range(rows, eager=True).cast(pl.String).str.zfill(10)
        pl.select(id=pl.lit("K") + number, answer=pl.int_range(rows) % 5).write_csv(data)
    if not key.exists():
        key.write_text(secrets.token_hex(32))
    yield from against_copy(data, [tk.Pseudonyms("id", key=str(key))], rows, [tk.Column("id", "identifier")])


def against_copy(data: Path, masks: list[Mask], rows: int, columns: list[tk.Column]) -> Iterator[dict[str, object]]:
    """The run beside a copy of the same file, with all of its columns, into the same format.

    Polars streams the copy, and takes every column as the text that it is: no copy is swifter, and this is the one that
    counts. Beside it stands one that reads numbers as such, as Polars does unless it is told not to. The run checks and
    reads the file, masks it, puts records in random order, writes, reads back, and recomputes what masks keep. Kernels
    are compiled before, as they are once for every installation.
    """

    def copied(**options: bool) -> None:
        pl.scan_csv(data, **options).sink_csv(SCRATCH / "copy.csv")
        (SCRATCH / "copy.csv").unlink()

    names = pl.scan_csv(data).collect_schema().names()
    known = {c.name for c in columns}
    kept = [tk.Column(name, "keep", because=WHY) for name in names if name not in known]

    def masked(table: Path) -> dict[str, float]:
        release = tk.mask(table, masks, columns=[*columns, *kept], folder=SCRATCH / "masked", overwrite=True, seed=1)
        return dict(release.private_manifest["seconds"])

    few = SCRATCH / "masks-few.csv"  # as large as a file must be to be read part by part
    with data.open("rb") as whole:
        few.write_bytes(b"".join(whole.readlines(40 << 20)))
    masked(few)
    few.unlink()
    _, copy_wall, copy_cpu = timed(lambda: copied(infer_schema=False))
    _, parsed_wall, parsed_cpu = timed(copied)
    phases, wall, cpu = timed(lambda: masked(data))
    shutil.rmtree(SCRATCH / "masked")
    figures = {"copy": copy_wall, "masked": wall, "times": wall / copy_wall}
    figures |= {"copy_cpu": copy_cpu, "masked_cpu": cpu, "times_cpu": cpu / copy_cpu}
    figures |= {"parsing_copy": parsed_wall, "parsing_copy_cpu": parsed_cpu, "times_parsing": wall / parsed_wall}
    yield {"rows": rows, **{name: round(value, 2) for name, value in figures.items()}, **phases}


def main() -> None:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("risk", "table", "copy", "keys"))
    parser.add_argument("--rows", type=int)
    parser.add_argument("--people", type=int, default=5000)
    given = parser.parse_args()
    if given.what == "table":
        (ROOT / "results" / "masks.md").write_text(table(sys.stdin), encoding="utf-8")
        return
    found = {
        "risk": lambda: risk(given.people),
        "copy": lambda: copy(given.rows or 10_000_000),
        "keys": lambda: keys(given.rows or 100_000_000),
    }
    for line in found[given.what]():
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()

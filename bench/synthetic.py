"""Made-up people against generalisation at equal membership risk, on Adult (if it is there) or a synthetic census.

    python bench/synthetic.py [--people 10000] [--repeats 5] [--small] [--methods marginals copula]

The people are cut into two halves, again and again. A release is made of one half, and an attacker says of everybody
whether they were in it, by how near the nearest published record is. Whoever reads generalised labels draws a value
from each; then all tables are compared in the same way. Prints one JSON line per method and
setting: AUC, the share found at 1 % false alarms, how far pairs of columns are off, and pMSE. Then, for some risks, the
setting of each method that keeps most without being riskier.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator

import numpy as np
import polars as pl
from measure import DATA

import tarnkappe as tk
from tarnkappe.datasets import census, load_adult
from tarnkappe.synthetic.domains import Names, Numbers
from tarnkappe.synthetic.quality import Tried, exposure, likeness

#: The share of members found at 1 % false alarms that is still accepted.
RISKS = (0.0125, 0.015, 0.02, 0.04, 1.0)
#: Columns of names with more values are left out: nobody generalises them without a taxonomy.
MOST = 50

Make = Callable[[np.ndarray, np.random.Generator], np.ndarray]


def coded(people: pl.DataFrame) -> tuple[np.ndarray, tuple[Names | Numbers, ...]]:
    """A table as codes, names in the order of how common they are, and the domains of its columns."""
    columns, domains = [], []
    for series in people:
        if series.dtype.is_numeric():
            values = series.to_numpy().astype(np.int64)
            lo = np.arange(values.min(), values.max() + 1)
            domains.append(Numbers(series.name, -1, lo, lo, 1.0, 0))
            columns.append(values - values.min())
        else:
            counts = series.cast(pl.String).value_counts(sort=True)
            texts = tuple(counts[series.name])
            domains.append(Names(series.name, -1, texts, 0))
            columns.append(domains[-1].encode(series))
    return np.column_stack(columns).astype(np.int32), tuple(domains)


def frame_of(codes: np.ndarray, domains: tuple) -> pl.DataFrame:
    """Codes as a table of whole numbers, which every method can read."""
    return pl.DataFrame({d.name: codes[:, j].astype(np.int64) for j, d in enumerate(domains)})


def generalised(k: int, domains: tuple) -> Make:
    """Mondrian, and a value drawn from every label."""

    def make(codes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        quasi = {d.name: tk.numeric() for d in domains}
        table = (
            tk.Job(quasi=quasi, criteria=[tk.KAnonymity(k)], algorithm="mondrian", seed=1)
            .anonymize(frame_of(codes, domains))
            .table
        )
        return drawn_from(table, domains, rng)

    return make


def drawn_from(table: pl.DataFrame, domains: tuple, rng: np.random.Generator) -> np.ndarray:
    """A value from every label, any of those that it stands for."""
    out = []
    for d in domains:
        ends = table[d.name].cast(pl.String).str.extract_all(r"\d+")
        low = ends.list.first().cast(pl.Int64).fill_null(0).to_numpy()
        high = ends.list.last().cast(pl.Int64).fill_null(d.size - 1).to_numpy()
        out.append(rng.integers(low, high + 1))
    return np.column_stack(out).astype(np.int32)


def made_up(method: str, domains: tuple, **settings: object) -> Make:
    """A method of the package; what values there are is declared, for a mechanism needs that."""
    columns: dict[str, object] = {}
    for d in domains:
        if isinstance(d, Numbers):
            columns[d.name] = {"low": 0, "high": d.size - 1, "width": max(1, d.size // 20)}
        else:
            columns[d.name] = [str(i) for i in range(d.size)]
    if method in ("trees", "copula"):
        columns = {d.name: "numeric" if isinstance(d, Numbers) else "categorical" for d in domains}

    def make(codes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        release = tk.synthesize(
            frame_of(codes, domains), method, columns=columns, audit=False, seed=int(rng.integers(1 << 40)), **settings
        )
        if method == "diffgen":
            return drawn_from(release.table, domains, rng)
        out = []
        for j, d in enumerate(domains):
            column = release.table[d.name].cast(pl.String).cast(pl.Int64, strict=False)
            usual = int(np.bincount(codes[:, j]).argmax())  # what is missing or pooled counts as the commonest
            out.append(column.fill_null(usual).to_numpy())
        return np.column_stack(out).astype(np.int32)

    return make


def contestants(domains: tuple, small: bool) -> Iterator[tuple[str, str, Make]]:
    """Every method with its settings."""
    for k in (5, 50) if small else (2, 5, 10, 25, 50, 100, 250):
        yield "mondrian", f"k={k}", generalised(k, domains)
    for k in (10,) if small else (5, 10, 25, 50, 100, 250):
        yield "trees", f"k={k}", made_up("trees", domains, k=k)
    yield "copula", "k=10", made_up("copula", domains, k=10)
    for epsilon in (1.0,) if small else (0.1, 0.3, 1.0, 3.0, 10.0):
        yield "marginals", f"epsilon={epsilon}", made_up("marginals", domains, epsilon=epsilon)
        if not small:
            yield (
                "marginals",
                f"epsilon={epsilon}, delta=1e-6",
                made_up("marginals", domains, epsilon=epsilon, delta=1e-6),
            )
        target = domains[-1].name
        yield "diffgen", f"epsilon={epsilon}", made_up("diffgen", domains, epsilon=epsilon, target=target)


def measured(codes: np.ndarray, domains: tuple, make: Make, repeats: int) -> dict[str, float]:
    """The means over several cuts into halves."""
    rows = []
    for seed in range(repeats):
        made: list[np.ndarray] = []

        def tried(half: np.ndarray, rng: np.random.Generator, made: list[np.ndarray] = made) -> Tried:
            made.extend([half, make(half, rng)])
            return Tried(made[1], domains, lambda c: c)

        began = time.process_time()
        risk = exposure(codes, tried, np.random.default_rng(seed))
        assert risk is not None
        alike = likeness(made[0], made[1], domains)
        rows.append(
            (risk.auc, risk.found, risk.nearer, alike.mean_pair, alike.propensity.pmse, time.process_time() - began)
        )
    names = ("auc", "found", "nearer", "pairs_off", "pmse", "cpu")
    return dict(zip(names, np.mean(rows, axis=0).round(4).tolist(), strict=True))


def main() -> None:
    """Measure, and compare at equal risk."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--small", action="store_true", help="few settings, to see that it runs")
    parser.add_argument("--methods", nargs="+", default=[], help="these alone")
    given = parser.parse_args()
    folder = DATA / "adult"
    people = load_adult(folder)[0] if folder.is_dir() else census(given.people, 1)
    people = people.sample(min(given.people, people.height), seed=1)
    kept = [s.name for s in people if s.dtype.is_numeric() or s.n_unique() <= MOST]
    codes, domains = coded(people.select(kept))
    whose = "adult" if folder.is_dir() else "synthetic census"
    print(json.dumps({"people": whose, "records": people.height, "columns": kept}), flush=True)
    found = []
    for method, setting, make in contestants(domains, given.small):
        if given.methods and method not in given.methods:
            continue
        line = {"method": method, "setting": setting, **measured(codes, domains, make, given.repeats)}
        found.append(line)
        print(json.dumps(line), flush=True)
    for risk in RISKS:
        best: dict[str, dict] = {}
        for line in found:
            if line["found"] <= risk and line["pairs_off"] < best.get(line["method"], {"pairs_off": 2})["pairs_off"]:
                best[line["method"]] = line
        told = {m: {"setting": x["setting"], "pairs_off": x["pairs_off"], "found": x["found"]} for m, x in best.items()}
        print(json.dumps({"members found at most": risk, **told}), flush=True)


if __name__ == "__main__":
    main()

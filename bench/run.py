"""Runs benchmarks, peers side by side in one run, and writes bench/RESULTS.md.

    python bench/run.py                      all sections
    python bench/run.py mondrian k-optimize  some of them
    python bench/run.py --compose            none: only puts RESULTS.md together again

Every section is a file in bench/results/, and RESULTS.md is all of them: a section that is measured anew replaces its
own file and no other. Nothing else should run on the machine meanwhile. Peers that are not installed are left out and
said so.
"""

from __future__ import annotations

import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from measure import DATA, PEERS, ROOT, SCRATCH, command, in_process, printed
from tables import ADULT_QUASI, census_file

Row = dict[str, Any]


def seconds(row: Row, key: str = "seconds") -> str:
    value = row.get(key)
    return row.get("error", "–") if value is None else f"{value:.3g} s"


def ratio(slow: Row, fast: Row, key: str = "seconds") -> str:
    return f"{slow[key] / fast[key]:,.0f}x" if key in slow and key in fast else "–"


def number(row: Row, key: str, form: str = ",.0f") -> str:
    return f"{row[key]:{form}}" if key in row else "–"


def mondrian() -> list[str]:
    """Decide step of Mondrian, k = 5, ours and anonypy's on the same tables with the same ruler for the loss."""
    out = [
        "## Mondrian, k = 5, decide step",
        "",
        "Loss: mean of (values in the group − 1) / (values in the table − 1), numbers by extent.",
        "",
        "| table | tool | decide | CPU | groups | smallest | loss | peak memory | speed-up |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for table in ("adult-30k", "adult-300k", "census-1M-x8"):
        ours = in_process("mondrian_tarnkappe.py", table)
        peer = in_process("mondrian_anonypy.py", table, python=PEERS, timeout=120)
        for tool, row, gain in (("tarnkappe", ours, ratio(peer, ours)), ("anonypy", peer, "")):
            out.append(
                f"| {table} | {tool} | {seconds(row)} | {seconds(row, 'cpu')} | {number(row, 'groups')} | "
                f"{number(row, 'smallest')} | {number(row, 'loss', '.4f')} | {number(row, 'peak_mb')} MB | {gain} |"
            )
    return out


def full_domain() -> list[str]:
    """Greedy full-domain generalisation, and checking k and t of the result."""
    out = [
        "## Full-domain, k = 5, at most 2 % suppressed; then checking k and t of the release",
        "",
        "| table | tool | decide | suppressed | groups | k | check k and t | decide speed-up | check speed-up |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for table in ("adult-30k", "adult-300k"):
        ours = in_process("fulldomain_tarnkappe.py", table)
        peer = in_process("fulldomain_anjana.py", table, python=PEERS)
        gains = (ratio(peer, ours), ratio(peer, ours, "check_seconds"))
        for tool, row, (gain, check) in (
            ("tarnkappe (Datafly)", ours, gains),
            ("anjana + pycanon", peer, ("", "")),
        ):
            out.append(
                f"| {table} | {tool} | {seconds(row)} | {number(row, 'suppressed')} | {number(row, 'groups')} | "
                f"{number(row, 'k')} | {seconds(row, 'check_seconds')} | {gain} | {check} |"
            )
    return out


def whole_command() -> list[str]:
    """The command line from process start to a verified file."""
    tool = shutil.which("tarnkappe", path=str(Path(sys.executable).parent)) or "tarnkappe"
    with tempfile.TemporaryDirectory() as folder:
        job = Path(folder) / "adult.yaml"
        job.write_text(_adult_job())
        run = command(tool, "run", str(job), "-o", f"{folder}/release", "--overwrite", "--seed", "7", repeat=4)
    usage = command(tool, "--help", repeat=5)
    return [
        "## The command line (kernels cached, best of several runs)",
        "",
        "| command | wall | CPU | peak memory |",
        "|---|---|---|---|",
        f"| `tarnkappe --help` | {seconds(usage)} | {seconds(usage, 'cpu')} | {number(usage, 'peak_mb')} MB |",
        "| `tarnkappe run adult.yaml` (30 162 × 7, k = 5 and 3-diverse, to a verified CSV with report) | "
        f"{seconds(run)} | {seconds(run, 'cpu')} | {number(run, 'peak_mb')} MB |",
    ]


def _adult_job() -> str:
    columns = "\n".join(
        f"  {name}: {{role: quasi, taxonomy: {{kind: file, path: {DATA / 'adult' / f'adult_hierarchy_{name}.csv'}}}}}"
        if name != "age"
        else "  age: {role: quasi, type: numeric}"
        for name in ADULT_QUASI
    )
    return (
        f"version: 1\ndata: {{path: {DATA / 'adult' / 'adult.csv'}}}\ncolumns:\n{columns}\n"
        "  occupation: {role: sensitive}\n  salary-class: {role: drop}\n"
        "criteria:\n  - k-anonymity: {k: 5}\n  - l-diversity: {column: occupation, l: 3}\n"
    )


def large(rows: int = 10_000_000) -> list[str]:
    """Parquet to verified Parquet against what Polars needs for reading, grouping and writing."""
    census_file(rows)
    copy, run = in_process("polars_copy.py", str(rows)), in_process("run_census.py", str(rows))
    again = in_process("run_census.py", str(rows))
    if again.get("seconds", float("inf")) < run.get("seconds", float("inf")):
        run = again
    phases = ", ".join(f"{name} {value:.1f}" for name, value in run.get("phases", {}).items())
    return [
        f"## {rows:,} records × 8 quasi-identifiers, k = 10, Parquet in, verified Parquet out",
        "",
        "| what | wall | CPU | peak memory | groups |",
        "|---|---|---|---|---|",
        f"| Polars: read, group by the quasi-identifiers, write | {seconds(copy)} | {seconds(copy, 'cpu')} | "
        f"{number(copy, 'peak_mb')} MB | {number(copy, 'groups')} |",
        f"| `run_job`: count, decide, write, verify, report | {seconds(run)} | {seconds(run, 'cpu')} | "
        f"{number(run, 'peak_mb')} MB | {number(run, 'groups')} |",
        "",
        f"Ratio {run['seconds'] / copy['seconds']:.2f} (target at most 3). Seconds by phase: {phases}. "
        f"GCP {number(run, 'loss', '.4f')}, verified: {run.get('verified')}."
        if "seconds" in run and "seconds" in copy
        else "not completed",
    ]


def search() -> list[str]:
    """Optimal full-domain search beside ARX."""
    oracle = str(DATA.parent / "oracles" / "adult_fulldomain.json")
    return [
        "## Full-domain search (`bench/fulldomain_speed.py`)",
        "",
        "Flash, metric Loss, Adult with nine (eight) quasi-identifiers. CPU times; ARX's are those of the oracle file. "
        "The whole process starts as the command does, with kernels cached; importing numba, numpy and polars alone "
        "takes 0.75 s of it. Asked for: decide never slower and three times as fast in the median, the whole process "
        "never slower and twice as fast in the median.",
        "",
        *printed("fulldomain_speed.py", oracle),
        "",
        f"`bench/fulldomain_oracle.py`, all nodes checked: {printed('fulldomain_oracle.py', oracle)[-1]}.",
    ]


def local_recoding() -> list[str]:
    """All local recodings."""
    return [
        "## Local recoding (`bench/local_recoding.py`)",
        "",
        "Adult, 30 162 records, eight quasi-identifiers; GCP without → with three passes of swaps, CPU seconds of the "
        "decide step with swaps.",
        "",
        *printed("local_recoding.py"),
    ]


def k_optimize() -> list[str]:
    """Exact search over cuts: the gap after some branches, and how many prove the optimum."""
    out = [
        "## K-Optimize (`bench/k_optimize.py`)",
        "",
        "Adult, seven quasi-identifiers, 91 cuts, no suppression, discernibility.",
        "",
        "| k | gap after 5 000 nodes | optimum proved |",
        "|---|---|---|",
    ]
    for k in ("25", "10", "5"):
        early, late = (in_process("k_optimize.py", k, nodes, "0") for nodes in ("5000", "100000"))
        proved = f"{number(late, 'cost')} after {number(late, 'nodes')} nodes, {seconds(late)}"
        out.append(
            f"| {k} | {number(early, 'gap', '.2%')} ({seconds(early)}) | {proved if late.get('optimal') else '–'} |"
        )
    return out


def classification() -> list[str]:
    """What a classifier learns from releases."""
    return [
        "## Classification (`bench/tds_classification.py`)",
        "",
        "A decision tree trained on two thirds of a release of Adult and tested on the rest, target `salary-class`, "
        "mean of ten splits; the slowest release is from a data frame to the verified release.",
        "",
        *printed("tds_classification.py"),
    ]


#: The sections in their order, by the names of their files.
SECTIONS: dict[str, Callable[[], list[str]]] = {
    "mondrian": mondrian,
    "full-domain": full_domain,
    "command-line": whole_command,
    "large": large,
    "search": search,
    "local-recoding": local_recoding,
    "k-optimize": k_optimize,
    "classification": classification,
}


def compose() -> None:
    """Put RESULTS.md together: the known sections in their order, then whatever else there is."""
    known = [ROOT / "results" / f"{name}.md" for name in SECTIONS]
    others = sorted(set((ROOT / "results").glob("*.md")) - set(known))
    head = (
        "# Benchmark results\n\n"
        f"Made by `make bench` on {os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}; "
        "each section is a file in `bench/results/` and can be made by itself (`bench/run.py`). Every measurement runs "
        "in a process of its own; wall times unless stated.\n"
    )
    texts = [path.read_text(encoding="utf-8") for path in [*known, *others] if path.exists()]
    (ROOT / "RESULTS.md").write_text("\n".join([head, *texts]), encoding="utf-8")


def main() -> None:
    asked = sys.argv[1:]
    if asked == ["--compose"]:
        compose()
        return
    unknown = set(asked) - set(SECTIONS)
    if unknown:
        sys.exit(f"unknown section {', '.join(sorted(unknown))}; known: {', '.join(SECTIONS)}")
    SCRATCH.mkdir(exist_ok=True)
    for name in asked or SECTIONS:
        text = "\n".join(SECTIONS[name]()) + "\n"
        (ROOT / "results" / f"{name}.md").write_text(text, encoding="utf-8")
        print(text, flush=True)
        compose()


if __name__ == "__main__":
    main()

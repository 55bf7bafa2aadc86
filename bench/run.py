"""Runs all benchmarks, peers side by side in one run, and writes bench/RESULTS.md.

Nothing else should run on the machine meanwhile. Peers that are not installed are left out and said so.
"""

from __future__ import annotations

import os
import platform
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from measure import DATA, PEERS, ROOT, SCRATCH, command, in_process
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
        "",
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
        "",
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


def large(rows: int) -> list[str]:
    """Parquet to verified Parquet against what Polars needs for reading, grouping and writing."""
    census_file(rows)
    copy, run = in_process("polars_copy.py", str(rows)), in_process("run_census.py", str(rows))
    again = in_process("run_census.py", str(rows))
    if again.get("seconds", float("inf")) < run.get("seconds", float("inf")):
        run = again
    phases = ", ".join(f"{name} {value:.1f}" for name, value in run.get("phases", {}).items())
    return [
        "",
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


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    SCRATCH.mkdir(exist_ok=True)
    lines = [
        "# Benchmark results",
        "",
        f"Made by `make bench` on {os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}. "
        "Every measurement runs in a process of its own; wall times unless stated.",
        "",
    ]
    for section in (mondrian, full_domain, whole_command, lambda: large(rows)):
        lines += section()
        print("\n".join(lines[-12:]), flush=True)
    (ROOT / "RESULTS.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()

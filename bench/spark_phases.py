"""The same job in memory, streaming and on Spark, second by second: CSV in, verified CSV out, columns of the thesis.

    python bench/spark_phases.py --rows 1000000 --master 'local[2]'

Each engine runs in a process of its own. Prints a table; the last line is a JSON object with all figures. With --keep
two columns are carried through, so that Spark must read the records again and put them in random order.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from measure import SCRATCH, in_process, report

QUASI = ("age", "sex", "native-country")
SENSITIVE = "occupation"
KEPT = ("education", "hours-per-week")
PHASES = ("start", "read", "decide", "write", "verify", "report")


def census_csv(rows: int) -> Path:
    from tarnkappe.datasets import write_census

    SCRATCH.mkdir(exist_ok=True)
    path = SCRATCH / f"census-{rows}.csv"
    if not path.exists():
        write_census(path, rows, seed=1)
    return path


def run(engine: str, rows: int, master: str, keep: bool) -> None:
    """One engine; its start is a phase of its own, since a cluster starts once and runs many jobs."""
    import tarnkappe as tk
    from tarnkappe.criteria.frequency_l_diversity import FrequencyLDiversity
    from tarnkappe.datasets import census_taxonomies
    from tarnkappe.engines.settings import EngineSettings
    from tarnkappe.schema import Column

    path = census_csv(rows)
    taxonomies = census_taxonomies()
    columns = [Column(name, "keep", because="a benchmark") for name in KEPT] if keep else []
    begin = time.perf_counter()
    settings = EngineSettings(engine, master if engine == "spark" else None)
    if engine == "spark":
        from tarnkappe.engines.spark.session import session

        session(master)
    start = time.perf_counter() - begin
    job = tk.Job(
        quasi={name: taxonomies.get(name, tk.numeric()) for name in QUASI},
        sensitive=[SENSITIVE],
        columns=columns,
        drop="rest",
        criteria=[FrequencyLDiversity(column=SENSITIVE, l=10)],
        engine=settings,
        seed=1,
    )
    with tempfile.TemporaryDirectory(dir=SCRATCH) as folder:
        release = tk.run_job(job, path, Path(folder, "release"))
    report(
        seconds={"start": round(start, 3), **release.private_manifest["seconds"]},
        groups=release.n_groups,
        iloss=release.score("iloss"),
        verified=all(v.ok for v in release.verdicts),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--engine", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.engine:
        run(given.engine, given.rows, given.master, given.keep)
        return
    census_csv(given.rows)
    found: dict[str, dict[str, Any]] = {}
    for engine in ("memory", "streaming", "spark"):
        arguments = ["--rows", str(given.rows), "--master", given.master, "--engine", engine]
        found[engine] = in_process("spark_phases.py", *arguments, *(["--keep"] if given.keep else []), timeout=7200)
    print(f"| engine | {' | '.join(PHASES)} | total | groups | ILoss | verified |")
    print("|---" * (len(PHASES) + 5) + "|")
    for engine, row in found.items():
        if "error" in row:
            print(f"| {engine} | {row['error']} |")
            continue
        each = [row["seconds"].get(phase, 0.0) for phase in PHASES]
        cells = " | ".join(f"{s:.1f}" for s in each)
        verified = "yes" if row["verified"] else "NO"
        print(f"| {engine} | {cells} | {sum(each):.1f} | {row['groups']:,} | {row['iloss']:.4f} | {verified} |")
    print(json.dumps({"rows": given.rows, "master": given.master, "keep": given.keep, **found}))


if __name__ == "__main__":
    sys.exit(main())

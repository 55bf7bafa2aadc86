"""The thesis's job at any size: census CSV in, verified l-diverse release out, beside a plain copy by Polars.

    python bench/census_scale.py --rows 10000000 --l 10 --engine memory|streaming|spark [--algorithm anatomize]

Makes the CSV if it is absent, runs the copy and the job in processes of their own, one after the other, and prints one
JSON line: seconds by phase, wall and CPU seconds of the job and of the copy, their ratio, peak memory, iloss, verified.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import resource
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

from measure import SCRATCH

QUASI, SENSITIVE = ("age", "sex", "native-country"), "occupation"


def census_csv(rows: int) -> Path:
    """The census as a CSV file, made if absent."""
    path = SCRATCH / f"census-{rows}.csv"
    if not path.exists():
        from tarnkappe.datasets import write_census

        path.parent.mkdir(exist_ok=True)
        write_census(path, rows)
    return path


def copy(path: Path, format_: str) -> dict[str, object]:
    """What Polars needs to read the file and write the columns of the release."""
    import polars as pl

    table = pl.scan_csv(path).select(*QUASI, SENSITIVE)
    target = SCRATCH / f"copy.{format_}"
    start = time.perf_counter()
    table.sink_csv(target) if format_ == "csv" else table.sink_parquet(target)
    seconds = time.perf_counter() - start
    target.unlink()
    return {"seconds": seconds}


def release(path: Path, arguments: argparse.Namespace) -> dict[str, object]:
    """The job from process start to the verified release."""
    import tarnkappe as tk
    from tarnkappe.datasets import census_taxonomies
    from tarnkappe.engines.settings import EngineSettings
    from tarnkappe.job.places import OutputSettings

    taxonomies = census_taxonomies()
    job = tk.Job(
        quasi={name: taxonomies.get(name, tk.numeric()) for name in QUASI},
        sensitive=[SENSITIVE],
        drop="rest",
        criteria=[tk.FrequencyLDiversity(SENSITIVE, arguments.l)],
        algorithm=tk.Hilb(partitions=arguments.partitions) if arguments.algorithm == "hilb" else arguments.algorithm,
        output=OutputSettings(format=arguments.format),
        engine=EngineSettings(arguments.engine, arguments.master, arguments.memory),
        seed=1,
    )
    start = time.perf_counter()
    done = tk.run_job(job, path, SCRATCH / "scale", overwrite=True)
    return {
        "seconds": time.perf_counter() - start,
        "phases": done.private_manifest["seconds"],
        "groups": done.n_groups,
        "iloss": next((s.value for s in done.scores if s.name == "iloss"), None),
        "verified": all(v.ok for v in done.verdicts),
    }


def in_process(part: str, given: list[str]) -> dict[str, object]:
    """Run one part in a process of its own; its wall time includes its start."""
    start = time.perf_counter()
    child = subprocess.run(
        [sys.executable, __file__, *given, "--part", part], stdout=subprocess.PIPE, text=True, check=True
    )
    found: dict[str, object] = json.loads(child.stdout.splitlines()[-1])
    return {**found, "seconds": time.perf_counter() - start}


def main() -> None:
    """Measure, and print one line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--l", type=int, default=10)
    parser.add_argument("--engine", choices=("memory", "streaming", "spark"), default="streaming")
    parser.add_argument("--master", help="where Spark runs, by default on all cores of this machine")
    parser.add_argument("--memory", help="memory that the job may take, such as 2GB")
    parser.add_argument("--algorithm", default="hilb")
    parser.add_argument("--partitions", type=int, default=2, help="ranges of the curve that are decided side by side")
    parser.add_argument("--format", choices=("csv", "parquet"), default="parquet", help="of the release and the copy")
    parser.add_argument("--part", choices=("copy", "release"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    path = census_csv(arguments.rows)
    if arguments.part is not None:
        facts = copy(path, arguments.format) if arguments.part == "copy" else release(path, arguments)
        used = [resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        cpu = sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        print(json.dumps({**facts, "peak_gb": round(max(used) / 1e6, 2), "cpu": round(cpu, 1)}))
        return
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for folder in spec.submodule_search_locations or [] if (spec := find_spec("tarnkappe")) else []:
        compileall.compile_dir(folder, quiet=1)  # as in an installed package, whatever the environment says
    plain, job = in_process("copy", sys.argv[1:]), in_process("release", sys.argv[1:])
    print(
        json.dumps(
            {
                "rows": arguments.rows,
                "l": arguments.l,
                "algorithm": arguments.algorithm,
                "engine": arguments.engine,
                "format": arguments.format,
                **{key: job[key] for key in ("phases", "groups", "iloss", "verified")},
                "seconds": round(float(str(job["seconds"])), 1),
                "copy_seconds": round(float(str(plain["seconds"])), 1),
                "ratio": round(float(str(job["seconds"])) / float(str(plain["seconds"])), 2),
                "cpu": job["cpu"],
                "copy_cpu": plain["cpu"],
                "peak_gb": job["peak_gb"],
                "copy_peak_gb": plain["peak_gb"],
            }
        )
    )


if __name__ == "__main__":
    main()

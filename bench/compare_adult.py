"""How long a comparison takes: Adult, six algorithms, five values of k, three seeds, side by side.

    python bench/compare_adult.py [--processes 2] [--folder FOLDER] [--solutions]

The grid runs twice, into folders of their own: the first run may
compile kernels, the second is the one that counts (180 s allowed on two cores). Prints one JSON line. The page of the
second run stays in ``FOLDER``, to be looked at. With ``--solutions`` the solution space of nine quasi-identifiers
(12 960 nodes, 9 703 of them 3-anonymous with a tenth suppressed) is measured too.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from measure import DATA, SCRATCH

import tarnkappe as tk

QUASI = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "salary-class")
ALGORITHMS = ["mondrian", "hilb", "flash", "datafly", "mu-argus", "iterated-local-recoding"]
VALUES, SEEDS, ALLOWED = [2, 5, 10, 25, 50], 3, 180.0


def adult_job(quasi: tuple[str, ...], k: int, limit: float) -> tk.Job:
    """Adult with the taxonomies of its hierarchy files."""
    folder = DATA / "adult"
    return tk.Job(
        quasi={name: tk.from_file(folder / f"adult_hierarchy_{name}.csv") for name in quasi},
        sensitive=["occupation"] if "occupation" not in quasi else [],
        criteria=[tk.KAnonymity(k)],
        max_suppressed=limit,
        data=tk.DataSettings(str(folder / "adult.csv")),
        title="Adult",
    )


def compared(folder: Path, processes: int) -> float:
    """Seconds of one comparison."""
    begun = time.perf_counter()
    tk.compare(
        adult_job(QUASI, 5, 0.05),
        algorithms=ALGORITHMS,
        vary={"criteria.k": VALUES},
        seeds=SEEDS,
        folder=folder,
        processes=processes,
    )
    return time.perf_counter() - begun


def main() -> int:
    """Run the grid cold and warm."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--folder", type=Path, default=SCRATCH / "adult-comparison")
    parser.add_argument("--solutions", action="store_true")
    given = parser.parse_args()
    with TemporaryDirectory() as name:
        first = compared(Path(name) / "cold", given.processes)
        second = compared(Path(name) / "warm", given.processes)
        given.folder.mkdir(parents=True, exist_ok=True)
        for file in (Path(name) / "warm").iterdir():
            (given.folder / file.name).write_bytes(file.read_bytes())
    points = len(ALGORITHMS) * len(VALUES) * SEEDS
    told: dict[str, object] = {"points": points, "processes": given.processes, "first": first, "seconds": second}
    if given.solutions:
        job, begun = adult_job((*QUASI, "occupation"), 3, 0.1), time.perf_counter()
        nodes = sum(frame.height for frame in tk.solutions(job))
        told |= {"solutions": nodes, "solutions_seconds": time.perf_counter() - begun}
    print(json.dumps(told))
    return int(second > ALLOWED)


if __name__ == "__main__":
    raise SystemExit(main())

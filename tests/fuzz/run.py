"""Whole jobs at random, for as long as you like: `make fuzz SECONDS=600`.

Every job is written, run and checked from outside, for privacy and for truth, by the checker of the guarantee suite,
which shares nothing with the package. A job may end in a release that passes, in a refusal of ours with nothing left
behind, or rightly without a solution. Anything else is a finding: a violation, a crash, a false alarm, a hang. It is
shrunk and kept in a file with the number that finds it again:  python tests/fuzz/run.py --seed NUMBER --batches 1
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "guarantee"), str(HERE.parent)]

from checker import run_and_check  # noqa: E402
from hypothesis import HealthCheck, Phase, given, seed, settings  # noqa: E402
from odd_jobs import odd_cases  # noqa: E402
from test_beyond_groups import PAIRS, keeps, rows_of  # noqa: E402
from test_beyond_groups import run as run_beyond_groups  # noqa: E402
from whole_jobs import Case, algorithm_variants  # noqa: E402

from tarnkappe.errors import InfeasibleError, TarnkappeError, VerificationError  # noqa: E402

#: Jobs of one batch, which share a number.
BATCH = 50

#: A job of some hundred records that takes longer than this hangs.
PATIENCE = 300


def batch(number: int, failures: Path) -> Counter[str]:
    """Run the jobs of one number; how they ended, by a word. Findings are written into a folder."""
    ended: Counter[str] = Counter()
    algorithms = tuple(algorithm_variants())

    @seed(number)
    @settings(
        max_examples=BATCH,
        deadline=None,
        database=None,
        derandomize=False,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.shrink),
        report_multiple_bugs=False,
    )
    @given(odd_cases(algorithms))
    def one(case: Case) -> None:
        faulthandler.dump_traceback_later(PATIENCE, exit=True)
        try:
            ended[outcome(case)] += 1
        finally:
            faulthandler.cancel_dump_traceback_later()

    try:
        one()
        beyond_groups(number, ended)
    except Exception:
        ended["finding"] += 1
        failures.mkdir(exist_ok=True)
        (failures / f"{number}.txt").write_text(traceback.format_exc(), "utf-8")
    return ended


def outcome(case: Case) -> str:
    """Run one job and check it; how it ended."""
    try:
        return "no solution" if run_and_check(case) is None else f"release, {case.engine}"
    except VerificationError:
        raise
    except TarnkappeError as error:
        return f"refused, {error.code}"


def beyond_groups(number: int, ended: Counter[str]) -> None:
    """One job with a criterion that more than single groups decide."""
    name, algorithm = PAIRS[number % len(PAIRS)]
    with tempfile.TemporaryDirectory() as folder:
        try:
            given_people, written = run_beyond_groups(name, algorithm, Path(folder), limit=0.1, seed=number)
        except InfeasibleError:
            ended["no solution"] += 1
            return
        assert keeps(given_people, name, rows_of(given_people, written)), (name, algorithm)
        ended["release, memory"] += 1


def work(numbers: range, until: float, failures: Path) -> None:
    """Run batches and print a line for each."""
    for number in numbers:
        if time.time() > until:
            return
        print(json.dumps({"batch": number, **batch(number, failures)}), flush=True)


def main() -> int:
    """Run batches in several processes until the time is over; 1 if anything was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=0, help="number of the first batch")
    parser.add_argument("--batches", type=int, default=10**6, help="run no more than these")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--failures", type=Path, default=Path("fuzz-findings"))
    parser.add_argument("--worker", type=int, default=None, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    until = time.time() + asked.seconds
    workers = min(asked.workers, asked.batches)
    if asked.worker is not None:
        last = asked.seed + asked.batches
        work(range(asked.seed + asked.worker, last, asked.workers), until, asked.failures)
        return 0
    command = [sys.executable, __file__, *sys.argv[1:], "--workers", str(workers)]
    running = [
        subprocess.Popen([*command, "--worker", str(i)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for i in range(workers)
    ]
    total: Counter[str] = Counter()
    for process in running:
        out, err = process.communicate()
        for line in out.splitlines():
            counts = json.loads(line)
            counts.pop("batch")
            total.update(counts)
        if process.returncode:
            total["finding"] += 1
            asked.failures.mkdir(exist_ok=True)
            (asked.failures / f"hang-or-crash-{process.pid}.txt").write_text(f"{out[-500:]}\n{err[-8000:]}", "utf-8")
    releases = sum(n for word, n in total.items() if word.startswith("release"))
    print(json.dumps({"releases": releases, **dict(sorted(total.items()))}, indent=1))
    return int(total["finding"] > 0)


if __name__ == "__main__":
    sys.exit(main())

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
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "guarantee"), str(HERE.parent)]

from checker import run_and_check  # noqa: E402
from hypothesis import HealthCheck, Phase, given, seed, settings  # noqa: E402
from hypothesis.strategies import SearchStrategy  # noqa: E402
from joined_and_items import item_jobs, joined_jobs, run_items, run_joined  # noqa: E402
from masked_jobs import masked_jobs, run_masked  # noqa: E402
from numbered_jobs import check_numbered  # noqa: E402
from odd_jobs import odd_cases, odd_numbered_cases  # noqa: E402
from test_beyond_groups import PAIRS, keeps, rows_of  # noqa: E402
from test_beyond_groups import run as run_beyond_groups  # noqa: E402
from whole_jobs import Case, algorithm_variants  # noqa: E402

from tarnkappe.errors import InfeasibleError, TarnkappeError, VerificationError  # noqa: E402

#: Jobs of each kind in one batch, which share a number.
BATCH = {"groups": 50, "numbered": 14, "joined": 5, "items": 5, "masked": 8}

#: A job of some hundred records that takes longer than this hangs.
PATIENCE = 300


def batch(number: int, failures: Path) -> Counter[str]:
    """Run the jobs of one number; how they ended, by a word. Findings are written into a folder."""
    ended: Counter[str] = Counter()
    drawn: dict[str, tuple[SearchStrategy[Any], Callable[[Any], str]]] = {
        "groups": (odd_cases(tuple(algorithm_variants())), outcome),
        "numbered": (odd_numbered_cases(), outcome_numbered),
        "joined": (joined_jobs(), run_joined),
        "items": (item_jobs(), run_items),
        "masked": (masked_jobs(), run_masked),
    }
    for kind, (jobs, run) in drawn.items():
        try:
            tried(number, BATCH[kind], jobs, run, ended)
        except Exception:
            found(number, kind, failures, ended)
    try:
        beyond_groups(number, ended)
    except Exception:
        found(number, "beyond", failures, ended)
    return ended


def tried(number: int, times: int, jobs: SearchStrategy[Any], run: Callable[[Any], str], ended: Counter[str]) -> None:
    """Draw jobs and run them; the exception of the smallest one that fails."""

    @seed(number)
    @settings(
        max_examples=times,
        deadline=None,
        database=None,
        derandomize=False,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.shrink),
        report_multiple_bugs=False,
    )
    @given(jobs)
    def one(job: Any) -> None:
        faulthandler.dump_traceback_later(PATIENCE, exit=True)
        try:
            ended[run(job)] += 1
        except VerificationError:
            raise
        except TarnkappeError as error:
            ended[f"refused, {error.code}"] += 1
        finally:
            faulthandler.cancel_dump_traceback_later()

    one()


def found(number: int, kind: str, failures: Path, ended: Counter[str]) -> None:
    """Keep the exception at hand in a file of its own."""
    ended["finding"] += 1
    failures.mkdir(exist_ok=True)
    (failures / f"{number}-{kind}.txt").write_text(traceback.format_exc(), "utf-8")


def outcome(case: Case) -> str:
    """Run one job and check it; how it ended."""
    return "no solution" if run_and_check(case) is None else f"release, {case.engine}"


def outcome_numbered(case: Case) -> str:
    """Run one job of an algorithm that deals records, and check it; how it ended."""
    found = run_and_check(case, check=check_numbered)
    return "no solution" if found is None else f"release, {case.algorithm.name}, {case.engine}"


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
    with tempfile.TemporaryDirectory() as folder:
        outs, errs = ([Path(folder, f"{i}.{kind}") for i in range(workers)] for kind in ("out", "err"))
        running = []
        for i, (out, err) in enumerate(zip(outs, errs, strict=True)):
            with out.open("wb") as to, err.open("wb") as also:
                running.append(subprocess.Popen([*command, "--worker", str(i)], stdout=to, stderr=also))
        while any(process.poll() is None for process in running):
            time.sleep(min(60.0, max(until - time.time(), 1.0)))
            print(json.dumps(summary(outs)), file=sys.stderr, flush=True)
        total = summary(outs)
        for process, out, err in zip(running, outs, errs, strict=True):
            if process.returncode:
                total["finding"] = total.get("finding", 0) + 1
                asked.failures.mkdir(exist_ok=True)
                said = f"{out.read_text('utf-8')[-500:]}\n{err.read_text('utf-8')[-8000:]}"
                (asked.failures / f"hang-or-crash-{process.pid}.txt").write_text(said, "utf-8")
    print(json.dumps(total, indent=1))
    return int(total.get("finding", 0) > 0)


def summary(outs: list[Path]) -> dict[str, int]:
    """How the jobs of all workers ended so far."""
    total: Counter[str] = Counter()
    for out in outs:
        for line in out.read_text("utf-8").splitlines():
            counts = json.loads(line) if line.endswith("}") else {}
            counts.pop("batch", None)
            total.update(counts)
    releases = sum(n for word, n in total.items() if word.startswith("release"))
    return {"releases": releases, **dict(sorted(total.items()))}


if __name__ == "__main__":
    sys.exit(main())

"""What the first run after installing costs: CPU seconds with and without compiled kernels, for demo and census.

    python bench/cold_start.py [--kernels]

Runs `tarnkappe demo` and the thesis's census job (100 000 records, Hilb, streaming) twice each, in processes of their
own: with an empty cache of kernels and with the one that this run has left. Prints one JSON line per job. With
``--kernels`` also what each kernel took to compile, and which functions were compiled for several kinds of arguments.

Run it by the Python of an environment that has the package and what it needs, and nothing else: Numba takes longer
beside some other packages (colorama, which documentation is built with, is one of them).
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from measure import ROOT

CENSUS = ("census_scale.py", "--part", "release", "--rows", "100000", "--engine", "streaming")

#: Listens to Numba while a module or script runs, and says at the end how long each kernel took to compile.
LISTEN = """
import atexit, json, runpy, sys, threading, time
from numba.core import event
class Kernels(event.Listener):
    def __init__(self): self.mine, self.took, self.times = threading.local(), {}, {}
    def on_start(self, e):
        name = e.data["dispatcher"].__qualname__
        self.mine.open = [*getattr(self.mine, "open", []), (name, time.thread_time())]
        self.times[name] = self.times.get(name, 0) + 1
    def on_end(self, e):
        name, since = self.mine.open.pop()
        if not self.mine.open: self.took[name] = self.took.get(name, 0) + time.thread_time() - since
heard = Kernels()
event.register("numba:compile", heard)
def tell():
    again = {k: n for k, n in heard.times.items() if n > 1 and "<" not in k}  # Numba's own functions are local
    said = {"kernels": {k: round(v, 2) for k, v in heard.took.items()}, "compiled again": again}
    sys.stderr.write("\\n" + json.dumps(said) + "\\n")
atexit.register(tell)
sys.argv = sys.argv[1:]
sys.path.insert(0, sys.argv[0].rpartition("/")[0])
run = runpy.run_path if sys.argv[0].endswith(".py") else runpy.run_module
run(sys.argv[0], run_name="__main__")
"""


def cpu_seconds(command: list[str], cache: str, folder: str) -> tuple[float, str]:
    """CPU seconds of a command, and what it wrote to standard error."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        command,
        env={**os.environ, "NUMBA_CACHE_DIR": cache},
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stderr


def main() -> None:
    """Measure, and print one line per job."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernels", action="store_true", help="also say what each kernel took to compile")
    asked = parser.parse_args()
    jobs = {"demo": ["tarnkappe", "demo", "--overwrite"], "census": [str(ROOT / CENSUS[0]), *CENSUS[1:]]}
    subprocess.run([sys.executable, *jobs["census"]], stdout=subprocess.DEVNULL, check=True)  # makes the file
    for name, words in jobs.items():
        with tempfile.TemporaryDirectory() as folder:
            listening = [sys.executable, "-c", LISTEN] if asked.kernels else [sys.executable]
            plain = words if asked.kernels or words[0].endswith(".py") else ["-m", *words]
            cold, said = cpu_seconds([*listening, *plain], str(Path(folder, "cache")), folder)
            warm, _ = cpu_seconds([*listening, *plain], str(Path(folder, "cache")), folder)
        facts = {"job": name, "cold": round(cold, 1), "warm": round(warm, 1), "compiling": round(cold - warm, 1)}
        if asked.kernels:
            heard = json.loads(said.strip().splitlines()[-1])
            facts["kernels"] = dict(sorted(heard["kernels"].items(), key=lambda item: -item[1]))
            facts["compiled again"] = heard["compiled again"]
        print(json.dumps(facts))


if __name__ == "__main__":
    main()

"""One configuration of an oracle file from process start to its optimum: what a new process needs in all."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tarnkappe.cli import start_lightly

start_lightly()  # as the command does
sys.modules["coverage"] = None  # type: ignore[assignment]  # Numba loads it if it finds it; users do not have it

import numpy as np  # noqa: E402
from fulldomain_oracle import search_of  # noqa: E402
from measure import report  # noqa: E402

from tarnkappe.algorithms.fulldomain.flash import Flash  # noqa: E402

path, number = sys.argv[1:]
config = json.loads(Path(path).read_text(encoding="utf-8"))["configs"][int(number)]
search = search_of(config)
Flash().run(search, np.random.default_rng(0))
assert search.best is not None
report(score=search.best.score, checked=search.n_checked)

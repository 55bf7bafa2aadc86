"""One configuration of an oracle file from process start to its optimum: what a new process needs in all."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
from fulldomain_oracle import search_of
from measure import report

from tarnkappe.algorithms.fulldomain.flash import Flash

path, number = sys.argv[1:]
config = json.loads(Path(path).read_text(encoding="utf-8"))["configs"][int(number)]
search = search_of(config)
Flash().run(search, np.random.default_rng(0))
assert search.best is not None
report(score=search.best.score, checked=search.n_checked)

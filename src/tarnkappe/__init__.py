"""Tarnkappe releases microdata without exposing the people in it.

The ten lines most people need::

    import tarnkappe as tk

    job = tk.Job(
        quasi={"age": tk.numeric(), "zip": tk.prefix(4, 3, 2), "sex": tk.suppress()},
        identifiers=["name"], sensitive=["illness"], keep="rest",
        criteria=[tk.KAnonymity(5), tk.LDiversity("illness", 2)],
    )
    release = job.anonymize(frame)      # Polars, pandas or Arrow in, the same out
    release.verdicts, release.table     # the proof, and the table that may be shared

Names are imported when they are first used, so that ``import tarnkappe`` is quick. Every registered criterion and
algorithm is among them.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from tarnkappe._version import __version__ as __version__

#: Where the names live that are no class of a room.
_HOMES = {
    "Column": "schema",
    "CsvDialect": "io",
    "DataSettings": "job",
    "HistorySettings": "job.history",
    "Job": "job",
    "Release": "release",
    "Taxonomy": "taxonomy",
    "advise": "advising",
    "anonymize_items": "baskets",
    "append_batch": "history.appending",
    "apply_recoding": "history.applying",
    "attack": "attacking",
    "compare": "comparison.comparing",
    "cuts": "taxonomy",
    "dates": "taxonomy",
    "decide": "pipeline",
    "frequency": "taxonomy",
    "from_file": "taxonomy",
    "intervals": "taxonomy",
    "noisy_counts": "histograms",
    "MaskingJob": "job.masking",
    "MaxLinkage": "masks.linkage",
    "mask": "masking",
    "nested_editions": "history.editions",
    "numeric": "job",
    "ordered": "taxonomy",
    "prefix": "taxonomy",
    "publish_after_others": "history.sequential",
    "quantiles": "taxonomy",
    "query_error": "query.error",
    "republish_people": "history.series",
    "risk": "risks",
    "run_job": "history.running",
    "solutions": "pipeline",
    "suppress": "taxonomy",
    "synthesize": "synthetic",
    "tree": "taxonomy",
    "utility": "usefulness",
    "value_set": "taxonomy",
    "verify": "audit",
    "verify_items": "baskets",
    "why": "reasons",
}

#: The rooms whose classes are offered, all of them.
_ROOMS = ("algorithms", "attacks", "criteria", "masks")


@cache
def homes() -> dict[str, str]:
    """The module of every public name; classes of rooms are found in their files, without importing any."""
    from tarnkappe.registry import class_homes

    return dict(sorted({**_HOMES, **class_homes(*_ROOMS)}.items()))


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return ["__version__", *homes()]
    if not name.startswith("_"):
        home = _HOMES.get(name) or homes().get(name)
        if home is not None:
            return getattr(import_module(f"tarnkappe.{home}"), name)
    raise AttributeError(f"module 'tarnkappe' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(["__version__", *homes()])

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

Names are imported when they are first used, so that ``import tarnkappe`` is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tarnkappe._version import __version__

if TYPE_CHECKING:
    from tarnkappe.algorithms.fulldomain.datafly import Datafly
    from tarnkappe.algorithms.multidimensional.mondrian import Mondrian
    from tarnkappe.criteria.entropy_l_diversity import EntropyLDiversity
    from tarnkappe.criteria.frequency_l_diversity import FrequencyLDiversity
    from tarnkappe.criteria.k_anonymity import KAnonymity
    from tarnkappe.criteria.l_diversity import LDiversity
    from tarnkappe.criteria.recursive_cl_diversity import RecursiveCLDiversity
    from tarnkappe.criteria.t_closeness import TCloseness
    from tarnkappe.job import Job, numeric
    from tarnkappe.pipeline import run_job, verify
    from tarnkappe.release import Release
    from tarnkappe.taxonomy import (
        Taxonomy,
        dates,
        frequency,
        from_file,
        intervals,
        ordered,
        prefix,
        suppress,
        tree,
        value_set,
    )

_HOMES = {
    "Datafly": "algorithms.fulldomain.datafly",
    "EntropyLDiversity": "criteria.entropy_l_diversity",
    "FrequencyLDiversity": "criteria.frequency_l_diversity",
    "Job": "job",
    "KAnonymity": "criteria.k_anonymity",
    "LDiversity": "criteria.l_diversity",
    "Mondrian": "algorithms.multidimensional.mondrian",
    "RecursiveCLDiversity": "criteria.recursive_cl_diversity",
    "Release": "release",
    "TCloseness": "criteria.t_closeness",
    "Taxonomy": "taxonomy",
    "dates": "taxonomy",
    "frequency": "taxonomy",
    "from_file": "taxonomy",
    "intervals": "taxonomy",
    "numeric": "job",
    "ordered": "taxonomy",
    "prefix": "taxonomy",
    "run_job": "pipeline",
    "suppress": "taxonomy",
    "tree": "taxonomy",
    "value_set": "taxonomy",
    "verify": "pipeline",
}

__all__ = [
    "Datafly",
    "EntropyLDiversity",
    "FrequencyLDiversity",
    "Job",
    "KAnonymity",
    "LDiversity",
    "Mondrian",
    "RecursiveCLDiversity",
    "Release",
    "TCloseness",
    "Taxonomy",
    "__version__",
    "dates",
    "frequency",
    "from_file",
    "intervals",
    "numeric",
    "ordered",
    "prefix",
    "run_job",
    "suppress",
    "tree",
    "value_set",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'tarnkappe' has no attribute '{name}'")
    return getattr(import_module(f"tarnkappe.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__

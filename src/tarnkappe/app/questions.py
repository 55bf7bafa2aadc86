"""What the app asks about data: previews and figures, answered with the functions that the commands call.

Runs in the worker. Tables are never handed over whole: a preview has a few rows, everything else comes from the cells.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from tarnkappe.advising import Figures
from tarnkappe.algorithms.watch import Watch
from tarnkappe.app.coarsening import coarsening, coverage, exported
from tarnkappe.comparison.measuring import counting
from tarnkappe.deciding import decide_cells
from tarnkappe.engines.settings import EngineSettings
from tarnkappe.errors import TarnkappeError
from tarnkappe.guards import foreseen
from tarnkappe.io import CsvDialect, open_source
from tarnkappe.io.folders import ReleaseFolder, read_manifest
from tarnkappe.job import Job
from tarnkappe.job.files import job_from_text
from tarnkappe.job.model import replace_job
from tarnkappe.job.suggest import Suggestion, suggest, suggested_job_text
from tarnkappe.pipeline import Decided, counted
from tarnkappe.plan import Plan
from tarnkappe.reasons import decided_again, reasons_of_group
from tarnkappe.risks.exposing import PATIENT, exposing, together
from tarnkappe.runs import Checked
from tarnkappe.solution_frames import solution_frames
from tarnkappe.tally import Domain

#: Rows of a preview, and rows that are shown before and after.
_PREVIEW, _BESIDE = 12, 40

#: With more cells than this a decision takes too long to be made while somebody types.
_MOST_CELLS = 150_000

#: Of so many solutions the page is told; there may be millions.
_MOST_SOLUTIONS = 3000


def look(path: str, data_path: str, folder: str, dialect: dict[str, Any]) -> dict[str, Any]:
    """What a table is: how it is read, its first rows, and for every column a suggestion with its reason.

    Also the text of the job file that  tarnkappe init  would write; `data_path` is the table as the file will name it.
    """
    with open_source(path, CsvDialect(**dialect)) as source:
        suggestions = suggest(source)
        head = source.scan(source.columns).head(_PREVIEW).collect()
        return {
            "description": source.description,
            "rows": source.n_rows,
            "format": source.format,
            "columns": [_told(s) for s in suggestions],
            "preview": [list(row) for row in head.select(pl.all().cast(pl.String, strict=False)).rows()],
            "text": suggested_job_text(source, suggestions, data_path, folder=folder),
        }


def suggestions(text: str, folder: str) -> list[dict[str, Any]]:
    """A suggestion for every column of the data of a job, as they were when the job was begun."""
    job = job_from_text(text, "job", folder)
    if job.data.path is None:
        return []
    with open_source(job.data.path, job.data.dialect, job.data.missing) as source:
        return [_told(s) for s in suggest(source)]


def _told(s: Suggestion) -> dict[str, Any]:
    return {
        "name": s.column,
        "kind": s.facts.kind,
        "distinct": s.facts.distinct,
        "missing": s.facts.missing,
        "share": s.facts.differs,
        "role": s.role,
        "reason": s.reason,
        "type": s.kind,
        "taxonomy": s.taxonomy,
    }


class _Counts:
    """The cells of the last few jobs; whoever changes a threshold does not wait for the data to be read again."""

    def __init__(self) -> None:
        self._known: dict[object, Checked] = {}

    def of(self, job: Job) -> Checked:
        key = (counting(job), _changed(job.data.path))
        if key not in self._known:
            while len(self._known) >= 2:
                del self._known[next(iter(self._known))]
            # The cells are all that is needed, and streaming keeps nothing else of a table of any size.
            here = job.engine.name in ("auto", "memory")
            self._known[key] = counted(replace_job(job, engine=EngineSettings("streaming")) if here else job)
        return self._known[key]


def _changed(path: str | None) -> object:
    """When a file was last written, and its size."""
    try:
        found = None if path is None else Path(path).stat()
    except OSError:
        found = None
    return None if found is None else (found.st_mtime_ns, found.st_size)


_COUNTS = _Counts()


def figures(text: str, folder: str) -> dict[str, Any]:
    """The figures of a job: what the data are like, what would be released, and what is to be said aloud."""
    job = job_from_text(text, "job", folder)
    checked = _COUNTS.of(job)
    tally = checked.tally
    told: dict[str, Any] = {
        "records": tally.n_records,
        "unique": int((tally.tuple_sizes == 1).sum()),
        "combinations": tally.n_tuples,
        "smallest": int(tally.tuple_sizes.min()) if tally.n_tuples else 0,
        "notices": [
            {"code": n.code, "message": n.message, "hint": n.hint}
            for n in (*checked.notices, *foreseen(job, checked.source, checked.schema, job.goal, tally))
        ],
        "now": None,
        "error": None,
    }
    if tally.n_cells <= _MOST_CELLS:
        try:
            plan = decide_cells(job, tally, job.seed or 0, Watch(seconds=job.time_limit))[2]
        except TarnkappeError as error:
            told["error"] = error.as_dict()
        else:
            found = Figures.of(plan)
            told["now"] = {
                "groups": plan.n_groups,
                "smallest": int(plan.sizes.min()) if plan.n_groups else 0,
                "unique": int((plan.sizes == 1).sum()),
                "kept": found.kept(),
                "lost": found.lost,
                "suppressed": plan.suppressed,
                "risk": found.risk,
            }
    return told


def column(text: str, folder: str, name: str) -> dict[str, Any]:
    """How one quasi-identifier may be coarsened: its levels, its values, and how often they occur."""
    return coarsening(_COUNTS.of(job_from_text(text, "job", folder)).tally, name)


def combinations(text: str, folder: str) -> dict[str, Any]:
    """Which one, two or three quasi-identifiers, known together, single out the most records."""
    tally = _COUNTS.of(job_from_text(text, "job", folder)).tally
    found = exposing(tally, PATIENT)
    return {"together": together(tally, PATIENT), "found": [asdict(one) for one in found]}


def covers(text: str, folder: str, name: str, path: str) -> dict[str, Any]:
    """Whether the taxonomy in a file covers the values of a column, or fits another one better."""
    return coverage(_COUNTS.of(job_from_text(text, "job", folder)).tally, name, path)


def export(text: str, folder: str, name: str, path: str) -> dict[str, Any]:
    """Write the taxonomy of a column as a hierarchy in the layout of ARX."""
    return exported(_COUNTS.of(job_from_text(text, "job", folder)).tally, name, path)


class _Last:
    """The decision behind the release that was looked at last."""

    key: object = None
    decided: Decided | None = None


def _decision(release: str) -> Decided:
    key = (release, _changed(str(ReleaseFolder(Path(release)).manifest)))
    if _Last.key != key or _Last.decided is None:
        _Last.decided, _Last.key = decided_again(release), key
    return _Last.decided


def beside(release: str) -> dict[str, Any]:
    """Some records as they were and as they are published, evenly chosen over all groups. For the publisher only."""
    plan = _decision(release).plan
    assert isinstance(plan, Plan)
    grouping, tally = plan.grouping, plan.tally
    published = np.flatnonzero(grouping.group >= 0)
    some = published[np.unique(np.linspace(0, len(published) - 1, min(_BESIDE, len(published))).astype(int))]
    names = [d.name for d in tally.quasi_domains]
    rows = []
    for piece in some:
        cell, group = int(grouping.cell[piece]), int(grouping.group[piece])
        rows.append(
            {
                "group": group,
                "size": int(plan.sizes[group]),
                "before": [_leaf(d, int(tally.quasi[cell, j])) for j, d in enumerate(tally.quasi_domains)],
                "after": [None if k.code[group] < 0 else k.texts[int(k.code[group])] for k in plan.labels],
            }
        )
    return {"columns": names, "rows": rows, "lost": Figures.of(plan).lost}


def _leaf(domain: Domain, code: int) -> str | None:
    return None if code == domain.missing else str(domain.taxonomy.leaves[code])


def prepared(text: str, folder: str, release: str) -> dict[str, Any] | None:
    """What was released last into a folder that is not published yet, and whether the job is still the same."""
    told, kept = read_manifest(ReleaseFolder(Path(release)).manifest), ReleaseFolder(Path(release)).job
    if told is None or kept is None:
        return None
    try:
        same = Job.from_yaml(kept).to_yaml(folder) == job_from_text(text, "job", folder).to_yaml(folder)
    except TarnkappeError:
        same = False
    return {"result": told, "same": same}


def why(release: str, group: int, name: str) -> dict[str, Any]:
    """Why a group says no more in one column."""
    decided = _decision(release)
    plan = decided.plan
    assert isinstance(plan, Plan)
    found = reasons_of_group(decided, min(max(group, 0), plan.n_groups - 1), [name])
    return {"records": found.records, "algorithm": found.algorithm, **asdict(found.columns[0])}


def solutions(text: str, folder: str) -> dict[str, Any]:
    """The nodes of the lattice that satisfy the job, with their figures; the first few thousand."""
    job = job_from_text(text, "job", folder)
    tally = _COUNTS.of(job).tally
    names = [d.name for d in tally.quasi_domains]
    heights = [d.floor + d.taxonomy.height for d in tally.quasi_domains]
    nodes: list[dict[str, Any]] = []
    for frame in solution_frames(tally, job.goal, "all", 500):
        for row in frame.iter_rows(named=True):
            nodes.append(
                {
                    "levels": [row[f"level of {name}"] for name in names],
                    "ok": row["ok"],
                    "suppressed": row["suppressed"],
                    "groups": row["groups"],
                    "smallest": row["smallest"],
                    "loss": row.get("lm"),
                }
            )
        if len(nodes) >= _MOST_SOLUTIONS:
            break
    total = int(np.prod([h + 1 - d.floor for h, d in zip(heights, tally.quasi_domains, strict=True)], dtype=float))
    return {"columns": names, "heights": heights, "total": total, "nodes": nodes[:_MOST_SOLUTIONS]}


def ready() -> bool:
    """Whether everything is loaded; asked ahead, so that nobody waits for it later."""
    return True


QUESTIONS: dict[str, Callable[..., Any]] = {
    f.__name__: f
    for f in (
        ready,
        look,
        suggestions,
        figures,
        column,
        combinations,
        covers,
        export,
        beside,
        prepared,
        why,
        solutions,
    )
}

"""What the commands do about sets of items."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tarnkappe.cli import screen
from tarnkappe.errors import JobError, TarnkappeError

if TYPE_CHECKING:
    from tarnkappe.baskets import ItemsAudit, ItemsRelease
    from tarnkappe.job.items import ItemsJob


def is_items_release(path: Path) -> bool:
    """Whether a folder, or a file with its manifest, is a release of sets of items."""
    from tarnkappe.baskets.audit import items_manifest

    return items_manifest(path) is not None


def run_about_items(
    path: Path,
    data: str | None,
    output: str | None,
    settings: Iterable[str],
    *,
    seed: int | None,
    overwrite: bool,
    dry_run: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """``tarnkappe run`` for a job about sets of items."""
    from tarnkappe.baskets.anonymize import anonymize_in_memory, run_items
    from tarnkappe.cli.progress import Working
    from tarnkappe.io.folders import ReleaseFolder

    job = _job(path, data, settings)
    with Working(quiet=quiet) as progress, _named(path):
        if dry_run:
            job = job if seed is None else dataclasses.replace(job, seed=seed)
            release = anonymize_in_memory(job, job.data.path, progress=progress)
        else:
            own = [] if ReleaseFolder.keeps(path) else [path]
            release = run_items(job, None, output, seed=seed, overwrite=overwrite, progress=progress, inputs=own)
    if as_json:
        folder = None if release.folder is None else str(release.folder)
        screen.print_json({**release.public, "folder": folder, "dry_run": dry_run})
    elif not quiet:
        console = screen.stdout()
        screen.rows(console, _release_rows(job, release))
        screen.notices(console, release.notices)


def check_about_items(path: Path, data: str | None, settings: Iterable[str], *, as_json: bool) -> None:
    """``tarnkappe check`` for a job about sets of items."""
    import polars as pl

    from tarnkappe.baskets.reading import encoded, read_sets
    from tarnkappe.baskets.recount import recount
    from tarnkappe.cli.progress import Working
    from tarnkappe.io import open_source

    job = _job(path, data, settings)
    with Working("read") as progress, _named(path):
        progress("read")
        source = open_source(job.data.path or "", job.data.dialect, job.data.missing)
        sets = read_sets(source, job.items)
        encoded(sets, job.items, source)
        found = recount(sets.labelled(pl.Series(sets.texts)), job.items.k, job.items.m)
    n_items = len(sets.texts)
    if as_json:
        told = {"persons": sets.n, "items": n_items, "rare_sets": found.rare, "smallest": found.smallest}
        screen.print_json({"ok": True, "data": source.description, **told})
        return
    rare = screen.plural(found.rare, "set")
    console = screen.stdout()
    screen.rows(
        console,
        [
            ("Data", source.description),
            ("Sets", f"{screen.plural(sets.n, 'person')} · {screen.plural(n_items, 'different item')}"),
            ("Goal", job.items.asked),
            ("Before", f"{rare} of up to {job.items.m} items have fewer than {job.items.k} persons"),
            ("Algorithm", job.items.algorithm),
            ("Next", shlex.join(["tarnkappe", "run", screen.shown_path(path), *([data] if data else [])])),
        ],
    )
    screen.notices(console, job.notices())


def verify_items_release(
    path: Path, facts: Mapping[str, str], rows: Iterable[tuple[str, str]], *, as_json: bool
) -> int:
    """``tarnkappe verify`` for a release of sets of items, after what was found beside it; returns the exit code."""
    from tarnkappe.baskets.audit import audit_items
    from tarnkappe.cli.progress import Working

    with Working("verify") as progress:
        progress("verify")
        found = audit_items(path)
    if as_json:
        screen.print_json({**found.as_dict(), **facts})
    else:
        screen.rows(screen.stdout(), [*rows, *_audit_rows(found)])
    return 0 if found.ok else 5


def _job(path: Path, data: str | None, settings: Iterable[str]) -> ItemsJob:
    from tarnkappe.job.items import load_items_job

    job = load_items_job(path, settings)
    if data is not None:
        job = dataclasses.replace(job, data=dataclasses.replace(job.data, path=data))
    if job.data.path is None:
        raise JobError(
            "E103",
            "the job names no data file",
            where=str(path),
            hint=f"Add  data: {{path: DATA.csv}}  or give the file:  tarnkappe run {shlex.quote(str(path))} DATA.csv",
        )
    return job


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Let errors that know no place name the job file, and speak its language."""
    try:
        yield
    except TarnkappeError as error:
        error.where = error.where or str(path)
        error.in_job_file = True
        raise


def _release_rows(job: ItemsJob, release: ItemsRelease) -> list[tuple[str, str]]:
    from tarnkappe.io.folders import JOB, MANIFEST, PRIVATE, PUBLIC
    from tarnkappe.summary import verdict_words

    told, kept = release.public, release.private
    persons = f"{screen.plural(kept['persons'], 'person')} · {screen.plural(kept['items_before'], 'different item')}"
    checked = "re-counted the tables in memory" if release.folder is None else "re-read what was written"
    verdicts = [f"✓ {verdict_words(v)}" for v in release.verdicts]
    rows = [
        ("Data", str(kept["input"]["description"])),
        ("Sets", persons),
        ("Goal", job.items.asked),
        ("Result", f"{job.items.algorithm} · detail kept {screen.percent(1 - release.loss)}{_removed(kept)}"),
        ("Verify", " ".join([checked, *verdicts, "✓ every set true of a person"])),
    ]
    if release.folder is None:
        return [*rows, ("Wrote", "nothing: this was a dry run")]
    files = [*(t["file"] for t in told["tables"]), *([told["codebook"]] if "codebook" in told else []), MANIFEST]
    shown = [f"{screen.shown_path(release.folder / part)}/" for part in (PUBLIC, PRIVATE)]
    return [
        *rows,
        ("Wrote", f"{shown[0]} (may be shared): {', '.join(files)}"),
        ("", f"{shown[1]} (stays with you): {JOB}, {MANIFEST}"),
    ]


def _removed(kept: dict[str, int]) -> str:
    n = kept.get("items_removed", 0)
    return f" · {screen.plural(n, 'item')} removed" if n else ""


def _audit_rows(found: ItemsAudit) -> list[tuple[str, str]]:
    rows = [("File", found.description), ("Criteria", "from manifest.json")]
    for v in found.found.verdicts:
        broken = "" if v.ok else f" · {screen.plural(v.violating_groups, 'set')} of items violate it"
        rows.append(("", f"{'✓' if v.ok else '✗'} {v.asked} ({v.column}) · reached {screen.figure(v.reached)}{broken}"))
    rows += [("", f"✗ {problem}") for problem in found.found.problems]
    same = found.same_as_manifest
    rows.append(
        ("SHA-256", "✓ is that of manifest.json" if same else "✗ is not that of manifest.json: a file was changed")
    )
    rows.append(("Verdict", "✓ the file keeps the promise" if found.ok else "✗ the file does NOT keep the promise"))
    return rows

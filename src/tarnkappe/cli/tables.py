"""What the commands do about several tables that are joined by a key."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from tarnkappe.cli import screen
from tarnkappe.errors import JobError, TarnkappeError

if TYPE_CHECKING:
    from tarnkappe.multirelational import MultiRelease


def run_about_tables(
    path: Path,
    output: str | None,
    settings: Iterable[str],
    *,
    seed: int | None,
    overwrite: bool,
    dry_run: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """``tarnkappe run`` for a job about several tables."""
    from tarnkappe.cli.progress import Working
    from tarnkappe.multirelational import anonymize_multirelational, run_multirelational
    from tarnkappe.multirelational.files import load_tables_job

    given = load_tables_job(path, settings)
    folder = output or given.folder
    seed = given.seed if seed is None else seed
    try:
        with Working(quiet=quiet) as progress:
            progress("decide")
            if dry_run:
                release = anonymize_multirelational(given.job, given.paths, seed=seed)
            elif folder is None:
                what = "the job names no output folder"
                raise JobError("E103", what, where=str(path), hint="output: {folder: release}")
            else:
                release = run_multirelational(given.job, given.paths, folder, seed=seed, overwrite=overwrite)
    except TarnkappeError as error:
        error.where = error.where or str(path)
        error.in_job_file = True
        raise
    if as_json:
        told = {"persons": release.n_persons - release.n_suppressed, "levels": release.levels, "dry_run": dry_run}
        screen.print_json({**told, "folder": None if release.folder is None else str(release.folder)})
    elif not quiet:
        screen.rows(screen.stdout(), _rows(release, list(given.paths)))


def _rows(release: MultiRelease, tables: list[str]) -> list[tuple[str, str]]:
    from tarnkappe.io.folders import PUBLIC
    from tarnkappe.summary import verdict_words

    losses = [x for by_column in release.loss.values() for x in by_column.values()]
    kept = f" · detail kept {screen.percent(1 - sum(losses) / len(losses))}" if losses else ""
    checked = "re-counted the tables in memory" if release.folder is None else "re-read all tables together"
    rows = [
        ("Tables", ", ".join(tables)),
        ("Persons", f"{screen.count(release.n_persons)} · {screen.count(release.n_suppressed)} removed"),
        ("Result", f"{screen.plural(release.n_groups, 'group')} of persons who look the same in all tables{kept}"),
        ("Verify", " ".join([checked, *(f"✓ {verdict_words(v)}" for v in release.verdicts)])),
    ]
    if release.folder is None:
        return [*rows, ("Wrote", "nothing: this was a dry run")]
    return [*rows, ("Wrote", f"{shlex.quote(screen.shown_path(release.folder / PUBLIC))}/ (may be shared)")]

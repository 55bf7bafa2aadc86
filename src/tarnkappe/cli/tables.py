"""What the commands do about several tables that are joined by a key."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tarnkappe.cli import screen
from tarnkappe.errors import JobError

if TYPE_CHECKING:
    from tarnkappe.multirelational import MultiRelease


def run_about_tables(
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
    """``tarnkappe run`` for a job about several tables."""
    from tarnkappe.cli.bundles import named
    from tarnkappe.cli.progress import Working
    from tarnkappe.io.folders import ReleaseFolder
    from tarnkappe.multirelational import anonymize_multirelational, run_multirelational
    from tarnkappe.multirelational.files import load_tables_job

    if data is not None:
        raise JobError(
            "E108",
            "a job about several tables names their files itself",
            hint=shlex.join(["tarnkappe", "run", str(path)]),
        )
    given = load_tables_job(path, settings)
    folder = output or given.output.folder
    with Working(quiet=quiet) as progress, named(path):
        if dry_run:
            release = anonymize_multirelational(given, given.paths, seed=seed, progress=progress)
        elif folder is None:
            raise JobError("E103", "the job names no output folder", hint="output: {folder: release}")
        else:
            own = [] if ReleaseFolder.keeps(path) else [path]
            how: dict[str, Any] = {"seed": seed, "overwrite": overwrite, "progress": progress, "inputs": own}
            release = run_multirelational(given, given.paths, folder, **how)
    if as_json:
        screen.print_json({**release.as_dict(), "levels": release.levels, "dry_run": dry_run})
    elif not quiet:
        console = screen.stdout()
        screen.rows(console, _rows(release, list(given.paths)))
        screen.notices(console, release.notices)


def _rows(release: MultiRelease, tables: list[str]) -> list[tuple[str, str]]:
    from tarnkappe.cli.bundles import bundle_wrote_rows
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
    return [*rows, *bundle_wrote_rows(release)]

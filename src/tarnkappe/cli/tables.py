"""What the commands do about several tables that are joined by a key."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tarnkappe.cli import screen
from tarnkappe.cli.bundles import HowToRun, Rows, bundle_wrote_rows, run_bundle
from tarnkappe.errors import JobError

if TYPE_CHECKING:
    from tarnkappe.cli.progress import Working
    from tarnkappe.multirelational import MultiRelease


def run_about_tables(path: Path, data: str | None, output: str | None, settings: Iterable[str], how: HowToRun) -> None:
    """``tarnkappe run`` for a job about several tables."""
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

    def write(progress: Working, own: list[Path]) -> MultiRelease:
        if folder is None:
            raise JobError("E103", "the job names no output folder", hint="output: {folder: release}")
        kept: dict[str, Any] = {"seed": how.seed, "overwrite": how.overwrite, "inputs": own}
        return run_multirelational(given, given.paths, folder, progress=progress, **kept)

    run_bundle(
        path,
        how,
        lambda progress: anonymize_multirelational(given, given.paths, seed=how.seed, progress=progress),
        write,
        lambda release: _rows(release, list(given.paths)),
        lambda release: {"levels": release.levels},
    )


def _rows(release: MultiRelease, tables: list[str]) -> Rows:
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

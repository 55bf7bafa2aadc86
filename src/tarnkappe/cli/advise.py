"""``tarnkappe advise`` and ``tarnkappe why``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tarnkappe.cli import screen
from tarnkappe.cli.options import AsJson, Debug, JobFile, MaybeData, ProgressAs, Quiet, Seed, Settings

if TYPE_CHECKING:
    from tarnkappe.advising import Advice


def advise(
    job: JobFile,
    data: MaybeData = None,
    seed: Seed = None,
    levels: Annotated[
        bool, typer.Option("--levels/--no-levels", metavar="", help="Also try columns from a higher level on.")
    ] = True,
    settings: Settings = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    progress_as: ProgressAs = "text",
    debug: Debug = False,
) -> None:
    """Say what each column, level and criterion costs, and what relaxing it would buy.

    Every change is decided and measured on the counted data. Nothing is written. The figures are for you only.

    [bold]Example:[/bold]  tarnkappe advise census.yaml
    """
    from tarnkappe.advising import advise as advise_about
    from tarnkappe.cli.jobs import fixes_for, job_for
    from tarnkappe.cli.progress import Working

    loaded = job_for(job, data, settings)
    with Working("advise", quiet=quiet, style=progress_as) as progress, fixes_for(job, loaded):
        progress("advise")
        found = advise_about(loaded, seed=seed, levels=levels, progress=progress.step)
    if as_json:
        screen.print_json(found.as_dict())
    elif not quiet:
        screen.rows(screen.stdout(), _rows(found))


def _rows(found: Advice) -> list[tuple[str, str]]:
    now = found.now
    rows = []
    if now is None:
        rows.append(("Now", f"no release: {found.error}"))
    else:
        kept = now.kept()
        detail = "" if kept is None else f"detail kept {screen.percent(kept)} · "
        lost = f"{screen.plural(now.suppressed, 'record')} of {screen.count(now.n_records)} suppressed"
        rows.append(("Now", f"{detail}{lost} · {screen.plural(now.groups, 'group')}"))
    costs = [f"{name} {screen.percent(loss)}" for name, loss in found.costs]
    rows += [("Lost by", " · ".join(costs))] if costs else []
    for i, change in enumerate(found.changes):
        less = " Protects less." if change.weakens else ""
        rows.append(("Changes" if i == 0 else "", f"{change.sentence}{less}"))
        if change.gain > 0 or change.records > 0:
            rows.append(("", f"  {change.fix.in_job}"))
    return rows


def why(
    release: Annotated[
        Path, typer.Argument(help="A release folder, with both of its parts.", metavar="RELEASE", show_default=False)
    ],
    row: Annotated[int, typer.Option("--row", min=1, metavar="N", help="The row of the released table, from 1.")],
    column: Annotated[
        list[str] | None,
        typer.Option("--column", metavar="NAME", help="Only this column, instead of all.", show_default=False),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option("--data", metavar="DATA", help="The original data, if the job names none.", show_default=False),
    ] = None,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Say why a row of a release is as coarse as it is: its group, and which criterion breaks if it said more.

    It needs the folder that is not shared and the original data; the answer tells about them and stays with you.

    [bold]Example:[/bold]  tarnkappe why release --row 17 --column age
    """
    from tarnkappe.cli.progress import Working
    from tarnkappe.reasons import why as reasons_for

    with Working("decide") as progress:
        progress("decide")
        found = reasons_for(release, row, column or (), data=data)
    if as_json:
        screen.print_json(found.as_dict())
        return
    rows = [("Row", f"{screen.count(found.row)}, in a group of {screen.plural(found.records, 'record')}")]
    rows.append(("Algorithm", found.algorithm))
    rows += [("Why" if i == 0 else "", reason.sentence) for i, reason in enumerate(found.columns)]
    rows.append(("Keep", "this to yourself: it tells about the original data"))
    screen.rows(screen.stdout(), rows)

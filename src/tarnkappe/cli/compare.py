"""``tarnkappe compare``."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tarnkappe.cli import screen
from tarnkappe.cli.options import AsJson, Debug, JobFile, MaybeData, Overwrite, ProgressAs, Quiet, Settings
from tarnkappe.errors import JobError

if TYPE_CHECKING:
    from tarnkappe.comparison.comparing import Comparison, Setup


def compare(
    job: JobFile,
    data: MaybeData = None,
    algorithms: Annotated[
        str | None,
        typer.Option("--algorithms", metavar="A,B,C", help="Algorithms to try, instead of those of the file."),
    ] = None,
    vary: Annotated[
        list[str] | None,
        typer.Option(
            "--vary",
            metavar="KEY=V,V,…",
            help="A setting and values to try, such as criteria.k=2,5,10.",
            show_default=False,
        ),
    ] = None,
    seeds: Annotated[
        int | None, typer.Option("--seeds", min=1, metavar="N", help="How many seeds to try.", show_default=False)
    ] = None,
    loss: Annotated[
        str | None,
        typer.Option("--loss", metavar="METRIC", help="The metric on the map, such as sse.", show_default=False),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="PATH", help="Folder of the comparison.", show_default=False),
    ] = None,
    processes: Annotated[
        int | None,
        typer.Option("--processes", min=1, metavar="N", help="How many measure side by side.", show_default=False),
    ] = None,
    choose: Annotated[
        str | None,
        typer.Option(
            "--choose",
            metavar="POINT",
            help="Write the job file of a point, by its number; with the options of the comparison.",
            show_default=False,
        ),
    ] = None,
    settings: Settings = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    progress_as: ProgressAs = "text",
    debug: Debug = False,
) -> None:
    """Try algorithms and parameters on the same data, and draw the map of risk and loss.

    What to try stands under  compare:  in the job file, in a file of its own that names a job, or on the command line.
    Nothing is released. A comparison that was stopped goes on where it ended.

    [bold]Example:[/bold]  tarnkappe compare census.yaml --algorithms mondrian,hilb --vary criteria.k=2,5,10
    """
    from tarnkappe.cli.bundles import named
    from tarnkappe.cli.progress import Working
    from tarnkappe.comparison.comparing import compare as compare_points
    from tarnkappe.comparison.grid import Grid

    given: dict[str, Any] = {
        "algorithms": None if algorithms is None else [name.strip() for name in algorithms.split(",")],
        "vary": dict(_varied(text) for text in vary) if vary else None,
        "seeds": seeds,
        "loss": loss,
    }
    grid = Grid.load(job, settings or (), **given)
    folder = Path(output) if output else job.with_name(f"{job.stem}-comparison")
    with Working("compare", quiet=quiet, style=progress_as) as progress, named(job):
        progress("compare")
        found = compare_points(
            grid,
            data,
            folder=folder,
            processes=processes or os.cpu_count() or 1,
            overwrite=overwrite and choose is None,
            progress=progress.step,
        )
    chosen = None if choose is None else _choose(found, choose, job, overwrite)
    if as_json:
        rows = found.table().to_dicts()
        told = {"folder": str(folder), "resumed": found.resumed, "points": rows}
        screen.print_json({**told, "front": [s.number for s in found.front], "job": chosen and str(chosen)})
    elif not quiet:
        options = {"--algorithms": algorithms, "--seeds": seeds, "--loss": loss, "--output": output}
        again = _again(job, data, options, vary, settings)
        screen.rows(screen.stdout(), _rows(found, folder, chosen, again))


def _varied(text: str) -> tuple[str, list[Any]]:
    """A setting and its values, as they stand on the command line."""
    from tarnkappe.job.text import scalar

    key, equals, values = text.partition("=")
    if not equals or not values:
        raise JobError("E108", f"'{text}' names no values", where="--vary", hint="--vary criteria.k=2,5,10")
    return key.strip(), [scalar(value.strip()) for value in values.split(",")]


def _choose(found: Comparison, point: str, job: Path, overwrite: bool) -> Path:
    """Write the job file of a point beside the job."""
    from tarnkappe.io import staged

    target = job.with_name(f"{job.stem}-point-{point}.yaml")
    text = found.job(point).to_yaml(target.parent)
    with staged(target, overwrite=overwrite) as unfinished:
        unfinished.write_text(text, encoding="utf-8")
    return target


def _again(
    job: Path, data: str | None, options: dict[str, Any], vary: list[str] | None, settings: list[str] | None
) -> str:
    """The command that makes the same comparison again: points are numbered by what is compared."""
    words = ["tarnkappe", "compare", str(job), *([data] if data is not None else [])]
    for name, value in options.items():
        words += [name, str(value)] if value is not None else []
    for name, values in (("--vary", vary), ("--set", settings)):
        for value in values or ():
            words += [name, value]
    return shlex.join(words)


def _rows(found: Comparison, folder: Path, chosen: Path | None, again: str) -> list[tuple[str, str]]:
    from tarnkappe.comparison.comparing import PAGE

    n = sum(len(s.points) for s in found.setups)
    known = f" · {screen.count(found.resumed)} known from before" if found.resumed else ""
    rows = [("Compared", f"{screen.plural(n, 'job')} on {screen.plural(found.n_records, 'record')}{known}")]
    front = set(found.front)
    rows += [("Points" if i == 0 else "", _line(s, s in front)) for i, s in enumerate(found.setups)]
    if any(s.loss is not None for s in found.setups):
        rows.append(("Front", f"* no other point has both less risk ({found.risk}) and less loss ({found.loss})"))
    elif measured := sorted({name for s in found.setups for m in s.released for name in m.scores}):
        rows.append(("Front", f"none: {found.loss} says nothing of what is published; --loss {' or '.join(measured)}"))
    rows.append(("Wrote", f"{screen.shown_path(folder / PAGE)} (stays with you)"))
    if chosen is not None:
        return [*rows, ("Job", screen.shown_path(chosen)), ("Next", shlex.join(["tarnkappe", "run", str(chosen)]))]
    best = next(iter(found.front), None)
    if best is None:
        return rows
    return [*rows, ("Next", f"{again} --choose {best.number}")]


def _line(s: Setup, on_front: bool) -> str:
    told = ", ".join(f"{name.split('.')[-1]} {value}" for name, value in s.varied.items())
    name = f"{'*' if on_front else ' '} {s.number} {s.algorithm}{f' · {told}' if told else ''}"
    if s.error is not None:
        return f"{name} · no release: {s.error}"
    risk = "not hidden" if s.risk is None else f"{s.risk.mean:.3g}"
    loss = "not measured" if s.loss is None else f"{s.loss.mean:.3g}"
    seconds = f"{s.mean('seconds'):.2f} s"
    return f"{name} · risk {risk} · loss {loss} · {screen.plural(round(s.mean('groups')), 'group')} · {seconds}"

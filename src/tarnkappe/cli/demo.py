"""``tarnkappe demo``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tarnkappe.cli import screen
from tarnkappe.cli.options import AsJson, Debug, Overwrite, Seed

if TYPE_CHECKING:
    from tarnkappe.release import Release

#: Which people are made up; another number gives other people.
_PEOPLE = 1994

_TREES = ("workclass", "education", "marital-status", "race", "sex", "native-country")


def demo(
    rows: Annotated[int, typer.Option("--rows", min=1000, help="How many people to make up.")] = 30_000,
    folder: Annotated[Path, typer.Option("--folder", help="Where to put everything.")] = Path("demo"),
    only_inputs: Annotated[
        bool, typer.Option("--no-run", help="Only make up the census and its job file; anonymise nothing.")
    ] = False,
    overwrite: Overwrite = False,
    seed: Seed = None,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Make up a census, write a job file for it, anonymise it, verify it, and show what it cost.

    No real person is in the data. Everything lands in one folder that you can read, change and run again.

    [bold]Example:[/bold]  tarnkappe demo --rows 100000
    """
    from tarnkappe.cli.progress import PHASES, Working
    from tarnkappe.job.files import load_job
    from tarnkappe.pipeline import run_job
    from tarnkappe.summary import release_rows, wrote_rows

    _refuse_existing(folder, overwrite)
    with Working("census", *PHASES) as progress:
        progress(f"making up {screen.plural(rows, 'person', 'people')}")
        _write_inputs(folder, rows)
        job = load_job(folder / "job.yaml")
        release = None if only_inputs else run_job(job, seed=seed, overwrite=overwrite, progress=progress)
    if release is None:
        _show_inputs(folder, as_json)
        return
    if as_json:
        screen.print_json(release.as_dict())
        return
    console = screen.stdout()
    screen.rows(console, [*release_rows(release), *wrote_rows(release)])
    screen.notices(console, release.notices)
    screen.rows(console, [("Example", text) for text in _examples(release)[:1]])
    screen.rows(console, [("", text) for text in _examples(release)[1:]])
    screen.rows(console, _try(folder, release))


def _show_inputs(folder: Path, as_json: bool) -> None:
    """Say where the job file is, and how to go on."""
    job = f"{screen.shown_path(folder)}/job.yaml"
    if as_json:
        screen.print_json({"job": job})
        return
    screen.rows(screen.stdout(), [("Wrote", job), ("Try", f"tarnkappe run {job}")])


def _examples(release: Release) -> list[str]:
    """What became of common values of some columns; each is shared by many of the made-up people."""
    out = []
    for column in release.columns:
        changed = [e for e in column.examples if e.before != e.after]
        if changed:
            example = changed[0]
            out.append(f"{column.name}: {example.before} → {example.after}   ({screen.count(example.records)} records)")
    return out


def _try(folder: Path, release: Release) -> list[tuple[str, str]]:
    from tarnkappe.io.folders import PUBLIC, REPORT

    shown = screen.shown_path(folder)
    assert release.folder is not None
    public = Path(screen.shown_path(release.folder)) / PUBLIC
    return [
        ("Look at", f"{shown}/job.yaml    what was asked for, with comments"),
        ("", f"{public}/{REPORT}    the report, in a browser"),
        ("Try", f"tarnkappe verify {public}/{release.public_manifest['file']}"),
        ("", f"tarnkappe run {shown}/job.yaml --set criteria.k=50 -o {shown}/k50"),
        ("", f"tarnkappe advise {shown}/job.yaml"),
        ("", f"tarnkappe attack all {screen.shown_path(release.folder)} --known {shown}/census.csv"),
    ]


def _refuse_existing(folder: Path, overwrite: bool) -> None:
    from tarnkappe.errors import RefusedError

    taken = [name for name in ("census.csv", "job.yaml", "taxonomies", "release") if (folder / name).exists()]
    if folder.is_file() or (taken and not overwrite):
        what = "is a file" if folder.is_file() else f"has {', '.join(taken)} already"
        raise RefusedError(
            "E601",
            f"'{folder.name}' {what}",
            where=str(folder),
            hint=f"tarnkappe demo --folder {folder}-2"
            + ("" if folder.is_file() else "   or  tarnkappe demo --overwrite"),
        )


def _write_inputs(folder: Path, rows: int) -> None:
    """The census, its taxonomies, and a job file that says what each line is for."""
    from tarnkappe.datasets import census_taxonomies, write_census
    from tarnkappe.io import translate_os_error
    from tarnkappe.taxonomy import write_taxonomy

    trees = census_taxonomies()
    try:
        (folder / "taxonomies").mkdir(parents=True, exist_ok=True)
        write_census(folder / "census.csv", rows, seed=_PEOPLE)
        for column in _TREES:
            write_taxonomy(trees[column], folder / "taxonomies" / f"{column}.csv")
        (folder / "job.yaml").write_text(job_text(rows), encoding="utf-8")
    except OSError as error:
        raise translate_os_error(error, folder) from error


def job_text(rows: int) -> str:
    """The job of the demo, with comments."""
    from tarnkappe.datasets import CENSUS_COLUMNS, CENSUS_ROLE_REASONS, CENSUS_ROLES

    lines = []
    for column in CENSUS_COLUMNS:
        role, reason = CENSUS_ROLES[column], CENSUS_ROLE_REASONS[column]
        extra = ""
        if role == "quasi":
            extra = ", type: numeric" if column == "age" else f", taxonomy: {column}"
        if role in ("keep", "drop"):
            lines.append(f'  {column + ":":<15} {{role: {role}, because: "{reason}"}}')
        else:
            lines.append(f"  {column + ':':<15} {f'{{role: {role}{extra}}}':<46} # {reason}")
    trees = [f"  {column + ':':<15} {{kind: file, path: taxonomies/{column}.csv}}" for column in _TREES]
    return "\n".join(
        [
            "# A job for a made-up census. Change something and run it again:  tarnkappe run job.yaml --overwrite",
            "version: 1",
            "title: Made-up census, public file",
            "purpose: Shows what an anonymised table looks like. No real person is in it.",
            "",
            "data:",
            f"  path: census.csv    # {screen.count(rows)} people who do not exist",
            "",
            "columns:    # every column has a role; nothing is guessed",
            *lines,
            "",
            "taxonomies:    # how values may be coarsened; draw one with  tarnkappe taxonomy show taxonomies/sex.csv",
            *trees,
            "",
            "criteria:    # what every group of people must satisfy",
            "  - k-anonymity: {k: 10}    # everybody is like at least 9 others",
            "  - frequency-l-diversity: {column: occupation, l: 5}    # guessing the occupation is right 1 time in 5",
            "",
            "limits:",
            "  suppressed_rows: 0%    # nobody is left out",
            "",
            "algorithm: {name: mondrian}",
            "",
            "output: {folder: release}",
            "",
        ]
    )

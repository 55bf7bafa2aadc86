"""``tarnkappe attack``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tarnkappe.cli import screen
from tarnkappe.cli.options import AsJson, Debug, Quasi, Sensitive, complete_attacks, split_names
from tarnkappe.errors import JobError

if TYPE_CHECKING:
    from tarnkappe.attacking import Attacked
    from tarnkappe.attacks import Attack


def attack(
    what: Annotated[
        str,
        typer.Argument(
            help="The name of an attack, with its parameters if need be: background-knowledge:excluded=2. Or: all.",
            metavar="NAME",
            autocompletion=complete_attacks,
            show_default=False,
        ),
    ],
    release: Annotated[
        Path,
        typer.Argument(
            help="The release to attack, ours or not: a file, or a release folder.",
            metavar="RELEASE",
            readable=False,
            show_default=False,
        ),
    ],
    quasi: Quasi = None,
    sensitive: Sensitive = None,
    known: Annotated[
        Path | None,
        typer.Option(
            "--known",
            metavar="FILE",
            help="People and what is known about them: the original data, or a register.",
            readable=False,
            show_default=False,
        ),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option(
            "--key",
            metavar="COLUMN",
            help="A column of both files that tells who is who; only to check whether links are right.",
            show_default=False,
        ),
    ] = None,
    other: Annotated[
        list[Path] | None,
        typer.Option(
            "--other",
            metavar="FILE",
            help="Another release of the same people, an earlier one first; may be given several times.",
            readable=False,
            show_default=False,
        ),
    ] = None,
    population: Annotated[
        Path | None,
        typer.Option(
            "--population",
            metavar="FILE",
            help="The public table that the people come from.",
            readable=False,
            show_default=False,
        ),
    ] = None,
    holdout: Annotated[
        Path | None,
        typer.Option(
            "--holdout",
            metavar="FILE",
            help="People who are certainly not in the data, to compare with.",
            readable=False,
            show_default=False,
        ),
    ] = None,
    in_order: Annotated[
        bool, typer.Option("--in-order", metavar="", help="The people of --known stand in the order of the data.")
    ] = False,
    job: Annotated[
        Path | None,
        typer.Option(
            "--job",
            metavar="JOB",
            help="Take roles and taxonomies from this job file.",
            readable=False,
            show_default=False,
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, metavar="N", help="Decides about chance.")] = 0,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Attack a release and say how often that succeeds, beside what a guess would reach.

    Of our own releases the columns are known; of other files say them. "all" carries out every attack for which all is
    there, and says what the others need. The exit code is 0: an attack that succeeds is no failure of this command.

    [bold]Example:[/bold]  tarnkappe attack all release --known census.csv
    """
    from tarnkappe.attacking import ALL, open_table
    from tarnkappe.attacking import attack as carry_out
    from tarnkappe.attacks import attack_class
    from tarnkappe.audited import Reading
    from tarnkappe.cli.progress import Working
    from tarnkappe.job.text import declared_from

    one: str | Attack = what
    if what != ALL:
        one = declared_from(what, attack_class, "attack", "", "background-knowledge:excluded=2")
    with Working("attack") as progress:
        progress("attack")
        columns = open_table(release, Reading())[0].frame.columns if quasi or sensitive else []
        names, secrets = split_names(quasi, columns), split_names(sensitive, columns)
        for name in (*names, *secrets):
            _require_column(name, columns)
        found = carry_out(
            one,
            release,
            quasi=names,
            sensitive=secrets,
            known=known,
            key=key,
            others=other or (),
            population=population,
            holdout=holdout,
            in_order=in_order,
            job=job,
            seed=seed,
        )
    if as_json:
        screen.print_json(found.as_dict())
    else:
        screen.rows(screen.stdout(), _rows(found))


def _require_column(name: str, columns: list[str]) -> None:
    from tarnkappe.errors import did_you_mean

    if columns and name not in columns:
        raise JobError(
            "E108",
            f"the release has no column '{name}'{did_you_mean(name, columns)}",
            hint=f"Its columns are: {', '.join(columns)}.",
        )


def _rows(found: Attacked) -> Iterator[tuple[str, str]]:
    for one in found:
        sign = "✗" if one.beats_baseline else "✓"
        on = f" ({one.column})" if one.column else ""
        control = "" if one.control is None else f" · control {screen.percent(one.control)}"
        yield (
            "Attack",
            f"{sign} {one.attack}{on}: {screen.percent(one.rate)}, baseline {screen.percent(one.baseline)}{control}",
        )
        yield "", one.sentence
        between = f"{screen.percent(one.low)} to {screen.percent(one.high)}"
        yield "", f"95 % interval {between} · {screen.count(one.trials)} tried"
    for name, why in found.skipped:
        yield "Not tried", f"{name}: {why}"
    if len(found):
        better = [one for one in found if one.beats_baseline]
        worse = f"✗ {len(better)} of {len(found)} attacks do better than their baseline"
        yield "Verdict", worse if better else "✓ no attack does better than its baseline"

"""Arguments and options that several commands share, and what a shell completes for them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

START, CONFIGURE, ANONYMISE, TRUST, TOOLS = "Start", "Configure", "Anonymise", "Trust", "Tools"


def complete_topics(incomplete: str) -> list[str]:
    """Words that `tarnkappe explain` knows."""
    from tarnkappe.topics import all_topics

    return [name for name in all_topics() if name.casefold().startswith(incomplete.casefold())]


def complete_criteria(incomplete: str) -> list[str]:
    """Criteria with the beginning of their parameters, such as ``k-anonymity:k=``."""
    from tarnkappe.criteria import all_criteria
    from tarnkappe.params import parameters

    starts = [
        f"{name}:" + ",".join(f"{p.name}=" for p in parameters(cls) if p.required)
        for name, cls in all_criteria().items()
    ]
    return [s for s in starts if s.startswith(incomplete)]


def complete_attacks(incomplete: str) -> list[str]:
    """Names of attacks."""
    from tarnkappe.attacks import all_attacks

    return [name for name in ("all", *all_attacks()) if name.startswith(incomplete)]


def complete_settings(incomplete: str) -> list[str]:
    """Settings that are often changed."""
    from tarnkappe.algorithms import all_algorithms

    starts = ["criteria.k=", "criteria.l=", "limits.suppressed_rows=", "output.format="]
    starts += [f"algorithm.name={name}" for name in all_algorithms()]
    return [s for s in starts if s.startswith(incomplete)]


def path_or_address(text: str) -> Path | str:
    """A path, or the address of a table in a database or an object store, which is none."""
    return text if "://" in text else Path(text)


def name_of(data: Path | str) -> str:
    """What to call data that were given on the command line."""
    from tarnkappe.io.databases.address import Address, is_database

    return Address.of(str(data)).name if is_database(data) else Path(str(data).partition("?")[0]).name


# Whether files can be read is found out by whoever reads them, who knows better what to say about it.
DataFile = Annotated[
    Any,  # a path, or the address of a table
    typer.Argument(
        help="A table: CSV, Parquet, Excel, SPSS, Stata and others, or DATABASE#TABLE.",
        metavar="DATA",
        parser=path_or_address,
        show_default=False,
    ),
]
MaybeData = Annotated[
    str | None,  # an address such as hdfs://host/data.csv is no path
    typer.Argument(help="A data file to use instead of the job's.", metavar="DATA", show_default=False),
]
JobFile = Annotated[Path, typer.Argument(help="A job file.", metavar="JOB", readable=False, show_default=False)]
AsJson = Annotated[bool, typer.Option("--json", metavar="", help="Print one JSON document instead of text.")]
Debug = Annotated[bool, typer.Option("--debug", metavar="", help="Show the traceback of an error.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", metavar="", help="Replace earlier output of Tarnkappe.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", metavar="", help="Print errors only.")]
Seed = Annotated[
    int | None,
    typer.Option("--seed", min=0, metavar="N", help="Makes the run repeatable. Keep it secret.", show_default=False),
]
ProgressAs = Annotated[
    str,
    typer.Option(
        "--progress", metavar="STYLE", help="How progress is told on stderr: text, or json, one line per step."
    ),
]
EngineName = Annotated[
    str | None,
    typer.Option(
        "--engine",
        metavar="NAME",
        help="Where records are counted and rewritten: memory, streaming or spark.",
        show_default=False,
    ),
]
Master = Annotated[
    str | None,
    typer.Option("--master", metavar="URL", help="Where Spark runs, such as local\\[*] or yarn.", show_default=False),
]
Memory = Annotated[
    str | None,
    typer.Option("--memory", metavar="SIZE", help="Memory the process may take, such as 2GB.", show_default=False),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Change a setting of the job, such as criteria.k=10.",
        autocompletion=complete_settings,
        show_default=False,
    ),
]
Quasi = Annotated[
    list[str] | None,
    typer.Option(
        "--quasi",
        "--qi",
        metavar="A,B,C",
        help="The quasi-identifiers, separated by commas.",
        show_default=False,
    ),
]
Sensitive = Annotated[
    list[str] | None,
    typer.Option("--sensitive", metavar="A,B", help="The sensitive columns.", show_default=False),
]
QuasiFromJob = Annotated[
    Path | None,
    typer.Option(
        "--job",
        metavar="JOB",
        help="Take the quasi-identifiers and their taxonomies from this job file.",
        readable=False,
        show_default=False,
    ),
]


def names_in(file: Path, given: Iterable[str] | None) -> list[str] | None:
    """Column names of a file from comma-separated words; None if there are no words."""
    from tarnkappe.io import open_source

    if not given:
        return None
    with open_source(file) as source:
        return split_names(given, source.columns)


def split_names(given: Iterable[str] | None, known: Iterable[str]) -> list[str]:
    """Column names from comma-separated words; a word that is a column as a whole is not split.

    >>> split_names(["age,sex", "city, state"], ["age", "sex", "city, state"])
    ['age', 'sex', 'city, state']
    """
    columns = set(known)
    out: list[str] = []
    for word in given or ():
        out += [word] if word in columns else [name.strip() for name in word.split(",") if name.strip()]
    return list(dict.fromkeys(out))

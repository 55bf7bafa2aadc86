"""``tarnkappe taxonomy``: build, show, check and convert taxonomies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tarnkappe.cli import screen
from tarnkappe.cli.options import AsJson, Debug, Overwrite
from tarnkappe.errors import JobError

if TYPE_CHECKING:
    from tarnkappe.taxonomy import Taxonomy, TaxonomyBuilder

app = typer.Typer(rich_markup_mode="rich")

_File = Annotated[
    Path,
    typer.Argument(
        help="A taxonomy: .csv (ARX layout), .yaml or .xml.", metavar="FILE", readable=False, show_default=False
    ),
]
_From = Annotated[
    Path, typer.Option("--from", help="The data file.", metavar="DATA", readable=False, show_default=False)
]
_Attribute = Annotated[
    str | None,
    typer.Option("--attribute", help="Which taxonomy of an .xml file.", metavar="NAME", show_default=False),
]


def _list(option: str, doc: str, example: str) -> Any:
    return typer.Option(option, help=doc, metavar=example, show_default=False, rich_help_panel="One kind")


@app.callback(invoke_without_command=True)
def start(ctx: typer.Context) -> None:
    """Build, show, check or convert a taxonomy: how the values of a column may be coarsened.

    [bold]Example:[/bold]  tarnkappe taxonomy build age --from census.csv --intervals 5,10 -o age.csv
    """
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


@app.command()
def build(
    column: Annotated[str, typer.Argument(help="The column.", metavar="COLUMN", show_default=False)],
    data: _From,
    intervals: Annotated[str | None, _list("--intervals", "Widths of number intervals.", "5,10,20")] = None,
    prefix: Annotated[str | None, _list("--prefix", "How many leading characters stay.", "4,3")] = None,
    dates: Annotated[
        bool, typer.Option("--dates", metavar="", help="Months, quarters, years, decades.", rich_help_panel="One kind")
    ] = False,
    order: Annotated[str | None, _list("--order", "The values in their order, in pairs.", "low,mid,high")] = None,
    frequency: Annotated[str | None, _list("--frequency", "Shares a value needs to stay.", "0.01,0.05")] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The file to write: .csv or .yaml.", show_default=False),
    ] = None,
    overwrite: Overwrite = False,
    debug: Debug = False,
) -> None:
    """Build a taxonomy from the values of a column; say how many groups each level has, and write it if asked to.

    [bold]Example:[/bold]  tarnkappe taxonomy build age --from census.csv --intervals 5,10,20 -o age.csv
    """
    from tarnkappe.cli.progress import Working

    builder = _builder(intervals, prefix, dates, order, frequency)
    with Working("look") as progress:
        progress(f"reading {column}")
        taxonomy = _built(builder, column, data)
    console = screen.stdout()
    screen.rows(console, _levels(taxonomy))
    if output is not None:
        _write(taxonomy, output, overwrite)
        screen.rows(
            console,
            [
                ("Wrote", screen.shown_path(output)),
                ("Use", f"{column}: {{role: quasi, taxonomy: {{kind: file, path: {output}}}}}"),
            ],
        )


@app.command()
def show(file: _File, attribute: _Attribute = None, as_json: AsJson = False, debug: Debug = False) -> None:
    """Draw a taxonomy and say how many groups each level has.

    [bold]Example:[/bold]  tarnkappe taxonomy show taxonomies/education.csv
    """
    from tarnkappe.taxonomy import draw, level_table, read_taxonomy

    taxonomy = read_taxonomy(file, attribute=attribute)
    if as_json:
        levels = [{"level": level, "groups": groups} for level, groups, _ in level_table(taxonomy)]
        screen.print_json({"values": taxonomy.n_leaves, "levels": levels, "tree": taxonomy.nested()})
        return
    console = screen.stdout()
    screen.rows(console, _levels(taxonomy))
    console.print(screen.clean(draw(taxonomy)), soft_wrap=True)


@app.command()
def check(
    file: _File,
    data: _From,
    column: Annotated[str, typer.Option("--column", help="The column it is for.", show_default=False)],
    attribute: _Attribute = None,
    debug: Debug = False,
) -> None:
    """Check that a taxonomy covers every value of a column.

    [bold]Example:[/bold]  tarnkappe taxonomy check education.csv --from census.csv --column education
    """
    from tarnkappe.taxonomy import check_coverage, read_taxonomy

    taxonomy = read_taxonomy(file, attribute=attribute, column=column)
    values, counts, others = _values(column, data, numeric=False)
    check_coverage(taxonomy, values, counts, column, others, str(file), name=file.stem)
    covered = f"all {screen.plural(len(values), 'value')} of {column}"
    screen.rows(screen.stdout(), [("Covers", f"✓ {covered}"), *_levels(taxonomy)])


@app.command()
def convert(
    source: Annotated[
        Path, typer.Argument(help="A .csv, .yaml or .xml file.", metavar="IN", readable=False, show_default=False)
    ],
    target: Annotated[Path, typer.Argument(help="A .csv or .yaml file.", metavar="OUT", show_default=False)],
    attribute: _Attribute = None,
    overwrite: Overwrite = False,
    debug: Debug = False,
) -> None:
    """Write a taxonomy in another layout.

    [bold]Example:[/bold]  tarnkappe taxonomy convert taxonomies.xml country.csv --attribute country
    """
    from tarnkappe.taxonomy import read_taxonomy

    taxonomy = read_taxonomy(source, attribute=attribute)
    _write(taxonomy, target, overwrite)
    screen.rows(screen.stdout(), [*_levels(taxonomy), ("Wrote", screen.shown_path(target))])


def _levels(taxonomy: Taxonomy) -> list[tuple[str, str]]:
    """How many groups each level has; labels are not shown, because those of level 0 are values of the data."""
    from tarnkappe.taxonomy import level_table

    steps = " → ".join(screen.count(groups) for _, groups, _ in level_table(taxonomy))
    return [("Groups", f"{steps}   on levels 0 to {taxonomy.height}")]


def _builder(
    intervals: str | None, prefix: str | None, dates: bool, order: str | None, frequency: str | None
) -> TaxonomyBuilder:
    from tarnkappe import taxonomy

    given = {
        "--intervals": intervals is not None,
        "--prefix": prefix is not None,
        "--dates": dates,
        "--order": order is not None,
        "--frequency": frequency is not None,
    }
    chosen = [option for option, is_given in given.items() if is_given]
    if len(chosen) != 1:
        what = "choose one of " if not chosen else f"{' and '.join(chosen)} exclude each other; choose one of "
        raise JobError("E108", what + ", ".join(given), hint="tarnkappe taxonomy build --help")
    if intervals is not None:
        return taxonomy.intervals(*_numbers(intervals, "--intervals"))
    if prefix is not None:
        return taxonomy.prefix(*(int(n) for n in _numbers(prefix, "--prefix", whole=True)))
    if order is not None:
        return taxonomy.ordered(*order.split(","), groups=(2,))
    if frequency is not None:
        return taxonomy.frequency(*_numbers(frequency, "--frequency"))
    return taxonomy.dates()


def _numbers(text: str, option: str, *, whole: bool = False) -> list[float]:
    try:
        return [int(part) if whole else float(part) for part in text.split(",")]
    except ValueError:
        kind = "whole numbers" if whole else "numbers"
        raise JobError(
            "E108", f"{option} takes {kind} separated by commas, got '{text}'", hint=f"{option} {_EXAMPLES[option]}"
        ) from None


_EXAMPLES = {"--intervals": "5,10,20", "--prefix": "4,3", "--frequency": "0.01,0.05"}


def _built(builder: TaxonomyBuilder, column: str, data: Path) -> Taxonomy:
    values, counts, others = _values(column, data, numeric=builder.numeric)
    return builder.build(values, column, counts, others=others)


def _values(column: str, data: Path, *, numeric: bool) -> tuple[Any, Any, dict[str, list[str]]]:
    """The distinct values of a column, how often each occurs, and some values of the other columns."""
    from tarnkappe.engines.encode import Values, read_kind
    from tarnkappe.io import open_source
    from tarnkappe.schema import Column

    with open_source(data) as source:
        series = source.read([column])[column]
        declared = Column(column, "keep", "numeric" if numeric else "categorical")
        values = Values.of(read_kind(series, declared, source))
        head = source.scan(source.columns).head(10_000).collect()
        others = {c: head[c].drop_nulls().unique().cast(str).head(1000).to_list() for c in head.columns if c != column}
    return (values.distinct.to_numpy() if numeric else values.distinct.to_list()), values.counts, others


def _write(taxonomy: Taxonomy, path: Path, overwrite: bool) -> None:
    from tarnkappe.io import staged
    from tarnkappe.taxonomy import write_taxonomy

    with staged(path, overwrite=overwrite) as unfinished:
        write_taxonomy(taxonomy, unfinished)

"""All commands, in the order in which they are needed."""

from __future__ import annotations

from inspect import cleandoc
from typing import Annotated

import typer

from tarnkappe._version import __version__
from tarnkappe.cli import fingerprint, taxonomy
from tarnkappe.cli.advise import advise, why
from tarnkappe.cli.apply import apply
from tarnkappe.cli.attack import attack
from tarnkappe.cli.check import check
from tarnkappe.cli.compare import compare
from tarnkappe.cli.demo import demo
from tarnkappe.cli.explain import explain
from tarnkappe.cli.generate import generate
from tarnkappe.cli.history import history
from tarnkappe.cli.import_arx import import_arx
from tarnkappe.cli.init import init
from tarnkappe.cli.inspect import inspect
from tarnkappe.cli.local_app import open_app
from tarnkappe.cli.options import ANONYMISE, CONFIGURE, START, TOOLS, TRUST
from tarnkappe.cli.query import query
from tarnkappe.cli.risk import risk
from tarnkappe.cli.root import EXIT_CODES, Root
from tarnkappe.cli.run import run
from tarnkappe.cli.schema import schema
from tarnkappe.cli.sign import sign
from tarnkappe.cli.utility import utility
from tarnkappe.cli.verify import verify

_EPILOG = "Exit codes: " + " · ".join(f"{code} {meaning}" for code, meaning in EXIT_CODES.items())

app = typer.Typer(
    name="tarnkappe",
    cls=Root,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=_EPILOG,
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"tarnkappe {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def start(
    ctx: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", metavar="", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Release microdata without exposing the people in it.

    Two commands make a release:  tarnkappe init census.csv  and  tarnkappe run census.yaml
    """
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


app.command(rich_help_panel=START)(demo)
app.command(rich_help_panel=START)(inspect)
app.command(rich_help_panel=START)(init)
app.command("import-arx", rich_help_panel=START)(import_arx)
app.command("app", rich_help_panel=START)(open_app)
app.add_typer(taxonomy.app, name="taxonomy", rich_help_panel=CONFIGURE)
app.command(rich_help_panel=CONFIGURE)(check)
app.command(rich_help_panel=CONFIGURE)(compare)
app.command(rich_help_panel=CONFIGURE)(advise)
app.command(rich_help_panel=ANONYMISE)(run)
app.command(rich_help_panel=ANONYMISE)(apply)
app.add_typer(fingerprint.app, name="fingerprint", rich_help_panel=ANONYMISE)
app.command(rich_help_panel=TRUST)(verify)
app.command(rich_help_panel=TRUST)(sign)
app.command(rich_help_panel=TRUST)(risk)
app.command(rich_help_panel=TRUST)(attack)
app.command(rich_help_panel=TRUST)(utility)
app.command(rich_help_panel=TRUST)(query)
app.command(rich_help_panel=TRUST)(history)
app.command(rich_help_panel=TRUST)(why)
app.command(rich_help_panel=TRUST)(explain)
app.command(rich_help_panel=TOOLS)(generate)
app.command(rich_help_panel=TOOLS)(schema)


def _flowing(text: str) -> str:
    r"""A docstring without its line ends, which are not those of the reader's screen; paragraphs stay.

    >>> _flowing("One.\n\n    Two\n    lines.")
    'One.\n\nTwo lines.'
    """
    return "\n\n".join(" ".join(p.split("\n")) for p in cleandoc(text).split("\n\n"))


for _command in (c for a in (app, taxonomy.app, fingerprint.app) for c in a.registered_commands):
    _command.help = _flowing((_command.callback and _command.callback.__doc__) or "")

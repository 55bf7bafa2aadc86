"""``tarnkappe app``."""

from __future__ import annotations

import importlib.util
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from tarnkappe.cli import screen
from tarnkappe.cli.options import Debug
from tarnkappe.errors import DataError


def open_app(
    where: Annotated[
        Path,
        typer.Argument(
            help="The folder of your data, or a table or job file in it.",
            metavar="[FOLDER|FILE]",
            readable=False,
            show_default=False,
        ),
    ] = Path(),
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, metavar="N", help="The port to listen on; 0: any free one.")
    ] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", metavar="", help="Open the page in the browser.")
    ] = True,
    upload_limit: Annotated[
        int,
        typer.Option(
            "--upload-limit", min=1, metavar="MB", help="How large a file may be that is dropped on the page."
        ),
    ] = 1024,
    debug: Debug = False,
) -> None:
    """Open the page in the browser: the same job file, commands and releases, on this computer only.

    The address that is printed works once; whoever has it can see the data in the folder. End with Ctrl+C. What is
    being written then never appears.

    [bold]Example:[/bold]  tarnkappe app .
    """
    if any(importlib.util.find_spec(name) is None for name in ("starlette", "uvicorn")):
        raise DataError("E489", "the page in the browser needs further packages", hint='pip install "tarnkappe[app]"')
    from tarnkappe.app.server import serve
    from tarnkappe.cli.root import Stopped

    if not where.exists():
        raise DataError("E481", "there is no such folder or file", where=str(where), hint="tarnkappe app .")
    folder = where if where.is_dir() else where.parent

    def told(address: str) -> None:
        console = screen.stdout()
        screen.rows(console, [("Open", address), ("Works", "once, on this computer only; end with Ctrl+C")])
        console.file.flush()
        if browser:
            webbrowser.open(address)

    try:
        serve(folder, port=port, told=told, largest=upload_limit << 20, opened=None if where.is_dir() else where.name)
    except Stopped:
        screen.stderr().print("Ended. What was being written has not appeared; what was written stays.")

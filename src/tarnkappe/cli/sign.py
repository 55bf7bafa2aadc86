"""``tarnkappe sign``."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from tarnkappe.cli import screen
from tarnkappe.cli.options import Debug
from tarnkappe.errors import JobError


def sign(
    folder: Annotated[
        Path | None,
        typer.Argument(help="The folder of a release.", metavar="FOLDER", readable=False, show_default=False),
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option("--key", metavar="FILE", help="Your private key.", readable=False, show_default=False),
    ] = None,
    new_key: Annotated[
        str | None,
        typer.Option("--new-key", metavar="NAME", help="Make a key pair NAME.key and NAME.pub.", show_default=False),
    ] = None,
    debug: Debug = False,
) -> None:
    """Sign the manifest of a release, so that others can tell that it is yours and unchanged.

    The release is checked first; one that does not keep its promise is not signed. A passphrase of the key is taken
    from the environment (TARNKAPPE_PASSPHRASE). The public key goes to whoever checks, by a way they trust.

    [bold]Example:[/bold]  tarnkappe sign census-release --key steward.key
    """
    from tarnkappe.certificate import fingerprint, make_keys
    from tarnkappe.certificate import sign as signed
    from tarnkappe.io.folders import MANIFEST

    if (folder is None) == (new_key is None):
        raise JobError("E108", "give the folder of a release, or --new-key", hint="tarnkappe sign --new-key steward")
    if new_key is not None:
        private, public = make_keys(new_key)
        rows = [
            ("Private", f"{screen.shown_path(private)}   (keep it, and keep it secret)"),
            ("Public", f"{screen.shown_path(public)}   (give it to whoever checks your releases)"),
            ("SHA-256", fingerprint(public)),
            ("Next", f"tarnkappe sign FOLDER --key {shlex.quote(str(private))}"),
        ]
        screen.rows(screen.stdout(), rows)
        return
    if key is None:
        raise JobError("E108", "signing needs a key", hint=f"tarnkappe sign {shlex.quote(str(folder))} --key FILE.key")
    assert folder is not None
    written = signed(folder, key)
    public = key.with_suffix(".pub")
    rows = [
        ("Checked", "✓ the release keeps its promise"),
        ("Wrote", str(screen.shown_path(written))),
        ("Check", f"tarnkappe verify {shlex.quote(str(folder))} --signed-by {shlex.quote(str(public))}"),
        (
            "",
            "openssl pkeyutl -verify -pubin -rawin -inkey "
            f"{shlex.quote(str(public))} -sigfile {shlex.quote(str(written))} "
            f"-in {shlex.quote(str(written.with_name(MANIFEST)))}",
        ),
    ]
    screen.rows(screen.stdout(), rows)

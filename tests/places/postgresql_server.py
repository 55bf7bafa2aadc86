"""A real PostgreSQL in a temporary folder, on a Unix socket that nobody else knows."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

#: What is said where the server is not installed.
NOT_INSTALLED = "PostgreSQL is not installed: no initdb under /usr/lib/postgresql or on the path"

#: Nothing here has to survive a power cut, so that the tests are quick.
_QUICK = ("fsync=off", "full_page_writes=off", "synchronous_commit=off", "shared_buffers=64MB", "max_connections=30")


def binaries() -> Path | None:
    """The folder that holds initdb and pg_ctl: of the newest version there is."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda p: float(p.parts[-3]))
    on_path = shutil.which("initdb")
    return found[-1].parent if found else None if on_path is None else Path(on_path).parent


def _as_owner() -> list[str]:
    """The words before a command that must not be run by root."""
    return ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.geteuid() == 0 else []


@contextmanager
def running(settings: tuple[str, ...] = _QUICK) -> Iterator[str]:
    """Start a server; yields the URI of its database, and stops it again."""
    where = binaries()
    assert where is not None
    folder = Path(tempfile.mkdtemp(prefix="tk-pg-"))  # short: the path of a socket has a limit
    folder.chmod(0o755)
    home = folder / "home"
    home.mkdir()
    owner = _as_owner()
    if owner:
        shutil.chown(home, "postgres", "postgres")

    def call(*words: str | Path) -> None:
        done = subprocess.run([*owner, *map(str, words)], cwd=home, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr + done.stdout

    data = home / "data"
    try:
        call(where / "initdb", "-D", data, "-U", "steward", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "-N")
        options = " ".join(f"-c {setting}" for setting in settings)
        call(where / "pg_ctl", "-D", data, "-l", home / "log", "-w", "-o", f"-k {home} -h '' {options}", "start")
        try:
            yield f"postgresql://steward@/postgres?host={quote(str(home), safe='')}"
        finally:
            call(where / "pg_ctl", "-D", data, "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)

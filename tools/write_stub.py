"""Write the names that `import tarnkappe` offers into `src/tarnkappe/__init__.pyi`, where type checkers look for them.

`make format` writes it; with ``--check`` it only says whether it is up to date, as `make lint` does.
"""

from __future__ import annotations

import sys
from pathlib import Path

import tarnkappe

STUB = Path(tarnkappe.__file__).with_suffix(".pyi")


def stub() -> str:
    """The text of the stub: every public name, imported from its home."""
    homes = sorted(tarnkappe.homes().items(), key=lambda item: (item[1], item[0]))
    lines = ["# Written by tools/write_stub.py (make format) from the classes that are registered.", ""]
    lines += ["from tarnkappe._version import __version__ as __version__"]
    lines += [f"from tarnkappe.{home} import {name} as {name}" for name, home in homes]
    return "\n".join([*lines, "", "def homes() -> dict[str, str]: ...", ""])


if __name__ == "__main__":
    if "--check" not in sys.argv:
        STUB.write_text(stub(), "utf-8")
    elif not STUB.exists() or STUB.read_text("utf-8") != stub():
        sys.exit(f"{STUB.name} is not up to date:  make format")

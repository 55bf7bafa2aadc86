"""Makes docs/images anew: the terminal after `tarnkappe demo`, and the report. Needs Chromium on the PATH."""

from __future__ import annotations

import io
import os
import pty
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

IMAGES = Path(__file__).parent / "images"
WIDTH = 100


def terminal_output(command: list[str], folder: str) -> str:
    """What a command shows on a terminal, colours included."""
    parent, child = pty.openpty()
    environment = {**os.environ, "COLUMNS": str(WIDTH), "TERM": "xterm-256color", "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(command, cwd=folder, stdout=child, stderr=subprocess.DEVNULL, env=environment)
    os.close(child)
    shown = b""
    while True:
        try:
            part = os.read(parent, 1 << 16)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        shown += part
    process.wait()
    return shown.decode().replace("\r\n", "\n")


def photograph(page: Path, picture: Path, width: int, height: int) -> None:
    """A screenshot of a local page."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or "chromium"
    with tempfile.TemporaryDirectory() as profile:
        subprocess.run(
            [
                browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
                "--disable-component-update", "--disable-sync", "--no-first-run", "--hide-scrollbars",
                f"--user-data-dir={profile}", f"--screenshot={picture}", f"--window-size={width},{height}",
                page.as_uri(),
            ],
            check=True,
            capture_output=True,
        )  # fmt: skip


def main() -> None:
    """Run the demo and photograph what it shows."""
    IMAGES.mkdir(exist_ok=True)
    tool = str(Path(sys.executable).with_name("tarnkappe"))
    with tempfile.TemporaryDirectory() as folder:
        shown = terminal_output([tool, "demo", "--seed", "7"], folder)
        console = Console(record=True, width=WIDTH, file=io.StringIO())
        console.print(Text("$ tarnkappe demo", style="bold"))
        console.print(Text.from_ansi(shown.strip("\n")))
        svg = console.export_svg(title="tarnkappe", font_aspect_ratio=0.61)
        # The font is fetched from elsewhere by default; the local one will do.
        svg = "\n".join(line for line in svg.splitlines() if "url(" not in line or "clip-path" in line)
        page = Path(folder) / "terminal.html"
        page.write_text(f'<body style="margin:0;background:#fff">{svg}</body>')
        lines = shown.count("\n") + 4
        photograph(page, IMAGES / "terminal.png", 1240, int(24.4 * lines) + 10)
        photograph(Path(folder) / "demo/release/public/report.html", IMAGES / "report.png", 1100, 1500)


if __name__ == "__main__":
    main()

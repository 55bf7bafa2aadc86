"""The app as a user starts it, and a visit to it in a browser that lets no request leave this computer."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass
class Started:
    """An app that runs: its folder, its address, and the word that lets one browser in."""

    folder: Path
    address: str
    token: str
    process: subprocess.Popen[str]

    @property
    def login(self) -> str:
        return f"{self.address}/login?t={self.token}"

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(30)
        assert self.process.stdout is not None
        self.process.stdout.close()


def start(folder: Path, *words: str) -> Started:
    command = [sys.executable, "-m", "tarnkappe", "app", str(folder), "--no-browser", *words]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    found = re.search(r"(http://127\.0\.0\.1:\d+)/login\?t=(\S+)", process.stdout.readline())
    assert found is not None
    return Started(folder if folder.is_dir() else folder.parent, found[1], found[2], process)


@dataclass
class Visit:
    """A page of the app, and all that it did."""

    page: Any
    app: Started
    clicks: int = 0

    def click(self, name: str, role: str = "button") -> None:
        """Click what is called so; counted."""
        self.page.get_by_role(role, name=name).first.click()
        self.clicks += 1

    def see(self, text: str) -> None:
        self.page.get_by_text(text).first.wait_for()

    def to_the_columns(self) -> None:
        self.click("Open data")
        self.click("census.csv")
        self.click("Looks right, continue")
        self.page.get_by_role("button", name="I have checked these roles").wait_for()

    def to_the_run(self) -> None:
        self.to_the_columns()
        self.click("I have checked these roles")
        self.click("Public file")
        self.page.get_by_role("button", name="Anonymise").wait_for()


def visited(app: Started, browser: Any, **how: Any) -> Iterator[Visit]:
    context = browser.new_context(viewport={"width": 1280, "height": 800}, locale="en-US", **how)
    page = context.new_page()
    page.set_default_timeout(90_000)
    wrong: list[str] = []
    elsewhere = re.compile(rf"^(?!{re.escape(app.address)}/|data:)")
    context.route(elsewhere, lambda route: (wrong.append(route.request.url), route.abort()))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda said: wrong.append(said.text) if "Content Security Policy" in said.text else None)
    page.on("websocket", lambda socket: wrong.append(socket.url))
    page.goto(app.login)
    assert "t=" not in page.url
    yield Visit(page, app)
    context.close()
    assert wrong == []

"""The app as a user starts it, and a real browser that lets no request leave this computer."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tarnkappe.datasets import census

CHROMIUM = shutil.which("chromium")
_FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]


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


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder with a small census."""
    folder = tmp_path / "work"
    folder.mkdir()
    kept = ["age", "sex", "education", "occupation", "hours-per-week"]
    census(600, seed=1).select(kept).write_csv(folder / "census.csv")
    return folder


@pytest.fixture
def app(data: Path) -> Iterator[Started]:
    started = start(data, "--upload-limit", "1")
    yield started
    started.end()


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install -e '.[dev]'")
    if CHROMIUM is None:
        pytest.skip("needs Chromium: apt-get install chromium")
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=CHROMIUM, args=_FLAGS)
        yield opened
        opened.close()


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


@pytest.fixture
def visit(app: Started, browser: Any) -> Iterator[Visit]:
    """The app in a browser; any request to elsewhere, error of a script or breach of the policy fails the test."""
    yield from visited(app, browser)


def visited(app: Started, browser: Any, **how: Any) -> Iterator[Visit]:
    context = browser.new_context(viewport={"width": 1280, "height": 800}, locale="en-US", **how)
    page = context.new_page()
    page.set_default_timeout(30_000)
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

"""Serves the page on this computer, to this computer, to whoever has the token."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import secrets
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from tarnkappe.app.answers import routes
from tarnkappe.app.asking import Asking
from tarnkappe.app.drops import Drops
from tarnkappe.app.guard import LOGIN, LocalGuard
from tarnkappe.app.picker import Picker
from tarnkappe.app.session import Session

HOST = "127.0.0.1"
STATIC = Path(__file__).parent / "static"

#: How large a file may be that is dropped on the page, if nobody says otherwise.
LARGEST = 1 << 30

_KINDS = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".json": "application/json"}


@dataclass
class Door:
    """The one-time token, and what it is exchanged for."""

    session: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    token: str | None = field(default_factory=lambda: secrets.token_urlsafe(32))

    def open(self, given: str) -> bool:
        """Whether this is the token; it opens once."""
        right = self.token is not None and hmac.compare_digest(given.encode(), self.token.encode())
        if right:
            self.token = None
        return right


def application(folder: Path, door: Door, *, largest: int = LARGEST, opened: str | None = None) -> LocalGuard:
    """The app behind its guard; `opened` is a table or a job file in the folder to begin with."""
    session = Session(Picker.at(folder))
    drops = Drops(session.picker.root, largest)
    asking = Asking(session, drops)

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        warming = asyncio.create_task(session.warm())
        try:
            yield
        finally:
            warming.cancel()
            await asking.close()
            drops.clear()
            await session.close()

    async def login(request: Request) -> Response:
        if not door.open(request.query_params.get("t", "")):
            return PlainTextResponse("This address was used already. Start  tarnkappe app  again.", 403)
        answer = RedirectResponse("/", 303)
        answer.set_cookie(guard.cookie, door.session, httponly=True, samesite="strict", path="/")
        return answer

    own: list[Any] = [Route(LOGIN, login), Route("/", _page), Route("/static/{name:path}", _static)]
    app = Starlette(routes=[*own, *routes(session, asking, drops, opened)], lifespan=lifespan)
    guard = LocalGuard(app, door.session, largest)
    return guard


async def _page(_: Request) -> Response:
    return FileResponse(STATIC / "index.html", media_type="text/html")


async def _static(request: Request) -> Response:
    path = (STATIC / request.path_params["name"]).resolve()
    if not path.is_relative_to(STATIC.resolve()) or not path.is_file() or path.suffix not in _KINDS:
        return PlainTextResponse("no such file", 404)
    return FileResponse(path, media_type=_KINDS[path.suffix])


class _Server(uvicorn.Server):
    """A server that says where it listens once it does."""

    def __init__(self, config: uvicorn.Config, listening: Callable[[int], None]) -> None:
        super().__init__(config)
        self._listening = listening

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        if self.servers:
            self._listening(self.servers[0].sockets[0].getsockname()[1])


def serve(
    folder: Path, *, port: int, told: Callable[[str], None], largest: int = LARGEST, opened: str | None = None
) -> None:
    """Serve until asked to end; `told` gets the address with its token once the app can be reached.

    Nothing is logged: addresses and bodies may name people's data.
    """
    door = Door()
    guard = application(folder, door, largest=largest, opened=opened)

    def listening(port: int) -> None:
        guard.listens_on(port)
        told(f"http://{HOST}:{port}{LOGIN}?t={door.token}")

    config = uvicorn.Config(
        guard,
        host=HOST,
        port=port,
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        ws="wsproto" if _has("wsproto") else "auto",
        timeout_graceful_shutdown=15,
    )
    _Server(config, listening).run()


def _has(module: str) -> bool:
    from importlib.util import find_spec

    return find_spec(module) is not None

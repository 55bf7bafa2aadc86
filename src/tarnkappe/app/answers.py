"""What the page may ask of the app, each with its address; everything is JSON but the reports of a release."""

from __future__ import annotations

import functools
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route

from tarnkappe.app import editing
from tarnkappe.app.asking import Asking
from tarnkappe.app.drops import Drops
from tarnkappe.app.session import Session
from tarnkappe.app.worker import AnswerError
from tarnkappe.errors import JobError, TarnkappeError
from tarnkappe.io.folders import PRIVATE, PUBLIC, REPORT

#: A report runs nothing and loads nothing; its style stands in it.
_REPORT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'"

#: A question of the page is small; files come another way.
_LARGEST_QUESTION = 8 << 20

Handler = Callable[[Session, dict[str, Any]], Awaitable[Any]]


def routes(session: Session, asking: Asking, drops: Drops, opened: str | None) -> list[Route]:
    """All addresses."""
    first = {"opened": opened}

    async def state(_: Request) -> Response:
        return JSONResponse({**session.state(), **first})

    async def drop(request: Request) -> Response:
        try:
            return JSONResponse({"word": await drops.take(request.query_params.get("suffix", ""), _body(request))})
        except TarnkappeError as error:
            return _refused(error.as_dict())

    async def report(request: Request) -> Response:
        part = {"public": PUBLIC, "internal": PRIVATE}.get(request.path_params["edition"])
        try:
            path = session.running.release() / part / REPORT if part and session.path else None
        except TarnkappeError as error:
            return _refused(error.as_dict())
        if path is None or not path.is_file():
            return _refused({"code": "E481", "message": "there is no report yet"})
        return FileResponse(path, media_type="text/html", headers={"content-security-policy": _REPORT_POLICY})

    handlers: dict[str, Handler] = {
        **_EDITING,
        **_RUNNING,
        **{name: functools.partial(_asked, question) for name, question in asking.questions.items()},
    }
    return [
        Route("/api/state", state),
        Route("/api/drop", drop, methods=["POST"]),
        Route("/report/{edition}", report),
        *(Route(f"/api/{name}", _json(session, do), methods=["POST"]) for name, do in handlers.items()),
    ]


async def _body(request: Request) -> AsyncIterator[bytes]:
    async for part in request.stream():
        yield part


def _refused(error: dict[str, Any]) -> Response:
    return JSONResponse({"error": error}, 422)


def _json(session: Session, do: Handler) -> Callable[[Request], Awaitable[Response]]:
    """A handler of JSON: a question comes in, an answer or an error goes out."""

    async def answer(request: Request) -> Response:
        # Only a script of our own page can send JSON; a form of another page cannot.
        if request.headers.get("content-type", "").split(";")[0] != "application/json":
            return _refused({"code": "E488", "message": "only JSON is understood here"})
        body = b""
        async for part in request.stream():
            body += part
            if len(body) > _LARGEST_QUESTION:
                return JSONResponse({"error": {"code": "E487", "message": "too large"}}, 413)
        try:
            given = json.loads(body)
            if not isinstance(given, dict):
                raise ValueError
        except (ValueError, RecursionError):
            return _refused({"code": "E488", "message": "only JSON is understood here"})
        try:
            return JSONResponse(await do(session, given))
        except TarnkappeError as error:
            return _refused(error.as_dict())
        except AnswerError as error:
            return _refused(error.told)
        except (KeyError, TypeError, ValueError, IndexError):
            return _refused({"code": "E488", "message": "the question cannot be understood"})

    return answer


async def _asked(question: Callable[[dict[str, Any]], Awaitable[Any]], _: Session, given: dict[str, Any]) -> Any:
    return await question(given)


def _changing(change: Callable[[Session, dict[str, Any]], Any]) -> Handler:
    """A handler that changes the session, answers with its new state, and waits if it has to."""

    async def do(session: Session, given: dict[str, Any]) -> Any:
        waiting = change(session, given)
        if waiting is not None:
            await waiting
        return session.state()

    return do


def _confirm(session: Session, given: dict[str, Any]) -> None:
    undecided = [n for n, role in session.roles.items() if role in (None, "undecided")]
    if undecided and given.get("roles", True):
        raise JobError("E101", f"no role yet: {', '.join(undecided[:5])}", hint="Choose a role for every column.")
    session.confirmed = session.roles if given.get("roles", True) else None


def _preset(session: Session, given: dict[str, Any]) -> None:
    distinct = {c["name"]: int(c["distinct"]) for c in session.columns}
    session.change(editing.with_preset(session.text, str(given["name"]), distinct))
    session.chosen = True


def _edit(session: Session, given: dict[str, Any]) -> None:
    text = session.text
    for place, value in given["changes"]:
        text = editing.with_value(text, place, value)
    session.change(text)
    if given.get("chosen"):
        session.chosen = True


_EDITING: dict[str, Handler] = {
    "start": _changing(lambda s, g: s.start()),
    "open": _changing(lambda s, g: s.open(str(g["path"]))),
    "example": _changing(lambda s, g: s.example()),
    "edit": _changing(_edit),
    "text": _changing(lambda s, g: s.change(str(g["text"]))),
    "fix": _changing(lambda s, g: s.change(editing.with_fix(s.text, str(g["write"])))),
    "preset": _changing(_preset),
    "confirm": _changing(_confirm),
    "undo": _changing(lambda s, g: s.move(-1)),
    "redo": _changing(lambda s, g: s.move(1)),
}

_RUNNING: dict[str, Handler] = {
    "run": _changing(lambda s, g: s.running.start(None if g.get("seed") in (None, "") else int(g["seed"]))),
    "keep": _changing(lambda s, g: s.running.keep_best()),
    "cancel": _changing(lambda s, g: s.running.cancel()),
    "publish": _changing(lambda s, g: s.running.publish(overwrite=bool(g.get("overwrite")))),
}

"""Who may talk to the app: this computer's browser, with the token, from the app's own pages, and not too much at once.

A web page elsewhere can make a browser send requests to this computer. So every request and every websocket, before
anything of the app sees it, must name the app as its host (no DNS rebinding), come from the app if it says where it
comes from (no request forgery), and bring the cookie that the one-time token was exchanged for.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Asgi = Callable[[Scope, Receive, Send], Awaitable[None]]

LOGIN = "/login"

#: What a page may do: load and ask the app only, run no text as a script, and be shown in no other page.
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'self'",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "SAMEORIGIN",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}

_STATUS = {"size": 413}


class TooLargeError(Exception):
    """A body that has no end, or one that is further away than allowed."""


class LocalGuard:
    """Stands before the app, for http and websockets alike; knows its port once the server listens."""

    def __init__(self, app: Asgi, session: str, largest: int) -> None:
        """`session` is what the cookie must say, `largest` how many bytes a body may have."""
        self.app, self.session, self.largest = app, session, largest
        self.hosts: frozenset[str] = frozenset()
        self.cookie = "tarnkappe"

    def listens_on(self, port: int) -> None:
        """From now on the app is reached at this port."""
        self.hosts = frozenset({f"127.0.0.1:{port}", f"localhost:{port}"})
        self.cookie = f"tarnkappe-{port}"  # browsers do not tell ports apart where they keep cookies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what may pass."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        headers = _headers(scope)
        why = self._refusal(scope, headers)
        if scope["type"] == "websocket":  # the app has none, so that there is nobody to talk to even for a friend
            await receive()
            await send({"type": "websocket.close", "code": 1008, "reason": why or "none here"})
            return
        if why is not None:
            await _refuse(send, why)
            return
        await self._pass(scope, receive, send)

    def _refusal(self, scope: Scope, headers: dict[str, list[str]]) -> str | None:
        """Why a request may not pass."""
        if headers.get("host", []) not in [[h] for h in self.hosts]:
            return "host"
        origins = headers.get("origin", [])
        if origins and (len(origins) > 1 or origins[0] not in {f"http://{h}" for h in self.hosts}):
            return "origin"
        if headers.get("sec-fetch-site", ["none"])[0] not in ("none", "same-origin"):
            return "origin"
        if scope["path"] != LOGIN and not self._is_known(headers):
            return "token"
        said = headers.get("content-length", ["0"])[0]
        if not said.isdigit() or int(said) > self.largest:
            return "size"
        return None

    def _is_known(self, headers: dict[str, list[str]]) -> bool:
        cookies = [part.strip().partition("=") for line in headers.get("cookie", []) for part in line.split(";")]
        said = [value for name, _, value in cookies if name == self.cookie]
        return any(hmac.compare_digest(value.encode(), self.session.encode()) for value in said)

    async def _pass(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the app answer, count what it is sent, and say with every answer what a page may do."""
        received, begun, too_large = 0, False, False

        async def counted() -> Message:
            nonlocal received, too_large
            message = await receive()
            received += len(message.get("body", b""))
            if received > self.largest:  # a body in chunks does not say its length before
                too_large = True
                raise TooLargeError
            return message

        async def told(message: Message) -> None:
            nonlocal begun
            if too_large and not begun:
                return  # whatever the app makes of it, we know better what to say
            if message["type"] == "http.response.start":
                begun = True
                given = list(message.get("headers", ()))
                known = {name for name, _ in given}
                message["headers"] = [*given, *(pair for pair in _encoded(HEADERS) if pair[0] not in known)]
            await send(message)

        try:
            await self.app(scope, counted, told)
        except TooLargeError:
            if not begun:
                await _refuse(send, "size")


async def _refuse(send: Send, why: str) -> None:
    headers = _encoded({**HEADERS, "content-type": "text/plain; charset=utf-8", "connection": "close"})
    await send({"type": "http.response.start", "status": _STATUS.get(why, 403), "headers": headers})
    text = {"token": "Open the address that  tarnkappe app  printed; it works once.", "size": "Too large."}
    await send({"type": "http.response.body", "body": text.get(why, f"Refused: {why}.").encode()})


def _headers(scope: Scope) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        found.setdefault(name.decode("latin1").lower(), []).append(value.decode("latin1"))
    return found


def _encoded(headers: dict[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode(), value.encode()) for name, value in headers.items()]

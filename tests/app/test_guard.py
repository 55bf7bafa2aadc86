"""Nobody gets past the guard without the right host, origin and cookie, nor with too much in their hands."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tarnkappe.app.guard import HEADERS, LocalGuard

PORT = 5123
GOOD = {"host": f"127.0.0.1:{PORT}", "cookie": f"other=1; tarnkappe-{PORT}=secret"}


async def _inner(scope: Any, receive: Any, send: Any) -> None:
    """An app that reads everything and says so."""
    more = True
    while more:
        more = (await receive()).get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"in"})


def asked(
    headers: dict[str, str], path: str = "/api/state", kind: str = "http", body: list[bytes] | None = None
) -> Any:
    """What the guard sends."""
    guard = LocalGuard(_inner, "secret", 1000)
    guard.listens_on(PORT)
    parts = list(body or [b""])
    sent: list[Any] = []

    async def receive() -> Any:
        part = parts.pop(0)
        return {"type": "http.request", "body": part, "more_body": bool(parts)}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": kind, "path": path, "headers": [(k.encode(), v.encode()) for k, v in headers.items()]}
    with ThreadPoolExecutor(1) as aside:  # a browser of other tests in this process may have a loop of its own here
        aside.submit(asyncio.run, guard(scope, receive, send)).result()
    return sent


def test_the_owner_gets_in_and_every_answer_has_the_policy():
    sent = asked(GOOD)
    assert sent[0]["status"] == 200
    told = dict(sent[0]["headers"])
    assert {name.encode() for name in HEADERS} <= set(told)
    policy = told[b"content-security-policy"].decode()
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


@pytest.mark.parametrize(
    "change",
    [
        {"host": "evil.example"},
        {"host": f"evil.example:{PORT}"},
        {"host": f"127.0.0.1:{PORT + 1}"},
        {"origin": "http://evil.example"},
        {"origin": f"http://127.0.0.1:{PORT + 1}"},
        {"origin": f"https://127.0.0.1:{PORT}"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"cookie": ""},
        {"cookie": "tarnkappe=secret"},
        {"cookie": f"tarnkappe-{PORT}=secre"},
        {"cookie": f"tarnkappe-{PORT}=sécret"},
    ],
)
@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_strangers_are_refused(change: dict[str, str], kind: str):
    sent = asked({**GOOD, **change}, kind=kind)
    if kind == "http":
        assert sent[0]["status"] == 403
        assert sent[1]["body"] != b"in"
    else:
        assert [m["type"] for m in sent] == ["websocket.close"]
        assert sent[0]["code"] == 1008


def test_there_is_no_websocket_even_for_the_owner():
    assert asked(GOOD, kind="websocket")[0]["type"] == "websocket.close"


def test_without_a_host_nobody_gets_in():
    assert asked({"cookie": GOOD["cookie"]})[0]["status"] == 403


def test_the_login_needs_no_cookie_but_the_right_host():
    assert asked({"host": GOOD["host"]}, path="/login")[0]["status"] == 200
    assert asked({"host": "evil.example"}, path="/login")[0]["status"] == 403


@pytest.mark.parametrize("length", ["1001", "99999999999999", "-1", "many"])
def test_what_says_that_it_is_too_large_is_refused(length: str):
    assert asked({**GOOD, "content-length": length})[0]["status"] == 413


def test_what_turns_out_to_be_too_large_is_refused_too():
    assert asked(GOOD, body=[b"x" * 400] * 2)[0]["status"] == 200
    assert asked(GOOD, body=[b"x" * 400] * 3)[0]["status"] == 413

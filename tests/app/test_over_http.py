"""The app from outside: what a stranger, a hostile page or a clumsy program can do to it."""

from __future__ import annotations

import base64
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from started_app import Started, start

from tarnkappe.datasets import census


@dataclass
class Answer:
    """What came back."""

    status: int
    headers: Any
    body: bytes

    def read(self) -> bytes:
        return self.body


class Client:
    """Somebody who talks to the app, with whatever headers."""

    def __init__(self, app: Started) -> None:
        self.port = int(app.address.rpartition(":")[2])
        self.host = f"127.0.0.1:{self.port}"
        self.cookie = ""

    def send(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        given = {"Host": self.host, "Cookie": self.cookie, **{k.replace("_", "-"): v for k, v in headers.items()}}
        line.putrequest(method, path, skip_host=True)
        for name, value in given.items():
            line.putheader(name, value)
        if isinstance(body, bytes):
            line.putheader("Content-Length", str(len(body)))
        line.endheaders(body if isinstance(body, bytes) else None)
        got = line.getresponse()
        answer = Answer(got.status, got.headers, got.read())
        got.close()
        line.close()
        return answer

    def login(self, token: str) -> None:
        answer = self.send("GET", f"/login?t={token}")
        assert answer.status == 303
        said = answer.headers["set-cookie"]
        assert "HttpOnly" in said
        assert "samesite=strict" in said.lower()
        self.cookie = said.split(";")[0]

    def ask(self, name: str, **given: Any) -> tuple[int, Any]:
        answer = self.send("POST", f"/api/{name}", json.dumps(given).encode(), Content_Type="application/json")
        return answer.status, json.loads(answer.read())

    def until(self, state: str) -> Any:
        for _ in range(600):
            told = json.loads(self.send("GET", "/api/state").read())
            if told["run"]["state"] == state:
                return told
            assert told["run"]["state"] == "running", told["run"]
            time.sleep(0.1)
        raise AssertionError("took too long")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Started, Client]]:
    folder = tmp_path_factory.mktemp("served")
    census(600, seed=1).select("age", "sex", "occupation").write_csv(folder / "census.csv")
    app = start(folder, "--upload-limit", "1")
    client = Client(app)
    client.login(app.token)
    yield app, client
    app.end()


def test_the_token_opens_once_and_listens_on_this_computer_only(served: tuple[Started, Client]):
    app, client = served
    assert client.send("GET", "/").status == 200
    stranger = Client(app)
    assert stranger.send("GET", f"/login?t={app.token}").status == 403
    assert stranger.send("GET", "/login?t=").status == 403
    assert stranger.send("GET", "/").status == 403
    listening = Path("/proc/net/tcp")
    if listening.is_file():
        lines = [x.split() for x in listening.read_text().splitlines()[1:]]
        addresses = {x[1].split(":")[0] for x in lines if int(x[1].split(":")[1], 16) == client.port and x[3] == "0A"}
        assert addresses == {"0100007F"}


@pytest.mark.parametrize(
    "headers",
    [{"Host": "evil.example"}, {"Origin": "http://evil.example"}, {"Cookie": "x=1"}, {"Sec_Fetch_Site": "cross-site"}],
)
def test_strangers_are_refused_on_http_and_websockets(served: tuple[Started, Client], headers: dict[str, str]):
    _, client = served
    for path in ("/", "/api/state", "/static/main.js", "/report/internal"):
        assert client.send("GET", path, **headers).status == 403
    shaking = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec_WebSocket_Version": "13"}
    key = base64.b64encode(bytes(16)).decode()
    assert client.send("GET", "/ws", **{**shaking, "Sec_WebSocket_Key": key, **headers}).status in (400, 403)


def test_a_form_of_another_page_cannot_ask(served: tuple[Started, Client]):
    _, client = served
    body = json.dumps({"path": "census.csv"}).encode()
    assert client.send("POST", "/api/look", body, Content_Type="text/plain").status == 422
    assert client.send("GET", "/api/look").status == 405
    for bad in (b"", b"[]", b"{", b"[" * 100_000, b"\xff"):
        answer = client.send("POST", "/api/look", bad, Content_Type="application/json")
        assert answer.status == 422
        assert json.loads(answer.read())["error"]["code"] == "E488"


@pytest.mark.parametrize("path", ["../../etc/passwd", "/etc/passwd", "..", ".ssh", "census.csv/../../x"])
def test_no_path_leads_out_of_the_folder(served: tuple[Started, Client], path: str):
    _, client = served
    for name, key in (("files", "in"), ("look", "path"), ("open", "path"), ("verify", "path"), ("attack", "path")):
        status, told = client.ask(name, **{key: path})
        assert status == 422, name
        assert told["error"]["code"] in ("E480", "E481", "E107", "E401"), (name, told)
        assert "root:" not in json.dumps(told)


@pytest.mark.parametrize(
    "place", [["data", "path"], ["output", "folder"], ["columns", "sex", "taxonomy"], ["population", "path"]]
)
@pytest.mark.parametrize("path", ["../../etc/passwd", "/etc/passwd", ".hidden"])
def test_no_job_leads_out_of_the_folder_either(served: tuple[Started, Client], place: list[str], path: str):
    _, client = served
    if json.loads(client.send("GET", "/api/state").read())["job"] is None:
        assert client.ask("look", path="census.csv")[0] == 200
        assert client.ask("start")[0] == 200
    value: Any = {"kind": "file", "path": path} if place[-1] == "taxonomy" else path
    status, told = client.ask("edit", changes=[[place, value]])
    assert (status, told["error"]["code"]) == (422, "E480")


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (["data", "path"], "file:///etc/passwd"),
        (["data", "path"], "sqlite:////etc/people.db#people"),
        (["data"], {"database": "duckdb:///../people.db", "table": "people"}),
        (["data", "layout"], "../survey.rda"),
        (["data", "codes"], {"sex": "/etc/passwd"}),
        (["output", "database"], "sqlite:////tmp/out.db"),
        (["history"], {"ledger": "../ledger.jsonl"}),
    ],
)
def test_whatever_setting_of_a_job_names_a_file_elsewhere_is_refused(
    served: tuple[Started, Client], place: list[str], value: Any
):
    _, client = served
    if json.loads(client.send("GET", "/api/state").read())["job"] is None:
        assert client.ask("look", path="census.csv")[0] == 200
        assert client.ask("start")[0] == 200
    status, told = client.ask("edit", changes=[[place, value]])
    assert (status, told["error"]["code"]) == (422, "E480")


@pytest.mark.parametrize(
    "path", ["/static/../server.py", "/static/%2e%2e/server.py", "/static//etc/passwd", "/static/"]
)
def test_only_files_of_the_page_are_served(served: tuple[Started, Client], path: str):
    assert served[1].send("GET", path).status == 404


def test_what_is_too_large_is_refused_and_leaves_nothing(served: tuple[Started, Client]):
    app, client = served
    assert client.send("POST", "/api/drop?suffix=.csv", Content_Length="2000000").status == 413
    line = socket.create_connection(("127.0.0.1", client.port))
    head = f"POST /api/drop?suffix=.csv HTTP/1.1\r\nHost: {client.host}\r\nCookie: {client.cookie}\r\n"
    line.sendall((head + "Transfer-Encoding: chunked\r\n\r\n").encode())
    piece = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    with line:
        try:
            for _ in range(20):
                line.sendall(piece)
            line.sendall(b"0\r\n\r\n")
        except OSError:
            pass  # the app has hung up
        said = line.recv(100)
    assert b" 413 " in said or said == b""
    assert client.send("POST", "/api/drop?suffix=.exe", b"x").status == 422
    assert client.send("POST", "/api/drop?suffix=/../../x.csv", b"x").status == 422
    time.sleep(0.2)
    assert [p.name for p in app.folder.iterdir() if p.name.startswith(".")] == []


def test_no_value_of_the_data_is_in_the_state(served: tuple[Started, Client]):
    _, client = served
    assert client.ask("look", path="census.csv")[0] == 200
    assert client.ask("start")[0] == 200
    told = json.dumps(json.loads(client.send("GET", "/api/state").read()))
    values = set(census(600, seed=1)["occupation"].to_list())
    assert [v for v in values if f'"{v}"' in told] == []


def test_the_example_is_opened_and_says_which_combinations_single_out_most(served: tuple[Started, Client]):
    app, client = served
    for _ in range(2):  # it is written once, and then only opened
        status, told = client.ask("example")
        assert (status, told["job"]["path"]) == (200, "census-example/job.yaml")
    people = pl.read_csv(app.folder / "census-example/census.csv")
    status, told = client.ask("combinations")
    found = told["found"]
    assert (status, told["together"]) == (200, 3)
    assert {len(one["columns"]) for one in found} == {1, 2, 3}
    for one in found:
        assert one["unique"] == people.group_by(one["columns"]).len().filter(pl.col("len") == 1).height
    worst = [one["unique"] for one in found if len(one["columns"]) == 3]
    assert worst == sorted(worst, reverse=True)


@pytest.mark.full
def test_killing_the_app_or_its_run_leaves_a_whole_release_or_none(tmp_path: Path):
    folder = tmp_path / "office"
    folder.mkdir()
    census(20_000, seed=1).select("age", "sex", "education", "occupation").write_csv(folder / "census.csv")
    app = start(folder)
    client = Client(app)
    client.login(app.token)
    assert client.ask("look", path="census.csv")[0] == 200
    assert client.ask("start")[0] == 200
    assert client.ask("confirm")[0] == 200
    assert client.ask("run")[0] == 200
    time.sleep(1.5)
    app.process.send_signal(signal.SIGKILL)
    app.process.wait()
    app.end()
    assert not (folder / "census-release").exists()
    hidden = folder / ".census-release.prepared"
    for _ in range(300):  # the run goes on without the app, and comes to its end
        if hidden.exists():
            break
        time.sleep(0.1)
    again = start(folder)
    try:
        client = Client(again)
        client.login(again.token)
        status, told = client.ask("open", path="census.yaml")
        assert status == 200
        assert told["run"]["state"] == "done"
        assert not told["run"]["stale"]
        # Somebody changes what waits to be published: it is not.
        table = hidden / "public" / "census.csv"
        kept = table.read_bytes()
        table.write_bytes(kept + b"17,Male,Masters,Unique-occupation\n")
        assert client.ask("publish")[1]["error"]["code"] == "E485"
        table.write_bytes(kept)
        assert client.ask("publish")[0] == 200
        assert not hidden.exists()
        # A second release does not replace the first without being told to.
        assert client.ask("run")[0] == 200
        client.until("done")
        assert client.ask("publish")[1]["error"]["code"] == "E601"
        assert client.ask("publish", overwrite=True)[0] == 200
        # A changed job is not released with the result of another.
        assert client.ask("run")[0] == 200
        client.until("done")
        assert client.ask("edit", changes=[[["criteria", 0, "k-anonymity", "k"], 7]])[0] == 200
        assert client.ask("publish", overwrite=True)[1]["error"]["code"] == "E484"
    finally:
        again.end()
    verify = [sys.executable, "-m", "tarnkappe", "verify", "census-release"]
    assert subprocess.run(verify, cwd=folder, capture_output=True, check=False).returncode == 0


@pytest.mark.full
def test_two_hundred_columns(tmp_path: Path):
    table = {f"c{i}": [str(i % 7 + j % 3) for j in range(50)] for i in range(200)}
    pl.DataFrame(table).write_csv(tmp_path / "wide.csv")
    app = start(tmp_path / "wide.csv")
    try:
        client = Client(app)
        client.login(app.token)
        assert json.loads(client.send("GET", "/api/state").read())["opened"] == "wide.csv"
        status, told = client.ask("look", path="wide.csv")
        assert status == 200
        assert len(told["columns"]) == 200
        assert len(told["preview"]) <= 12
        assert client.ask("start")[0] == 200
        assert client.ask("confirm")[1]["error"]["code"] == "E101"
    finally:
        app.end()


def test_a_missing_package_is_named_with_the_line_that_installs_it(tmp_path: Path):
    (tmp_path / "sitecustomize.py").write_text(
        "import importlib.util as u\nfind = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if name in ('starlette', 'uvicorn') else find(name, *a)\n"
    )
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-m", "tarnkappe", "app", str(tmp_path), "--no-browser"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": path})
    assert ran.returncode == 3
    assert 'pip install "tarnkappe[app]"' in ran.stderr


def test_progress_as_json_is_one_line_per_step(tmp_path: Path):
    census(300, seed=1).select("age", "sex", "occupation").write_csv(tmp_path / "census.csv")
    tool = [sys.executable, "-m", "tarnkappe"]
    subprocess.run([*tool, "init", "census.csv"], cwd=tmp_path, check=True, capture_output=True)
    ran = subprocess.run(
        [*tool, "run", "census.yaml", "--progress", "json", "--json"], cwd=tmp_path, check=True, capture_output=True
    )
    told = [json.loads(line) for line in ran.stderr.decode().splitlines()]
    phases = [line["phase"] for line in told if line["event"] == "phase"]
    assert phases == ["read", "decide", "write", "verify", "report"]
    assert {"event", "phase", "words", "number", "of"} == set(told[0])
    assert json.loads(ran.stdout)["records"] == 300
    bad = subprocess.run(
        [*tool, "run", "census.yaml", "--progress", "xml"], cwd=tmp_path, capture_output=True, check=False
    )
    assert bad.returncode == 2

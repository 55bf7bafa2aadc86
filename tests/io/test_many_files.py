"""Tables in many files, in object stores, and in the hands of other libraries."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import polars as pl
import pyarrow as pa
import pytest

import tarnkappe as tk
from tarnkappe.errors import DataError
from tarnkappe.io import open_source
from tarnkappe.io.frames import frame_kind
from tarnkappe.pipeline import run_job

TABLE = pl.DataFrame({"age": [str(20 + i % 6) for i in range(48)], "ill": ["abc"[i % 3] for i in range(48)]})
JOB = tk.Job(quasi={"age": tk.numeric()}, sensitive=["ill"], criteria=[tk.KAnonymity(4)], seed=1, drop="rest")


def test_a_release_is_called_what_a_pattern_says_of_its_files(tmp_path: Path):
    for j in range(3):
        TABLE[j * 16 : (j + 1) * 16].write_csv(tmp_path / f"g-2024-{j}.csv")
    release = run_job(JOB, tmp_path / "g-2024-*.csv", tmp_path / "out")
    assert release.public_manifest["file"] == "g-2024.csv"


def test_a_pattern_of_names(tmp_path: Path):
    for j in range(3):
        TABLE[j * 16 : (j + 1) * 16].write_csv(tmp_path / f"y{2020 + j}.csv")
    TABLE[:5].write_csv(tmp_path / "other.csv")
    with open_source(tmp_path / "y*.csv") as source:
        assert source.n_rows == 48
        assert source.read(source.columns).equals(TABLE)
    release = run_job(JOB, tmp_path / "y*.csv", tmp_path / "out")
    assert release.public_manifest["file"] == "y.csv"
    assert release.n_published == 48
    with pytest.raises(DataError) as caught:
        open_source(tmp_path / "z*.csv")
    assert caught.value.code == "E478"


@pytest.mark.parametrize("engine", ["memory", "streaming"])
def test_a_folder_of_partitions(tmp_path: Path, engine: str):
    lake = tmp_path / "lake"
    for year, month, part in (("2023", "07", TABLE[:20]), ("2024", "__HIVE_DEFAULT_PARTITION__", TABLE[20:])):
        folder = lake / f"year={year}" / f"month={month}" / "town=New%20York"
        folder.mkdir(parents=True)
        part.write_parquet(folder / "a.parquet")
    (lake / "_SUCCESS").touch()
    with open_source(lake) as source:
        assert source.columns == ("age", "ill", "year", "month", "town")
        assert source.read(["month"])["month"].to_list() == ["07"] * 20 + [None] * 28
        assert set(source.read(["town"])["town"]) == {"New York"}
    job = tk.Job(
        quasi={"age": tk.numeric(), "year": tk.suppress()},
        sensitive=["ill"], drop=["month", "town"], criteria=[tk.KAnonymity(4)], seed=1, engine=engine,
    )  # fmt: skip
    release = run_job(job, lake, tmp_path / "out")
    assert release.public_manifest["file"] == "lake.parquet"
    assert release.n_published == 48


def test_a_partition_that_is_also_a_column(tmp_path: Path):
    folder = tmp_path / "lake" / "age=3"
    folder.mkdir(parents=True)
    TABLE.write_parquet(folder / "a.parquet")
    with pytest.raises(DataError) as caught:
        open_source(tmp_path / "lake")
    assert caught.value.code == "E478"


class _Store(BaseHTTPRequestHandler):
    """As much of an object store as reading one object takes."""

    objects: ClassVar[dict[str, bytes]] = {}

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_GET(self) -> None:
        self._answer(body=True)

    def _answer(self, *, body: bool) -> None:
        content = self.objects.get(self.path.partition("?")[0])
        if content is None or "Authorization" not in self.headers:
            self.send_response(404 if content is None else 403)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        given = self.headers.get("Range")
        part = content
        if given is not None:
            first, _, last = given.removeprefix("bytes=").partition("-")
            part = content[int(first) : int(last) + 1]
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {first}-{int(first) + len(part) - 1}/{len(content)}")
        else:
            self.send_response(200)
        self.send_header("Content-Length", str(len(part)))
        self.send_header("ETag", '"x"')
        self.send_header("Last-Modified", "Wed, 01 Jan 2025 00:00:00 GMT")
        self.end_headers()
        if body:
            self.wfile.write(part)

    def log_message(self, *given: Any) -> None:
        """Nothing is printed."""


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Store)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "canary-secret")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    yield f"scheme=http&endpoint_override=127.0.0.1:{server.server_port}&region=us-east-1"
    server.shutdown()
    server.server_close()
    thread.join()


def test_an_object_store(store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    TABLE.write_parquet(tmp_path / "t.parquet")
    _Store.objects = {
        "/lake/people.csv": TABLE.write_csv().encode(),
        "/lake/t.parquet": (tmp_path / "t.parquet").read_bytes(),
        "/lake/bad.csv": b"a,b\n1\n",
    }
    for name in ("people.csv", "t.parquet"):
        with open_source(f"s3://lake/{name}?{store}") as source:
            assert source.name == name
            assert source.read(source.columns).equals(TABLE)
            (copy,) = (tmp_path / "tmp").iterdir()
            assert copy.stat().st_mode & 0o077 == 0
        assert list((tmp_path / "tmp").iterdir()) == []
    with pytest.raises(DataError, match=r"'bad\.csv'"):
        open_source(f"s3://lake/bad.csv?{store}")
    with pytest.raises(DataError) as caught:
        open_source(f"s3://user:canary-secret@lake/none.csv?{store}")
    assert caught.value.code == "E476"
    assert "canary" not in str(caught.value)
    assert list((tmp_path / "tmp").iterdir()) == []
    release = run_job(JOB, f"s3://lake/people.csv?{store}", tmp_path / "out")
    assert release.public_manifest["file"] == "people.csv"


def test_other_addresses(tmp_path: Path):
    TABLE.write_csv(tmp_path / "t.csv")
    with open_source(f"file://{tmp_path}/t.csv") as source:
        assert source.n_rows == 48
    with pytest.raises(DataError) as caught:
        open_source("https://example.org/t.csv")
    assert caught.value.code == "E476"


def test_relations_of_duckdb():
    duckdb = pytest.importorskip("duckdb")
    base = duckdb.connect()
    base.register("t", TABLE.to_arrow())
    relation = base.sql("select age, ill from t")
    assert frame_kind(relation) == "arrow"
    release = JOB.anonymize(relation)
    assert isinstance(release.table, pl.DataFrame)
    assert release.n_published == 48
    with pytest.raises(DataError):
        open_source(base.sql("select 1 as a limit 0"))


def test_frames_of_narwhals():
    narwhals = pytest.importorskip("narwhals")
    assert JOB.anonymize(narwhals.from_native(TABLE)).n_published == 48
    lazy = narwhals.from_native(TABLE.lazy())
    with pytest.raises(DataError, match=r"data\.collect\(\)"):
        JOB.anonymize(lazy)
    assert JOB.anonymize(lazy.collect()).n_published == 48


def test_a_single_batch_of_arrow_data():
    """The interface has two forms, a stream and an array; what holds one batch may have the second only."""

    class Batch:
        def __init__(self, held: Any) -> None:
            self.held = held

        def __arrow_c_array__(self, schema: object = None) -> object:
            return self.held.__arrow_c_array__(schema)

    (batch,) = TABLE.to_arrow().combine_chunks().to_batches()
    assert JOB.anonymize(Batch(batch)).n_published == 48
    for wrong in (Batch(pa.array([1, 2])), pa.array([1, 2])):
        with pytest.raises(DataError) as caught:
            open_source(wrong)  # type: ignore[arg-type]
        assert caught.value.code == "E409"


def test_anything_that_hands_over_arrow_data():
    class Table:
        def __init__(self, held: Any) -> None:
            self.held = held

        def __arrow_c_stream__(self, schema: object = None) -> object:
            return self.held.__arrow_c_stream__(schema)

    with open_source(Table(TABLE.to_arrow())) as source:  # type: ignore[arg-type]
        assert source.read(source.columns).equals(TABLE)
    assert JOB.anonymize(pa.RecordBatchReader.from_stream(TABLE)).n_published == 48
    for wrong in (Table(pa.chunked_array([[1, 2]])), TABLE["age"], pa.chunked_array([[1]])):
        with pytest.raises(DataError) as caught:
            open_source(wrong)  # type: ignore[arg-type]
        assert caught.value.code == "E409"

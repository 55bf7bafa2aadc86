"""Whatever is published, and however: names, removed and rare values, seed, order, path and user stay inside."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import polars as pl
import pytest

from canaries import FOLDER, HOST, KINDS, USER, Published, everything_in, publish, strangers_surroundings
from tarnkappe.algorithms import all_algorithms
from tarnkappe.bundles import _KINDS as BUNDLES
from tarnkappe.certificate import add_checker

__all__ = ["strangers_surroundings"]  # a fixture

pytestmark = pytest.mark.usefixtures("strangers_surroundings")

#: Five standard deviations happen by chance once in two million orders.
SURPRISING = 5.0

RUNS = [(kind, engine) for kind, what in KINDS.items() for engine in what.engines]


def check(published: Published) -> None:
    assert published.found() == set()
    assert all(order < SURPRISING for order in published.orders())
    for word in published.kind.expected:
        assert word in everything_in(published.public)
    assert str(published.seed) in everything_in(published.folder / "do-not-share")


@pytest.mark.parametrize(("kind", "engine"), RUNS)
def test_no_canary_is_published(kind: str, engine: str, tmp_path: Path):
    published = publish(KINDS[kind], tmp_path, 1, engine, "parquet" if engine == "streaming" else "csv")
    if (published.public / "manifest.json").exists() and kind in ("mondrian", "anatomize"):
        add_checker(published.folder)
    check(published)


@pytest.mark.full
@pytest.mark.parametrize(("kind", "engine"), RUNS)
@pytest.mark.parametrize("number", range(2, 5))
def test_no_canary_is_published_in_many_runs(kind: str, engine: str, number: int, tmp_path: Path):
    check(publish(KINDS[kind], tmp_path, number, engine, ("csv", "parquet")[number % 2]))


@pytest.mark.parametrize("format_", ["xlsx", "arrow", "jsonl", "sav", "dta", "xml"])
def test_no_format_tells_more(format_: str, tmp_path: Path):
    """Files of some formats name their author, or keep what was deleted."""
    check(publish(KINDS["mondrian"], tmp_path, 1, format_=format_))


def test_every_form_and_every_bundle_is_among_them():
    """A form or a bundle that is added must be added here."""
    forms = {cls.publishes for cls in all_algorithms().values() if hasattr(cls, "publishes")}
    tried = {all_algorithms()[name].publishes for name in KINDS if name in all_algorithms()}
    assert forms == tried
    bundles = {"noisy counts", "baskets", "several tables", "masks", "series", "synthetic trees"}
    assert bundles <= set(KINDS)
    assert len(BUNDLES) == len(bundles)


LEAKS = {
    "a name in the report": ("report.html", "<p>CanaryName0007</p>"),
    "a removed value in the manifest": ("manifest.json", "CanaryDropped03"),
    "a rare value in the codebook": ("codebook.csv", "town,quasi,CanaryTown1,The value itself."),
    "a rare secret beside the table": ("report.html", "<li>CanaryIllness4</li>"),
    "the folder": ("manifest.json", FOLDER),
    "the user": ("report.html", f"by {USER.lower()}"),
    "the machine": ("report.html", HOST),
}


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Published:
    return publish(KINDS["mondrian"], tmp_path_factory.mktemp("clean"), 1)


def copied(clean: Published, folder: Path) -> Published:
    shutil.copytree(clean.folder, folder / "release")
    return Published(folder / "release", clean.kind, clean.seed, clean.where)


@pytest.mark.parametrize("leak", LEAKS)
def test_a_leak_is_found(leak: str, clean: Published, tmp_path: Path):
    """A search that cannot find anything proves nothing."""
    published = copied(clean, tmp_path)
    assert published.found() == set()
    name, text = LEAKS[leak]
    with (published.public / name).open("a") as file:
        file.write(text)
    assert (published.found() != set()) if name != "manifest.json" else text in everything_in(published.public)


def test_a_seed_an_order_and_a_compressed_value_are_found(clean: Published, tmp_path: Path):
    published = copied(clean, tmp_path)
    manifest = published.public / "manifest.json"
    told = json.loads(manifest.read_text())
    manifest.write_text(json.dumps({**told, "notes": hex(clean.seed)[2:]}))
    assert published.found() == {hex(clean.seed)[2:]}
    manifest.write_text(json.dumps(told))
    table = published.tables()[0]
    rows = pl.read_csv(table, infer_schema=False)
    rows.sort("wave").write_csv(table)
    assert max(published.orders()) > SURPRISING
    manifest.write_text(json.dumps({**told, "tables": [{"file": "t.parquet"}]}))
    rows.with_columns(age=pl.lit("CanaryName1")).write_parquet(published.public / "t.parquet", compression="zstd")
    table.unlink()
    assert published.found() == {"CanaryName"}

"""Signatures of manifests: who made a release, and that nobody changed it."""

from __future__ import annotations

import json
import shlex
import stat
from pathlib import Path

import polars as pl
import pytest

import tarnkappe as tk
from tarnkappe.multirelational import MultiJob, Relation, run_multirelational


@pytest.fixture
def release(folder: Path) -> Path:
    frame = pl.DataFrame({"age": [30, 31, 32, 50, 51, 52] * 4, "illness": ["flu", "gout", "ache"] * 8})
    job = tk.Job(quasi={"age": tk.numeric()}, sensitive=["illness"], criteria=[tk.KAnonymity(4)])
    tk.run_job(job, frame, folder / "out", seed=1)
    return folder / "out"


@pytest.fixture
def keys(cli, release: Path) -> Path:
    result = cli("sign", "--new-key", "steward")
    assert result.exit_code == 0, result.output
    return release.parent / "steward.key"


def test_a_signed_release_is_known_by_its_public_key(cli, release: Path, keys: Path):
    assert cli("sign", "out", "--key", keys).exit_code == 0
    result = cli("verify", "out", "--signed-by", "steward.pub")
    assert result.exit_code == 0, result.output
    assert "✓ manifest.json was signed by the owner of steward.pub" in result.stdout
    shown = cli("verify", "out", "--signed-by", "steward.pub", "--json")
    assert json.loads(shown.stdout)["signature"] == "valid"


def test_the_commands_that_are_told_after_signing_work_when_pasted(cli, release: Path, keys: Path):
    said = cli("sign", "out", "--key", keys).stdout
    for line in said.splitlines():
        words = shlex.split(line.removeprefix("  Check").strip())
        if words[:1] == ["tarnkappe"]:
            assert cli(*words[1:]).exit_code == 0
        elif words[:1] == ["openssl"]:
            assert all(Path(words[words.index(name) + 1]).is_file() for name in ("-inkey", "-sigfile", "-in"))
    assert said.count("openssl") == said.count("tarnkappe verify") == 1


def test_tables_that_belong_together_are_not_ok_without_their_signature(cli, keys: Path):
    baskets = [["bread", "milk"], ["bread", "milk"], ["bread"], ["bread"]]
    text = "".join(f"{i},{item}\n" for i, basket in enumerate(baskets) for item in basket)
    Path("shop.csv").write_text("basket,item\n" + text)
    items = "{key: basket, column: item, k: 2, m: 2}"
    Path("shop.yaml").write_text(f"data: {{path: shop.csv}}\nitems: {items}\noutput: {{folder: shop}}\n")
    assert cli("run", "shop.yaml").exit_code == 0
    unsigned = cli("verify", "shop", "--signed-by", "steward.pub", "--json")
    assert unsigned.exit_code == 5
    assert json.loads(unsigned.stdout)["ok"] is False
    assert cli("sign", "shop", "--key", keys).exit_code == 0
    assert json.loads(cli("verify", "shop", "--signed-by", "steward.pub", "--json").stdout)["ok"] is True


def test_only_its_owner_can_read_the_private_key(keys: Path):
    assert stat.S_IMODE(keys.stat().st_mode) == 0o600
    assert "PRIVATE" not in keys.with_suffix(".pub").read_text()


def test_a_changed_manifest_another_key_and_no_signature_are_found(cli, release: Path, keys: Path):
    absent = cli("verify", "out", "--signed-by", "steward.pub")
    assert absent.exit_code == 5
    assert "✗ manifest.json is not signed" in absent.stdout
    assert "✗ the file keeps the promise, but the signature is not that of this key, or is missing" in absent.stdout
    cli("sign", "out", "--key", keys)
    cli("sign", "--new-key", "other")
    assert cli("verify", "out", "--signed-by", "other.pub").exit_code == 5
    manifest = release / "public" / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"k": 4', '"k": 2'))
    changed = cli("verify", "out", "--signed-by", "steward.pub", "--json")
    assert changed.exit_code == 5
    assert json.loads(changed.stdout)["signature"] == "not valid"
    assert json.loads(changed.stdout)["ok"] is False


def test_a_release_that_was_tampered_with_is_not_signed(cli, release: Path, keys: Path):
    table = release / "public" / "release.parquet"
    pl.read_parquet(table).head(5).write_parquet(table)
    result = cli("sign", "out", "--key", keys)
    assert result.exit_code == 6
    assert "E607" in result.stderr
    assert not (release / "public" / "manifest.sig").exists()


def test_a_passphrase_locks_the_key(cli, release: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TARNKAPPE_PASSPHRASE", "correct horse")
    assert cli("sign", "--new-key", "locked").exit_code == 0
    assert "ENCRYPTED" in Path("locked.key").read_text()
    assert cli("sign", "out", "--key", "locked.key").exit_code == 0
    monkeypatch.delenv("TARNKAPPE_PASSPHRASE")
    result = cli("sign", "out", "--key", "locked.key")
    assert result.exit_code == 2
    assert "is locked by a passphrase" in result.stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("sign",), "give the folder of a release, or --new-key"),
        (("sign", "out"), "signing needs a key"),
        (("sign", "out", "--key", "absent.key"), "cannot be read"),
        (("sign", "out", "--key", "steward.pub"), "is no private key"),
        (("sign", "nowhere", "--key", "steward.key"), "is no release"),
        (("verify", "out", "--signed-by", "steward.key"), "is no public key"),
    ],
)
def test_wrong_words_get_an_answer(cli, keys: Path, words: tuple[str, ...], says: str):
    result = cli(*words)
    assert result.exit_code == 2
    assert says in " ".join(result.stderr.split())


def test_a_key_is_never_overwritten(cli, keys: Path):
    before = keys.read_bytes()
    assert cli("sign", "--new-key", "steward").exit_code == 6
    assert keys.read_bytes() == before


def test_the_checker_is_put_beside_the_tables(cli, release: Path):
    result = cli("verify", "out", "--standalone")
    assert result.exit_code == 0, result.output
    assert (release / "public" / "check_release.py").is_file()


def test_a_signature_says_nothing_about_other_tables(cli, release: Path, keys: Path):
    """A table that the signed manifest does not name, or not with this content, is not vouched for."""
    assert cli("sign", "out", "--key", keys).exit_code == 0
    table = release / "public" / "release.parquet"
    other = table.with_name("other.parquet")
    pl.read_parquet(table).head(8).write_parquet(other)
    asked = ["--quasi", "age", "--k", "1", "--signed-by", "steward.pub"]
    result = cli("verify", other, *asked)
    assert result.exit_code == 5
    assert "✗ manifest.json is signed, but the tables are not those that it describes" in result.stdout
    assert cli("verify", table, *asked).exit_code == 0
    other.replace(table)
    assert cli("verify", table, *asked).exit_code == 5
    shown = json.loads(cli("verify", "out", "--signed-by", "steward.pub", "--json").stdout)
    assert (shown["signature"], shown["ok"]) == ("of other tables", False)


def test_no_table_of_several_can_be_exchanged_under_a_signature(cli, folder: Path):
    frame = pl.DataFrame({"age": [30, 31, 32, 50, 51, 52] * 4, "illness": ["flu", "gout", "ache"] * 8})
    asked = [tk.LDiversity("illness", l=2)]
    job = tk.Job(quasi={"age": tk.numeric()}, sensitive=["illness"], criteria=asked, algorithm="anatomize")
    tk.run_job(job, frame, folder / "out", seed=1)
    cli("sign", "--new-key", "steward")
    assert cli("sign", "out", "--key", "steward.key").exit_code == 0
    table, secrets = (folder / "out" / "public" / f"release{part}.parquet" for part in ("", "-secrets"))
    looked = ["--quasi", "age", "--k", "1", "--signed-by", "steward.pub"]
    assert cli("verify", table, *looked).exit_code == 0
    pl.read_parquet(secrets).head(3).write_parquet(secrets)
    assert cli("verify", table, *looked).exit_code == 5


def test_a_bundle_without_a_signature_is_not_ok_in_json_either(cli, folder: Path):
    people = pl.DataFrame({"id": range(8), "sex": ["f", "m"] * 4})
    job = MultiJob("id", Relation("people", {"sex": tk.suppress()}), [], k=3)
    run_multirelational(job, {"people": people}, folder / "out")
    cli("sign", "--new-key", "steward")
    result = cli("verify", "out", "--signed-by", "steward.pub", "--json")
    assert result.exit_code == 5
    assert json.loads(result.stdout)["ok"] is False

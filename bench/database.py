"""A census in PostgreSQL, counted there and released into another table, beside COPY of the same columns out and in.

    python bench/database.py --rows 10000000
    python bench/database.py --rows 10000000 --columns age,sex,race --sensitive workclass     # few combinations

Starts a server of its own in a temporary folder (see tests/places/postgresql_server.py) with its usual settings, and
stops it again. Prints one JSON object: seconds of the release and of COPY, their ratio, the same in CPU seconds of
client and server together (which do not depend on what else the machine does), and the peak memory of the process
that made the release.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from urllib.parse import parse_qs

import polars as pl
from measure import ROOT, command
from tables import SENSITIVE, census_file

sys.path.insert(0, str(ROOT.parent / "tests/places"))

from postgresql_server import NOT_INSTALLED, binaries, running

#: The quasi-identifiers that bench/census_scale.py takes, too: with the sensitive column two million combinations.
QUASI = ("age", "sex", "native-country")

#: The usual settings of a server, but for the memory that it shares.
SETTINGS = ("shared_buffers=128MB", "max_wal_size=8GB")

JOB = """
version: 1
data: {{database: "{uri}", table: people, missing_rule: own-value}}
columns:
{columns}
criteria:
  - k-anonymity: {{k: 5}}
  - l-diversity: {{column: {sensitive}, l: 2}}
algorithm: {{name: mondrian}}
output: {{database: "{uri}", table: released, folder: release}}
seed: 1
"""


def fill(uri: str, rows: int, columns: Sequence[str]) -> pl.DataFrame:
    """Put some columns of the census into a table, some rows at a time."""
    import adbc_driver_postgresql.dbapi as adbc

    frame = pl.scan_parquet(census_file(rows)).select(columns)
    with adbc.connect(uri) as connection, connection.cursor() as cursor:
        for i, batch in enumerate(frame.collect_batches(chunk_size=1 << 19)):
            plain = batch.cast({pl.Categorical: pl.String}).to_arrow(compat_level=pl.CompatLevel.oldest())
            cursor.adbc_ingest("people", plain, mode="append" if i else "create")
        connection.commit()
    return frame.head(10).collect()


def psql(uri: str, *statements: str) -> float:
    """How long the server's own client takes for some statements."""
    began = time.perf_counter()
    words = [word for statement in statements for word in ("-c", statement)]
    subprocess.run([str(Path(binaries() or "") / "psql"), "-qtA", uri, *words], check=True, stdout=sys.stderr)
    return time.perf_counter() - began


def server_cpu(uri: str) -> float:
    """CPU seconds of the server and of all processes that it has started."""
    time.sleep(1)  # until those that ended are counted
    home = Path(parse_qs(uri.partition("?")[2])["host"][0])
    master = int((home / "data/postmaster.pid").read_text().split()[0])
    ticks = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            told = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        if int(folder.name) == master:
            ticks += sum(map(int, told[11:15]))
        elif int(told[1]) == master:
            ticks += sum(map(int, told[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


def client_cpu() -> float:
    """CPU seconds of the processes that were started here."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def column_lines(head: pl.DataFrame, sensitive: str) -> str:
    """How the columns of the census are declared."""
    lines = [f'  "{sensitive}": sensitive']
    for name in head.columns:
        if name == sensitive:
            continue
        how = "type: numeric" if head.schema[name].is_numeric() else "taxonomy: suppress"
        lines.append(f'  "{name}": {{role: quasi, {how}}}')
    return "\n".join(lines)


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--columns", default=",".join(QUASI), help="quasi-identifiers")
    parser.add_argument("--sensitive", default=SENSITIVE)
    given = parser.parse_args()
    rows, columns = given.rows, [*given.columns.split(","), given.sensitive]
    if binaries() is None:
        sys.exit(NOT_INSTALLED)
    with running(SETTINGS) as uri, tempfile.TemporaryDirectory() as folder:
        # In a process of its own: a command's peak memory begins with that of the process that starts it.
        with ProcessPoolExecutor(1, get_context("spawn")) as aside:
            head = aside.submit(fill, uri, rows, columns).result()
        psql(uri, "VACUUM ANALYZE people", "CREATE TABLE copied (LIKE people)")
        file = Path(folder, "copy.bin")
        copying = server_cpu(uri) + client_cpu()
        out = psql(uri, f"\\copy people TO '{file}' (FORMAT binary)")
        back = psql(uri, f"\\copy copied FROM '{file}' (FORMAT binary)")
        copying = server_cpu(uri) + client_cpu() - copying
        file.unlink()
        psql(uri, "DROP TABLE copied", "CHECKPOINT")
        job = Path(folder, "job.yaml")
        lines = column_lines(head, given.sensitive)
        job.write_text(JOB.format(uri=uri, columns=lines, sensitive=given.sensitive), "utf-8")
        serving = server_cpu(uri)
        done = command(sys.executable, "-m", "tarnkappe", "run", str(job), "--overwrite", "--quiet", repeat=1)
        serving = server_cpu(uri) - serving
        manifest = json.loads(Path(folder, "release/do-not-share/manifest.json").read_text("utf-8"))
        result = {
            "rows": rows,
            "columns": columns,
            "copy_out": round(out, 2),
            "copy_in": round(back, 2),
            "release": round(done["seconds"], 2),
            "ratio": round(done["seconds"] / (out + back), 2),
            "copy_cpu": round(copying, 2),
            "client_cpu": round(done["cpu"], 2),
            "server_cpu": round(serving, 2),
            "cpu_ratio": round((done["cpu"] + serving) / copying, 2),
            "peak_mb": round(done["peak_mb"]),
            "phases": manifest["seconds"],
        }
    print(json.dumps(result))


if __name__ == "__main__":
    main()

"""Data with canaries in them, jobs of every kind about these data, and a search for canaries in what is published.

A canary is a text, or an order, that has no business outside: names, removed values, values that few records have, the
seed, where the data lay, who ran the job on which machine, and in which order the records stood.
"""

from __future__ import annotations

import json
import math
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from tarnkappe.cli.app import app

#: Where the data lie, who runs the job, and on what.
FOLDER, USER, HOST = "CanaryFolder", "CanaryUser", "canary-host"

N = 240
TOWNS = ("Kiel", "Ulm", "Rom", "Bern")
ILLNESSES = ("flu", "gout", "mumps", "cold", "burn")

#: Half of the records as they stand in the data, then the other half.
WAVES = ("early", "late")


def readable(path: Path) -> str:
    """All that can be read in a file: its bytes as text, and what is stored compressed."""
    parts = [path.read_bytes().decode("utf-8", errors="replace")]
    if path.suffix == ".parquet":
        file = pq.ParquetFile(path)
        parts += [str(file.metadata), str(file.schema), str(file.schema_arrow), str(file.schema_arrow.metadata)]
        groups = range(file.metadata.num_row_groups)
        parts += [str(file.metadata.row_group(g).column(c)) for g in groups for c in range(file.metadata.num_columns)]
        # Dictionaries are read as they are stored: a value in them need not occur in any row.
        for column in pq.read_table(path, read_dictionary=file.schema_arrow.names).columns:
            parts.append(str(column.to_pylist()))
            parts += [str(chunk.dictionary.to_pylist()) for chunk in column.chunks if hasattr(chunk, "dictionary")]
    if path.suffix == ".arrow":
        parts.append(pl.read_ipc(path).write_csv())
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as packed:
            parts += [f"{name}\n{packed.read(name).decode('utf-8', errors='replace')}" for name in packed.namelist()]
    return "\n".join(parts)


def everything_in(folder: Path) -> str:
    """All that can be read in a folder: names and contents."""
    return "\n".join(
        f"{path.relative_to(folder)}\n{readable(path) if path.is_file() else ''}" for path in sorted(folder.rglob("*"))
    )


def people(rng: np.random.Generator) -> pl.DataFrame:
    """People in two waves; a few have a town or an illness that nobody else has, and an age of their own."""
    towns, ills = rng.choice(TOWNS, N).tolist(), rng.choice(ILLNESSES, N).tolist()
    ages = rng.integers(20, 60, N).tolist()
    for i, place in enumerate(rng.choice(N, 6, replace=False).tolist()):
        if i < 3:
            towns[place], ages[place] = f"CanaryTown{i}", 97 + i
        else:
            ills[place] = f"CanaryIllness{i}"
    return pl.DataFrame(
        {
            "name": [f"CanaryName{i:04d}" for i in rng.permutation(N).tolist()],
            "dropped": [f"CanaryDropped{i % 40:02d}" for i in range(N)],
            "age": ages,
            "town": towns,
            "income": (1000 + rng.integers(0, 400, N) * 10).tolist(),
            "guard": [(None, "caught", "other")[i % 3] for i in range(N)],
            "wave": [WAVES[i >= N // 2] for i in range(N)],
            "illness": ills,
        }
    )


TREE = "{kind: tree, tree: {North: [Kiel, CanaryTown0], South: [Ulm, Bern, CanaryTown1], Far: [Rom, CanaryTown2]}}"
ILLS = (
    "{kind: tree, tree: {caught: [flu, mumps, cold, CanaryIllness3], other: [gout, burn, CanaryIllness4, "
    "CanaryIllness5]}}"
)
HEAD = """
data: {path: people.csv}
title: A release
columns:
  name: identifier
  dropped: drop
  guard: drop
"""
RECORDS = f"""{HEAD}
  age: {{role: quasi, type: numeric}}
  town: {{role: quasi, taxonomy: {TREE}}}
  income: drop
  wave: {{role: keep, because: "two waves of a survey, known to all"}}
  illness: sensitive
criteria:
  - k-anonymity: {{k: 8}}
limits: {{suppressed_rows: 10%}}
output: {{folder: release}}
"""
NUMBERED = f"""{HEAD}
  age: {{role: quasi, type: numeric}}
  town: drop
  income: {{role: QUANTITY, type: numeric}}
  wave: {{role: quasi, taxonomy: suppress}}
  illness: SECRET
criteria:
  - CRITERION
output: {{folder: release}}
"""
CENTRES = f"""{HEAD}
  age: {{role: quasi, type: numeric}}
  income: {{role: quasi, type: numeric}}
  town: drop
  wave: {{role: keep, because: "two waves of a survey, known to all"}}
  illness: sensitive
criteria:
  - k-anonymity: {{k: 8}}
output: {{folder: release}}
"""
MASKED = f"""{HEAD}
  age: {{role: quasi, type: numeric}}
  town: drop
  income: {{role: sensitive, type: numeric}}
  wave: {{role: keep, because: "two waves of a survey, known to all"}}
  illness: sensitive
masks:
  - rank-swapping: {{columns: [age, income], window_percent: 20}}
criteria:
  - max-linkage: {{share: 0.9}}
output: {{folder: release}}
"""
SYNTHETIC = """
data: {path: people.csv}
title: A release
synthetic: METHOD
columns:
  name: drop
  dropped: drop
  guard: drop
  age: {low: 20, high: 99, width: 20}
  town: [Kiel, Ulm, Rom, Bern]
  income: drop
  wave: [early, late]
  illness: drop
output: {folder: release}
"""
HISTOGRAM = """
data: {path: people.csv}
title: A release
histogram:
  epsilon: 1.0
  columns:
    age: {from: 0, to: 100, width: 20}
    town: [Kiel, Ulm, Rom, Bern]
  tables: [[age, town], []]
output: {folder: release}
"""
BASKETS = """
data: {path: baskets.csv}
title: A release
items:
  column: basket
  separator: ";"
  taxonomy: items.csv
  k: 8
  m: 2
output: {folder: release}
"""
JOINED = f"""
title: A release
key: name
persons: persons
tables:
  persons:
    path: persons.csv
    columns:
      town: {{role: quasi, taxonomy: {TREE}}}
      dropped: drop
  visits:
    path: visits.csv
    columns:
      illness: {{role: sensitive}}
criteria:
  - k-anonymity: {{k: 8}}
limits: {{suppressed_rows: 10%}}
output: {{folder: release}}
"""
SERIES = f"""{HEAD}
  age: {{role: quasi, type: numeric}}
  town: drop
  income: drop
  wave: {{role: quasi, taxonomy: suppress}}
  illness: sensitive
series: {{m: 2, subject: name, ledger: private/series.jsonl, max_counterfeits: 0.3}}
output: {{folder: release}}
"""


@dataclass(frozen=True)
class Kind:
    """One way of publishing: its job, and what is hidden beside names and removed columns.

    `hidden` never stands in anything that is published; `unsaid` may stand in the tables, but not beside them.
    """

    job: str
    hidden: tuple[str, ...] = ()
    unsaid: tuple[str, ...] = ()
    settings: str = ""
    engines: tuple[str, ...] = ("memory",)
    #: Whether the rows of the tables are records, so that their order could be that of the data.
    ordered: bool = True
    expected: tuple[str, ...] = field(default=("A release",))


def _numbered(algorithm: str, criterion: str, **roles: str) -> Kind:
    secret, quantity = roles.get("secret", "sensitive"), roles.get("quantity", "drop")
    text = NUMBERED.replace("CRITERION", criterion).replace("SECRET", secret).replace("QUANTITY", quantity)
    text = text.replace("{role: drop, type: numeric}", "drop")
    known = () if secret == "drop" else ("CanaryIllness",)
    hidden = ("CanaryIllness",) if secret == "drop" else ()
    return Kind(text, ("CanaryTown", *hidden), known, f"algorithm: {algorithm}\n", ("memory", "streaming"))


ENGINES = ("memory", "streaming")

#: Forms that publish nothing but quasi-identifiers and secrets.
KEPT, AS_SECRET = 'wave: {role: keep, because: "two waves of a survey, known to all"}', "wave: sensitive"
AS_KNOWN = "wave: {role: quasi, taxonomy: suppress}"
KINDS: dict[str, Kind] = {
    **{
        name: Kind(RECORDS, ("CanaryTown",), ("CanaryIllness",), f"algorithm: {name}\n", ENGINES)
        for name in ("mondrian", "hilb", "flash", "mu-argus", "local-suppression")
    },
    **{name: Kind(CENTRES, ("CanaryTown",), ("CanaryIllness",), f"algorithm: {name}\n", ENGINES) for name in ("mdav",)},
    "regenerated-condensation": Kind(
        CENTRES.replace("k-anonymity", "k-indistinguishability").replace(KEPT, AS_SECRET),
        ("CanaryTown",),
        ("CanaryIllness",),
        "algorithm: regenerated-condensation\n",
        ENGINES,
    ),
    "mask": Kind(
        RECORDS.replace(KEPT, AS_KNOWN).replace(
            "limits:", "  - m-confidentiality: {column: illness, values: [burn], m: 2}\nlimits:"
        ),
        ("CanaryTown",),
        ("CanaryIllness",),
        "algorithm: mask\n",
    ),
    "greedy-personalized": Kind(
        RECORDS.replace(KEPT, AS_KNOWN)
        .replace("illness: sensitive", f"illness: {{role: sensitive, taxonomy: {ILLS}}}")
        .replace("limits:", "  - personalized-privacy: {column: illness, guard: guard, p_breach: 0.9}\nlimits:"),
        ("CanaryTown",),
        (),  # the declared taxonomy of the secret is told, whoever has what
        "algorithm: greedy-personalized\n",
    ),
    "anatomize": _numbered("anatomize", "l-diversity: {column: illness, l: 2}"),
    "angel": _numbered("angel", "l-diversity: {column: illness, l: 2}"),
    "slicing": _numbered("slicing", "l-diversity: {column: illness, l: 2}"),
    "k-e-permutation": _numbered(
        "k-e-permutation", "k-e-anonymity: {column: income, k: 3, e: 100}", secret="drop", quantity="sensitive"
    ),
    "masks": Kind(MASKED, ("CanaryTown",), ("CanaryIllness",)),
    "masks and groups": Kind(
        RECORDS.replace("income: drop", "income: {role: keep, type: numeric, because: rounded to thousands}").replace(
            "criteria:", "masks:\n  - rounding: {column: income, base: 1000}\ncriteria:"
        ),
        ("CanaryTown",),
        ("CanaryIllness",),
        engines=ENGINES,
    ),
    "synthetic trees": Kind(SYNTHETIC.replace("METHOD", "{method: trees, k: 6}"), ("CanaryTown", "CanaryIllness")),
    "synthetic copula": Kind(SYNTHETIC.replace("METHOD", "{method: copula, k: 6}"), ("CanaryTown", "CanaryIllness")),
    "synthetic marginals": Kind(
        SYNTHETIC.replace("METHOD", "{method: marginals, epsilon: 2.0}"), ("CanaryTown", "CanaryIllness")
    ),
    "noisy counts": Kind(HISTOGRAM, ("CanaryTown", "CanaryIllness"), ordered=False),
    "baskets": Kind(BASKETS, ("CanaryItem",)),
    "several tables": Kind(JOINED, ("CanaryTown",), ("CanaryIllness",)),
    "series": Kind(SERIES, ("CanaryTown",), ("CanaryIllness",)),
}


@dataclass(frozen=True)
class Published:
    """The folder of a release, and what must not be found in what is shared of it."""

    folder: Path
    kind: Kind
    seed: int
    where: Path

    @property
    def public(self) -> Path:
        """What is shared."""
        return self.folder / "public"

    def tables(self) -> list[Path]:
        """The files of the tables."""
        told = json.loads((self.public / "manifest.json").read_text("utf-8"))
        named = [table["file"] for table in told.get("tables", ())] or [told["file"]]
        return [self.public / name for name in named]

    def found(self) -> set[str]:
        """The canaries that are in what is shared."""
        tables = {table for named in self.tables() for table in (named.rglob("*") if named.is_dir() else [named])}
        beside = [p for p in self.public.rglob("*") if p.is_file() and p not in tables]
        words = {"CanaryName", "CanaryDropped", FOLDER, USER, HOST, *self.kind.hidden}
        words |= {str(self.seed), hex(self.seed)[2:], str(self.where), '"seed"'}
        text = everything_in(self.public)
        out = {word for word in words if word.lower() in text.lower()}
        said = "\n".join(map(readable, beside))
        return out | {f"{word} beside the tables" for word in self.kind.unsaid if word in said}

    def orders(self) -> Iterator[float]:
        """How far the order of the rows is from a random one, in standard deviations, wherever waves are published."""
        told = json.loads((self.public / "manifest.json").read_text("utf-8"))
        number = told.get("reading", {}).get("number")
        for path in self.tables():
            rows = _rows(path)
            if self.kind.ordered and "wave" in rows.columns:
                shown = rows.filter(pl.col("wave").is_in(WAVES))
                if shown.height > 60:
                    yield _from_random(shown, number if number in rows.columns else None)


def _rows(table: Path) -> pl.DataFrame:
    files = sorted(table.rglob("*")) if table.is_dir() else [table]
    read = {".csv": lambda p: pl.read_csv(p, infer_schema=False), ".parquet": pl.read_parquet}
    frames = [read[p.suffix](p).cast(pl.String) for p in files if p.suffix in read]
    return pl.concat(frames) if frames else pl.DataFrame()


def _from_random(rows: pl.DataFrame, number: str | None) -> float:
    """The difference between the halves of a table, against that of a random order.

    Groups that have a number stand together, so they, not their rows, are what chance has put in order.
    """
    late = (rows["wave"] == WAVES[1]).to_numpy().astype(float)
    unit = np.arange(len(late)) if number is None else rows[number].rank("dense").to_numpy() - 1
    apart = np.bincount(unit, late - late.mean())  # what every unit adds to the half that it falls into
    deviation = 2 * math.sqrt(float((apart**2).sum())) / len(late)
    half = len(late) // 2
    return abs(late[:half].mean() - late[half:].mean()) / max(deviation, 1e-9)


def publish(kind: Kind, folder: Path, number: int, engine: str = "memory", format_: str = "csv") -> Published:
    """Run a job as people do, from its file, about data that nobody else has, with a seed that nobody guesses."""
    rng = np.random.default_rng(number)
    where = folder / FOLDER
    where.mkdir(parents=True)
    _write(people(rng), rng, where)
    seed = int.from_bytes(rng.bytes(16), "big")
    text = kind.job + kind.settings + f"seed: {seed}\n"
    if engine != "memory":
        text += f"engine: {engine}\n" + ("master: local[2]\n" if engine == "spark" else "")
    text = text.replace("output: {folder: release}", f"output: {{folder: release, format: {format_}}}")
    (where / "job.yaml").write_text(text, "utf-8")
    done = CliRunner().invoke(app, ["run", str(where / "job.yaml")])
    assert done.exit_code == 0, done.output
    return Published(where / "release", kind, seed, where)


def _write(frame: pl.DataFrame, rng: np.random.Generator, where: Path) -> None:
    frame.write_csv(where / "people.csv")
    items = [f"item{i}" for i in range(6)]
    rare = [f"CanaryItem{i}" for i in range(3)]
    baskets = [";".join(rng.choice(items, 2, replace=False)) for _ in range(N)]
    for i, place in enumerate(rng.choice(N, 3, replace=False).tolist()):
        baskets[place] += f";{rare[i]}"
    pl.DataFrame({"basket": baskets, "wave": frame["wave"]}).write_csv(where / "baskets.csv")
    lines = [f"{item};{'food' if i % 2 else 'other'};*" for i, item in enumerate([*items, *rare])]
    (where / "items.csv").write_text("\n".join(lines) + "\n")
    frame.select("name", "town", "dropped").write_csv(where / "persons.csv")
    frame.select("name", "illness").write_csv(where / "visits.csv")


@pytest.fixture
def strangers_surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A user and a machine with names that can be looked for."""
    tmp_path_factory.getbasetemp()  # the folder of all tests is not called after this user
    for name in ("USER", "LOGNAME", "USERNAME", "LNAME"):
        monkeypatch.setenv(name, USER)
    monkeypatch.setattr("socket.gethostname", lambda: HOST)
    monkeypatch.setattr("platform.node", lambda: HOST)

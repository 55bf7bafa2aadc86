"""One table of odd files for all engines: what one refuses all refuse, what one reads all read alike."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from spark_setup import require_spark

import tarnkappe as tk
from grids import some
from tarnkappe.engines import engine_for
from tarnkappe.engines.settings import EngineSettings
from tarnkappe.errors import TarnkappeError
from tarnkappe.pipeline import run_job

require_spark()


pytestmark = pytest.mark.usefixtures("spark")


HEAD, ROWS = "age,sex,illness\n", "34,m,flu\n35,f,cold\n34,m,flu\n"
FILLING = f"34,m,{'flu ' * 250}\n" * 1_100  # more than the megabyte that dialects are detected from

#: Files by name; a folder of parts is a mapping.
FILES: dict[str, bytes | dict[str, bytes]] = {
    "plain": (HEAD + ROWS).encode(),
    "windows line ends": (HEAD + ROWS).replace("\n", "\r\n").encode(),
    "old Mac line ends": (HEAD + ROWS).replace("\n", "\r").encode(),
    "no last line end": (HEAD + ROWS).rstrip().encode(),
    "byte order mark": "\ufeff".encode() + (HEAD + ROWS).encode(),
    "quoted delimiters": (HEAD + '34,m,"flu, bad"\n' + ROWS).encode(),
    "doubled quotes": (HEAD + '34,m,"a ""bad"" flu"\n' + ROWS).encode(),
    "quoted line break": (HEAD + '34,m,"flu\nand cold"\n' + ROWS).encode(),
    "quoted line break after a megabyte": (HEAD + FILLING + '34,m,"flu\n1,2,3\n,,"\n' + ROWS).encode(),
    "quoted header": ('age,"sex, or gender",illness\n' + ROWS).encode(),
    "line break in the header": ('age,"sex\nor gender",illness\n' + ROWS).encode(),
    "single quotes": b"'age','sex','illness'\n'34','m','flu, bad'\n'35','f','cold'\n",
    "quote inside a field": (HEAD + '34,m,5" pipe\n' + ROWS).encode(),
    "text after a quote": (HEAD + '34,m,"flu" bad\n' + ROWS).encode(),
    "unclosed quote": (HEAD + ROWS + '34,m,"flu\n').encode(),
    "unclosed quote after a megabyte": (HEAD + FILLING + '34,m,"flu\n' + ROWS).encode(),
    "too few fields": (HEAD + ROWS + "34,m\n").encode(),
    "too many fields": (HEAD + ROWS + "34,m,flu,x\n").encode(),
    "too few fields after a megabyte": (HEAD + FILLING + "34,m\n").encode(),
    "blank line": (HEAD + "34,m,flu\n\n35,f,cold\n").encode(),
    "blank lines at the ends": ("\n\n" + HEAD + ROWS + "\n\n").encode(),
    "blank line in a single column": b"age\n34\n\n35\n",
    "line of a space": (HEAD + "34,m,flu\n \n35,f,cold\n").encode(),
    "a row like the header": (HEAD + ROWS + HEAD + ROWS).encode(),
    "spaces around": (HEAD + ' 34 , m,"flu "\n' + ROWS).encode(),
    "space before a quote": (HEAD + '34, "m",flu\n' + ROWS).encode(),
    "return in a field": (HEAD + "34,m,a\rb\n" + ROWS).encode(),
    "empty fields": (HEAD + '34,,flu\n34,"",flu\n,m,\n' + ROWS).encode(),
    "backslashes": (HEAD + '34,m,a\\b\n35,f,"c\\"\n' + ROWS).encode(),
    "other line separators": (HEAD + "34,m,a\u2028b\n35,f,c\x0bd\x85e\n" + ROWS).encode(),
    "a sign that comments begin with": (HEAD + "#34,m,flu\n" + ROWS).encode(),
    "words for nothing": (HEAD + "34,null,NaN\n35,NA,None\n" + ROWS).encode(),
    "latin-1": (HEAD + "34,m,Grippe in Köln\n" + ROWS).encode("latin-1"),
    "cp1252": (HEAD + "34,m,„Grippe“ für 5 €\n" + ROWS).encode("cp1252"),
    "utf-16": (HEAD + "34,m,Größe\n" + ROWS).encode("utf-16"),
    "utf-8 that breaks after a megabyte": (HEAD + FILLING + "34,m,Köln\n").encode("latin-1"),
    "semicolons and commas": b"age;sex;illness\n34,5;m;flu\n35,5;f;cold\n",
    "tabs": (HEAD + ROWS).replace(",", "\t").encode(),
    "pipes": (HEAD + ROWS).replace(",", "|").encode(),
    "odd names": b"a.b,`c`,d e\n1,2,3\n4,5,6\n",
    "a column twice": b"age,age\n1,2\n",
    "a column without a name": b"age,\n1,2\n",
    "empty": b"",
    "header only": HEAD.encode(),
    "NUL": (HEAD + "34,m,a\0b\n" + ROWS).encode(),
    "one column": b"age\n34\n35\n",
    "parts": {"part-0.csv": (HEAD + ROWS).encode(), "part-1.csv": (HEAD + ROWS).encode()},
    "parts in another order": {"part-0.csv": (HEAD + ROWS).encode(), "part-1.csv": b"sex,age,illness\nm,34,flu\n"},
    "parts of other columns": {"part-0.csv": (HEAD + ROWS).encode(), "part-1.csv": b"age,sex\n34,m\n"},
    "parts with line breaks": {"part-0.csv": (HEAD + ROWS).encode(), "part-1.csv": (HEAD + '1,m,"a\nb"\n').encode()},
}

#: Names of files that a file system may take for something else.
NAMES = ("a b.csv", "100%.csv", "a[1].csv", "a{b}.csv", "ü.csv", "a+b#c.csv")


def made(content: bytes | dict[str, bytes], at: Path) -> Path:
    if isinstance(content, bytes):
        at.write_bytes(content)
    else:
        at.mkdir()
        for name, part in content.items():
            (at / name).write_bytes(part)
    return at


def read(engine: str, path: Path, missing: tuple[str, ...] = ("",)) -> tuple[str, object]:
    """What an engine makes of a table: its rows in some order, or the code of its error."""
    settings = EngineSettings(engine, "local[2]" if engine == "spark" else None)
    try:
        with engine_for(settings, path).open(path, None, missing) as source:
            frame = source.read(source.columns)
            cells = source.cells(source.columns)
            assert int(cells.count.sum()) == source.n_rows == frame.height
            rows = sorted(frame.rows(), key=lambda row: tuple((v is None, str(v)) for v in row))
            return "read", (source.columns, rows)
    except TarnkappeError as error:
        return "refused", error.code


def alike(one: str, other: str, name: str, folder: Path) -> None:
    path = made(FILES[name], folder / "data.csv")
    for missing in [("",), ("NA",)] if "NA" in str(FILES[name]) or name == "empty fields" else [("",)]:
        assert read(one, path, missing) == read(other, path, missing)


@pytest.mark.parametrize("name", FILES)
def test_streaming_reads_or_refuses_as_memory_does(name: str, tmp_path: Path):
    alike("streaming", "memory", name, tmp_path)


@pytest.mark.parametrize("name", some(FILES, every=6))
def test_spark_reads_or_refuses_as_memory_does(name: str, tmp_path: Path):
    alike("spark", "memory", name, tmp_path)


@pytest.mark.parametrize("name", some(NAMES, every=3))
def test_names_of_files_are_only_names(name: str, tmp_path: Path):
    (tmp_path / "a1.csv").write_text("x\n1\n2\n")
    path = made(FILES["plain"], tmp_path / name)
    assert read("spark", path) == read("memory", path)
    pl.DataFrame({"x": [1, 2]}).write_parquet(path.with_suffix(".parquet"))
    assert read("spark", path.with_suffix(".parquet")) == read("memory", path.with_suffix(".parquet"))


@pytest.mark.parametrize("values", [[1, 2.5], ["a", 1]])
def test_parts_of_different_types(values: list[object], tmp_path: Path):
    (tmp_path / "data.parquet").mkdir()
    for i, value in enumerate(values):
        pl.DataFrame({"x": [value], "y": [1]}).write_parquet(tmp_path / "data.parquet" / f"part-{i}.parquet")
    wanted = read("memory", tmp_path / "data.parquet")
    assert wanted[0] == ("refused" if isinstance(values[0], str) else "read")
    assert read("streaming", tmp_path / "data.parquet") == wanted
    assert read("spark", tmp_path / "data.parquet") == wanted


def test_moments_with_a_time_zone_as_spark_writes_them(tmp_path: Path):
    moments = pl.Series("x", [0, 1_600_000_000_123_456, None, -1], dtype=pl.Datetime("us", "UTC"))
    pl.DataFrame([moments, pl.Series("y", [1, 2, 3, 4])]).write_parquet(tmp_path / "data.parquet")
    wanted = read("memory", tmp_path / "data.parquet")
    assert wanted[0] == "read"
    assert read("spark", tmp_path / "data.parquet") == wanted


@pytest.mark.parametrize("engine", ["memory", "streaming", "spark"])
def test_a_late_line_break_invents_no_record(engine: str, tmp_path: Path):
    path = made(FILES["quoted line break after a megabyte"], tmp_path / "data.csv")
    job = tk.Job(
        quasi={"age": tk.numeric(), "sex": tk.suppress()},
        sensitive=["illness"],
        because={"illness": "texts of a test, nobody's"},
        criteria=[tk.KAnonymity(2)],
        engine=EngineSettings(engine, "local[2]" if engine == "spark" else None),
    )
    release = run_job(job, path, tmp_path / "out", seed=1)
    assert release.n_input == 1_104
    table = tmp_path / "out" / "public" / "data.csv"
    parts = sorted(table.iterdir()) if table.is_dir() else [table]
    written = pl.concat([pl.read_csv(p, infer_schema=False) for p in parts])
    assert set(written["illness"]) == {"flu " * 250, "flu\n1,2,3\n,,", "cold", "flu"}
    assert written.height == 1_104

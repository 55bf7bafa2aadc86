"""Each module imports only from those below it, and heavy libraries only where they belong."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from functools import cache

import pytest
from modules import Import, Module, modules

#: From the ground up: a module may import from its own layer and from earlier ones. A longer name goes before a
#: shorter one: `job.suggest` is a layer of its own although `job` is one.
LAYERS = (
    "_version",
    "fixes",
    "errors",
    "params",
    "registry",
    "wording",
    "yaml_nodes",
    "small_files",
    "plain_json",
    "appeared",
    "threads",
    "freed",
    "arrays",
    "mechanisms",
    "kernels",
    "enumerated",
    "io",
    "taxonomy",
    "schema",
    "tally",
    "space",
    "boxes",
    "publish",
    "distances",
    "groups",
    "crossing",
    "deals",
    "criteria",
    "relaxing",
    "goal",
    "securing",
    "plan",
    "metrics",
    "parts",
    "algorithms",
    "choice",
    "estimate",
    "solution_frames",
    "masks",
    "looks",
    "engines",
    "truth",
    "recounting",
    "verification",
    "in_parts",
    "sheet_runs",
    "regrouping",
    "sheet_truth",
    "attacks",
    "job",
    "spellings",
    "job.suggest",
    "job.update",
    "guards",
    "risks",
    "codebook",
    "recoding",
    "columns",
    "left_out",
    "alternatives",
    "release",
    "bundle",
    "summary",
    "report",
    "advice",
    "topics",
    "phases",
    "companions",
    "runs",
    "gate",
    "publication",
    "history.ledger_files",
    "history.ledger",
    "history.places",
    "history.joint",
    "history.keeping",
    "deciding",
    "pipeline",
    "audited",
    "audit",
    "bundling",
    "query",
    "attacking",
    "evaluate",
    "usefulness",
    "multirelational",
    "baskets",
    "histograms",
    "masking",
    "history",
    "synthetic",
    "bundles",
    "check_release",
    "certificate",
    "fingerprint",
    "parties",
    "comparison",
    "advising",
    "reasons",
    "datasets",
    "testing",
    "app",
    "cli",
    "__main__",
)

#: Conveniences that reach up, and so must wait until they are called: `job.anonymize(…)`, `release.save(…)`, and both
#: showing themselves in print and in a notebook.
DOORS = {
    ("job.model", "pipeline"),
    ("job.model", "summary"),
    ("bundle", "report"),
    ("release", "audit"),
    ("release", "pipeline"),
    ("release", "query"),
    ("release", "report"),
    ("release", "summary"),
}

#: The package itself imports names from everywhere, when they are asked for.
FRONT = ""


@cache
def behind_the_front() -> list[Module]:
    """All modules but the front; read when a test asks for them, not in every process that collects tests."""
    return [m for m in modules().values() if m.short != FRONT]


def layer(short: str) -> str:
    """The layer of a module: the longest name in the list that it lies under."""
    above = [name for name in LAYERS if short == name or short.startswith(f"{name}.")]
    assert above, f"'{short}' has no place among the layers of {__file__}"
    return max(above, key=len)


def inside_package(module: Module) -> list[tuple[Import, str]]:
    """The imports from the package itself that happen at run time, and the modules they name."""
    found = [i for i in module.imports if i.module.split(".")[0] == "tarnkappe" and not i.for_types]
    return [(i, i.module.removeprefix("tarnkappe").removeprefix(".")) for i in found if i.module != "tarnkappe"]


def outside(module: Module) -> set[str]:
    """The libraries that a module imports, at whatever time."""
    return {i.module.split(".")[0] for i in module.imports}


def test_every_layer_exists():
    assert {layer(m.short) for m in behind_the_front()} == set(LAYERS)


def test_imports_come_from_below():
    upward = [
        f"{module.short}:{found.line} imports {name}"
        for module in behind_the_front()
        for found, name in inside_package(module)
        if LAYERS.index(layer(name)) > LAYERS.index(layer(module.short)) and (module.short, name) not in DOORS
    ]
    assert upward == []


@pytest.mark.parametrize(("low", "high"), sorted(DOORS))
def test_doors_are_late(low: str, high: str):
    used = [found for found, name in inside_package(modules()[f"tarnkappe.{low}"]) if name == high]
    assert used, f"{low} no longer imports {high}: remove the door"
    assert all(found.late for found in used)


def test_nobody_imports_from_the_front():
    """Inside the package a name is imported from its home: what the front offers may change."""
    assert [m.short for m in behind_the_front() if any(i.module == "tarnkappe" for i in m.imports)] == []


def test_kernels_know_arrays_only():
    kernels = [m for m in behind_the_front() if m.inside("kernels")]
    assert kernels
    assert [
        (m.short, name) for m in kernels for _, name in inside_package(m) if layer(name) not in ("arrays", "kernels")
    ] == []


def users(libraries: set[str], *, beside: tuple[str, ...] = (), among: tuple[str, ...] = ()) -> list[str]:
    """The modules that import one of some libraries: all but those in some rooms, or only those in some rooms."""
    looked_at = [m for m in behind_the_front() if (m.inside(*among) if among else not m.inside(*beside))]
    assert looked_at
    return [m.short for m in looked_at if not outside(m).isdisjoint(libraries)]


def test_numba_only_in_kernels():
    # The command line says so when kernels are being compiled, once there are any.
    assert users({"numba"}, beside=("kernels", "cli.progress")) == []
    assert all(i.late for i in modules()["tarnkappe.cli.progress"].imports if i.module.startswith("numba"))


def test_terminal_only_in_cli():
    assert users({"typer", "rich", "click"}, beside=("cli",)) == []


def test_arrow_only_where_files_are():
    assert users({"pyarrow"}, beside=("io", "datasets", "engines.spark", "check_release")) == []


def test_spark_only_in_its_engine():
    assert users({"pyspark", "py4j"}, beside=("engines.spark",)) == []


DECIDING = ("criteria", "goal", "algorithms", "tally", "groups", "plan", "metrics")


def test_deciding_is_arithmetic_on_arrays():
    assert users({"polars", "pyarrow", "pandas"}, among=(*DECIDING, "kernels", "taxonomy", "schema")) == []


def test_deciding_reads_and_writes_nothing():
    files = {"os", "pathlib", "io", "json", "shutil", "tempfile", "subprocess", "socket", "urllib"}
    assert users(files, among=(*DECIDING, "publish")) == []
    # The room of the kernels itself looks for a place for compiled code, and forgets what is stale.
    assert users(files, among=("kernels",)) == ["kernels", "kernels.stale"]


def test_nothing_talks_to_the_network():
    address = "io.databases.address"  # takes addresses apart; who connects is the client library of a database
    assert users({"socket", "urllib", "http", "requests", "ftplib", "smtplib"}, beside=(address,)) == []
    assert {i.module for i in modules()[f"tarnkappe.{address}"].imports if "urllib" in i.module} == {"urllib.parse"}


def test_only_declared_libraries():
    declared = {"tarnkappe", "numpy", "numba", "polars", "pyarrow", "yaml", "typer", "rich"}
    known = declared | set(sys.stdlib_module_names)
    optional = {"pandas"}  # seen by type checkers only
    extra = {
        (module.short, found.module)
        for module in behind_the_front()
        for found in module.imports
        if found.module.split(".")[0] not in (known | optional if found.for_types else known)
        and not (module.inside("engines.spark") and found.module.split(".")[0] in ("pyspark", "py4j"))
        and not (module.inside("kernels.io.bytemasks") and found.module == "llvmlite")  # numba stands on it
        and not (module.inside("io.excelfile") and found.module in ("fastexcel", "xlsxwriter"))
        and not (module.inside("io.statfile") and found.module == "pyreadstat")
        and not (module.inside("io.databases.postgresql") and found.module.startswith("adbc_driver_"))
        and not (module.inside("io.databases.duckdbfile") and found.module == "duckdb")
        and not (module.inside("certificate") and found.module.split(".")[0] == "cryptography")
        and not (module.inside("app") and found.module.split(".")[0] in ("starlette", "uvicorn"))
        and not (module.inside("usefulness.learning") and found.module.split(".")[0] == "sklearn")
        and not (module.inside("algorithms.local.least_weight") and found.module == "highspy")
    }
    assert extra == set()


def test_files_are_short():
    lengths = {m.short: len(m.path.read_text("utf-8").splitlines()) for m in modules().values()}
    assert {name: length for name, length in lengths.items() if length > 420} == {}


def calls(*beginnings: str, beside: tuple[str, ...] = ()) -> list[str]:
    """Where something is called whose name begins in one of some ways."""
    return [
        f"{module.short}:{call.lineno}"
        for module in modules().values()
        if not module.inside(*beside)
        for name, call in module.calls()
        if name.startswith(beginnings)
    ]


def test_nothing_is_printed():
    """Warnings travel with the result; only the command line talks, and it has its own console."""
    alone = "check_release"  # runs without the package
    assert calls("print", "sys.stdout", "sys.stderr", "warnings.warn", beside=("cli", alone)) == []
    assert calls("print", beside=(alone,)) == []


def test_chance_is_passed_in():
    """Whoever needs chance is given a generator, so that a seed decides everything."""
    homes = (
        "pipeline",
        "deciding",
        "in_parts",
        "runs",
        "attacking",
        "multirelational",
        "baskets.anonymize",
        "fingerprint.planning",
        "fingerprint.promises",
    )
    homes += ("datasets", "testing", "usefulness.assess")
    homes += ("masks.base", "masking.flow", "histograms.release", "history.series", "synthetic.release")
    assert calls("np.random.", "numpy.random.", "random.", "default_rng", beside=homes) == []
    assert users({"random"}, beside=()) == []
    # Leftovers for names of temporary files, the app for who may talk to it.
    homes = ("pipeline", "multirelational", "baskets.anonymize", "fingerprint.keys", "io.leftovers", "app.server")
    homes += ("masking.flow", "histograms.release", "history", "synthetic.release")
    assert users({"secrets"}, beside=homes) == []


def loaded_by(code: str) -> set[str]:
    """The libraries that a new interpreter has loaded after running some code."""
    script = textwrap.dedent(code) + "\nimport sys\nsys.stderr.write(' '.join({m.split('.')[0] for m in sys.modules}))"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(ran.stderr.split())


def test_importing_the_package_is_light():
    loaded = loaded_by("import tarnkappe; tarnkappe.__version__; dir(tarnkappe)")
    assert loaded.isdisjoint({"numba", "polars", "numpy", "pyarrow", "pandas", "typer", "rich", "yaml"})


def test_asking_for_help_is_light():
    loaded = loaded_by(
        """
        import contextlib, runpy, sys
        sys.argv = ["tarnkappe", "--help"]
        with contextlib.suppress(SystemExit):
            runpy.run_module("tarnkappe", run_name="__main__")
        """
    )
    assert loaded.isdisjoint({"numba", "polars", "numpy", "pyarrow", "pandas"})


def test_a_criterion_does_not_need_frames():
    """What decides can be loaded without what reads and writes."""
    loaded = loaded_by("import tarnkappe.criteria.k_anonymity, tarnkappe.goal, tarnkappe.tally")
    assert loaded.isdisjoint({"polars", "pyarrow", "pandas"})

"""What `import tarnkappe` offers: exactly these names, each documented, each the thing it is at its home."""

from __future__ import annotations

import importlib.util
import inspect
import re
from pathlib import Path

import pytest

import tarnkappe
from tarnkappe.algorithms import all_algorithms
from tarnkappe.attacks import all_attacks
from tarnkappe.criteria import all_criteria
from tarnkappe.masks import all_masks

#: What is offered besides the classes of the rooms. A name is added here on purpose, and removed from here only with a
#: new major version; that a class disappears shows in the stub, which is kept in version control.
BESIDE_THE_ROOMS = [
    "Column",
    "CsvDialect",
    "DataSettings",
    "HistorySettings",
    "Job",
    "MaskingJob",
    "MaxLinkage",
    "Release",
    "Taxonomy",
    "__version__",
    "advise",
    "anonymize_items",
    "append_batch",
    "apply_recoding",
    "attack",
    "compare",
    "cuts",
    "dates",
    "decide",
    "frequency",
    "from_file",
    "intervals",
    "noisy_counts",
    "mask",
    "nested_editions",
    "numeric",
    "ordered",
    "prefix",
    "publish_after_others",
    "quantiles",
    "query_error",
    "republish_people",
    "risk",
    "run_job",
    "solutions",
    "suppress",
    "synthesize",
    "tree",
    "utility",
    "value_set",
    "verify",
    "verify_items",
    "why",
]
ROOMS = (all_algorithms, all_attacks, all_criteria, all_masks)
CLASSES = [cls.__name__ for room in ROOMS for cls in room().values()]
PUBLIC = sorted([*BESIDE_THE_ROOMS, *CLASSES])

TOOLS = Path(__file__).parents[1] / "tools"


def test_exactly_these_names():
    assert sorted(tarnkappe.__all__) == PUBLIC
    assert dir(tarnkappe) == PUBLIC


@pytest.mark.parametrize("name", PUBLIC)
def test_exists_and_is_documented(name: str):
    found = getattr(tarnkappe, name)
    if name == "__version__":
        assert re.fullmatch(r"\d+\.\d+\.\d+(\.?(dev|a|b|rc)\d+)?", found)
        return
    assert inspect.isclass(found) or inspect.isfunction(found)
    assert found.__name__ == name
    doc = inspect.getdoc(found)
    assert doc
    assert doc.splitlines()[0].endswith((".", ":"))


def test_type_checkers_see_the_same_names():
    """The stub is what `make format` would write."""
    spec = importlib.util.spec_from_file_location("write_stub", TOOLS / "write_stub.py")
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    written = tool.STUB.read_text("utf-8")
    assert written == tool.stub(), "make format"
    assert {f"{name} as {name}" for name in PUBLIC} == set(re.findall(r"import (\w+ as \w+)", written))


def test_everything_can_be_imported_at_once():
    scope: dict[str, object] = {}
    exec("from tarnkappe import *", scope)
    assert set(PUBLIC) <= set(scope)


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="has no attribute 'Mondrain'"):
        tarnkappe.Mondrain  # noqa: B018
    assert not hasattr(tarnkappe, "nothing")


def test_every_kind_of_taxonomy_is_offered():
    """For each kind that a job file knows there is a function."""
    from tarnkappe.registry import registered
    from tarnkappe.taxonomy import TaxonomyBuilder

    functions = {"file": "from_file", "order": "ordered", "set": "value_set"}
    kinds = registered("tarnkappe.taxonomy", TaxonomyBuilder)  # type: ignore[type-abstract]
    assert {functions.get(kind, kind) for kind in kinds} <= set(PUBLIC)


def test_the_ten_lines_in_the_front_matter_work():
    """What the package's own description shows runs as it stands."""
    import polars as pl

    doc = inspect.getdoc(tarnkappe) or ""
    lines = [line[4:] for line in doc.splitlines() if line.startswith("    ")]
    frame = pl.DataFrame(
        {
            "name": [f"person {i}" for i in range(40)],
            "age": [20 + i % 20 for i in range(40)],
            "zip": [f"2{i % 4}76{i % 5}" for i in range(40)],
            "sex": ["f", "m"] * 20,
            "illness": [("flu", "gout", "mumps")[i % 3] for i in range(40)],
        }
    )
    scope: dict[str, object] = {"frame": frame}
    exec("\n".join(lines), scope)
    release = scope["release"]
    assert isinstance(release, tarnkappe.Release)
    assert all(v.ok for v in release.verdicts)
    assert release.table.columns == ["age", "zip", "sex", "illness"]

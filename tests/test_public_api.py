"""What `import tarnkappe` offers: exactly these names, each documented, each the thing it is at its home."""

from __future__ import annotations

import inspect
import re

import pytest

import tarnkappe

#: A name is added here on purpose, and removed from here only with a new major version.
PUBLIC = [
    "LSHRC",
    "MDAV",
    "MRBUG",
    "MRTDS",
    "OLA",
    "VMDAV",
    "AlphaKAnonymity",
    "AverageRisk",
    "BestFirst",
    "BetaLikeness",
    "BlockMDAV",
    "BottomUpGeneralization",
    "BottomUpGreedy",
    "Condensation",
    "ConfidenceBounding",
    "Datafly",
    "DeltaDisclosure",
    "DeltaPresence",
    "DifferentialPrivacy",
    "EntropyLDiversity",
    "EpsilonMAnonymity",
    "Flash",
    "FrequencyLDiversity",
    "HighDimensionalTds",
    "Hilb",
    "Incognito",
    "IndividualSorting",
    "InfoGainMondrian",
    "IteratedLocalRecoding",
    "Iyengar",
    "Job",
    "KAnonyMeans",
    "KAnonyMeansStar",
    "KAnonymity",
    "KEAnonymity",
    "KMap",
    "KMember",
    "KOptimize",
    "KWard",
    "LDiversity",
    "LKCPrivacy",
    "LPlusOptimize",
    "LevelGenetic",
    "MDAVPlus",
    "MDAVStar",
    "MRMondrian",
    "MaxRisk",
    "MaximumDistance",
    "MinGen",
    "Mondrian",
    "MuArgus",
    "OneKMeans",
    "OptimalUnivariate",
    "Path",
    "PersonalizedPrivacy",
    "ProgressiveLocalRecoding",
    "RGather",
    "RecursiveCLDiversity",
    "RecursiveKWard",
    "Release",
    "RothkoS",
    "RothkoT",
    "Samarati",
    "Sdgs",
    "SecureKWard",
    "SingleAxis",
    "TCloseness",
    "Tarn",
    "Taxonomy",
    "TdsForClusters",
    "TopDown",
    "TopDownDisclosure",
    "TopDownGreedy",
    "TopDownSpecialization",
    "XYAnonymity",
    "XYLinkability",
    "XYPrivacy",
    "__version__",
    "dates",
    "frequency",
    "from_file",
    "intervals",
    "numeric",
    "ordered",
    "prefix",
    "run_job",
    "suppress",
    "tree",
    "value_set",
    "verify",
]


def test_exactly_these_names():
    assert tarnkappe.__all__ == PUBLIC
    assert dir(tarnkappe) == sorted(PUBLIC)


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
    """The names that are imported late are also written out for type checkers."""
    source = inspect.getsource(tarnkappe)
    block = source.partition("if TYPE_CHECKING:\n")[2].partition("\n\n_HOMES")[0]
    names = set(re.findall(r"\b(\w+)\b(?=,|\n|$)", re.sub(r"from \S+ import", "", block)))
    assert names >= set(PUBLIC) - {"__version__"}
    assert set(tarnkappe._HOMES) == set(PUBLIC) - {"__version__"}


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="has no attribute 'Mondrain'"):
        tarnkappe.Mondrain  # noqa: B018
    assert not hasattr(tarnkappe, "nothing")


def test_every_criterion_and_algorithm_is_offered():
    from tarnkappe.algorithms import all_algorithms
    from tarnkappe.criteria import all_criteria

    classes = {cls.__name__ for cls in (*all_criteria().values(), *all_algorithms().values())}
    assert classes <= set(PUBLIC)


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

"""Compares full-domain searches on Adult with a file of expected results.

    python bench/fulldomain_oracle.py FILE

Every configuration of FILE names quasi-identifiers with their hierarchy files, a sensitive column, criteria, a limit of
suppression and a metric, and what an exhaustive search found. All nodes are checked here too, and Flash must find the
same optimum. Differences are printed, the last line counts them, and the exit code is 0 only if there are none.

The data folder is that of TARNKAPPE_DATA (it holds ``adult/adult.csv``), by default ``../shared/data``.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from tarnkappe import Job
from tarnkappe.algorithms.fulldomain.flash import Flash
from tarnkappe.algorithms.fulldomain.mingen import MinGen
from tarnkappe.algorithms.fulldomain.search import Search, cuts_at
from tarnkappe.algorithms.recoding import recode
from tarnkappe.criteria import Criterion, criterion_class
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.engines.memory import MemoryEngine
from tarnkappe.goal import Goal
from tarnkappe.io import open_source
from tarnkappe.metrics import metric_named
from tarnkappe.params import bind, parameters
from tarnkappe.tally import Tally
from tarnkappe.taxonomy import Taxonomy

#: How closely scores must agree.
TOLERANCE = 1e-9

#: What the file calls our criteria and metrics, where names differ.
CRITERIA = {"distinct-l-diversity": "l-diversity", "recursive-(c,l)-diversity": "recursive-cl-diversity"}
METRICS = {"dm": "discernibility", "entropy": "nonuniform-entropy"}

#: How the file abbreviates criteria in the names of its lists of nodes.
SHORT = {
    "k-anonymity": "k:{k}",
    "distinct-l-diversity": "dl:{l}",
    "recursive-(c,l)-diversity": "cl:{c}:{l}",
    "entropy-l-diversity": "el:{l}",
}

Config = Mapping[str, Any]


def data_folder() -> Path:
    """The folder with Adult and its hierarchies."""
    default = Path(__file__).resolve().parents[2] / "shared" / "data"
    given = Path(os.environ.get("TARNKAPPE_DATA", default))
    places = [given / "adult", given, given / "data" / "adult"]
    found = next((p for p in places if (p / "adult.csv").is_file()), None)
    if found is None:
        sys.exit(f"adult/adult.csv is not in {given}; set TARNKAPPE_DATA to the folder that holds it")
    return found


@cache
def table() -> pl.DataFrame:
    """Adult as text; numbers are only names of leaves here."""
    return pl.read_csv(data_folder() / "adult.csv", separator=";", infer_schema=False)


@cache
def hierarchy(file: str) -> Taxonomy:
    """One hierarchy file."""
    rows = pl.read_csv(data_folder() / file, separator=";", has_header=False, infer_schema=False)
    return Taxonomy.from_paths(rows.iter_rows())


@cache
def tally_of(qis: tuple[str, ...], files: tuple[str, ...], sensitive: str | None) -> Tally:
    """The cells of Adult with these quasi-identifiers, in this order, and this sensitive column."""
    secret = {sensitive: hierarchy(f"adult_hierarchy_{sensitive}.csv")} if sensitive else {}
    job = Job(
        quasi={q: hierarchy(f) for q, f in zip(qis, files, strict=True)},
        sensitive=secret,
        drop="rest",
        criteria=[KAnonymity(2)],
    )
    source = open_source(table().select(*qis, *secret))
    return MemoryEngine().count(source, job.schema(source.columns))


def criterion_of(model: Config, sensitive: str | None) -> Criterion:
    """A criterion of the file as one of ours."""
    cls = criterion_class(CRITERIA.get(model["type"], model["type"]))
    names = {p.name for p in parameters(cls)}
    given = {key: value for key, value in model.items() if key in names}
    if "column" in names:
        given.setdefault("column", sensitive)
    return bind(cls, given, f"criterion '{model['type']}'")


def goal_of(config: Config) -> Goal:
    """What a configuration asks for."""
    criteria = [criterion_of(m, config.get("sensitive")) for m in config["model"]]
    return Goal(criteria, config["suppression_limit"])


def search_of(config: Config) -> Search:
    """A search under a configuration, criteria compared with the input only, as the file's were."""
    files = config.get("hierarchies") or [f"adult_hierarchy_{q}.csv" for q in config["qis"]]
    tally = tally_of(tuple(config["qis"]), tuple(files), config.get("sensitive"))
    metric = metric_named(METRICS.get(config["metric"], config["metric"]))
    return Search(tally, goal_of(config), metric, against_published=False)


def as_in_file(search: Search, score: float) -> float:
    """A score as the file writes it: what is to be maximised here is one minus that there."""
    return score if search.metric.goal == "minimise" else 1.0 + score


def differences(config: Config) -> Iterator[str]:
    """What differs between a configuration's expected results and ours."""
    search = search_of(config)
    MinGen().run(search, np.random.default_rng(0))
    good = {node: found for node, found in search.checked.items() if found.ok}
    yield from _differ("lattice_size", config, search.lattice.n_nodes)
    yield from _differ("max_suppressed_records", config, search.budget)
    yield from _differ("n_satisfying", config, len(within_limit(search)))
    if search.best is None:
        if config["exhaustive_co_optima"]:
            yield "no node satisfies the criteria, the file has some that do"
        return
    best = as_in_file(search, search.best.score)
    if abs(best - config["exhaustive_best_score"]) > TOLERANCE:
        yield f"best score {best!r}, expected {config['exhaustive_best_score']!r}"
    optima = {node for node, found in good.items() if abs(found.score - search.best.score) <= TOLERANCE}
    expected = {tuple(node) for node in config["exhaustive_co_optima"]}
    if optima != expected:
        yield f"optimal nodes {sorted(optima)}, expected {sorted(expected)}"
    facts = [facts_at(search, node) for node in sorted(optima)]
    wanted = {key: config[key] for key in ("suppressed", "classes", "min_class", "avg_class") if key in config}
    if not any(_agrees(fact, wanted) for fact in facts):
        yield f"at the optimal nodes {facts}, expected {wanted}"
    quick = search_of(config)
    Flash().run(quick, np.random.default_rng(0))
    if quick.best is None or quick.best.node not in expected:
        yield f"flash found {quick.best}, expected one of {sorted(expected)}"


def within_limit(search: Search) -> set[tuple[int, ...]]:
    """The nodes whose violating classes fit into the limit; the file counts those that then publish nobody, too."""
    return {node for node, found in search.checked.items() if found.ok or found.suppressed <= search.budget}


def facts_at(search: Search, node: tuple[int, ...]) -> dict[str, float]:
    """Suppressed records and classes kept at a node, counted from the recoded table."""
    grouping = recode(search.tally, cuts_at(search.tally, node))
    tables = search.goal.table_distributions(search.tally)
    stats = search.goal.stats(search.tally, grouping, tables)
    kept = stats.size[search.goal.satisfied(stats)]
    return {
        "suppressed": search.tally.n_records - int(kept.sum()),
        "classes": len(kept),
        "min_class": int(kept.min()) if len(kept) else 0,
        "avg_class": float(kept.mean()) if len(kept) else 0.0,
    }


def _agrees(fact: Mapping[str, float], wanted: Mapping[str, float | None]) -> bool:
    return all(value is None or abs(fact[key] - value) <= TOLERANCE for key, value in wanted.items())


def _differ(key: str, config: Config, found: int) -> Iterator[str]:
    if config.get(key) is not None and config[key] != found:
        yield f"{key} {found}, expected {config[key]}"


def short_name(config: Config) -> str:
    """A configuration as the file names it in its lists of satisfying nodes, without the letters of the table."""
    parts = []
    for model in config["model"]:
        if model["type"] == "t-closeness":
            parts.append(f"t{model.get('distance', 'equal')[0]}:{model['t']}")
        else:
            parts.append(SHORT.get(model["type"], model["type"]).format(**model))
    return f"{';'.join(parts)}|supp={config['suppression_limit']:g}"


def vector_differences(name: str, vectors: list[list[int]], configs: list[Config]) -> Iterator[str]:
    """Whether exactly the listed nodes satisfy the criteria that the name of the list stands for."""
    wanted = name.split("|", 1)[1]
    config = next((c for c in configs if short_name(c) == wanted), None)
    if config is None:
        yield f"no configuration is called {wanted}"
        return
    search = search_of({**config, "metric": "suppressed-share"})
    MinGen().run(search, np.random.default_rng(0))
    found = within_limit(search)
    missing, extra = {tuple(v) for v in vectors} - found, found - {tuple(v) for v in vectors}
    if missing or extra:
        yield f"{len(missing)} listed nodes do not satisfy the criteria, {len(extra)} others do"


def poster_differences(poster: Config, configs: list[Config]) -> Iterator[str]:
    """The figures of the poster: nine quasi-identifiers, k = 3, at most a tenth suppressed."""
    widest = max(configs, key=lambda c: len(c["qis"]))
    config = {**widest, "model": [{"type": "k-anonymity", "k": 3}], "suppression_limit": 0.1, "metric": "loss"}
    example = poster["example"]
    node = tuple(example["levels"])
    search = search_of(config)
    found, facts = search.check(node), facts_at(search, node)
    precise = search_of({**config, "metric": "precision"})
    unsuppressed = precise.scoring.sums[precise.scoring.rows[:-1] + np.array(node)]
    reached = {
        "suppressed": facts["suppressed"],
        "kept_classes": facts["classes"],
        "loss": found.score,
        "avg_kept_class_size": facts["avg_class"],
        "precision_ignoring_suppression": 1.0 - float(precise.metric.combine(unsuppressed, precise.tally)),
        "arx_precision_metric": as_in_file(precise, precise.check(node).score),
        "arx_aecs_metric": search_of({**config, "metric": "aecs"}).check(node).score,
    }
    for key, value in reached.items():
        if key in example and abs(value - example[key]) > TOLERANCE:
            yield f"{key} {value!r}, expected {example[key]!r}"
    bad = [v for v in poster.get("level_vectors", []) if not search.check(tuple(v)).ok]
    if bad:
        yield f"{len(bad)} listed nodes are not 3-anonymous within the limit"


def main(path: str) -> int:
    """Compare everything in a file; the number of differences."""
    document = json.loads(Path(path).read_text(encoding="utf-8"))
    configs = document["configs"]
    total = 0

    def tell(what: str, found: Iterator[str]) -> None:
        nonlocal total
        for difference in found:
            total += 1
            print(f"{what}: {difference}", flush=True)

    for number, config in enumerate(configs, start=1):
        tell(f"configuration {number} ({short_name(config)}, {config['metric']})", differences(config))
    for name, vectors in document.get("satisfying_level_vectors", {}).items():
        tell(f"satisfying nodes of {name}", vector_differences(name, vectors, configs))
    if "poster" in document and configs:
        tell("poster", poster_differences(document["poster"], configs))
    print(f"{len(configs)} configurations, {total} differences")
    return total


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(f"usage: python {sys.argv[0]} FILE")
    sys.exit(0 if main(sys.argv[1]) == 0 else 1)

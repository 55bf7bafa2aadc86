"""Random taxonomies, domains, tallies and goals, and a release as a reader sees it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

import brute
from tarnkappe.criteria.alpha_k_anonymity import AlphaKAnonymity
from tarnkappe.criteria.base import Criterion
from tarnkappe.criteria.beta_likeness import BetaLikeness
from tarnkappe.criteria.confidence_bounding import ConfidenceBounding
from tarnkappe.criteria.delta_disclosure import DeltaDisclosure
from tarnkappe.criteria.entropy_l_diversity import EntropyLDiversity
from tarnkappe.criteria.frequency_l_diversity import FrequencyLDiversity
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.criteria.l_diversity import LDiversity
from tarnkappe.criteria.max_risk import MaxRisk
from tarnkappe.criteria.recursive_cl_diversity import RecursiveCLDiversity
from tarnkappe.criteria.t_closeness import TCloseness
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping
from tarnkappe.params import Parameter
from tarnkappe.plan import Plan
from tarnkappe.tally import Domain, Tally, count_cells
from tarnkappe.taxonomy.tree import Taxonomy

#: Parameters that say how long a search tries, for tests of what holds from the first round on.
QUICK = {"nodes": 40, "population": 10, "generations": 6, "kicks": 10, "runs": 2, "tours": 2}


def quick_values(declared: Iterable[Parameter]) -> dict[str, Any]:
    """Values of parameters that let a search end soon: those that the parameters declare, or the usual ones."""
    return {p.name: p.samples[0] if p.samples else QUICK[p.name] for p in declared if p.samples or p.name in QUICK}


@st.composite
def taxonomies(draw: st.DrawFn, max_nodes: int = 14) -> Taxonomy:
    """Ragged trees of at least two nodes."""
    n = draw(st.integers(2, max_nodes))
    parents = [-1] + [draw(st.integers(max(0, i - 4), i - 1)) for i in range(1, n)]
    return Taxonomy.from_parents([f"n{i}" for i in range(n)], parents)


@st.composite
def scales(draw: st.DrawFn, name: str = "x", max_size: int = 12, missing: bool = True) -> Domain:
    """Numeric or ordered ranges, or sets, with or without a missing value."""
    size = draw(st.integers(1, max_size))
    values = None
    if draw(st.booleans()):
        values = np.cumsum(draw(st.lists(st.integers(1, 9), min_size=size, max_size=size))).astype(np.float64)
    labels = [f"{v:g}" for v in values] if values is not None else [f"{name}{i}" for i in range(size)]
    tree = Taxonomy.scale(labels)
    sets = values is None and draw(st.booleans())
    if not (missing and draw(st.booleans())):
        return Domain(name, tree, values, sets=sets)
    values = None if values is None else np.append(values, np.nan)
    return Domain(name, tree.with_missing("?"), values, missing=size, wildcard=draw(st.booleans()), sets=sets)


@st.composite
def domains(draw: st.DrawFn, name: str = "x", missing: bool = True) -> Domain:
    """Scales and trees, with or without a missing value."""
    if draw(st.booleans()):
        return draw(scales(name, missing=missing))
    tree = draw(taxonomies())
    if missing and draw(st.booleans()):
        tree = tree.with_missing("?")
        return Domain(name, tree, missing=tree.n_leaves - 1, wildcard=draw(st.booleans()))
    return Domain(name, tree)


@st.composite
def tallies(
    draw: st.DrawFn,
    max_records: int = 60,
    n_sensitive: int = 1,
    missing: bool = True,
    wildcards: bool = True,
    scales_only: bool = False,
) -> Tally:
    """Tables of one to three quasi-identifiers and some sensitive columns ``s0``, ``s1``, … of a few values."""
    one = scales if scales_only else domains
    quasi = [draw(one(f"q{j}", missing=missing)) for j in range(draw(st.integers(1, 3)))]
    if not wildcards:
        quasi = [replace(d, wildcard=False) for d in quasi]
    sensitive = [Domain(f"s{j}", draw(taxonomies(max_nodes=8))) for j in range(n_sensitive)]
    n = draw(st.integers(1, max_records))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))

    def column(domain: Domain) -> np.ndarray:
        skew = rng.dirichlet(np.full(domain.size, rng.choice([0.3, 1.0, 10.0])))
        return rng.choice(domain.size, size=n, p=skew)

    return count_cells([column(d) for d in quasi], [column(d) for d in sensitive], quasi, sensitive)[0]


@st.composite
def criteria(draw: st.DrawFn, column: str = "s0", know_others: bool | None = None) -> Criterion:
    """Any criterion with parameters that small tables have a chance to satisfy."""
    known = draw(st.booleans()) if know_others is None else know_others
    few, share = st.integers(1, 3), st.sampled_from([1, 1.2, 1.5, 2, 2.5, 3])
    bound, likeness = st.sampled_from([0.4, 0.5, 0.75, 0.9]), st.sampled_from([0.3, 1, 2, 4])
    about = {"column": st.just(column), "know_others": st.just(known)}
    return draw(
        st.one_of(
            st.builds(KAnonymity, st.integers(1, 8)),
            st.builds(MaxRisk, bound),
            st.builds(AlphaKAnonymity, **about, alpha=bound, k=st.integers(1, 6)),
            st.builds(ConfidenceBounding, **about, bounds=st.dictionaries(st.just("n1"), bound), bound=bound),
            st.builds(BetaLikeness, **about, beta=likeness, form=st.sampled_from(["basic", "enhanced"])),
            st.builds(DeltaDisclosure, **about, delta=likeness),
            st.builds(LDiversity, st.just(column), few, know_others=st.just(known)),
            st.builds(EntropyLDiversity, st.just(column), share, know_others=st.just(known)),
            st.builds(FrequencyLDiversity, st.just(column), share, know_others=st.just(known)),
            st.builds(
                RecursiveCLDiversity,
                st.just(column),
                st.sampled_from([1.1, 1.5, 2, 4]),
                few,
                know_others=st.just(known),
            ),
            st.builds(
                TCloseness,
                st.just(column),
                st.sampled_from([0.1, 0.25, 0.5, 0.9]),
                st.sampled_from(["equal", "ordered", "hierarchical"]),
                know_others=st.just(known),
            ),
        )
    )


@st.composite
def goals(draw: st.DrawFn, know_others: bool | None = False) -> Goal:
    """One to three criteria on the column ``s0``, some with a suppression limit."""
    chosen = draw(st.lists(criteria(know_others=know_others), min_size=1, max_size=3))
    return Goal(chosen, draw(st.sampled_from([0.0, 0.0, 0.1, 0.5, 1.0])))


@st.composite
def groupings(draw: st.DrawFn, tally: Tally) -> Grouping:
    """Cells at random in groups without gaps; some cells are divided, some suppressed."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    first = rng.integers(1, tally.count + 1)
    cell = np.repeat(np.arange(tally.n_cells, dtype=np.int32), np.where(first < tally.count, 2, 1))
    at = np.flatnonzero(np.r_[True, cell[1:] != cell[:-1]])
    quota = (tally.count - first)[cell]
    quota[at] = first
    group = rng.integers(-1, draw(st.integers(1, 6)), len(cell))
    used, group = np.unique(group, return_inverse=True)
    group = group.astype(np.int32) - np.int32(used[0] == -1)
    return Grouping(cell, group, quota, int(group.max(initial=-1)) + 1)


def parent_map(tree: Taxonomy) -> dict[str, str]:
    """The tree as a dictionary from each label to that of its parent; labels must be distinct."""
    return {tree.labels[v]: tree.labels[tree.parent[v]] for v in range(1, tree.n_nodes)}


def published_rows(plan: Plan) -> list[brute.Row]:
    """Every published record: its texts, and its sensitive values."""
    columns = [(*labels.texts, None) for labels in plan.labels]
    texts = [
        tuple(column[labels.code[g]] for column, labels in zip(columns, plan.labels, strict=True))
        for g in range(plan.n_groups)
    ]
    rows: list[brute.Row] = []
    for cell, group, quota in zip(plan.grouping.cell, plan.grouping.group, plan.grouping.quota, strict=True):
        if group >= 0:
            values = tuple(
                d.taxonomy.leaves[c]
                for d, c in zip(plan.tally.sensitive_domains, plan.tally.sensitive[cell], strict=True)
            )
            rows += [(texts[group], values)] * int(quota)
    return rows


def brute_meets(rows: list[brute.Row], criterion: Criterion, tally: Tally) -> bool:
    """What the independent checker says about published rows."""
    asked = criterion.get_params()
    name = asked.pop("column", None)
    if name is None:
        return brute.meets(rows, criterion.name, **asked)
    column = tally.sensitive_index(name)
    tree = tally.sensitive_domains[column].taxonomy
    return brute.meets(rows, criterion.name, column, order=tree.leaves, parent=parent_map(tree), **asked)

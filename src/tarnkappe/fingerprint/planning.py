"""Planning: the base that all copies share, and what the data can carry."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from tarnkappe.algorithms.base import Algorithm
from tarnkappe.algorithms.fulldomain.lattice import Node
from tarnkappe.algorithms.fulldomain.mingen import MinGen
from tarnkappe.algorithms.fulldomain.search import Search, cuts_at
from tarnkappe.algorithms.recoding import recode
from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.errors import InfeasibleError, JobError
from tarnkappe.fingerprint.candidates import Candidates
from tarnkappe.fingerprint.families import frameproof
from tarnkappe.fingerprint.genetic import evolve
from tarnkappe.fingerprint.keys import DatasetKey, Key, derived
from tarnkappe.fingerprint.marks import Columns, Layout
from tarnkappe.fingerprint.promises import colluders_carried, positions_needed, statements
from tarnkappe.fingerprint.scheme import Scheme, node_texts, require_alpha
from tarnkappe.fingerprint.selection import Objective, best_window
from tarnkappe.fixes import Fix, say, setting
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping
from tarnkappe.job import Job
from tarnkappe.job.model import replace_job
from tarnkappe.metrics import metric_named
from tarnkappe.pipeline import Decided, decide
from tarnkappe.plan import suppress_leftovers
from tarnkappe.tally import Tally, distinct_rows

#: What tells copies apart: block marks, generalisation patterns, or both.
Kind = Literal["marks", "patterns", "both"]

#: How patterns are chosen: a family that colluders cannot frame, or the poster's subset, exactly or by its algorithm.
Choice = Literal["frameproof", "exact", "genetic"]

#: So many patterns are tried as a base: of those that no other beats in loss and in number of groups, the best.
_BASES = 24

#: Digits of a digest; a data set that was named otherwise is known by its groups.
_DIGEST = 64

#: Coalitions that the search for patterns asks about.
_EFFORT = 100_000

#: At least so many columns carry marks, or it would cost little to coarsen them all.
_LEAST_COLUMNS = 5


@dataclass(frozen=True)
class _AtBase(Algorithm):
    """Full-domain generalisation at a pattern that is chosen when the cells are counted."""

    name: ClassVar = "base-pattern"
    title: ClassVar = "Base pattern"
    summary: ClassVar = "Generalises to the pattern that all copies share."
    scheme: ClassVar = "full-domain"

    choose: Callable[[Tally, Goal], Node] = field(default=lambda tally, goal: (), kw_only=True, compare=False)

    def all_in_one(self, tally: Tally) -> Grouping | None:
        """One group cannot tell copies apart."""
        return None

    def decide(self, tally: Tally, goal: Goal, *, rng: np.random.Generator) -> Grouping:
        """The groups of the pattern, without those that violate the goal."""
        self.require_supported(tally, goal)
        if goal.scopes != {"group"} or tally.population is not None:
            raise _refused(goal, "what several copies tell together is not decided by single groups")
        node = self.choose(tally, goal)
        settled = suppress_leftovers(tally, recode(tally, cuts_at(tally, node)), goal)
        assert settled is not None, "candidates satisfy the goal"
        return settled


@dataclass(frozen=True, eq=False)
class Planned:
    """Copies that are planned: the groups that all share, and the scheme that tells them apart."""

    decided: Decided
    scheme: Scheme
    #: The group of the layout that each base group belongs to, and the nodes of each base group.
    group: Codes
    node: Codes
    #: Mean loss of the base, and what marks add to it on average.
    loss: float
    extra_loss: float

    def as_kept(self, scheme: Scheme) -> Planned:
        """The same plan with the scheme that was kept, if it is the same but for its date."""
        layout, kept = self.scheme.layout, scheme.layout
        same = self.scheme.base == scheme.base and np.array_equal(layout.node, kept.node)
        same &= len(scheme.dataset) != _DIGEST or self.decided.digest == scheme.dataset
        if not same or not np.array_equal(layout.size, kept.size) or not np.array_equal(layout.pairs, kept.pairs):
            raise JobError(
                "E111",
                "the data or the job are not those of the plan",
                hint="Plan again:  tarnkappe fingerprint plan JOB --key KEYFILE --output FOLDER",
            )
        return replace(self, scheme=scheme)

    @property
    def carried(self) -> int:
        """Up to how many colluders one of them is found with high probability."""
        scheme = self.scheme
        return colluders_carried(scheme.layout.n_positions, scheme.recipients, scheme.alpha)

    @property
    def statements(self) -> tuple[str, ...]:
        """What the plan can promise, in sentences."""
        return statements(self.scheme)


def plan_copies(
    job: Job,
    data: Any,
    key: Key,
    *,
    recipients: int = 100,
    colluders: int = 2,
    alpha: float = 1e-3,
    kind: Kind = "marks",
    select: Choice = "frameproof",
    base: Sequence[int] | None = None,
    patterns: Sequence[Sequence[int]] | None = None,
    dataset: str | None = None,
) -> Planned:
    """Choose the base of all copies and where marks go: least loss, with enough positions if the data have them.

    The base is a full-domain generalisation that satisfies the goal with one set of suppressed records. Copies are
    coarser than it, each in its own way, so what any coalition learns is at most the base. That argument needs criteria
    that stay satisfied when groups are pooled; others are refused.

    Where patterns are handed out, `select` says which of those above the base: a family that no `colluders` can frame,
    or the subset that the poster's objective ranks first ("exact", or "genetic" by the poster's algorithm).

    `base` and `patterns` (levels above the lowest that a column may have) make it repeat an earlier plan. `dataset`
    names the data set in keys and in the register; by default it is the digest of the data.
    """
    if recipients < 1 or colluders < 1:
        raise JobError(
            "E110",
            "there is at least 1 recipient and 1 colluder",
            hint=Fix("recipients: 5, colluders: 2   (--recipients 5 --colluders 2)", "recipients=5, colluders=2"),
        )
    require_alpha(alpha)
    if kind not in ("marks", "patterns", "both"):
        raise JobError(
            "E110",
            f"there is no scheme '{kind}'",
            hint=Fix("marks, patterns or both   (--scheme marks)", 'kind="marks"'),
        )
    if select not in ("frameproof", "exact", "genetic"):
        hint = Fix("frameproof, exact or genetic   (--select frameproof)", 'select="frameproof"')
        raise JobError("E110", f"patterns are not chosen by '{select}'", hint=hint)
    _require_monotone(job.goal)
    seed = int.from_bytes(derived(key.raw, "seed")[:16], "big")
    chosen: list[tuple[Node, tuple[tuple[int, ...], ...]]] = []

    def choose(tally: Tally, goal: Goal) -> Node:
        # The digest of the data is not known yet, and which pairs of columns a key draws hardly changes the choice.
        wanted = (recipients, colluders, alpha)
        node = _base(tally, goal, key.of(dataset or ""), *wanted, kind, base)
        above: tuple[tuple[int, ...], ...] = ()
        if kind != "marks":
            above = _given(patterns) or _family(tally, goal, node, recipients, colluders, select)
        chosen.append((node, above))
        return node

    decided = decide(replace_job(job, algorithm=_AtBase(choose=choose)), data, seed=seed)
    node, above = chosen[0]
    decided = replace(decided.regrouped(decided.plan, MinGen()), job=job)
    name = dataset or decided.digest
    own = key.of(name)
    tally, grouping = decided.plan.tally, decided.plan.grouping  # type: ignore[union-attr]
    assert grouping.fixed is not None
    join = tuple(int(x) for x in np.max(np.array([node, *above]), axis=0))
    columns = _columns(tally, join)
    loss, costs = _losses(tally, columns, grouping.fixed.node, decided.plan.sizes)
    wanted = (recipients, colluders, alpha)
    layout, group = _layout(columns, grouping.fixed.node, decided.plan.sizes, own, *wanted, costs)
    if kind == "patterns":
        layout = layout.unmarked()
    nonce = derived(own.raw, "nonce").hex()
    scheme = Scheme(
        dataset=name,
        base=node,
        patterns=above,
        layout=layout,
        texts=node_texts(tally.quasi_domains, tuple(job.data.missing)),
        recipients=recipients,
        colluders=colluders,
        alpha=alpha,
        commitment="",
        nonce=nonce,
        made=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    scheme = replace(scheme, commitment=own.commitment(nonce, scheme.digest))
    extra = layout.extra_loss(costs) / max(tally.n_records, 1)
    return Planned(decided, scheme, group, grouping.fixed.node, loss, extra)


def _require_monotone(goal: Goal) -> None:
    broken = [c.name for c in goal.criteria if not c.is_monotone]
    if broken:
        raise _refused(goal, f"pooling groups may break {', '.join(broken)}")


def _refused(goal: Goal, why: str) -> JobError:
    return JobError(
        "E111",
        f"traceable copies cannot promise {' and '.join(c.asked for c in goal.criteria)}: {why}",
        hint=Fix(
            "criteria: [{k-anonymity: {k: 5}}, {l-diversity: {column: COLUMN, l: 2}}]",
            'criteria=[KAnonymity(5), LDiversity("COLUMN", 2)]',
        ),
    )


def _columns(tally: Tally, level: Node) -> Columns:
    domains = tally.quasi_domains
    top = (d.taxonomy.height if d.max_level is None else min(d.max_level, d.taxonomy.height) for d in domains)
    return Columns(tuple(d.name for d in domains), tuple(d.taxonomy for d in domains), level, tuple(top))


def _layout(
    columns: Columns,
    node: Codes,
    sizes: Counts,
    key: DatasetKey,
    recipients: int,
    colluders: int,
    alpha: float,
    costs: Sequence[Floats],
) -> tuple[Layout, Codes]:
    """The layout of marks, and the group of it that each base group belongs to.

    As few bits per block, and as cheap columns, as give enough positions.
    """
    raised = np.column_stack([columns.raised(node[:, j], j, columns.level[j]) for j in range(node.shape[1])])
    group, first = distinct_rows(list(raised.T), [t.n_nodes for t in columns.trees])
    size = np.bincount(group, sizes, len(first)).astype(np.int64)
    node = raised[first].astype(np.int32)
    need = positions_needed(recipients, colluders, alpha)
    mean = {j: float(costs[j][node[:, j]] @ size) for j in columns.free}
    cheap = sorted(columns.free, key=lambda j: (mean[j], j))
    best, rank = None, (math.inf, math.inf)
    for bits in (1, 2, 3):
        for n in range(min(max(_LEAST_COLUMNS, 2 * bits), len(cheap)), len(cheap) + 1):
            layout = Layout.of(columns, node, size, key, bits, sorted(cheap[:n]))
            this = (float(max(need - layout.n_positions, 0)), layout.extra_loss(costs))
            if this < rank:
                best, rank = layout, this
        if rank[0] == 0:
            break
    return best or Layout.of(columns, node, size, key, 1), group


def _base(
    tally: Tally,
    goal: Goal,
    key: DatasetKey,
    recipients: int,
    colluders: int,
    alpha: float,
    kind: Kind,
    given: Sequence[int] | None,
) -> Node:
    """The base pattern."""
    if given is not None:
        return _checked(tally, goal, given)
    candidates = Candidates.of(tally, goal)
    floors = np.array([d.floor for d in tally.quasi_domains])
    best: tuple[float, float, Node] | None = None
    need = positions_needed(recipients, colluders, alpha)
    for levels in _promising(candidates):
        node = tuple(int(x) for x in levels - floors)
        columns = _columns(tally, node)
        if len(columns.free) < 2:
            continue
        settled = suppress_leftovers(tally, recode(tally, cuts_at(tally, node)), goal)
        assert settled is not None
        assert settled.fixed is not None
        kept = settled.group >= 0
        sizes = np.bincount(settled.group[kept], settled.quota[kept], settled.n_groups).astype(np.int64)
        loss, costs = _losses(tally, columns, settled.fixed.node, sizes)
        if best is not None and best[0] == 0 and loss >= best[1]:
            continue
        layout, _ = _layout(columns, settled.fixed.node, sizes, key, recipients, colluders, alpha, costs)
        total = loss + layout.extra_loss(costs) / max(tally.n_records, 1)
        rank = (float(max(need - layout.n_positions, 0)), total, node)
        if best is None or rank < best:
            best = rank
        if kind != "marks":
            break
    return tuple(int(x) for x in candidates.best(1, "lm").levels[0] - floors) if best is None else best[2]


def _promising(candidates: Candidates) -> NDArray[np.int16]:
    """Patterns that no other beats both in loss and in the number of groups, which carry the marks; best first."""
    ranked = candidates.best(len(candidates), "lm")
    most = np.maximum.accumulate(ranked.groups)
    front = np.flatnonzero(ranked.groups > np.append(0, most[:-1]))
    return ranked.levels[front[:_BASES]]


def _given(patterns: Sequence[Sequence[int]] | None) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(int(x) for x in p) for p in patterns or ())


def _checked(tally: Tally, goal: Goal, given: Sequence[int]) -> Node:
    """A pattern that satisfies the goal, or an exception."""
    node, top = tuple(int(x) for x in given), tuple(d.taxonomy.height for d in tally.quasi_domains)
    fits = len(node) == len(top) and all(0 <= a <= b for a, b in zip(node, top, strict=True))
    if not fits or not Search(tally, goal, metric_named("loss")).probe(node).ok:
        raise InfeasibleError(
            "E301",
            f"the pattern {list(node)} does not satisfy the goal",
            hint=say(
                "Let the plan choose one, or allow more suppressed records:  {}",
                setting("limits: {suppressed_rows: 5%}", "max_suppressed", 0.05),
            ),
        )
    return node


def _family(
    tally: Tally, goal: Goal, base: Node, recipients: int, colluders: int, select: Choice
) -> tuple[tuple[int, ...], ...]:
    """Patterns above the base; as many as there are recipients, or as there are."""
    floors = np.array([d.floor for d in tally.quasi_domains])
    above = Candidates.of(tally, goal).above(np.array(base) + floors)
    rng = np.random.Generator(np.random.Philox(0))
    if select != "frameproof":
        objective = Objective(n_max=max(recipients, 2))
        found = (
            best_window(above.lm, objective) if select == "exact" else evolve(above.lm, objective, rng=rng).selection
        )
        return tuple(tuple(int(x) for x in row - floors) for row in above.levels[found.members])
    family = frameproof(above.levels, above.lm, colluders, rng=rng, effort=_EFFORT)
    members = family.members
    if len(members) > recipients:
        members = frameproof(above.levels, above.lm, colluders, rng=rng, n=recipients, effort=_EFFORT).members
    return tuple(tuple(int(x) for x in row - floors) for row in above.levels[members])


def _losses(tally: Tally, columns: Columns, node: Codes, sizes: Counts) -> tuple[float, list[Floats]]:
    """Mean loss (LM) of groups, suppressed records in full; and per column and node what one level more adds."""
    shares, total = tally.weights, 0.0
    costs = []
    for j, domain in enumerate(tally.quasi_domains):
        tree = domain.taxonomy
        width = (domain.values_covered - 1) / max(domain.n_values - 1, 1)
        level = min(columns.level[j] + 1, tree.height)
        costs.append(shares[j] * (width[tree.ancestors[level][tree.lo]] - width))
        total += float(shares[j] * (width[node[:, j]] @ sizes))
    lost = tally.n_records - int(sizes.sum())
    return (total + lost) / max(tally.n_records, 1), costs

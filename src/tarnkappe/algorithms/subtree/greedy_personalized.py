"""Greedy personalised generalisation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.algorithms.bucketization.base import Bucketization
from tarnkappe.algorithms.recoding import recode
from tarnkappe.algorithms.subtree.partition import Pieces
from tarnkappe.algorithms.subtree.party import Party
from tarnkappe.arrays import Codes, Counts, Flags, Floats
from tarnkappe.criteria.personalized_privacy import PersonalizedPrivacy
from tarnkappe.deals import Deal
from tarnkappe.errors import JobError
from tarnkappe.fixes import Fix, algorithm, criterion, say
from tarnkappe.goal import Goal
from tarnkappe.groups import Draft, GroupStats, Note
from tarnkappe.kernels.subtree.raising import raise_values
from tarnkappe.publish.boxes import FixedBoxes
from tarnkappe.publish.personal import Personal
from tarnkappe.publish.recoding import Recoding
from tarnkappe.tally import Domain, Tally
from tarnkappe.taxonomy.tree import Taxonomy

#: So many other first steps are tried if the best one leads to no release.
_MOST_BEGINNINGS = 50

#: A step must save more than this, as a share of all detail there is; less is rounding.
_LEAST = 1e-12


@dataclass(frozen=True)
class GreedyPersonalized(Bucketization):
    r"""Specialise the quasi-identifiers as long as it pays, and coarsen sensitive values person by person where needed.

    All quasi-identifiers begin as their roots. In every round each node (and each place of a range) that could be told
    apart is tried. A try divides groups, and in each new group sensitive values are raised along their taxonomy until
    nobody's guarding node is breached (`personalized-privacy`). The try that loses least is kept:

    .. math:: \sum_r (\sum_i w_i \frac{|r_i| - 1}{|D_i| - 1} + w_S \frac{|r_S| - 1}{|D_S| - 1})

    where :math:`|r_i|` is the number of values that the label of record r covers. It ends when no try loses less.

    Within a group those records are raised that lower what exposes somebody too much at the least cost, and of records
    with the same value first those whose own people guard it. Groups in which nothing helps are suppressed within the
    limit. O(rounds · candidates · cells); candidates that cannot be the best are not tried.

    Differs from the paper in: values of a numeric column are cut anywhere, those of a taxonomy into all children of a
    node; the loss of a cell is that of the metric LM; which records of a group are raised is decided by the ratio of
    help and cost over all guarding nodes of the group together.

    References
    ----------
    .. [XiTa06] Xiao, Tao. "Personalized privacy preservation." SIGMOD 2006.
    """

    name: ClassVar = "greedy-personalized"
    title: ClassVar = "Greedy personalised generalisation"
    scheme: ClassVar = "subtree"
    summary: ClassVar = "Coarsens sensitive values person by person, as far as guarding nodes ask for it."
    publishes: ClassVar = Personal
    handles_non_monotone: ClassVar = True
    generalises: ClassVar = True

    def deal(self, tally: Tally, goal: Goal, *, rng: np.random.Generator) -> Deal:
        """Groups that look alike, and what each of their records publishes."""
        self.require_supported(tally, goal)
        personal = self._asked(tally, goal)
        if not tally.n_records:
            raise goal.infeasible(tally)
        raising = _Raising(tally, personal)
        found = _dealt(tally, goal, _Search(tally, goal, raising).run(), raising)
        if found is not None:
            return found
        # What seemed best led nowhere: begin with something else.
        for candidate in _Search(tally, goal, raising).beginnings()[:_MOST_BEGINNINGS]:
            found = _dealt(tally, goal, _Search(tally, goal, raising).run(candidate), raising)
            if found is not None:
                return found
        raise goal.infeasible(tally)

    def _asked(self, tally: Tally, goal: Goal) -> PersonalizedPrivacy:
        """The guarding nodes of a goal; refused if it asks for anything that coarse secrets cannot be asked about."""
        personal = [c for c in goal.criteria if isinstance(c, PersonalizedPrivacy)]
        others = [c for c in goal.criteria if c not in personal and not c.decided_by_size]
        shown = [d for d in tally.sensitive_domains if not d.aside]
        if len(personal) != 1 or others:
            what = others[0].name if others else "a goal with so many of them" if personal else "a goal without it"
            raise JobError(
                "E111",
                f"{self.name} is made for one personalized-privacy and a k beside it; it cannot promise {what}",
                hint=criterion(
                    "personalized-privacy", "PersonalizedPrivacy", column="NAME", guard="OTHER", p_breach=0.5
                )
                if not personal
                else say("Drop it, or choose another algorithm:  {}", algorithm("flash")),
            )
        (asked,) = personal
        secret = tally.sensitive_domains[tally.sensitive_index(asked.column)]
        beside = [d.name for d in shown if d is not secret]
        if beside:
            raise JobError(
                "E111",
                f"{self.name} publishes one sensitive column, and the job has others: {', '.join(beside)}",
                hint=Fix(f"{beside[0]}: {{role: drop}}", f'drop=["{beside[0]}"]'),
            )
        tree = secret.taxonomy
        if tree.ranges.any() or secret.values is not None or _by_label(tree) is None:
            raise JobError(
                "E111",
                f"{self.name} coarsens '{secret.name}' by its taxonomy, and has none whose labels say what they cover",
                hint=Fix(
                    f"{secret.name}: {{role: sensitive, taxonomy: NAME}}", f'sensitive={{"{secret.name}": tree(…)}}'
                ),
            )
        return asked


class _Raising:
    """Raises the sensitive values of groups until no guarding node is breached."""

    def __init__(self, tally: Tally, asked: PersonalizedPrivacy) -> None:
        self.asked, self._tally = asked, tally
        self.secret, self.guard = (tally.sensitive_domains[tally.sensitive_index(c)] for c in asked.columns[:2])
        self.first, self.last, self._guarded = asked.windows(self.secret, self.guard)
        tree = self.secret.taxonomy
        known = asked.known_values(self.secret)
        self._covered = np.maximum(known, 1)
        self.cost: Floats = np.maximum(known - 1, 0) / max(int(known[0]) - 1, 1) * self.secret.weight
        self.path = _paths(self.secret)
        self._tree = tree
        p = asked.p_breach
        self._limit = p if asked.subject is None else -math.log1p(-p) if p < 1 else math.inf

    def of(self, groups: Draft) -> tuple[GroupStats, Counts, Floats, Flags]:
        """Statistics of groups; how many records of each value are raised how far; the cost; whether it helps."""
        stats = GroupStats.of(self._tally, groups, self.asked.columns)
        values, guards = stats.histograms[self.asked.column], stats.histograms[self.asked.guard]
        steps, lost, ok = raise_values(
            values.indptr,
            values.codes,
            values.counts,
            np.maximum(self.asked.people(stats), 1),
            guards.indptr,
            self.first[guards.codes],
            self.last[guards.codes],
            self._guarded[guards.codes],
            self.path,
            self._tree.lo,
            self._tree.hi,
            self._covered,
            self.cost,
            self._limit,
            self.asked.subject is not None,
        )
        return stats, steps, lost, ok


def _by_label(tree: Taxonomy) -> Codes | None:
    """For every node the first that has its label; None if two have the same and cover different values.

    Short branches of a tree repeat the label of a value on every level.
    """
    first: dict[str, int] = {}
    out = np.array([first.setdefault(label, node) for node, label in enumerate(tree.labels)], np.int32)
    same = np.array_equal(tree.lo[out], tree.lo) and np.array_equal(tree.hi[out], tree.hi)
    return out if same else None


def _paths(domain: Domain) -> Codes:
    """The nodes of every leaf, from itself to the root; -1 after it. Of nodes with the same label, only the first."""
    tree = domain.taxonomy
    by_label = _by_label(tree)
    assert by_label is not None, "labels say what they cover"
    path = np.full((domain.size, tree.height + 1), -1, np.int32)
    node = tree.leaf_nodes.astype(np.int32)
    for step in range(path.shape[1]):
        path[:, step] = np.where(node < 0, -1, by_label[node])
        node = np.where(node > 0, tree.parent[node], -1).astype(np.int32)
    return path


class _Search:
    """Tries what may be told apart next, and keeps what every group loses in the sensitive column."""

    def __init__(self, tally: Tally, goal: Goal, raising: _Raising) -> None:
        self._tally, self._goal, self._raising = tally, goal, raising
        self._party = party = Party(
            tally.quasi,
            tally.quasi_domains,
            tally.count,
            (np.zeros(tally.n_cells, np.int32), 1),
            min_size=goal.min_size,
            budget=goal.budget(tally.n_records),
            granularity="subtree",
        )
        #: What a record loses that is not published, and one too many of them: more than all others together.
        self._all = sum(d.weight for d in tally.quasi_domains) + raising.secret.weight
        self._too_many = tally.n_records * (self._all + 1.0)
        self._budget = goal.budget(tally.n_records)
        #: Per group, what its records lose in the sensitive column, and how many of them cannot be published.
        self._lost, self._hopeless = np.zeros(0), np.zeros(0)
        self._keep(party.groups.numbers, *self._cost(party.groups.whole))

    def _keep(self, groups: Counts, lost: Floats, hopeless: Floats) -> None:
        """Remember what groups lose."""
        room = max(int(groups.max(initial=-1)) + 1 - len(self._lost), 0)
        more = np.zeros(max(room, len(self._lost)) if room else 0)
        self._lost, self._hopeless = np.append(self._lost, more), np.append(self._hopeless, more)
        self._lost[groups], self._hopeless[groups] = lost, hopeless

    def _cost(self, pieces: Pieces) -> tuple[Floats, Floats]:
        """What the records of each piece lose in the sensitive column, and how many of them cannot be published."""
        _, _, lost, ok = self._raising.of(self._party.groups.grouping(pieces))
        ok &= pieces.size >= self._goal.min_size
        return np.where(ok, lost, 0.0), np.where(ok, 0.0, pieces.size)

    def _penalty(self, hopeless: float) -> float:
        """What so many records lose that cannot be published."""
        return hopeless * self._all + max(hopeless - self._budget, 0.0) * self._too_many

    def beginnings(self) -> list[int]:
        """What may be told apart first, what wins most detail before the others."""
        candidates = self._party.candidates()
        _, detail = self._party.gains(candidates)
        order: list[int] = candidates[np.argsort(-detail, kind="stable")].tolist()
        return order

    def run(self, begin: int | None = None) -> Draft:
        """The groups from which no step leads further, if need be after one that was decided already."""
        if begin is not None:
            self._carry_out(begin)
        while self.proceed():
            self._goal.pause()
        return recode(self._tally, self._party.cuts())

    def proceed(self) -> bool:
        """Carry out what loses least, if that is less than now; whether there was such a step.

        Others are tried only while they could be better: no group can lose less than nothing.
        """
        party, n = self._party, self._tally.n_records
        candidates = party.candidates()
        _, detail = party.gains(candidates)
        hopeless = float(self._hopeless.sum())
        at_best = detail * n + self._lost.sum() + self._penalty(hopeless)
        found: tuple[float, int] | None = None
        for i in np.argsort(-at_best, kind="stable"):
            if found is not None and at_best[i] <= found[0]:
                break
            step = party.step(int(candidates[i]))
            parted = np.unique(step.pieces.group)
            lost, gone = self._cost(step.pieces)
            after = hopeless - float(self._hopeless[parted].sum()) + float(gone.sum())
            won = float(detail[i] * n + self._lost[parted].sum() - lost.sum())
            won += self._penalty(hopeless) - self._penalty(after)
            if won > (_LEAST * n if found is None else found[0]):
                found = won, step.candidate
        if found is None:
            return False
        self._carry_out(found[1])
        return True

    def _carry_out(self, candidate: int) -> None:
        step = self._party.step(candidate)  # made anew: trying others has put cells into another order
        lost, first = self._cost(step.pieces), self._party.groups.n_groups
        self._party.carry_out(step, step.pieces.size >= self._goal.min_size)
        later = ~step.pieces.is_first
        self._keep(np.where(later, first - 1 + np.cumsum(later), step.pieces.group), *lost)


def _dealt(tally: Tally, goal: Goal, groups: Draft, raising: _Raising) -> Deal | None:
    """The records of all groups that can be published, with the nodes that they publish; None if those are too few."""
    stats, steps, lost, ok = raising.of(groups)
    ok &= stats.size >= goal.min_size
    suppressed = int(stats.size[~ok].sum())
    if suppressed > goal.budget(tally.n_records) or not ok.any():
        return None
    secret, guard = (tally.sensitive[:, tally.sensitive_index(c)] for c in raising.asked.columns[:2])
    guards_it = (raising.first[guard] <= secret) & (secret <= raising.last[guard])
    order = np.lexsort((~guards_it, secret, groups.group))
    cell = np.repeat(order, tally.count[order]).astype(np.int32)
    # Entries of the histogram come in the order of the records: by group, then by value. Highest nodes come first.
    values = stats.histograms[raising.asked.column]
    nodes = raising.path[values.codes][:, ::-1].ravel()
    raised = np.repeat(nodes, steps[:, ::-1].ravel()).astype(np.int32)
    kept = np.repeat(ok, stats.size)
    published = groups.without(~ok)  # the labels of a group that is left out are nowhere told, the codebook included
    assert published.fixed is not None, "all values of a column are recoded alike"
    people = Recoding(tally.quasi_domains, published.group, published.fixed, FixedBoxes(published.fixed))
    told: dict[str, Note] = {
        "coarse sensitive values": int((raised[kept] != raising.path[secret[cell[kept]], 0]).sum()),
        "loss of the sensitive column": float(lost[ok].sum() / int(stats.size[ok].sum())),
    }
    return Deal(cell[kept], stats.size[ok], Personal(people, raising.secret), told, raised[kept])

"""Why a cell of a release is as coarse as it is: its group is divided further, and the criteria say what breaks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from tarnkappe.algorithms.fulldomain.solutions import Solutions
from tarnkappe.algorithms.timed import STOPPED
from tarnkappe.arrays import Codes, Counts
from tarnkappe.companions import groups_table
from tarnkappe.criteria.base import Criterion
from tarnkappe.errors import DataError, JobError, did_you_mean
from tarnkappe.groups import Draft
from tarnkappe.io import open_source
from tarnkappe.io.folders import GROUPS, MANIFEST, ReleaseFolder, dialect_told, read_manifest
from tarnkappe.job import Job
from tarnkappe.metrics import metric_named
from tarnkappe.pipeline import Decided, decide
from tarnkappe.plan import Plan
from tarnkappe.publish.boxes import BoxForm
from tarnkappe.publish.notation import range_text
from tarnkappe.wording import count, plural

#: So many places to cut a range are tried, evenly spaced where there are more.
_MOST_CUTS = 200


@dataclass(frozen=True)
class Reason:
    """Why a column of a group says no more than it does."""

    column: str
    label: str | None
    #: How the group was divided to see what breaks, and how many ways of doing so satisfy everything.
    tried: int
    possible: int
    #: How many of them break each criterion.
    broken: dict[str, int]
    sentence: str


@dataclass(frozen=True)
class Reasons:
    """Why a row of a release says what it says. For the publisher only: it is found in the original data."""

    row: int
    records: int
    algorithm: str
    columns: tuple[Reason, ...]

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain data, for ``--json``."""
        return asdict(self)


def why(folder: str | Path, row: int, columns: Sequence[str] = (), *, data: Any = None) -> Reasons:
    """Say which group a row of a release belongs to, and which criterion keeps its cells from saying more.

    `row` counts from 1. The decision is made again from the job and the seed in the folder that is not shared, so the
    data must still be there, unchanged, where the job says or as `data`. A cell that says the value itself has nothing
    to explain. Of any other its group is divided by what lies one level below, or a range in two, and every criterion
    is asked about the parts.
    """
    decided, row_labels = _decided_again(Path(folder), row, data)
    plan = decided.plan
    assert isinstance(plan, Plan)
    group = _group_of(plan, row_labels, Path(folder))
    return reasons_of_group(decided, group, columns, row)


def decided_again(folder: str | Path, data: Any = None) -> Decided:
    """The decision of a release, made again from the job, the seed and the data; refused if it is not the same."""
    return _decided_again(Path(folder), 1, data)[0]


def reasons_of_group(decided: Decided, group: int, columns: Sequence[str] = (), row: int = 0) -> Reasons:
    """Why a group of a decision says what it says, in some columns or in all."""
    plan = decided.plan
    assert isinstance(plan, Plan)
    names = [d.name for d in plan.tally.quasi_domains]
    row_labels = [None if k.code[group] < 0 else str(k.texts[int(k.code[group])]) for k in plan.labels]
    unknown = [name for name in columns if name not in names]
    if unknown:
        raise JobError(
            "E105",
            f"'{unknown[0]}' is no quasi-identifier of the release{did_you_mean(unknown[0], names)}",
            hint=f"Quasi-identifiers: {', '.join(names)}.",
        )
    part = _Part.of(plan, group)
    # Of a search that was stopped only its note knows whose groups these are.
    by = "The search, which was stopped," if STOPPED in plan.notes else decided.run.algorithm.title
    found = tuple(
        _reason(plan, group, j, name, row_labels[j], part, by)
        for j, name in enumerate(names)
        if not columns or name in columns
    )
    told = f"stopped {plan.notes[STOPPED]}" if STOPPED in plan.notes else by
    return Reasons(row, int(plan.sizes[group]), told, found)


#: Which parts satisfy something.
_Kept = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class _Part:
    """The pieces of one group, to be divided in other ways."""

    plan: Plan
    group: int
    cell: Codes
    quota: Counts

    @classmethod
    def of(cls, plan: Plan, group: int) -> _Part:
        """The pieces of a group of a plan."""
        own = plan.grouping.group == group
        return cls(plan, group, plan.grouping.cell[own], plan.grouping.quota[own])

    def divided(self, parts: Codes, n_parts: int, j: int, said: Sequence[str | None]) -> tuple[_Kept, dict[str, _Kept]]:
        """Which parts satisfy everything, and which satisfy each criterion.

        `parts` has the part of every piece, time after time if the group is divided several times. In column `j` a
        part would say what is `said`; that matters if criteria look at more than a single group.
        """
        tally, goal = self.plan.tally, self.plan.goal
        tables, times = goal.table_distributions(tally), len(parts) // len(self.cell)
        if goal.scopes == {"group"}:
            draft = Draft(np.tile(self.cell, times), parts, np.tile(self.quota, times), n_parts)
            stats = goal.stats(tally, draft, tables)
            return goal.satisfied(stats), {_name(c): c.satisfied(stats) for c in goal.criteria}
        each: dict[str, list[_Kept]] = {_name(c): [] for c in goal.criteria}
        n = n_parts // times
        for i in range(times):
            of_pieces = parts[i * len(self.cell) : (i + 1) * len(self.cell)] - i * n
            draft, keys = self._in_its_place(of_pieces, n, j, said[i * n : (i + 1) * n])
            stats = goal.stats(tally, draft, tables, keys=keys)
            for criterion in goal.criteria:
                ok = criterion.satisfied(stats)
                # The others satisfied it before: what breaks there is broken by dividing, whichever part is looked at.
                each[_name(criterion)].append(ok[-n:] & ok[:-n].all())
        flags = {name: np.concatenate(kept) for name, kept in each.items()}
        return np.all(list(flags.values()), axis=0), flags

    def _in_its_place(self, parts: Codes, n: int, j: int, said: Sequence[str | None]) -> tuple[Draft, Codes]:
        """All groups of the release, the parts last in place of the group, and what each of them says."""
        grouping, labels = self.plan.grouping, self.plan.labels
        others = np.arange(grouping.n_groups) != self.group
        group = np.append(np.cumsum(others) - 1, -1)[grouping.group]
        group[grouping.group == self.group] = others.sum() + parts
        code = {text: i for i, text in enumerate(labels[j].texts)}
        own = np.tile([int(x.code[self.group]) for x in labels], (n, 1))
        own[:, j] = [-1 if text is None else code.setdefault(text, len(code)) for text in said]
        keys = np.vstack([np.column_stack([x.code for x in labels])[others], own]) + 1
        draft = Draft(grouping.cell, group.astype(np.int32), grouping.quota, int(others.sum()) + n)
        return draft, keys.astype(np.int32)


def _name(criterion: Criterion) -> str:
    on = f" on '{criterion.sensitive_column}'" if criterion.sensitive_column else ""
    return f"{criterion.asked}{on}"


def _reason(plan: Plan, group: int, j: int, name: str, label: str | None, part: _Part, by: str) -> Reason:
    """Why one column of a group says no more."""
    domain, boxes = plan.tally.quasi_domains[j], plan.boxes
    leaf = plan.tally.quasi[part.cell, j]
    spread = bool(boxes.publishes_range(j, domain)[group])
    node = int(boxes.node[group, j])
    shown = "a gap" if label is None else f"'{label}'"
    if label is None or (not spread and domain.taxonomy.lo[node] == domain.taxonomy.hi[node] and not domain.floor):
        return Reason(name, label, 0, 0, {}, f"'{name}' is published as it is in the data.")
    if spread:
        tried, possible, broken = _cuts(part, leaf, j)
        ways = f"{plural(tried, 'place')} where it could be cut in two"
        begin = f"'{name}' says {shown}. Of {ways},"
        kept = f"{count(possible)} would satisfy everything" if possible else "none leaves two parts that satisfy all"
    else:
        tried, possible, broken = _children(part, leaf, j, node)
        if tried == 0:
            return Reason(name, label, 0, 0, {}, f"'{name}' says {shown}: the lowest level that may be published.")
        begin = f"'{name}' says {shown}. One level below, the group would be {plural(tried, 'part')},"
        few = "none satisfies" if not possible else "1 satisfies" if possible == 1 else f"{count(possible)} satisfy"
        kept = f"of which {'all satisfy' if possible == tried > 1 else few} everything"
    words = [f"{what} breaks at {count(n)}" for what, n in broken.items() if n]
    sentence = f"{begin} {kept}" + (f"; {', '.join(words)}." if words else ".")
    if (spread and possible) or (not spread and possible == tried):
        sentence += f" {_elsewhere(plan, j, by)}"
    return Reason(name, label, tried, possible, broken, sentence)


def _cuts(part: _Part, leaf: Codes, j: int) -> tuple[int, int, dict[str, int]]:
    """How many places there are to cut a range in two, at how many both parts hold, and what breaks elsewhere."""
    values, tree = np.unique(leaf), part.plan.tally.quasi_domains[j].taxonomy
    ends = values[:-1] if len(values) <= _MOST_CUTS else values[np.linspace(0, len(values) - 2, _MOST_CUTS).astype(int)]
    if not len(ends):
        return 0, 0, {}
    side = (leaf[None, :] > ends[:, None]) + 2 * np.arange(len(ends))[:, None]
    nexts = values[np.searchsorted(values, ends) + 1]
    spans = [span for a, b in zip(ends, nexts, strict=True) for span in ((values[0], a), (b, values[-1]))]
    said = [range_text(tree.leaves[a], tree.leaves[b]) if a < b else tree.leaves[a] for a, b in spans]
    ok, each = part.divided(side.ravel().astype(np.int32), 2 * len(ends), j, said)
    both = ok.reshape(-1, 2).all(axis=1)
    broken = {name: int((~flags.reshape(-1, 2)).any(axis=1).sum()) for name, flags in each.items()}
    return len(ends), int(both.sum()), broken


def _children(part: _Part, leaf: Codes, j: int, node: int) -> tuple[int, int, dict[str, int]]:
    """How many nodes below a label the group would be divided into, how many hold, and what breaks in the others."""
    domain = part.plan.tally.quasi_domains[j]
    tree = domain.taxonomy
    below = np.flatnonzero(tree.parent == node)
    if not len(below):
        return 0, 0, {}
    below = below[np.argsort(tree.lo[below])]
    which = np.searchsorted(tree.lo[below], leaf, side="right") - 1
    present, parts = np.unique(which, return_inverse=True)
    gap = tree.leaf_nodes[domain.missing] if domain.missing >= 0 else -1
    said = [None if child == gap else tree.labels[child] for child in below[present]]
    ok, each = part.divided(parts.astype(np.int32), len(present), j, said)
    return len(present), int(ok.sum()), {name: int((~flags).sum()) for name, flags in each.items()}


def _elsewhere(plan: Plan, j: int, by: str) -> str:
    """Why a group that could say more does not: everybody is told the same, or the algorithm stopped there."""
    if "levels" not in plan.notes:
        return f"This group alone could say more. {by} weighed it against other columns and groups."
    node = [int(text) for text in str(plan.notes["levels"]).split(", ")]
    floors = [d.floor for d in plan.tally.quasi_domains]
    node[j] -= 1
    if node[j] < floors[j]:
        return "This group alone could say more, but no lower level may be published."
    space = Solutions(plan.tally, plan.goal, [metric_named("lm")])
    found = space.at(tuple(level - floor for level, floor in zip(node, floors, strict=True)))
    allowed = plan.goal.budget(plan.tally.n_records)
    if not found.ok:
        return (
            f"This group alone could say more, but everybody is told the same: at level {node[j]} of this column "
            f"{plural(found.suppressed, 'record')} would have to be suppressed, allowed are {count(allowed)}."
        )
    return (
        f"Level {node[j]} of this column would satisfy everything too, with {plural(found.suppressed, 'record')} "
        f"suppressed instead of {count(plan.suppressed)}. {by} chose other levels."
    )


def _group_of(plan: Plan, labels: Sequence[str | None], folder: Path) -> int:
    """The group that publishes some labels."""
    same = np.ones(plan.n_groups, np.bool_)
    for label, known in zip(labels, plan.labels, strict=True):
        texts = [str(text) for text in known.texts]
        code = -1 if label is None else texts.index(label) if label in texts else -2
        same &= known.code == code
    if int(same.sum()) != 1:
        raise _not_the_same(folder)
    return int(np.argmax(same))


def _decided_again(path: Path, row: int, data: Any) -> tuple[Decided, list[str | None]]:
    """The decision of a release, made again, and what a row of its table says in the quasi-identifiers."""
    folder = ReleaseFolder(path)
    manifest, table, kept = read_manifest(folder.manifest), folder.table, folder.job
    private = folder.private / MANIFEST
    if manifest is None or table is None or "quasi_identifiers" not in manifest:
        raise JobError("E107", f"'{path}' is no release of records", hint="tarnkappe why FOLDER --row 1")
    if kept is None or not private.is_file():
        raise JobError(
            "E107",
            f"'{path}' lacks the folder that is not shared, and only the publisher can be told why",
            hint="Give the folder as  tarnkappe run  wrote it.",
        )
    job = Job.from_yaml(kept)
    if not issubclass(job.algorithm.publishes, BoxForm):
        raise JobError(
            "E111",
            f"{job.algorithm.name} coarsens nothing that could be divided further",
            hint="tarnkappe explain " + job.algorithm.name,
        )
    dialect, missing = dialect_told(manifest)
    with open_source(table, dialect, missing) as source:
        if not 1 <= row <= source.n_rows:
            raise JobError("E108", f"there is no row {row}", hint=f"Rows are numbered from 1 to {source.n_rows}.")
        cells = source.read(list(manifest["quasi_identifiers"])).select(pl.all().cast(pl.String)).row(row - 1)
    told = json.loads(private.read_text("utf-8"))
    given = job.data.path if data is None else data
    if given is None:
        what = "the job of the release names no data file"
        raise JobError("E103", what, where=str(kept), hint="tarnkappe why FOLDER --row 1 --data DATA.csv")
    decided = decide(job, given, seed=int(told["seed"]))
    groups = folder.kept(GROUPS)
    plan = decided.plan
    same_data = decided.digest == told["input"]["sha256"]
    if not same_data or not isinstance(plan, Plan) or (groups is not None and not groups_table(plan).equals(groups)):
        raise _not_the_same(path, told.get("search", {}).get(STOPPED) if same_data else None)
    return decided, list(cells)


def _not_the_same(folder: Path, stopped: str | None = None) -> DataError:
    others = "the data, the job or the version of Tarnkappe are others than then"
    return DataError(
        "E410",
        f"the decision cannot be made again: {others if stopped is None else f'its search was stopped {stopped}'}",
        where=str(folder),
        hint="Run the job again"
        + ("" if stopped is None else " without a limit of time")
        + ", and ask about the new release.",
    )

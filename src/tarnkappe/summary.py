"""The lines that say what a job asks for, and what a run or a check found; on the screen and in `print`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from tarnkappe.io.databases import Address
from tarnkappe.io.folders import GROUPS, JOB, MANIFEST, PRIVATE, PUBLIC, REPORT, dialect_told
from tarnkappe.wording import count, duration, figure, percent, plural, shown_path, size

if TYPE_CHECKING:
    from tarnkappe.criteria.base import Verdict
    from tarnkappe.estimate import Estimate
    from tarnkappe.goal import Goal
    from tarnkappe.job import Job
    from tarnkappe.release import Release
    from tarnkappe.runs import Checked
    from tarnkappe.tally import Tally

Rows = list[tuple[str, str]]


def as_text(title: str, lines: Rows) -> str:
    """A title and labelled lines as one text."""
    widest = max(len(label) for label, _ in lines)
    return "\n".join([title, *(f"  {label:<{widest}}  {text}".rstrip() for label, text in lines)])


def job_rows(job: Job) -> Rows:
    """What a job asks for; the seed is nobody's business."""
    by_role: dict[str, list[str]] = {}
    for column in job.columns:
        how = f" ({column.taxonomy.name if column.taxonomy else column.kind})" if column.role == "quasi" else ""
        by_role.setdefault(column.role, []).append(column.name + how)
    if job.rest is not None:
        by_role.setdefault(job.rest, []).append("all other columns")
    return [
        *(("Data", text) for text in [job.data.path] if text),
        *((role.capitalize(), _listed(names)) for role, names in by_role.items()),
        ("Goal", job.goal.asked),
        ("Algorithm", job.algorithm.title),
        *(("Time", f"at most {duration(s)} of searching") for s in [job.time_limit] if s),
    ]


#: How many names are listed in a line.
_MOST_NAMES = 12


def _listed(names: list[str]) -> str:
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def checked_rows(checked: Checked, goal: Goal, expected: Estimate) -> Rows:
    """What `tarnkappe check` says."""
    tally, schema = checked.tally, checked.schema
    unique = int((tally.tuple_sizes == 1).sum())
    return [
        ("Data", checked.source.description),
        ("Roles", roles(c.role for c in schema.columns)),
        ("Before", _before(unique, tally.n_records, len(schema.quasi))),
        ("", f"{plural(tally.n_tuples, 'combination')} of them, {plural(tally.n_cells, 'cell')} to decide about"),
        ("Goal", goal.asked),
        ("Feasible", "✓ " + _feasible(goal, tally)),
        ("Algorithm", expected.algorithm if expected.why is None else f"chosen is {expected.why}"),
        ("Search", f"{expected.search} · {_takes(expected)}"),
    ]


def _takes(expected: Estimate) -> str:
    """About how long deciding will take and how much memory, in words."""
    memory = f"{size(expected.memory)} of memory"
    if expected.seconds is None:
        return f"{memory}; how long it takes is not known, because no sample could be decided"
    by = "tried" if expected.sample == expected.cells else f"from {plural(expected.sample, 'cell')}"
    return f"estimated {duration(expected.seconds)} of processor time ({by}) · {memory}"


def _feasible(goal: Goal, tally: Tally) -> str:
    if goal.max_suppressed:
        return f"nothing speaks against it; up to {percent(goal.max_suppressed)} of the rows may be removed"
    if not goal.satisfied(goal.together(tally)).all():  # pooling may break some criteria
        return "nothing speaks against it, but not everybody in one group; the search will tell"
    if tally.has_ceilings:
        return "nothing speaks against it, also not the highest levels of columns"
    return "a release exists: at worst everybody is in one group"


def release_rows(release: Release) -> Rows:
    """What `tarnkappe run` says at its end."""
    kept = "" if release.detail_kept is None else f" · detail kept {percent(release.detail_kept)}"
    private = release.private_manifest.get("input", {})
    return [
        ("Data", str(private.get("description", private.get("name", "")))),
        ("Roles", roles(c.role for c in release.columns)),
        ("Before", _before(release.unique_before, release.n_before, sum(c.role == "quasi" for c in release.columns))),
        ("Goal", release.job.goal.asked),
        (
            "Result",
            f"{plural(release.n_groups, 'group')} · smallest {count(release.smallest_group)} · "
            f"{plural(release.n_suppressed, 'row')} removed{kept}",
        ),
        *(("", text) for text in [_columns(release)] if text),
        *(("Tables", text) for text in [_tables(release)] if text),
        ("Verify", _verified(release)),
        *(("Attacks", text) for text in [_withstood(release)] if text),
    ]


def _before(unique: int, records: int, quasi: int) -> str:
    found, columns = plural(unique, "record"), plural(quasi, "quasi-identifier")
    return f"{found} {'is' if unique == 1 else 'are'} unique on the {columns} ({percent(unique / max(records, 1))})"


def roles(given: Iterable[str]) -> str:
    """The columns by role, in words.

    >>> roles(["quasi", "quasi", "identifier", "drop"])
    '1 direct identifier + 1 other dropped · 2 quasi-identifiers'
    """
    n = Counter(given)
    dropped = []
    if n["identifier"]:
        dropped.append(plural(n["identifier"], "direct identifier"))
    if n["subject"]:
        dropped.append(plural(n["subject"], "person key"))
    if n["household"]:
        dropped.append(plural(n["household"], "household key"))
    if n["weight"]:
        dropped.append(plural(n["weight"], "weight"))
    if n["drop"]:
        dropped.append(f"{n['drop']} other" if dropped else plural(n["drop"], "column"))
    parts = [" + ".join(dropped) + " dropped"] if dropped else []
    parts.append(plural(n["quasi"], "quasi-identifier"))
    if n["sensitive"]:
        parts.append(f"{n['sensitive']} sensitive")
    if n["keep"]:
        parts.append(f"{n['keep']} kept")
    return " · ".join(parts)


def _columns(release: Release) -> str:
    """How much of each quasi-identifier is left."""
    parts = [f"{c.name} {percent(c.kept)}" for c in release.columns if c.kept is not None]
    return "by column: " + " · ".join(parts) if parts else ""


def _tables(release: Release) -> str:
    """Which tables there are, where groups are told apart by a number that joins them."""
    if not release.is_numbered:
        return ""
    told = release.public_manifest["tables"]
    names = [f"{t.get('file', t['name'] or 'people')} ({', '.join(t['columns'])})" for t in told]
    if release.number is None:
        return f"{names[0]}: drawn anew, no row is a person"
    joined = f", joined by '{release.number}'" if len(told) > 1 else f", groups by '{release.number}'"
    return " · ".join(names) + joined


def _verified(release: Release) -> str:
    """What was found when the released table was read back."""
    what = "re-counted the table in memory"
    if release.folder is not None:
        further = [t["file"] for t in release.public_manifest.get("tables", ())[1:]]
        file = release.public_manifest["file"]
        in_folder = release.job.output.database is None
        what = f"re-read {shown_path(release.folder / PUBLIC / file) if in_folder else f'table {file}'}"
        what += "".join(f" and {file}" for file in further)
    found = [*(verdict_words(v) for v in release.verdicts), *release.proved]
    return " ".join([what, *(f"✓ {words}" for words in found)])


def _withstood(release: Release) -> str:
    """What the attacks that the job names reached."""
    parts = [
        f"✓ {found.attack}{f' ({found.column})' if found.column else ''}: {percent(found.rate)}, "
        f"baseline {percent(found.baseline)}"
        for found in release.attacks
    ]
    return " ".join(parts)


def verdict_words(verdict: Verdict) -> str:
    """A verdict in short: what was asked and what the worst group reached."""
    on = f" ({verdict.column})" if verdict.column else ""
    return f"{verdict.asked}{on}: {figure(verdict.reached)}"


def wrote_rows(release: Release) -> Rows:
    """Which files may be shared, and which not; and how a CSV file is written, which may differ from the input."""
    folder = release.folder
    assert folder is not None
    public, private = folder / PUBLIC, folder / PRIVATE
    told = release.public_manifest
    report = [REPORT] if release.has_public_report else []
    how = f" ({dialect_told(told)[0].describe()})" if "csv" in told else ""
    further = [t["file"] for t in told.get("tables", ())[1:]]
    tables = [told["file"] + how, *further]
    files = [*([] if release.job.output.database else tables), told["codebook"], *report, MANIFEST]
    kept = [REPORT, JOB, *([GROUPS] if not release.is_numbered else []), MANIFEST]
    shown = f"{_folder(public)} (may be shared): {', '.join(files)}"
    if release.job.output.database is not None:
        place = Address.of(release.job.output.database).shown
        first = ("Wrote", f"{place} (table: {', '.join(tables)})")
        return [first, ("", shown), ("", f"{_folder(private)} (stays with you): {', '.join(kept)}")]
    return [
        ("Wrote", shown),
        ("", f"{_folder(private)} (stays with you): {', '.join(kept)}"),
    ]


def _folder(path: Path) -> str:
    return shown_path(path) + "/"

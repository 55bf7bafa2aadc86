"""Changes to a job file: a value at a place, a preset, or a fix that an error proposes. The rest stays as it is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from tarnkappe.errors import DataError, JobError
from tarnkappe.io.databases.address import Address, is_database
from tarnkappe.job.text import PlacedDict, apply_settings, dump_yaml, read_job_text

#: What a release is for, and what is usually asked of it then; the numbers are those of `docs/how-to/criteria.md`.
PRESETS: dict[str, dict[str, int]] = {
    "public": {"k": 10, "l": 3},
    "researchers": {"k": 5, "l": 2},
    "on-site": {"k": 3, "l": 2},
}

_SIZES = ("k-anonymity", "xy-anonymity")
_COMMENT = re.compile(r"^(  )(\S.*?|\"(?:[^\"\\]|\\.)*\"):(\s.*?|)\s\s(#.*)$")


def with_value(text: str, place: Sequence[str | int], value: Any) -> str:
    """The job with another value at a place, such as ``["columns", "age", "role"]``; None takes the place away."""
    data = read_job_text(text, "job")
    target: Any = data
    for key, following in pairwise(place):
        if isinstance(target, list):
            target = target[int(key)] if int(key) < len(target) else _no_place(place)
            continue
        if not isinstance(target.get(str(key)), (dict, list)):
            said = target.get(str(key))
            short = {"role": said} if len(place) > 2 and place[0] == "columns" and isinstance(said, str) else {}
            target[str(key)] = [] if isinstance(following, int) else short
        target = target[str(key)]
    last = place[-1]
    if isinstance(target, list):
        at = int(last)
        if value is None:
            del target[at : at + 1]
        elif at < len(target):
            target[at] = value
        else:
            target.append(value)
    elif value is None:
        target.pop(str(last), None)
    else:
        target[str(last)] = value
    return _written(data, text)


def _no_place(place: Sequence[str | int]) -> Any:
    raise DataError("E482", "the job has no such place", where=".".join(map(str, place)), hint="Reload the page.")


def with_preset(text: str, preset: str, distinct: dict[str, int]) -> str:
    """The job with the criteria of a kind of release; `distinct` values of a column limit how diverse groups can be."""
    asked = PRESETS[preset]
    data = read_job_text(text, "job")
    columns = data.get("columns") or {}
    secret = [name for name, body in columns.items() if _role(body) == "sensitive"]
    criteria = [c for c in data.get("criteria") or [] if isinstance(c, dict)]
    sizes = [c for c in criteria if next(iter(c)) in _SIZES] or [{"k-anonymity": {}}]
    for c in sizes:
        body = next(iter(c.values()))
        body["k"] = asked["k"]
    diverse = [
        {"l-diversity": {"column": name, "l": min(asked["l"], distinct.get(name, asked["l"]))}}
        for name in secret
        if distinct.get(name, 2) >= 2
    ]
    others = [c for c in criteria if next(iter(c)) not in (*_SIZES, "l-diversity")]
    data["criteria"] = [*sizes, *diverse, *others]
    return _written(data, text)


def with_fix(text: str, fix: str) -> str:
    r"""The job with what an error or advice proposes to write into it.

    >>> print(with_fix("columns: {age: quasi}\ncriteria: [k-anonymity: {k: 9}]\n", "- k-anonymity: {k: 2}"), end="")
    columns: {age: quasi}
    criteria:
    - k-anonymity: {k: 2}
    """
    data = read_job_text(text, "job")
    for part in (p.strip() for p in fix.split("  and  ")):
        if part.startswith("--set "):
            apply_settings(data, [part.removeprefix("--set ").strip()])
        elif part.startswith("without "):
            _drop(data, _parsed(part.removeprefix("without").strip().removeprefix("- ")))
        elif part.startswith("- "):
            _replace(data, _parsed(part.removeprefix("- ")))
        else:
            _merge(data, _parsed(part))
    return _written(data, text)


def with_comments(text: str, before: str) -> str:
    """A job that stands for another one, with the comments of that."""
    return _written(read_job_text(text, "job"), before)


def files_named(data: dict[str, Any]) -> list[str]:
    """The files and folders that a job names: its data, a public table, taxonomies, and where the release goes.

    >>> files_named({"data": {"path": "a.csv"}, "columns": {"x": {"taxonomy": {"kind": "file", "path": "x.csv"}}}})
    ['a.csv', 'x.csv']
    """
    columns, named = data.get("columns"), data.get("taxonomies")
    bodies = [b for b in columns.values() if isinstance(b, dict)] if isinstance(columns, dict) else []
    sections = [data.get("data"), data.get("population"), *(b.get("taxonomy") for b in bodies)]
    sections += list(named.values()) if isinstance(named, dict) else []
    found = [s.get("path") for s in sections if isinstance(s, dict)]
    output = data.get("output")
    found.append(output.get("folder") if isinstance(output, dict) else None)
    plain = [str(path) for path in found if path is not None and "://" not in str(path)]
    return list(dict.fromkeys([*plain, *_leading_elsewhere(data)]))


#: What holds texts of its own, not files.
_NO_FILES = ("title", "filter", "derive", "query", "missing")


def _leading_elsewhere(body: Any) -> list[str]:
    """The files in a job that may lie elsewhere, whichever setting names them: new settings need no entry here.

    >>> _leading_elsewhere({"history": {"ledger": "../ledger.jsonl"}, "data": {"path": "file:///etc/passwd"}})
    ['../ledger.jsonl', '/etc/passwd']
    >>> _leading_elsewhere({"data": {"database": "sqlite:////srv/a.db", "table": "x"}, "title": "../a"})
    ['/srv/a.db']
    """
    if isinstance(body, dict):
        return [path for key, value in body.items() if key not in _NO_FILES for path in _leading_elsewhere(value)]
    if isinstance(body, list):
        return [path for value in body for path in _leading_elsewhere(value)]
    if not isinstance(body, str):
        return []
    if is_database(body):
        file = Address.of(f"{body.partition('#')[0]}#table").file
        return [] if file is None else [str(file)]
    path = body.partition("://")[2] if body.lower().startswith("file://") else body
    if "://" in path:
        return []
    leads = path.startswith("~") or Path(path).is_absolute() or ".." in Path(path).parts
    return [str(Path(path).expanduser())] if leads else []


def _parsed(text: str) -> PlacedDict:
    return read_job_text(text, "the fix")


def _same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    (name, body), (other_name, other_body) = next(iter(one.items())), next(iter(other.items()))
    column, other_column = (b.get("column") if isinstance(b, dict) else None for b in (body, other_body))
    return bool(name == other_name and column == other_column)


def _replace(data: PlacedDict, criterion: PlacedDict) -> None:
    criteria = data.setdefault("criteria", [])
    alike = [i for i, c in enumerate(criteria) if isinstance(c, dict) and _same(c, criterion)]
    if alike:
        criteria[alike[0]] = criterion
    else:
        criteria.append(criterion)


def _drop(data: PlacedDict, criterion: PlacedDict) -> None:
    data["criteria"] = [c for c in data.get("criteria") or [] if not (isinstance(c, dict) and _same(c, criterion))]


def _merge(data: PlacedDict, change: PlacedDict) -> None:
    """A section, a dotted key, or an entry of the columns; what a dropped column was asked for goes with it."""
    for key, value in change.items():
        columns = data.get("columns") or {}
        if key in columns:
            body = columns[key] if isinstance(columns[key], dict) else {"role": columns[key]}
            given = value if isinstance(value, dict) else {"role": value}
            columns[key] = dict(given) if given.get("role") == "drop" else {**body, **given}
            if given.get("role") == "drop":
                data["criteria"] = [c for c in data.get("criteria") or [] if _column(c) != key]
        elif "." in key:
            apply_settings(data, [f"{key}={value}"])
        elif isinstance(value, dict) and isinstance(data.get(key), dict) and key != "algorithm":
            data[key] = {**data[key], **value}
        else:
            data[key] = value


def _column(criterion: Any) -> Any:
    body = next(iter(criterion.values())) if isinstance(criterion, dict) else None
    return body.get("column") if isinstance(body, dict) else None


def _role(body: Any) -> Any:
    return body.get("role") if isinstance(body, dict) else body


def _written(data: PlacedDict, before: str) -> str:
    """The data as a job file, with the comments that stood above it and beside its columns."""
    head = []
    for line in before.splitlines():
        if line.strip() and not line.startswith("#"):
            break
        head.append(line)
    comments = {_plain_key(m[2]): m[4] for m in map(_COMMENT.match, before.splitlines()) if m}
    out, inside = [], False
    for line in dump_yaml(data).splitlines():
        inside = line.startswith("columns:") or (inside and line.startswith(" "))
        key = re.match(r"^  (\S.*?|\"(?:[^\"\\]|\\.)*\"):(\s|$)", line) if inside else None
        note = comments.get(_plain_key(key[1])) if key else None
        if note and key and _role((data.get("columns") or {}).get(_plain_key(key[1]))) != "undecided":
            note = re.sub(r"; as quasi: \{.*$", "", note).replace("# DECIDE: ", "# ", 1)
        out.append(f"{line}  {note}" if note else line)
    text = "\n".join([*head, *out]) + "\n"
    try:
        same = read_job_text(text, "job") == read_job_text(dump_yaml(data), "job")
    except JobError:
        same = False
    return text if same else dump_yaml(data)  # a comment must never change what a job says


def _plain_key(key: str) -> str:
    return key.strip().strip("\"'")

"""Fixes in two syntaxes: as a line of a job file, and as an argument in Python.

Whoever works with job files is told ``illness: {role: sensitive}``, whoever calls the library
``sensitive=["illness"]``. Fixes know both, so no sentence has to be translated.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

#: The argument of `tarnkappe.Job` that names the columns of a role.
_ARGUMENTS = {
    "identifier": "identifiers",
    "quasi": "quasi",
    "sensitive": "sensitive",
    "keep": "keep",
    "drop": "drop",
    "subject": "subject",
}


#: The setting of a taxonomy whose values its function takes one by one.
_ONE_BY_ONE = {
    "intervals": "widths",
    "prefix": "keep",
    "quantiles": "parts",
    "cuts": "at",
    "dates": "levels",
    "ordered": "values",
    "frequency": "keep",
}


@dataclass(frozen=True)
class Fix:
    """Something to paste, in both syntaxes; as a text it is the one of job files."""

    in_job: str
    in_python: str

    def __str__(self) -> str:
        return self.in_job


@dataclass(frozen=True)
class Relaxation:
    """A change to a job, and what it leads to."""

    fix: Fix
    effect: str


#: Columns that are not named are left out; in a job file the word stands for itself.
DROP_REST = Fix("rest: drop   beside 'columns', not in it", 'drop="rest"')

#: Earlier output may be replaced.
OVERWRITE = Fix("--overwrite", "overwrite=True")


def say(sentence: str, *fixes: Fix) -> Fix:
    """A sentence with fixes in place of its ``{}``.

    >>> fix = say("Add  {}  or drop it.", role("illness", "sensitive"))
    >>> str(fix)
    'Add  illness: {role: sensitive}  or drop it.'
    >>> fix.in_python
    'Add  sensitive=["illness"]  or drop it.'
    """
    return Fix(sentence.format(*(f.in_job for f in fixes)), sentence.format(*(f.in_python for f in fixes)))


def role(column: str, given: str, how: str | None = None) -> Fix:
    """A column with a role; `how` is ``numeric``, or the name of a taxonomy that needs no settings.

    >>> role("age", "quasi", "numeric")
    Fix(in_job='age: {role: quasi, type: numeric}', in_python='quasi={"age": numeric()}')
    >>> role("visit", "subject").in_python, role("visit", "drop").in_python
    ('subject="visit"', 'drop=["visit"]')
    >>> role("draw", "weight").in_python, role("net: pay", "drop").in_job
    ('columns=[Column("draw", "weight")]', '"net: pay": {role: drop}')
    """
    settings = "" if how is None else f", type: {how}" if how == "numeric" else f", taxonomy: {how}"
    name = _quoted(column)
    if how is not None:
        python = f"{_ARGUMENTS[given]}={{{name}: {how}()}}"
    elif given == "subject":
        python = f"subject={name}"
    elif given == "quasi":
        python = f"quasi={{{name}: …}}"
    elif given not in _ARGUMENTS:
        python = f"columns=[Column({name}, {_quoted(given)})]"
    else:
        python = f"{_ARGUMENTS[given]}=[{name}]"
    return Fix(f"{_key(column)}: {{role: {given}{settings}}}", python)


def coarsened(column: str, kind: str, **parameters: Any) -> Fix:
    """A quasi-identifier with a taxonomy.

    >>> coarsened("age", "intervals", widths=[5, 10]).in_job
    'age: {role: quasi, taxonomy: {kind: intervals, widths: [5, 10]}}'
    >>> coarsened("age", "intervals", widths=[5, 10]).in_python
    'quasi={"age": intervals(5, 10)}'
    """
    taxonomy = _in_job({"kind": kind, **parameters})
    one_by_one = parameters.get(_ONE_BY_ONE.get(kind, ""), ())
    named = [f"{key}={_written(value)}" for key, value in parameters.items() if key != _ONE_BY_ONE.get(kind)]
    call = f"{kind}({', '.join([*map(_written, one_by_one), *named])})"
    return Fix(f"{_key(column)}: {{role: quasi, taxonomy: {taxonomy}}}", f"quasi={{{_quoted(column)}: {call}}}")


def one_by_one(function: str, *values: Any) -> Fix:
    """The setting of a taxonomy whose values its function takes one by one.

    >>> one_by_one("intervals", 5, 10)
    Fix(in_job='widths: [5, 10]', in_python='intervals(5, 10)')
    """
    return Fix(assignment(_ONE_BY_ONE[function], values).in_job, f"{function}({', '.join(map(_written, values))})")


def of_column(column: str, key: str, value: Any, argument: str | None = None) -> Fix:
    """A setting of one column; the argument may have another name.

    >>> of_column("age", "min_level", 2)
    Fix(in_job='age: {min_level: 2}', in_python='min_level={"age": 2}')
    """
    return Fix(f"{_key(column)}: {{{key}: {_plain(value)}}}", f"{argument or key}={_written({column: value})}")


def known_columns(columns: Sequence[str]) -> Fix:
    """Two columns of a table as those that others know; which ones they know, only its owner can say.

    >>> known_columns(["age", "post code", "ward"])
    Fix(in_job="--quasi 'age,post code'", in_python='quasi=["age", "post code"]')
    >>> known_columns(["city, state", "age"]).in_job
    "--quasi 'city, state' --quasi age"
    """
    two = list(columns[:2])
    plain = all("," not in name and name == name.strip() for name in two)  # else a list would be taken apart wrongly
    words = [",".join(two)] if plain else two
    return Fix(" ".join(f"--quasi {shlex.quote(word)}" for word in words), f"quasi={_written(two)}")


def more_memory(needed: float) -> Fix:
    """Whole gigabytes that are enough for so many bytes.

    >>> more_memory(2.1e9)
    Fix(in_job='--memory 3GB', in_python='engine=EngineSettings("streaming", memory="3GB")')
    """
    amount = f"{-(-int(needed) // 10**9)}GB"
    return Fix(f"--memory {amount}", f'engine=EngineSettings("streaming", memory="{amount}")')


def criterion(name: str, cls: str, **parameters: Any) -> Fix:
    """A criterion by its name and by its class.

    >>> criterion("l-diversity", "LDiversity", column="illness", l=2)
    Fix(in_job='- l-diversity: {column: illness, l: 2}', in_python='LDiversity(column="illness", l=2)')
    """
    return Fix(f"- {name}: {_in_job(parameters)}", _call(cls, parameters))


def algorithm(name: str, **parameters: Any) -> Fix:
    """An algorithm with its parameters.

    >>> algorithm("flash"), algorithm("flash", metric="loss").in_python
    (Fix(in_job='algorithm: {name: flash}', in_python='algorithm="flash"'), \
'algorithm={"name": "flash", "metric": "loss"}')
    """
    python = _written({"name": name, **parameters}) if parameters else _quoted(name)
    return Fix(f"algorithm: {_in_job({'name': name, **parameters})}", f"algorithm={python}")


def setting(in_job: str, argument: str, value: Any) -> Fix:
    """A setting of a job and the argument that says the same.

    >>> setting("limits: {suppressed_rows: 2%}", "max_suppressed", 0.02).in_python
    'max_suppressed=0.02'
    """
    return Fix(in_job, f"{argument}={_written(value)}")


def assignment(key: str, value: Any) -> Fix:
    """A key of a job file, or an argument, with a value.

    >>> assignment("role", "quasi")
    Fix(in_job='role: quasi', in_python='role="quasi"')
    """
    return Fix(f"{key}: {_plain(value)}", f"{key}={_written(value)}")


def _call(cls: str, parameters: Mapping[str, Any]) -> str:
    return f"{cls}({', '.join(f'{key}={_written(value)}' for key, value in parameters.items())})"


def _in_job(parameters: Mapping[str, Any]) -> str:
    return "{" + ", ".join(f"{_plain(key)}: {_plain(value)}" for key, value in parameters.items()) + "}"


#: Texts that YAML would not read as they stand, as keys and inside braces.
_NO_KEY = re.compile(r"^[-?:,\[\]{}#&*!|>'\"%@`\s]|:(\s|$)|\s#|\s$")
_NOT_IN_BRACES = re.compile(rf"{_NO_KEY.pattern}|[,\[\]{{}}]")


def _key(text: str) -> str:
    """A name as a key of a job file."""
    return json.dumps(text, ensure_ascii=False) if _NO_KEY.search(text) else text


def _plain(value: Any) -> str:
    if isinstance(value, Mapping):
        return _in_job(value)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_plain(item) for item in value) + "]"
    if isinstance(value, str) and _NOT_IN_BRACES.search(value):
        return json.dumps(value, ensure_ascii=False)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _written(value: Any) -> str:
    """A value as Python writes it, with the quotes that people use."""
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_written(key)}: {_written(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_written(item) for item in value) + "]"
    return repr(value)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'

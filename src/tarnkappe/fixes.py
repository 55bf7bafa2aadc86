"""Fixes in two syntaxes: as a line of a job file, and as an argument in Python.

Whoever works with job files is told ``illness: {role: sensitive}``, whoever calls the library
``sensitive=["illness"]``. Fixes know both, so no sentence has to be translated.
"""

from __future__ import annotations

from collections.abc import Mapping
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


@dataclass(frozen=True)
class Fix:
    """Something to paste, in both syntaxes; as a text it is the one of job files."""

    in_job: str
    in_python: str

    def __str__(self) -> str:
        return self.in_job


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
    """
    settings = "" if how is None else f", type: {how}" if how == "numeric" else f", taxonomy: {how}"
    name = _quoted(column)
    if how is not None:
        python = f"{_ARGUMENTS[given]}={{{name}: {how}()}}"
    elif given == "subject":
        python = f"subject={name}"
    elif given == "quasi":
        python = f"quasi={{{name}: …}}"
    else:
        python = f"{_ARGUMENTS[given]}=[{name}]"
    return Fix(f"{column}: {{role: {given}{settings}}}", python)


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
    return "{" + ", ".join(f"{key}: {_plain(value)}" for key, value in parameters.items()) + "}"


def _plain(value: Any) -> str:
    if isinstance(value, Mapping):
        return _in_job(value)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_plain(item) for item in value) + "]"
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

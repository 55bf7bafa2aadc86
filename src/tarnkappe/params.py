"""One declaration per parameter drives validation, the command line, the job file's schema and the docs.

A criterion, an algorithm, a taxonomy builder or a section of the job file is a frozen dataclass whose fields are made
by `param`. `Declared` checks the values, `bind` builds one from plain data and rejects unknown keys.
"""

from __future__ import annotations

import dataclasses
import functools
import operator
import sys
import types
import typing
from collections.abc import Mapping
from dataclasses import MISSING, dataclass
from functools import cache
from typing import Any, Literal, TypeVar

from tarnkappe.errors import JobError, closest, did_you_mean
from tarnkappe.fixes import Fix, assignment, say

T = TypeVar("T")

#: What a parameter names: the sensitive column a promise is about, the key of persons, the column that readers want to
#: predict, another column whose values are counted, some of the quasi-identifiers, or a value that stands in the data.
Reference = Literal["sensitive", "person", "predicted", "counted", "quasi", "value"]


@dataclass(frozen=True)
class Parameter:
    """What is known about one parameter of a declared class."""

    name: str
    type: Any
    doc: str
    default: Any
    ge: float | None
    gt: float | None
    le: float | None
    choices: tuple[str, ...] | None
    refers_to: Reference | None = None
    example: Any = None
    samples: tuple[Any, ...] = ()

    @property
    def required(self) -> bool:
        """Whether the parameter must be given."""
        return self.default is MISSING

    @property
    def expected(self) -> str:
        """What a value must be, in words.

        >>> Parameter("k", int, "", MISSING, 1, None, None, None).expected
        'a whole number of at least 1'
        """
        if self.choices:
            words = "one of " + ", ".join(self.choices)
            number = _number_beside_words(_plain(self.type))
            if number is None:
                return words
            return f"{words}, or {dataclasses.replace(self, type=number, choices=None).expected}"
        inside = _of_mapping(_plain(self.type))
        if inside is not None:
            return f"a mapping such as {{name: VALUE}}, each value {dataclasses.replace(self, type=inside).expected}"
        if typing.get_origin(_plain(self.type)) is tuple:
            item = dataclasses.replace(self, type=typing.get_args(_plain(self.type))[0])
            return f"a list, each value {item.expected}"
        text = _TYPE_WORDS.get(_plain(self.type), _ANYTHING)
        bounds = []
        if self.ge is not None and self.le is not None:
            bounds.append(f"between {self.ge:g} and {self.le:g}")
        else:
            if self.ge is not None:
                bounds.append(f"of at least {self.ge:g}")
            if self.le is not None:
                bounds.append(f"of at most {self.le:g}")
        if self.gt is not None:
            bounds.append(f"above {self.gt:g}")
        return " ".join([text, *bounds])


_ANYTHING = "a value"

#: The largest whole number that every reader of a file takes for the same one.
_LARGEST = 2**53

#: How many bits a seed has at most, and one that is drawn.
SEED_BITS = 128
_TYPE_WORDS: dict[Any, str] = {int: "a whole number", float: "a number", str: "a text", bool: "true or false"}


def _of_mapping(annotation: Any) -> Any:
    """What a mapping from names holds, or None if the annotation is no mapping."""
    return typing.get_args(annotation)[1] if typing.get_origin(annotation) is Mapping else None


def param(
    default: Any = MISSING,
    *,
    doc: str,
    ge: float | None = None,
    gt: float | None = None,
    le: float | None = None,
    choices: tuple[str, ...] | None = None,
    refers_to: Reference | None = None,
    example: Any = None,
    samples: tuple[Any, ...] = (),
    kw_only: bool = False,
) -> Any:
    """Declare a parameter: its default, one sentence on what it does, and the values it may have.

    `refers_to` says what in the data it names, `example` is a value to start from, as `tarnkappe explain` shows it.
    `samples` are values for tests on small tables, where bounds and default do not suggest any. A mapping from names to
    values has the type ``Mapping[str, float]`` and the default ``{}``.
    """
    meta = {"doc": doc, "ge": ge, "gt": gt, "le": le, "choices": choices}
    meta |= {"refers_to": refers_to, "example": example, "samples": samples}
    if isinstance(default, (dict, list)):  # these have no hash
        return dataclasses.field(default_factory=lambda: default, hash=False, metadata=meta, kw_only=kw_only)
    return dataclasses.field(default=default, metadata=meta, kw_only=kw_only)


def parameters(cls: type) -> tuple[Parameter, ...]:
    """The declared parameters of a class, in order."""
    return _parameters(cls)


@cache
def _parameters(cls: type) -> tuple[Parameter, ...]:
    hints = typing.get_type_hints(cls)
    out = []
    for f in dataclasses.fields(cls):
        if "doc" not in f.metadata:
            continue
        default = f.default_factory() if f.default_factory is not MISSING else f.default
        out.append(Parameter(name=f.name, type=hints[f.name], default=default, **f.metadata))
    return tuple(out)


def referring(thing: Declared, *kinds: Reference) -> tuple[str, ...]:
    """The names that the parameters of a declared object give to things of some kinds in the data, in order."""
    names: list[str] = []
    for p in parameters(type(thing)):
        if p.refers_to in kinds:
            value = getattr(thing, p.name)
            names.extend(value if isinstance(value, tuple) else () if value is None else (value,))
    return tuple(dict.fromkeys(names))


def _plain(annotation: Any) -> Any:
    """The annotation without ``| None``."""
    if isinstance(annotation, types.UnionType):
        rest = [a for a in typing.get_args(annotation) if a is not types.NoneType]
        return functools.reduce(operator.or_, rest)
    return annotation


def _number_beside_words(annotation: Any) -> Any:
    """The kind of number of an annotation such as ``str | float``: one of some words or a number; else None."""
    kinds = typing.get_args(annotation) if isinstance(annotation, types.UnionType) else ()
    return next((kind for kind in kinds if kind in (int, float)), None) if str in kinds else None


def _coerce(p: Parameter, value: Any, where: str | None) -> Any:
    """The value as the declared type, or a `JobError` that says what was expected."""
    wanted = _plain(p.type)
    if value is None and types.NoneType in typing.get_args(p.type):
        return None
    either = p
    number = _number_beside_words(wanted)
    if number is not None:
        wanted = str if isinstance(value, str) else number
        p = dataclasses.replace(p, type=wanted, choices=p.choices if wanted is str else None)
    if p.refers_to not in (None, "value") and type(value) is int and wanted is str:
        value = str(value)  # columns of a file without a header, and some of pandas, are called by a number
    ok = True
    if type(value).__module__ == "numpy" and not hasattr(value, "__len__"):
        value = value.item()  # a number out of an array or a data frame
    if wanted is int:
        ok = (
            isinstance(value, int)
            and not isinstance(value, bool)
            and abs(value) <= (_LARGEST if p.le is None else p.le)
        )
    elif wanted is float:
        ok = isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= sys.float_info.max
        value = float(value) if ok else value
    elif wanted in (str, bool):
        ok = isinstance(value, wanted)
    elif typing.get_origin(wanted) is tuple:
        ok = isinstance(value, (list, tuple))
        if ok:
            item = dataclasses.replace(p, type=typing.get_args(wanted)[0])
            return tuple(_coerce(item, v, where) for v in value)
    elif _of_mapping(wanted) is not None:
        ok = isinstance(value, Mapping) and all(isinstance(key, str) for key in value)
        if ok:
            inside = _of_mapping(wanted)
            such = next(iter(p.example.values()), None) if isinstance(p.example, Mapping) else p.example
            item = dataclasses.replace(p, type=inside, example=such)
            return {
                key: _coerce(
                    dataclasses.replace(item, name=f"{p.name}.{key}"),
                    str(v) if inside is str and type(v) is int else v,  # a text that is a number to YAML
                    place(value, key) or where,
                )
                for key, v in value.items()
            }
    if ok and p.choices and value not in p.choices:
        ok = False
    if ok and isinstance(value, (int, float)) and not isinstance(value, bool):
        ok = (p.ge is None or value >= p.ge) and (p.gt is None or value > p.gt) and (p.le is None or value <= p.le)
    if not ok:
        guess = did_you_mean(value, p.choices) if p.choices and isinstance(value, str) else ""
        raise JobError(
            "E110",
            f"'{p.name}' must be {either.expected}, got {shown_value(value)}{guess}",
            where=where,
            hint=_proposal(p, value),
        )
    return value


def shown_value(value: Any) -> str:
    """A value that cannot be, as far as a message has room for it."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > _LARGEST:
        return f"a number beyond {_LARGEST}"
    return repr(value)


def _proposal(p: Parameter, value: Any) -> Fix:
    """What may be written in place of a value that cannot be, and what it says; only that if no value is known."""
    close = closest(value, p.choices) if p.choices and isinstance(value, str) else None
    better = _such(p) if close is None else close
    if better is None:
        return Fix(*[f"{p.name}: {p.doc}"] * 2)
    return say("{}   ({})", assignment(p.name, better), Fix(p.doc, p.doc))


def _such(p: Parameter) -> Any:
    """A value to start from: the example, the usual one, or a word in place of a column; None if there is none."""
    if p.example is not None:
        return p.example
    if p.default is not MISSING and p.default not in ((), {}):
        return p.default
    is_column = p.refers_to not in (None, "value") and _plain(p.type) is str
    return "COLUMN" if is_column else None


def seed_param(undoes: str) -> Any:
    """Declare a seed, with what whoever knows it can undo."""
    doc = f"Makes the run repeatable. Keep it secret: it undoes the {undoes}."
    return param(None, doc=doc, ge=0, le=2**SEED_BITS - 1, example=7)


class Declared:
    """Base of everything configured by parameters: checks them on construction, compares and prints by them."""

    def __post_init__(self) -> None:
        """Check every parameter against its declaration."""
        for p in parameters(type(self)):
            object.__setattr__(self, p.name, _coerce(p, getattr(self, p.name), None))

    def get_params(self) -> dict[str, Any]:
        """The parameters and their values, in order."""
        return {p.name: getattr(self, p.name) for p in parameters(type(self))}


def place(mapping: Any, key: str | None = None) -> str | None:
    """Where a key (or the mapping itself) stands, as ``file:line``, if the mapping remembers it."""
    lookup = getattr(mapping, "place_of", None)
    return lookup(key) if lookup else None


def bind(cls: type[T], raw: Mapping[str, Any], what: str, sections: Mapping[str, type[Declared]] | None = None) -> T:
    """Build a declared class from plain data; unknown, missing and ill-typed keys are errors with their place.

    `what` names the thing in messages, such as ``criterion 'k-anonymity'``. A key that it does not know may be one of
    its `sections`.
    """
    declared = {p.name: p for p in parameters(cls)}
    for key in raw:
        if key not in declared:
            home = next((n for n, c in (sections or {}).items() if any(p.name == key for p in parameters(c))), None)
            told = f", it belongs to '{home}'" if home else did_you_mean(str(key), declared)
            known = f"Known keys: {', '.join(declared) or 'none'}."
            hint = f"{home}: {{{assignment(key, raw[key]).in_job}}}" if home else known
            raise JobError("E102", f"unknown key '{key}' in {what}{told}", where=place(raw, key), hint=hint)
    missing = [p for p in declared.values() if p.required and p.name not in raw]
    if missing:
        p = missing[0]
        such = _such(p)
        expected = "" if p.expected == _ANYTHING else f" ({p.expected})."
        told = f"{p.name}: {p.doc}{expected}"
        fix = Fix(told, told) if such is None else say("{}   ({})", assignment(p.name, such), Fix(p.doc, p.doc))
        raise JobError("E103", f"{what} needs '{p.name}'", where=place(raw), hint=fix)
    values = {key: _coerce(declared[key], value, place(raw, key)) for key, value in raw.items()}
    return cls(**values)


def json_schema(cls: type) -> dict[str, Any]:
    """A JSON schema of a declared class, for editors that complete job files."""
    properties: dict[str, Any] = {}
    for p in parameters(cls):
        properties[p.name] = {"description": p.doc, **_json_type(p)}
    return {
        "type": "object",
        "additionalProperties": False,
        "required": [p.name for p in parameters(cls) if p.required],
        "properties": properties,
    }


def _json_type(p: Parameter) -> dict[str, Any]:
    wanted = _plain(p.type)
    number = _number_beside_words(wanted)
    if p.choices:
        words = {"enum": list(p.choices)}
        if number is None:
            return words
        return {"anyOf": [words, _json_type(dataclasses.replace(p, type=number, choices=None))]}
    if typing.get_origin(wanted) is tuple:
        return {"type": "array", "items": _json_type(dataclasses.replace(p, type=typing.get_args(wanted)[0]))}
    if _of_mapping(wanted) is not None:
        inside = _json_type(dataclasses.replace(p, type=_of_mapping(wanted)))
        return {"type": "object", "additionalProperties": inside}
    names = {int: "integer", float: "number", str: "string", bool: "boolean"}
    out: dict[str, Any] = {"type": names[wanted]} if wanted in names else {}
    bounds = {"minimum": p.ge, "exclusiveMinimum": p.gt, "maximum": p.le}
    out.update({k: v for k, v in bounds.items() if v is not None})
    return out

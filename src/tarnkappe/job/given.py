"""What people hand to the Python API, made into what it stands for, or refused with what to write instead."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from numbers import Integral
from typing import TYPE_CHECKING, Any, TypeVar

from tarnkappe.algorithms import Algorithm, algorithm_class
from tarnkappe.algorithms.multidimensional.mondrian import Mondrian
from tarnkappe.choice import Auto
from tarnkappe.criteria import Criterion
from tarnkappe.errors import JobError, closest
from tarnkappe.fixes import Fix, algorithm, setting
from tarnkappe.job.text import PlacedDict
from tarnkappe.params import SEED_BITS, bind, place, shown_value

if TYPE_CHECKING:
    from tarnkappe.job.places import DataSettings, OutputSettings

T = TypeVar("T")

#: Arguments that are no lists of columns.
_EXAMPLES = {"subject": 'subject="patient"', "quasi": 'quasi={"age": numeric()}', "weights": 'weights={"age": 2.0}'}

#: Longer values are not repeated in a message.
_LONGEST = 60


def name_of(given: Any, what: str) -> str:
    """The name of a column; pandas also has columns called by a number.

    >>> name_of("age", "quasi"), name_of(0, "quasi")
    ('age', '0')
    """
    if isinstance(given, str):
        return given
    if isinstance(given, Integral) and not isinstance(given, bool):
        return str(int(given))
    fix = Fix("age: {role: drop}", _EXAMPLES.get(what, f'{what}=["age"]'))
    only = list(given) if isinstance(given, (list, tuple, set)) else []
    if what == "subject" and len(only) == 1 and isinstance(only[0], str):
        fix = setting(f"{only[0]}: {{role: subject}}", what, only[0])
    raise refused(f"'{what}' needs names of columns, got {shown(given)}", fix)


def names_of(given: Any, what: str) -> list[str]:
    """The names in a list of columns; a text alone is refused, because it would be taken for a list of letters.

    >>> names_of(("name", 0), "identifiers")
    ['name', '0']
    """
    if given is None:
        raise refused(f"'{what}' must be a list of columns, got None", Fix(*[f"{what}=[]"] * 2))
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        one = given if isinstance(given, str) else "age"
        raise refused(f"'{what}' must be a list of columns, got {shown(given)}", Fix(*[f'{what}=["{one}"]'] * 2))
    return [name_of(item, what) for item in given]


def by_name(given: Any, what: str, example: str) -> dict[str, Any]:
    """A mapping from columns to something, as `example` is one."""
    if isinstance(given, Mapping):
        return {name_of(key, what): value for key, value in given.items()}
    fix = f"{what}={{{example}}}"
    if isinstance(given, Iterable) and not isinstance(given, (str, bytes)):
        names = [item for item in given if isinstance(item, str)]
        entry = example.partition(":")[2]
        fix = f"{what}={{" + ", ".join(f'"{name}":{entry}' for name in names or ["age"]) + "}"
    raise refused(f"'{what}' must say something about each column, got {shown(given)}", Fix(fix, fix))


def criteria_of(given: Any) -> tuple[Criterion, ...]:
    """The criteria of a job: several, or one.

    >>> from tarnkappe.criteria.k_anonymity import KAnonymity
    >>> criteria_of(KAnonymity(5))
    (KAnonymity(k=5),)
    """
    several = given if isinstance(given, Iterable) and not isinstance(given, (str, bytes, Mapping)) else (given,)
    made = tuple(several)
    for item in made:
        if not isinstance(item, Criterion):
            python = "criteria=[KAnonymity(5)]"
            raise refused(f"'criteria' must be criteria, got {shown(item)}", Fix("- k-anonymity: {k: 5}", python))
    return made


def algorithm_of(given: Any, where: str | None = None) -> Algorithm:
    """An algorithm by itself, by its name, or by a mapping of its name and parameters; Mondrian if none is given.

    >>> algorithm_of("mondrian") == algorithm_of(None) == algorithm_of({"name": "mondrian"})
    True
    """
    if given is None:
        return Mondrian()
    if isinstance(given, Algorithm):
        return given
    if isinstance(given, str):
        return bind(_named(given, where), {}, f"algorithm '{given}'")
    if isinstance(given, Mapping) and isinstance(given.get("name"), str):
        body = PlacedDict(place(given) or where or "")
        body.update({key: value for key, value in given.items() if key != "name"})
        body.places.update({key: place(given, key) or body.where for key in body})
        name = given["name"]
        return bind(_named(name, place(given, "name") or where), body, f"algorithm '{name}'")
    name = getattr(given, "name", "mondrian")
    told = algorithm(name if isinstance(name, str) else "mondrian")
    raise JobError("E103", f"'algorithm' needs a name, got {shown(given)}", where=where, hint=told)


def _named(name: str, where: str | None) -> type[Algorithm]:
    """The algorithm of a name, or the choice among them."""
    return Auto if name == Auto.name else algorithm_class(name, where)


def share_of(given: Any, where: str | None = None) -> float:
    """A share given as a number between 0 and 1 or as a percentage.

    >>> share_of("2%"), share_of(0.02)
    (0.02, 0.02)
    """
    text = str(given).strip()
    try:
        share = float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        share = -1.0
    if isinstance(given, bool) or not 0 <= share <= 1:
        raise JobError(
            "E110",
            f"the suppression limit must be a share such as 2% or 0.02, got {shown(given)}",
            where=where,
            hint=setting("limits: {suppressed_rows: 2%}", "max_suppressed", 0.02),
        )
    return share


#: Units of time in seconds.
_UNITS = {"s": 1, "sec": 1, "min": 60, "h": 3600}


def seconds_of(given: Any, where: str | None = None) -> float | None:
    """A time in seconds: a number, or one with a unit; None if there is no limit.

    >>> seconds_of("10min"), seconds_of(90), seconds_of("1.5 h"), seconds_of(None)
    (600.0, 90.0, 5400.0, None)
    """
    if given is None:
        return None
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([a-z]*)", str(given).strip().lower())
    unit = None if match is None or isinstance(given, bool) else _UNITS.get(match[2] or "s")
    if match is None or unit is None or float(match[1]) <= 0:
        raise JobError(
            "E110",
            f"the time limit must be a time such as 90s, 10min or 2h, got {shown(given)}",
            where=where,
            hint=setting("limits: {time: 10min}", "time_limit", "10min"),
        )
    return float(match[1]) * unit


def data_and_folder(data: Any, folder: Any, settings: DataSettings, output: OutputSettings) -> tuple[Any, Any]:
    """The data and the folder of a release: those given, else those that the job names; an error if it names none."""
    data = settings.path if data is None else data
    target = output.folder if folder is None else folder
    if data is None or target is None:
        what = "data file" if data is None else "output folder"
        hint = "data: {path: DATA.csv}" if data is None else "output: {folder: release}"
        raise JobError("E103", f"the job names no {what}", hint=hint)
    return data, target


def seed_of(given: Any) -> int | None:
    """A seed as job files may hold it, or none."""
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, Integral) or not 0 <= int(given) < 2**SEED_BITS:
        wanted = f"a whole number of at least 0 that {SEED_BITS} bits can hold"
        raise refused(f"'seed' must be {wanted}, got {shown(given)}", setting("seed: 7", "seed", 7))
    return int(given)


def one_of(given: Any, what: str, kinds: type[T] | tuple[type, ...], fix: Fix) -> Any:
    """What was given, if it is of one of some kinds."""
    if not isinstance(given, kinds):
        raise refused(f"'{what}' cannot be {shown(given)}", fix)
    return given


def shown(given: Any) -> str:
    """What was given, in a message; a class by its name, and nothing that may hold people's values.

    >>> shown(5), shown(int), shown({"age": 34})
    ('5', 'the class int', 'a dict')
    """
    if isinstance(given, type):
        return f"the class {given.__name__}"
    if given is None or isinstance(given, (str, int, float)):
        text = shown_value(given)
        return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    kind = type(given).__name__
    return f"{'an' if kind[0].lower() in 'aeiou' else 'a'} {kind}"


def named(name: str, known: Iterable[str], otherwise: Fix) -> Fix:
    """The known name that was most likely meant, or another fix if none is close.

    >>> named("ilness", ["illness"], otherwise=Fix("a", "b")).in_python
    'Write  illness  in place of  ilness'
    """
    meant = closest(name, known)
    if meant is None:
        return otherwise
    instead = f"Write  {meant}  in place of  {name}"
    return Fix(instead, instead)


def refused(message: str, fix: Fix) -> JobError:
    """The error about a wrong type or value."""
    return JobError("E110", message, hint=fix)

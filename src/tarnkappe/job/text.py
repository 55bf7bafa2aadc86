"""Job files as plain data that remembers its lines: reading, overriding and writing."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar, get_origin

from tarnkappe.errors import JobError, TarnkappeError, did_you_mean
from tarnkappe.params import Declared, bind, parameters
from tarnkappe.small_files import read_small
from tarnkappe.yaml_nodes import Node, parse_yaml

#: A whole number; one with more digits is no number of anything, and Python refuses to read thousands of them.
_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]{0,299})")
_NUMBER = re.compile(r"[-+]?([0-9]+\.[0-9]*|\.?[0-9]+)([eE][-+]?[0-9]+)?")

#: Under these keys every scalar is a value or a name of the data and stays the text that is written.
_TEXT_KEYS = frozenset(
    {"attribute", "because", "column", "decimal", "delimiter", "folder", "guard", "key", "label", "missing", "path"}
    | {"purpose", "quote", "separator", "subject", "target", "title", "tree", "value", "values", "x", "y"}
)

#: Under these keys stand names that the user chose; a column may well be called "title".
_NAMING_KEYS = frozenset({"columns", "taxonomies"})

#: Under these keys of a criterion stand values of the data with a number each.
_VALUE_KEYS = frozenset({"bounds"})

_DEEPEST = 100

D = TypeVar("D", bound=Declared)


class PlacedDict(dict[str, Any]):
    """A mapping that knows where it and its keys stand in a file."""

    def __init__(self, where: str) -> None:
        super().__init__()
        self.where = where
        self.places: dict[str, str] = {}

    def place_of(self, key: str | None = None) -> str:
        """``file:line`` of a key, or of the mapping."""
        return self.where if key is None else self.places.get(key, self.where)


def _complain(message: str, where: str, hint: str) -> TarnkappeError:
    return JobError("E100", message, where=where, hint=hint)


def read_job_text(text: str, path: str) -> PlacedDict:
    """Parse a job file into mappings that know their lines; duplicate keys are errors."""
    node = parse_yaml(text, path, _complain)
    if node.kind != "mapping":
        raise JobError(
            "E100", "a job file is a mapping of keys to values", where=path, hint="Start with  tarnkappe init DATA.csv."
        )
    data = _plain(node, as_text=False, depth=0)
    assert isinstance(data, PlacedDict)
    return data


def read_job_file(path: str | Path) -> PlacedDict:
    """Read a job file."""
    path = Path(path)
    try:
        text = read_small(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise JobError("E100", "the job file is not UTF-8 text", where=str(path), hint="Save it as UTF-8.") from error
    except OSError as error:
        hint = "Give a file that you may read."
        if isinstance(error, FileNotFoundError):
            hint = "Write one with  tarnkappe init DATA.csv -o job.yaml."
        elif isinstance(error, IsADirectoryError):
            from tarnkappe.io.folders import ReleaseFolder

            here = path / "job.yaml"
            inside = here if here.is_file() else ReleaseFolder(path).job or here
            hint = f"Give a job file in it, such as  {shlex.quote(str(inside))}"
        raise JobError(
            "E107",
            f"the job file cannot be opened: {error.strerror}",
            where=str(path),
            hint=hint,
        ) from error
    return read_job_text(text, str(path))


def _plain(node: Node, as_text: bool, depth: int, names: bool = False) -> Any:
    """What a node says; `as_text` leaves every scalar as it is written, `names` says that the keys are names."""
    if depth > _DEEPEST:
        raise JobError("E100", "the file is nested too deeply", where=node.where, hint="Remove references to itself.")
    if node.kind == "list":
        return [_plain(item, as_text, depth + 1) for item in node.items]
    if node.kind == "scalar":
        return node.text if as_text or node.quoted or node.text is None else scalar(node.text)
    out = PlacedDict(node.where)
    for key, value in node.pairs:
        if key.kind != "scalar" or key.text is None:
            raise JobError("E100", "a key must be a text", where=key.where, hint='Put it in quotes:  "key": value.')
        if key.text in out:
            raise JobError(
                "E104",
                f"'{key.text}' stands twice",
                where=key.where,
                hint=f"Remove one of the two; the first is in {out.place_of(key.text)}.",
            )
        out.places[key.text] = key.where
        text_below = as_text or (key.text in _TEXT_KEYS and not names)
        names_below = key.text in (_NAMING_KEYS if depth == 0 else _VALUE_KEYS) and not names
        out[key.text] = _plain(value, text_below, depth + 1, names=names_below)
    return out


def scalar(text: str) -> Any:
    """A plain YAML scalar as a number, a truth value or text; codes with leading zeros and ``no`` stay text.

    >>> [scalar(t) for t in ("5", "0.5", "01234", "true", "NO")]
    [5, 0.5, '01234', True, 'NO']
    """
    if text in ("true", "false"):
        return text == "true"
    if _INTEGER.fullmatch(text):
        return int(text)
    if _NUMBER.fullmatch(text) and not re.match(r"[-+]?0[0-9]", text):
        return float(text)
    return text


def declared_from(text: str, find: Callable[[str, str], type[D]], kind: str, where: str, example: str) -> D:
    """Something declared that is written as ``name:key=value,key=value``; `find` knows the class of a name.

    ``key.name=value`` is an entry of a mapping, and a list is one ``key=value`` for each of its values.
    """
    name, _, rest = text.partition(":")
    cls = find(name.strip(), where)
    words = {p.name for p in parameters(cls) if p.type in (str, str | None)}
    lists = {p.name for p in parameters(cls) if get_origin(p.type) is tuple}
    given = PlacedDict(where)
    for part in filter(None, rest.split(",")):
        path, equals, value = part.partition("=")
        key, _, entry = path.strip().partition(".")
        if not equals:
            raise JobError(
                "E108", f"'{part}' is not of the form key=value", where=where, hint=f"{where} {example}".strip()
            )
        if entry:
            given.setdefault(key, {})[entry] = scalar(value)
        elif key in lists:
            given.setdefault(key, []).append(value)
        else:
            given[key] = value if key in words else scalar(value)
    return bind(cls, given, f"{kind} '{name}'")


def apply_settings(data: PlacedDict, settings: Iterable[str], where: str = "--set") -> None:
    """Change a job by ``key=value`` settings with dotted keys, as given by ``--set``; `where` is what errors name.

    Inside the list of criteria a key may name a criterion (``criteria.k-anonymity.k=10``) or directly a parameter,
    which is then set in every criterion that has it (``criteria.k=10``).
    """
    for setting in settings:
        path, equals, text = setting.partition("=")
        keys = path.strip().split(".")
        if not equals or not all(keys):
            raise JobError(
                "E108", f"'{setting}' is not of the form key=value", where=where, hint="Like  --set criteria.k=10."
            )
        node = parse_yaml(text, f"{where} {path}", _complain)
        value = _plain(node, as_text=keys[-1] in _TEXT_KEYS, depth=0)
        _write_out(data, keys)
        if not _assign(data, keys, value, where):
            known = _settable(data.get(keys[0]), keys[0])
            raise JobError(
                "E108",
                f"the job has no '{path}'{did_you_mean(path, known)}",
                where=where,
                hint=f"There is: {', '.join(known)}.",
            )


def _write_out(data: PlacedDict, keys: list[str]) -> None:
    """Write ``algorithm: NAME`` and ``COLUMN: ROLE`` as mappings if a setting is below them."""
    above: Any = data
    names, key = keys, "name"
    if keys[0] == "columns":
        above, names, key = data.get("columns"), keys[1:], "role"
    elif keys[0] != "algorithm":
        return
    if len(names) > 1 and isinstance(above, PlacedDict) and isinstance(above.get(names[0]), str):
        entry = PlacedDict(above.place_of(names[0]))
        entry[key] = above[names[0]]
        above[names[0]] = entry


def _assign(target: Any, keys: list[str], value: Any, where: str) -> bool:
    """Set a value below a mapping or a list of one-key mappings; False if the way there does not exist."""
    head, rest = keys[0], keys[1:]
    if isinstance(target, list):
        named = [item[head] for item in target if isinstance(item, dict) and head in item]
        if rest:
            return bool([_assign(t, rest, value, where) for t in named]) and bool(named)
        bodies = [body for item in target if isinstance(item, dict) for body in item.values()]
        having = [body for body in bodies if isinstance(body, dict) and head in body]
        for body in having:
            _assign(body, [head], value, where)
        return bool(having)
    if not isinstance(target, dict):
        return False
    if not rest:
        target[head] = value
        if isinstance(target, PlacedDict):
            target.places[head] = where
        return True
    if head not in target or target[head] is None:
        _assign(target, [head], PlacedDict(where), where)
    return _assign(target[head], rest, value, where)


def _settable(section: Any, name: str) -> list[str]:
    """The settings of a section of the job by their dotted keys; below a list, those of the mappings in it."""
    bodies = [section]
    if isinstance(section, list):
        bodies = [body for item in section if isinstance(item, dict) for body in item.values()]
    keys = [key for body in bodies if isinstance(body, dict) for key in body]
    return list(dict.fromkeys(f"{name}.{key}" for key in keys)) or [name]


def dump_yaml(data: Any) -> str:
    """Plain data as YAML, in the given order, readable by people."""
    import yaml

    class Dumper(yaml.SafeDumper):
        """Writes mappings that know their places, and tuples, as what they are to a reader."""

        def ignore_aliases(self, data: Any) -> bool:
            return True  # a list that stands twice is written twice

    Dumper.add_representer(PlacedDict, lambda d, value: d.represent_dict(value))
    Dumper.add_representer(tuple, lambda d, value: d.represent_list(value))
    Dumper.add_representer(str, _represent_text)
    # Texts that other YAML readers take for numbers, dates or truth values are quoted by the dumper itself.
    text: str = yaml.dump(data, Dumper=Dumper, sort_keys=False, allow_unicode=True, default_flow_style=None, width=110)
    return text


def _represent_text(dumper: Any, text: str) -> Any:
    """Unusual line breaks and control characters are only safe as escapes, which need double quotes."""
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=None if text.isprintable() else '"')

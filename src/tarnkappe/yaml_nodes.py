"""Reads YAML into nodes that know their line; nothing is interpreted, so ``NO``, ``0123`` and ``12:30`` stay text.

A file is read event by event and within bounds: neither deep nesting, nor references that point to themselves or
multiply what they point to, can do harm.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from tarnkappe.errors import TarnkappeError

#: Makes the caller's kind of error: message, place, hint.
Complain = Callable[[str, str, str], TarnkappeError]

_NULLS = ("", "~", "null", "Null", "NULL")

#: Levels of nesting; the time of the parser is quadratic in them.
_DEEPEST = 10_000

#: Nodes that references may repeat, all together: a few hundred bytes could stand for billions.
_MOST_REPEATED = 100_000

#: What a problem of the parser most often comes from, by words of its message, and what to do about it.
_REMEDIES = (
    ("flow mapping", "Close the  {{  of line {line} with a  }}"),
    ("flow sequence", "Close the  [  of line {line} with a  ]"),
    ("quoted scalar", "Close the quote of line {line}."),
    ("could not find expected ':'", "Write  key: value  with a colon and a space behind the key."),
    ("did not find expected key", "Start all keys of a mapping in the same column, each with a colon behind it."),
    ("expected '-' indicator", "Start all entries of a list in the same column, each with a dash and a space."),
)


@dataclass(eq=False)
class Node:
    """A scalar, a list or a mapping of a file; a mapping lists keys and values in turn."""

    kind: Literal["scalar", "list", "mapping"]
    where: str
    text: str | None = None
    quoted: bool = False
    items: list[Node] = field(default_factory=list)
    #: How many nodes this one stands for, itself and references written out; known once it is complete.
    size: int = 1

    @property
    def pairs(self) -> list[tuple[Node, Node]]:
        """Keys and values of a mapping."""
        return list(zip(self.items[::2], self.items[1::2], strict=True))


def parse_yaml(text: str, path: str, complain: Complain) -> Node:
    """The one document in a YAML text; an empty one is an empty scalar."""
    import yaml

    # The parser written in C is twenty times as fast; building objects with it is not safe for deep nesting.
    loader: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    anchors: dict[str, Node] = {}
    document = Node("list", path)
    stack = [document]
    repeated = 0
    try:
        for event in yaml.parse(text, Loader=loader):
            where = f"{path}:{event.start_mark.line + 1}" if event.start_mark else path
            if isinstance(event, (yaml.SequenceEndEvent, yaml.MappingEndEvent)):
                done = stack.pop()
                done.size += sum(item.size for item in done.items)
                continue
            if isinstance(event, yaml.AliasEvent):
                if event.anchor not in anchors:
                    raise complain(
                        f"the reference *{event.anchor} points nowhere",
                        where,
                        "Put a text that starts with * in quotes.",
                    )
                repeated += anchors[event.anchor].size
                if repeated > _MOST_REPEATED:
                    raise complain(
                        f"the references of this file repeat more than {_MOST_REPEATED} entries",
                        where,
                        f"Write out what is meant in place of  *{event.anchor}",
                    )
                stack[-1].items.append(anchors[event.anchor])
                continue
            if isinstance(event, yaml.ScalarEvent):
                plain = not event.style  # the C parser says "", the other one None
                is_null = plain and event.value in _NULLS
                node = Node("scalar", where, None if is_null else event.value, quoted=not plain)
            elif isinstance(event, yaml.SequenceStartEvent):
                node = Node("list", where)
            elif isinstance(event, yaml.MappingStartEvent):
                node = Node("mapping", where)
            else:  # the stream or a document starts or ends
                continue
            if event.anchor:
                anchors[event.anchor] = node
            stack[-1].items.append(node)
            if node.kind != "scalar":
                stack.append(node)
                if len(stack) > _DEEPEST:
                    raise complain("the file is nested too deeply", where, "Close each bracket before the next opens.")
    except yaml.MarkedYAMLError as error:
        line = f":{error.problem_mark.line + 1}" if error.problem_mark else ""
        raise complain(f"this is not valid YAML: {error.problem}", path + line, _remedy(error, text)) from error
    except yaml.YAMLError as error:
        raise complain("this is not valid YAML", path, "Remove control characters from the file.") from error
    if len(document.items) > 1:
        raise complain("the file holds several YAML documents", path, "Remove the lines  ---  between them.")
    return document.items[0] if document.items else Node("scalar", path)


def _remedy(error: Any, text: str) -> str:
    """What to do about a problem of the parser."""
    mark = error.problem_mark
    lines = text.splitlines()
    indent = lines[mark.line][: mark.column + 1] if mark is not None and mark.line < len(lines) else ""
    if "\t" in indent and (not indent.strip() or indent.endswith("\t")):
        return "Indent with spaces: YAML takes no tabs there."
    told = f"{error.context or ''} {error.problem or ''}"
    line = (error.context_mark or mark).line + 1 if error.context_mark or mark else 1
    opened = lines[line - 1] if line <= len(lines) else ""
    for words, remedy in _REMEDIES:
        if words == "flow mapping" and opened.count("{") == opened.count("}") > 0:
            continue  # it is closed, so what stands in it is wrong
        if words in told:
            return remedy.format(line=line)
    return 'Put texts with special characters in quotes:  "a: b".'

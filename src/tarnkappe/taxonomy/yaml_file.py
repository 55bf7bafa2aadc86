"""Reads a nested taxonomy from a YAML file; every scalar is taken as the text that is written there.

A file is read event by event: values such as ``no``, ``1.10`` or ``0123`` stay what they are, lines are known, and
neither deep nesting nor references that point to themselves can do harm.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from tarnkappe.errors import TaxonomyError
from tarnkappe.taxonomy.nested import Entry, flatten
from tarnkappe.taxonomy.reading import naming, read_text
from tarnkappe.taxonomy.tree import ANY, Taxonomy

_NULLS = ("", "~", "null", "Null", "NULL")


@dataclass(eq=False)
class _Node:
    """A scalar, a list or a mapping of the file; a mapping lists keys and values in turn."""

    kind: Literal["scalar", "list", "mapping"]
    where: str
    text: str | None = None
    items: list[_Node] = field(default_factory=list)


def read_yaml(path: Path) -> Taxonomy:
    """The taxonomy in a YAML file; a mapping with one key names its root."""
    with naming(str(path)):
        top = _parse(read_text(path), str(path))
        root = Entry(ANY, top, str(path))
        if top.kind == "mapping" and len(top.items) == 2:
            root = _unfold(top)[0]
        if root.below is None or not _unfold(root.below):
            raise TaxonomyError(
                "E202", "the taxonomy file is empty", hint="Write nested values:  Group: [value, value]"
            )
        return Taxonomy.from_parents(*flatten(root, _unfold))


def _unfold(node: _Node | None) -> list[Entry]:
    """The entries inside a node of the file."""
    if node is None or (node.kind == "scalar" and node.text is None):
        return []
    if node.kind == "scalar":
        return [Entry(str(node.text), None, node.where)]
    if node.kind == "mapping":
        pairs = zip(node.items[::2], node.items[1::2], strict=True)
        return [Entry(_label(key), below, key.where) for key, below in pairs]
    entries: list[Entry] = []
    for item in node.items:
        if item.kind == "mapping":
            entries.extend(_unfold(item))
        else:
            entries.append(Entry(_label(item), None, item.where))
    return entries


def _label(node: _Node) -> str:
    if node.kind != "scalar":
        raise TaxonomyError(
            "E203",
            f"a {node.kind} stands where a label was expected",
            where=node.where,
            hint="Give it a label, such as  - Married: [civil, church].",
        )
    if node.text is None:
        raise TaxonomyError(
            "E203", "an entry of the taxonomy is empty", where=node.where, hint='For the empty text write  "".'
        )
    return node.text


def _parse(text: str, path: str) -> _Node:
    import yaml

    # The parser written in C is twenty times as fast; building objects with it is not safe for deep nesting.
    loader: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    anchors: dict[str, _Node] = {}
    document = _Node("list", path)
    stack = [document]
    try:
        for event in yaml.parse(text, Loader=loader):
            where = f"{path}:{event.start_mark.line + 1}" if event.start_mark else path
            if isinstance(event, (yaml.SequenceEndEvent, yaml.MappingEndEvent)):
                stack.pop()
                continue
            if isinstance(event, yaml.AliasEvent):
                if event.anchor not in anchors:
                    raise TaxonomyError(
                        "E202",
                        f"the reference *{event.anchor} points nowhere",
                        where=where,
                        hint="Put a label that starts with * in quotes.",
                    )
                stack[-1].items.append(anchors[event.anchor])
                continue
            if isinstance(event, yaml.ScalarEvent):
                is_null = not event.style and event.value in _NULLS
                node = _Node("scalar", where, None if is_null else event.value)
            elif isinstance(event, yaml.SequenceStartEvent):
                node = _Node("list", where)
            elif isinstance(event, yaml.MappingStartEvent):
                node = _Node("mapping", where)
            else:  # the stream or a document starts or ends
                continue
            if event.anchor:
                anchors[event.anchor] = node
            stack[-1].items.append(node)
            if node.kind != "scalar":
                stack.append(node)
    except yaml.MarkedYAMLError as error:
        line = f":{error.problem_mark.line + 1}" if error.problem_mark else ""
        raise TaxonomyError(
            "E202",
            f"the taxonomy file is not valid YAML: {error.problem}",
            where=path + line,
            hint='Put labels with special characters in quotes:  "a: b".',
        ) from error
    except yaml.YAMLError as error:
        raise TaxonomyError(
            "E202", "the taxonomy file is not valid YAML", where=path, hint="Remove control characters from the file."
        ) from error
    if len(document.items) > 1:
        raise TaxonomyError(
            "E202", "the file holds several YAML documents", where=path, hint="Remove the lines  ---  between them."
        )
    return document.items[0] if document.items else _Node("scalar", path)
